//! Reads regular files whole and bounded. Anything else is refused at once: a folder, a FIFO whose
//! writer may never come, a device that must not be touched.

use std::fmt;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{OFlags, SeekFrom};

use crate::wording::{lacks_files, without_number};

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
    /// Other processes write to it all the time.
    Restless,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => write!(f, "opening: {}", without_number(error)),
            Self::NotRegular(what) => write!(f, "opening: it is {what}, not a regular file"),
            Self::TooLarge => f.write_str("reading: it is too large"),
            Self::Read(error) => write!(f, "reading: {}", without_number(error)),
            Self::Restless => f.write_str("reading: it is written to all the time"),
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

    /// Whether this process, or its host, may open no more files.
    pub fn lacks_files(&self) -> bool {
        matches!(self, Self::Open(error) if lacks_files(error))
    }
}

/// A file is taken for whole when nobody has written to it for so long: who writes in several steps, or
/// in one that takes a while, is not seen by comparing what the file was before and after.
const REST: Duration = Duration::from_millis(100);
/// That is waited for so long in all.
const PATIENCE: Duration = Duration::from_secs(2);
/// More links than lead to any file.
const MOST_LINKS: usize = 40;
/// One without a byte may just have been emptied if it was changed so short a time ago.
const JUST_NOW: Duration = Duration::from_secs(2);
/// What file systems that keep times in whole seconds leave out of a time.
const SECOND: Duration = Duration::from_secs(1);

/// The bytes of a file, at most `largest` of them. One that somebody may be writing to at the moment
/// is read when it is at rest.
pub fn read_at_rest(path: &Path, largest: u64) -> Result<Vec<u8>, Unreadable> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(bytes) = look(path, largest)? {
            return Ok(bytes);
        }
    }
    Err(Unreadable::Restless)
}

/// The same of a file that may well not be there: `None` if so, and nobody has just taken it away to put another in its
/// place.
pub fn read_if_there(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, Unreadable> {
    let read = || match read_at_rest(path, largest) {
        Err(error) if error.is_missing() => Ok(None),
        read => read.map(Some),
    };
    if let Some(bytes) = read()? {
        return Ok(Some(bytes));
    }
    let folder = folder_of(path).and_then(|folder| fs::metadata(folder).ok());
    match folder.and_then(|folder| rest_of_time(&folder)) {
        None => Ok(None),
        Some(rest) => {
            // Once: others may put files there all the time.
            thread::sleep(rest);
            read()
        }
    }
}

/// The folder that a file is put in, which is that of what a link leads to.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent()?.join(target),
            Err(_) => break,
        }
    }
    path.parent().map(Path::to_owned)
}

/// Reads the file that is there now, when it is at rest; `None` if somebody wrote to it meanwhile. What is put in its
/// place meanwhile is another file, and changes nothing about this one.
fn look(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, Unreadable> {
    // Opening a device can do things to it, so look first; what is opened is looked at again.
    regular(&fs::metadata(path).map_err(Unreadable::Open)?)?;
    let mut file = open(path).map_err(Unreadable::Open)?;
    let mut before = file.metadata().map_err(Unreadable::Read)?;
    regular(&before)?;
    if before.len() == 0 {
        // Who empties a file on a disk that is held up leaves it with its old times until that is done. Looking for data
        // waits for that; what it finds does not matter.
        let _ = rustix::fs::seek(&file, SeekFrom::Data(0));
        before = file.metadata().map_err(Unreadable::Read)?;
    }
    let is_changed = |file: &File| {
        let now = file.metadata().map_err(Unreadable::Read)?;
        Ok(is_written(&before, &now))
    };
    if let Some(rest) = rest_of(&before) {
        // On a thread that may block.
        thread::sleep(rest);
        if is_changed(&file)? {
            return Ok(None);
        }
    }
    let bytes = read_bounded(&mut file, before.len(), largest)?;
    Ok((!is_changed(&file)?).then_some(bytes))
}

fn read_bounded(file: &mut File, length: u64, largest: u64) -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    if length <= largest {
        // One byte more than allowed tells a file that is too large from one that just fits.
        let mut limited = file.take(largest.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(Unreadable::Read)?;
    }
    if length > largest || bytes.len() as u64 > largest {
        Err(Unreadable::TooLarge)
    } else {
        Ok(bytes)
    }
}

/// How long until nobody has written to the file for [`REST`], by the clock of its file system.
fn rest_of(metadata: &Metadata) -> Option<Duration> {
    // Whoever empties a file is seen to have done so a moment before its time of change is.
    match metadata.len() {
        0 if is_new(metadata) => Some(REST),
        _ => rest_of_time(metadata),
    }
}

/// Whether something has changed it just now, or by a clock that is ahead.
fn is_new(metadata: &Metadata) -> bool {
    let seconds = |date: SystemTime| {
        date.duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
    };
    let changed = Duration::from_secs(metadata.ctime().try_into().unwrap_or_default());
    changed + JUST_NOW > seconds(SystemTime::now())
}

/// The same by its time of writing alone.
fn rest_of_time(metadata: &Metadata) -> Option<Duration> {
    let left_out = match (metadata.mtime_nsec(), metadata.ctime_nsec()) {
        (0, 0) => SECOND,
        _ => Duration::ZERO,
    };
    let written = metadata.modified().ok()?.checked_add(left_out)?;
    match SystemTime::now().duration_since(written) {
        Ok(age) => REST.checked_sub(age).filter(|rest| !rest.is_zero()),
        // A date in the future says nothing, unless the clocks just differ a little.
        Err(ahead) => {
            let ahead = ahead.duration();
            (ahead < REST + left_out).then(|| REST + ahead.min(left_out))
        }
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

/// Whether a file was written to between two looks. The time of its last change tells even of who puts the time of
/// writing back; it moves too when another file takes its place, but then it has one name less.
fn is_written(before: &Metadata, after: &Metadata) -> bool {
    let written = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
    let changed = |file: &Metadata| (file.ctime(), file.ctime_nsec());
    written(before) != written(after)
        || before.nlink() <= after.nlink() && changed(before) != changed(after)
}
