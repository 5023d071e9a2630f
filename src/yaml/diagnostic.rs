//! What is to be said about a place in a text.

use std::fmt;

use granit_parser::Marker;

/// A place in a text; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The character in the line.
    pub column: u32,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place of the byte at `offset`, or of the end where the text is shorter.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before
            .split(|byte| *byte == b'\n')
            .next_back()
            .unwrap_or_default();
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        Self {
            line: count(lines),
            column: count(String::from_utf8_lossy(line).chars().count()),
        }
    }
}

impl From<&Marker> for Position {
    fn from(marker: &Marker) -> Self {
        Self {
            line: count(marker.line().saturating_sub(1)),
            column: count(marker.col()),
        }
    }
}

/// One more than `before`, which is bounded by the size of a file.
fn count(before: usize) -> u32 {
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// An error or a warning: where, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Where; `None` when it is about the file as a whole.
    pub position: Option<Position>,
    /// What is wrong and what would be right, in one sentence.
    pub message: String,
}

impl Diagnostic {
    /// One about the value or key at `position`.
    pub fn at(position: Position, message: impl Into<String>) -> Self {
        Self {
            position: Some(position),
            message: message.into(),
        }
    }

    /// One about the file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self {
            position: None,
            message: message.into(),
        }
    }

    /// The same, with a word such as `warning` before the message.
    pub fn labelled(&self, label: &str) -> Self {
        Self {
            position: self.position,
            message: format!("{label}: {}", self.message),
        }
    }
}

/// What follows the name of the file: `:LINE:COLUMN: message`, or `: message`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(Position { line, column }) => write!(f, ":{line}:{column}: {}", self.message),
            None => write!(f, ": {}", self.message),
        }
    }
}
