//! A value that remembers where it stands.

use super::diagnostic::Position;

/// A value and where it stands, for errors that are found later. Two are equal when their values are:
/// a line that moves changes nothing.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub position: Position,
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Placed<T> {}
