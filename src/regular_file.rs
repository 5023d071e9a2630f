//! Reads regular files whole and bounded. Anything else is refused at once: a folder, a FIFO whose
//! writer may never come, a device that must not be touched.

use std::fmt;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::wording::without_number;

/// Why a file cannot be read. Displayed, it names the step and the reason.
#[derive(Debug)]
pub enum Unreadable {
    /// It cannot be opened.
    Open(io::Error),
    /// It is something else; the word says what.
    NotRegular(&'static str),
    /// It has more bytes than are allowed.
    TooLarge,
    /// Reading stopped at an error.
    Read(io::Error),
    /// Another process wrote to it meanwhile.
    Changed,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => write!(f, "opening: {}", without_number(error)),
            Self::NotRegular(what) => write!(f, "opening: it is {what}, not a regular file"),
            Self::TooLarge => f.write_str("reading: it is too large"),
            Self::Read(error) => write!(f, "reading: {}", without_number(error)),
            Self::Changed => f.write_str("reading: it changed meanwhile"),
        }
    }
}

impl Unreadable {
    /// Whether nothing is there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Open(error) if error.kind() == ErrorKind::NotFound)
    }

    /// Whether this user may not read it.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Open(error) if error.kind() == ErrorKind::PermissionDenied)
    }
}

/// The bytes of a file, at most `largest` of them. A file that changes while it is read is no whole
/// one.
pub fn read(path: &Path, largest: u64) -> Result<Vec<u8>, Unreadable> {
    // Opening a device can do things to it, so look first; what is opened is looked at again.
    regular(&fs::metadata(path).map_err(Unreadable::Open)?)?;
    let mut file = open(path).map_err(Unreadable::Open)?;
    let before = file.metadata().map_err(Unreadable::Read)?;
    regular(&before)?;
    if before.len() > largest {
        return Err(Unreadable::TooLarge);
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large from one that just fits.
    let mut limited = (&mut file).take(largest.saturating_add(1));
    limited.read_to_end(&mut bytes).map_err(Unreadable::Read)?;
    if bytes.len() as u64 > largest {
        return Err(Unreadable::TooLarge);
    }
    let after = file.metadata().map_err(Unreadable::Read)?;
    if version(&before) == version(&after) {
        Ok(bytes)
    } else {
        Err(Unreadable::Changed)
    }
}

/// Without NONBLOCK the open of a FIFO waits for its writer, and that of a terminal for its line.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    OpenOptions::new()
        .read(true)
        .custom_flags(flags as i32)
        .open(path)
}

fn regular(metadata: &Metadata) -> Result<(), Unreadable> {
    match kind(metadata.file_type()) {
        None => Ok(()),
        Some(what) => Err(Unreadable::NotRegular(what)),
    }
}

fn kind(kind: FileType) -> Option<&'static str> {
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a folder"),
        () if kind.is_fifo() => Some("a FIFO"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}

fn version(metadata: &Metadata) -> (u64, i64, i64) {
    (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}
