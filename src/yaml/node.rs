//! The tree.

use std::rc::Rc;

use super::diagnostic::Position;

/// One value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Of an alias of a list or a mapping: where that stands.
    pub position: Position,
    /// The value.
    pub value: Value,
    /// Whether aliases may repeat it.
    pub anchored: Anchored,
}

/// Whether aliases may repeat a text where it does not belong: a secret, for one, in the place of a
/// duration. The later, the more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anchored {
    /// No alias does.
    No,
    /// It stands in a list or a mapping that has an anchor.
    Within,
    /// It has an anchor itself, so that it may become a key too.
    Itself,
}

/// A value as it is written: numbers, booleans and the like are the business of who reads it.
///
/// Collections are shared, so that an alias of one costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// What could not be read; an error about it has been noted.
    Broken,
    /// Nothing, `~` or a plain `null`.
    Null,
    /// A scalar without quotes.
    Plain(Box<str>),
    /// A scalar in quotes, or a block of text.
    Quoted(Box<str>),
    /// A list.
    Sequence(Rc<[Node]>),
    /// In the order of the text; a key may occur twice.
    Mapping(Rc<[Entry]>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Its value.
    pub node: Node,
}

/// A key and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Where it stands.
    pub position: Position,
    /// The text of the key, whether it stands in quotes or not.
    pub text: Box<str>,
    /// Whether aliases may repeat it.
    pub anchored: Anchored,
}

impl Node {
    pub(super) fn new(position: Position, value: Value) -> Self {
        Self {
            position,
            value,
            anchored: Anchored::No,
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Broken | Value::Null => "nothing",
            Value::Plain(_) | Value::Quoted(_) => "text",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}
