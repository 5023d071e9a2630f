//! Lines on standard error.

/// How a log line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: time, level, message.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}
