//! Mappings: each key once, and only known ones.

use std::collections::HashMap;

use super::diagnostic::Position;
use super::field::Field;
use super::node::{Anchored, Entry, Key, Value};
use super::read::{Reader, is_url};
use crate::wording::{LONGEST_QUOTE, nearest, quote, shorten, suggest};

/// A mapping whose keys have been checked.
#[derive(Debug)]
pub struct Mapping<'a> {
    entries: &'a [Entry],
    /// Known keys that an unknown one was probably meant to be.
    meant: Vec<&'a str>,
    /// Whether there are unknown keys.
    strange: bool,
    /// Whether the mapping could not be read.
    broken: bool,
}

impl<'a> Mapping<'a> {
    /// The value of a key.
    pub fn get(&self, key: &'a str) -> Option<Field<'a>> {
        let entry = self.entries.iter().find(|entry| *entry.key.text == *key)?;
        Some(Field {
            name: key,
            node: &entry.node,
        })
    }

    /// Whether a key that is missing was meant to be there, which an error says already: it is
    /// misspelt, or the mapping could not be read.
    pub fn may_hold(&self, key: &str) -> bool {
        self.broken || self.meant.contains(&key)
    }

    /// Whether an error says already that there is more in the mapping than could be read.
    pub fn is_doubtful(&self) -> bool {
        self.broken || self.strange
    }
}

/// What some readers of YAML take for the keys of another mapping.
pub const MERGE_KEY: &str = "<<";
/// What is said of it here.
pub const NO_MERGING: &str =
    "a merge key (<<) has no meaning here: write out the keys that it merges";

impl Reader<'_> {
    /// A mapping of known keys; nothing at all is an empty one.
    ///
    /// Errors: another kind of value, a key twice, a key that is not known.
    pub fn mapping<'a>(&mut self, field: Field<'a>, known: &[&'a str]) -> Mapping<'a> {
        let entries = self.entries(field);
        let mut meant = Vec::new();
        let unknown = |entry: &&Entry| !known.contains(&&*entry.key.text);
        for Entry { key, .. } in entries.iter().filter(unknown) {
            meant.extend(nearest(&key.text, known));
            let right = suggest(&key.text, known);
            let message = match self.may_show(key) {
                _ if *key.text == *MERGE_KEY => NO_MERGING.into(),
                true => format!("unknown key {}: {right}", quote(&key.text)),
                false => format!("this key is unknown: known are {}", known.join(", ")),
            };
            self.error(key.position, message);
        }
        Mapping {
            entries,
            meant,
            strange: entries.iter().any(|entry| unknown(&entry)),
            broken: !matches!(field.node.value, Value::Null | Value::Mapping(_)),
        }
    }

    /// The entries of a mapping whose keys are names, each once; nothing at all has none.
    ///
    /// Errors: another kind of value, a key twice (the error names the line of the first).
    pub fn entries<'a>(&mut self, field: Field<'a>) -> &'a [Entry] {
        match &field.node.value {
            Value::Broken | Value::Null => &[],
            Value::Mapping(entries) => {
                self.refuse_doubles(entries);
                entries
            }
            _ => {
                // Not quoted: it may be a URL with a password whose key has been left out.
                let message = "write keys with their values, as in key: value";
                let is = format!(
                    "{} is {}",
                    shorten(field.name, LONGEST_QUOTE),
                    field.node.kind()
                );
                self.error(field.node.position, format!("{is}: {message}"));
                &[]
            }
        }
    }

    /// A key may be a secret value that was put in the wrong place: a URL is not shown, nor what an alias may have
    /// brought, and among secret values, also where aliases may repeat them all, only a plain word is.
    fn may_show(&self, key: &Key) -> bool {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        match key.anchored {
            Anchored::Itself => false,
            Anchored::No if !self.is_discreet() => !is_url(&key.text),
            _ => key.text.bytes().all(is_word),
        }
    }

    fn refuse_doubles(&mut self, entries: &[Entry]) {
        let mut seen: HashMap<&str, Position> = HashMap::with_capacity(entries.len());
        for Entry { key, .. } in entries {
            match seen.get(&*key.text) {
                Some(first) => {
                    let key_shown = match self.may_show(key) {
                        true => format!("the key {}", quote(&key.text)),
                        false => "this key".into(),
                    };
                    let message = format!(
                        "{key_shown} is set twice, first in line {}: remove one",
                        first.line
                    );
                    self.error(key.position, message);
                }
                None => {
                    seen.insert(&key.text, key.position);
                }
            }
        }
    }
}
