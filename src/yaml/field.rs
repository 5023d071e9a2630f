//! A value and what it is called.

use super::node::Node;

/// A value with the name it has in messages.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// The key it stands under.
    pub name: &'a str,
    /// The value.
    pub node: &'a Node,
}
