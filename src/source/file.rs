//! The file source: endpoint lines in a regular file, read afresh each time.

use std::num::NonZeroU16;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Failure, Found, Reader, Reading};
use crate::blocking::{Lane, Stuck};
use crate::lines;
use crate::regular_file::{self, Unreadable};
use crate::wording::{MORE_FILES, shorten};
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

/// Errors show so many characters of the path.
const LONGEST_PATH: usize = 255;
pub(super) const KEYS: [&str; 3] = ["path", "max_size", "timeout"];
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
            Value::Broken | Value::Null | Value::Sequence(_) => {
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
            if !keys.may_hold("path") {
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

/// A file that can be read. Only one read of it is under way at a time, even when the file system
/// hangs.
pub struct FileReader {
    settings: File,
    lane: Lane,
}

impl FileReader {
    /// Makes it ready; opens nothing.
    pub fn new(settings: File, lane: Lane) -> Self {
        Self { settings, lane }
    }

    async fn read_whole(&self, default_port: NonZeroU16) -> Found {
        let File {
            path,
            max_size,
            timeout,
        } = self.settings.clone();
        let read = move || {
            let text = read_text(&path, max_size)?;
            lines::parse(&text, default_port)
                .map(Arc::new)
                .map_err(|bad| Failure::Unreadable(bad.to_string().into()))
        };
        match self.lane.run(timeout, read).await {
            Ok(found) => found,
            Err(Stuck::TimedOut) => Err(Failure::TimedOut(self.time_out().into())),
            Err(stuck) => Err(unreadable(format!("reading: {stuck}"))),
        }
    }

    fn time_out(&self) -> String {
        let timeout = humantime::format_duration(self.settings.timeout)
            .to_string()
            .replace(' ', "");
        format!(
            "reading: not done within {timeout}; see whether its file system hangs, or raise timeout"
        )
    }
}

impl Reader for FileReader {
    fn read(&self, default_port: NonZeroU16) -> Reading<'_> {
        let subject = format!(
            "file {}",
            shorten(&self.settings.path.to_string_lossy(), LONGEST_PATH)
        );
        Box::pin(async move {
            self.read_whole(default_port)
                .await
                .map_err(|failure| failure.of(subject))
        })
    }
}

fn unreadable(reason: String) -> Failure {
    Failure::Unreadable(reason.into())
}

/// The text of the file, whole. A writer that is caught in the middle is a failure.
fn read_text(path: &Path, max_size: u64) -> Result<String, Failure> {
    let bytes = regular_file::read_at_rest(path, max_size)
        .map_err(|error| unreadable(advise(&error, max_size)))?;
    if bytes.is_empty() {
        return Err(unreadable(
            "reading: it has no byte, so a writer may be at work; for an empty list write a comment".into(),
        ));
    }
    super::text(bytes)
}

fn advise(error: &Unreadable, max_size: u64) -> String {
    match error {
        Unreadable::TooLarge => {
            format!(
                "{error}; the limit is {max_size} bytes (max_size): shorten it, or raise the limit"
            )
        }
        Unreadable::Restless => format!("{error}; write a new file and rename it over the old one"),
        Unreadable::NotRegular(_) => format!("{error}; correct its path"),
        _ if error.is_missing() => format!("{error}; create it, or correct its path"),
        _ if error.is_denied() => format!("{error}; let the user that runs Vigie read it"),
        _ if error.lacks_files() => format!("{error}; {MORE_FILES}"),
        _ => error.to_string(),
    }
}
