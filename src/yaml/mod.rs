//! YAML text as values that know their line and column, and typed reads that collect every error.
//!
//! [`parse`] turns a text into a tree of [`Node`]s within fixed budgets. A [`Reader`] reads typed
//! values from it and notes what is wrong instead of stopping. Neither knows a key of the configuration.
//!
//! The tree is built from the events of granit-parser, the parser below serde-saphyr: serde's data
//! model has resolved a plain `0660` or `yes` before a visitor sees it, and knows no position of a key.

mod diagnostic;
mod digits;
mod duration;
mod field;
mod file;
mod mapping;
mod node;
mod placed;
mod read;
mod size;
#[cfg(test)]
mod tests;
mod tree;

pub use diagnostic::{Diagnostic, Position};
pub use field::Field;
pub use file::read_file;
pub use mapping::{MERGE_KEY, Mapping, NO_MERGING};
pub use node::{Anchored, Entry, Key, Node, Value};
pub use placed::Placed;
pub use read::Reader;
pub use tree::parse;
