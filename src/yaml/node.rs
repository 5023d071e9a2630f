//! The tree.

use std::rc::Rc;

use super::diagnostic::Position;

/// One value and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Of an alias: where the value stands that it repeats.
    pub position: Position,
    /// The value.
    pub value: Value,
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
    /// Of an alias: where the text stands that it repeats.
    pub position: Position,
    /// The text of the key, whether it stands in quotes or not.
    pub text: Box<str>,
}

impl Node {
    pub(super) fn new(position: Position, value: Value) -> Self {
        Self { position, value }
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
