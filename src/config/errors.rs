//! What is wrong with a configuration file.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::yaml::Diagnostic;

/// Every error of a file, in the order of the text; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    file: PathBuf,
    list: Vec<Diagnostic>,
}

impl Errors {
    /// Errors of a file, at least one, in the order of the text.
    pub fn new(file: &Path, list: Vec<Diagnostic>) -> Self {
        Self {
            file: file.to_owned(),
            list,
        }
    }

    /// The errors without the name of the file.
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }
}

/// One line an error: `FILE:LINE:COLUMN: what is wrong, and what would be right`.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        for (index, error) in self.list.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{file}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}
