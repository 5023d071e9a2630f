//! Typed reads of single values. Each gives `None` after noting what is wrong.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::diagnostic::{Diagnostic, Position};
use super::digits::digits;
use super::field::Field;
use super::node::{Anchored, Node, Value};
use super::{duration, size};
use crate::wording::{LONGEST_QUOTE, count, quote, shorten, suggest};

/// More errors than these help nobody, and would fill the memory.
const MOST_ERRORS: usize = 10_000;

/// Whether a text is a URL, which may hold a password.
pub(super) fn is_url(text: &str) -> bool {
    text.contains("://")
}

/// Reads typed values from a tree and collects every error and warning on the way.
#[derive(Debug)]
pub struct Reader<'a> {
    folder: &'a Path,
    /// In the order of the text and each once: a value that aliases repeat is read, and found wrong,
    /// more than once.
    errors: BTreeSet<Diagnostic>,
    /// How many more there are.
    dropped: usize,
    warnings: Vec<Diagnostic>,
    discreet: bool,
}

impl<'a> Reader<'a> {
    /// Relative paths are taken from `folder`.
    pub fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            errors: BTreeSet::new(),
            dropped: 0,
            warnings: Vec::new(),
            discreet: false,
        }
    }

    /// Notes an error; those beyond 10,000 are only counted.
    pub fn error(&mut self, position: Position, message: impl Into<String>) {
        let error = Diagnostic::at(position, message);
        if self.errors.len() < MOST_ERRORS {
            self.errors.insert(error);
        } else if !self.errors.contains(&error) {
            self.dropped += 1;
        }
    }

    /// Notes something that is allowed, but probably not wanted.
    pub fn warn(&mut self, position: Position, message: impl Into<String>) {
        self.warnings.push(Diagnostic::at(position, message));
    }

    /// Notes that a value is not what it should be: `NAME: WHAT IT IS is wrong: RIGHT`.
    pub fn wrong(&mut self, field: Field<'_>, right: &str) {
        let message = match &field.node.value {
            Value::Broken => return,
            Value::Null => format!("{} has no value: {right}", self.name(field)),
            _ => format!(
                "{}: {} is wrong here: {right}",
                self.name(field),
                self.show(field.node)
            ),
        };
        self.error(field.node.position, message);
    }

    /// Runs reads of secret values: no error noted within quotes a value.
    pub fn discreetly<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.discreet, true);
        let value = read(self);
        self.discreet = before;
        value
    }

    pub(super) fn is_discreet(&self) -> bool {
        self.discreet
    }

    /// Whether no message may quote a value, nor what was made of it: it is secret, or an alias may have
    /// brought a secret here.
    pub fn hides(&self, node: &Node) -> bool {
        self.discreet || node.anchored != Anchored::No
    }

    /// A value for a message, as it is written but shortened; of one that is secret or may hold a
    /// secret, and of a collection, only what it is.
    pub fn show(&self, node: &Node) -> String {
        match &node.value {
            Value::Plain(_) | Value::Quoted(_) if self.hides(node) => "this value".into(),
            Value::Plain(text) | Value::Quoted(text) if is_url(text) => "this URL".into(),
            Value::Plain(text) => shorten(text, LONGEST_QUOTE),
            Value::Quoted(text) => quote(text),
            _ => node.kind().into(),
        }
    }

    fn name(&self, field: Field<'_>) -> String {
        shorten(field.name, LONGEST_QUOTE)
    }

    /// The errors in the order of the text, each once, and the warnings. Behind errors of which some
    /// have been dropped stands how many.
    pub fn finish(self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        let mut errors: Vec<Diagnostic> = self.errors.into_iter().collect();
        if self.dropped > 0 {
            let more = count(self.dropped, "more error");
            errors.push(Diagnostic::whole(format!(
                "{more} not shown: correct these first"
            )));
        }
        (errors, self.warnings)
    }

    /// Text, as it is written: a plain `yes` or `5` too.
    pub fn text<'n>(&mut self, field: Field<'n>, right: &str) -> Option<&'n str> {
        match &field.node.value {
            Value::Plain(text) | Value::Quoted(text) => Some(text),
            _ => self.none(field, right),
        }
    }

    fn none<T>(&mut self, field: Field<'_>, right: &str) -> Option<T> {
        self.wrong(field, right);
        None
    }

    /// A path, made from the folder when it is relative.
    pub fn path(&mut self, field: Field<'_>) -> Option<PathBuf> {
        let right = "write the path of a file";
        match self.text(field, right)? {
            text if text.is_empty() || text.contains('\0') => self.none(field, right),
            // As a path that is missing it would be shown to everyone.
            text if is_url(text) => self.none(field, "write the path of a file, or url: URL"),
            text => Some(self.folder.join(text)),
        }
    }

    /// The folder that relative paths are taken from.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    /// `true` or `false`, without quotes.
    pub fn boolean(&mut self, field: Field<'_>) -> Option<bool> {
        match &field.node.value {
            Value::Plain(text) if matches!(&**text, "true" | "True" | "TRUE") => Some(true),
            Value::Plain(text) if matches!(&**text, "false" | "False" | "FALSE") => Some(false),
            _ => self.none(field, "write true or false, without quotes"),
        }
    }

    /// A whole number within `range`, in decimal digits without quotes.
    pub fn integer(&mut self, field: Field<'_>, range: RangeInclusive<u64>) -> Option<u64> {
        let right = format!(
            "write a whole number from {} to {}",
            range.start(),
            range.end()
        );
        let read = |text: &str| digits(text).filter(|number| range.contains(number));
        match &field.node.value {
            Value::Plain(text) => read(text).or_else(|| self.none(field, &right)),
            Value::Quoted(text) if read(text).is_some() => self.none(field, "leave out the quotes"),
            _ => self.none(field, &right),
        }
    }

    /// One of the words that are known, and what it stands for.
    pub fn choice<T: Copy>(&mut self, field: Field<'_>, known: &[(&str, T)]) -> Option<T> {
        let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
        let text = self.text(field, &format!("write one of {}", words.join(", ")))?;
        match known.iter().find(|(word, _)| *word == text) {
            Some((_, meaning)) => Some(*meaning),
            None => match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
                Some(word) => self.none(field, &format!("write {word}")),
                None => self.none(field, &suggest(text, &words)),
            },
        }
    }

    /// A duration within `range`.
    pub fn duration(
        &mut self,
        field: Field<'_>,
        range: RangeInclusive<Duration>,
    ) -> Option<Duration> {
        let text = self.text(field, duration::RIGHT)?;
        match duration::parse(text) {
            Ok(duration) if range.contains(&duration) => Some(duration),
            Ok(_) => self.none(field, &duration::within(&range)),
            Err(_) if duration::is_none(text) && range.contains(&Duration::ZERO) => {
                self.none(field, "write 0s")
            }
            Err(right) => self.none(field, right),
        }
    }

    /// A size in bytes within `range`.
    pub fn size(&mut self, field: Field<'_>, range: RangeInclusive<u64>) -> Option<u64> {
        let text = self.text(field, size::RIGHT)?;
        match size::parse(text) {
            Ok(size) if range.contains(&size) => Some(size),
            Ok(_) => self.none(field, &size::within(&range)),
            Err(right) => self.none(field, right),
        }
    }
}
