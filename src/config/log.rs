//! The section `log`.

use ::log::LevelFilter;

use crate::log::Format;
use crate::yaml::{Field, Reader};

/// What is logged and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least important level that is written.
    pub level: LevelFilter,
    /// Text for people or JSON for machines.
    pub format: Format,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: LevelFilter::Info,
            format: Format::Text,
        }
    }
}

const KEYS: [&str; 2] = ["level", "format"];
const FORMATS: [(&str, Format); 2] = [("text", Format::Text), ("json", Format::Json)];
const LEVELS: [(&str, LevelFilter); 6] = [
    ("error", LevelFilter::Error),
    ("warn", LevelFilter::Warn),
    ("info", LevelFilter::Info),
    ("debug", LevelFilter::Debug),
    ("trace", LevelFilter::Trace),
    ("off", LevelFilter::Off),
];

pub(super) fn parse(field: Field<'_>, reader: &mut Reader<'_>) -> Log {
    let default = Log::default();
    let keys = reader.mapping(field, &KEYS);
    Log {
        level: keys
            .get("level")
            .and_then(|field| reader.choice(field, &LEVELS))
            .unwrap_or(default.level),
        format: keys
            .get("format")
            .and_then(|field| reader.choice(field, &FORMATS))
            .unwrap_or(default.format),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{bad, good};
    use super::*;

    #[test]
    fn a_level_is_one_of_the_known_words() {
        assert_eq!(
            good("log: {level: off, format: json}").log,
            Log {
                level: LevelFilter::Off,
                format: Format::Json
            }
        );
        assert_eq!(
            good("").log,
            Log {
                level: LevelFilter::Info,
                format: Format::Text
            }
        );
        assert_eq!(
            bad("log: {level: warning, format:}"),
            "c.yml:1:14: level: warning is wrong here: known are error, warn, info, debug, trace, off\n\
             c.yml:1:29: format has no value: write one of text, json"
        );
    }
}
