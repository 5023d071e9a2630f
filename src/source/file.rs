//! The file source: endpoint lines in a regular file, read afresh each time.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use crate::yaml::{self, Field, Value};

/// A file of endpoint lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Absolute, or relative to the working folder.
    pub path: PathBuf,
    /// The most bytes it may have.
    pub max_size: u64,
    /// For the whole read, from open to the last byte.
    pub timeout: Duration,
}

const KEYS: [&str; 3] = ["path", "max_size", "timeout"];
const MAX_SIZE: u64 = 4 << 20;
const TIMEOUT: Duration = Duration::from_secs(5);
const SIZES: RangeInclusive<u64> = 1..=1 << 30;
const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 86_400);

impl File {
    /// Reads `PATH` or `{path, max_size, timeout}`; `None` after noting what is wrong.
    pub(super) fn parse(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<Self> {
        match field.node.value {
            Value::Plain(_) | Value::Quoted(_) => Some(Self {
                path: reader.path(field)?,
                max_size: MAX_SIZE,
                timeout: TIMEOUT,
            }),
            Value::Mapping(_) => Self::parse_keys(field, reader),
            Value::Null | Value::Sequence(_) => {
                reader.wrong(field, "write the path of a file, or {path: PATH}");
                None
            }
        }
    }

    fn parse_keys(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<Self> {
        let keys = reader.mapping(field, &KEYS);
        let max_size = keys
            .get("max_size")
            .and_then(|field| reader.size(field, SIZES));
        let timeout = keys
            .get("timeout")
            .and_then(|field| reader.duration(field, TIMEOUTS));
        let Some(path) = keys.get("path") else {
            if !keys.misspells("path") {
                reader.error(
                    field.node.position,
                    format!("{} has no path: add path: PATH", field.name),
                );
            }
            return None;
        };
        Some(Self {
            path: reader.path(path)?,
            max_size: max_size.unwrap_or(MAX_SIZE),
            timeout: timeout.unwrap_or(TIMEOUT),
        })
    }
}
