//! The file source: endpoint lines in a regular file, read afresh each time.

use std::path::PathBuf;
use std::time::Duration;

/// A file of endpoint lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Absolute, or relative to the working folder.
    pub path: PathBuf,
    /// The most bytes it may have.
    pub max_size: u64,
    /// For the whole read, from open to the last byte.
    pub timeout: Duration,
}
