//! Opens a file that is to be read as YAML: a regular one, bounded, UTF-8.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::diagnostic::{Diagnostic, Position};

/// The most bytes a file may have.
pub const LARGEST_FILE: u64 = 16 << 20;

/// The text of a regular file of at most 16 MiB. Anything else is refused at once, without waiting
/// for a writer: a folder, a FIFO, a device.
pub fn read_file(path: &Path) -> Result<String, Diagnostic> {
    let file = open(path).map_err(|error| Diagnostic::whole(opening(&error)))?;
    regular(&file)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Diagnostic::whole(format!("reading: {error}")))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Diagnostic::whole(
            "the file is larger than 16 MiB: name a configuration file",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = Position::of(error.as_bytes(), error.utf8_error().valid_up_to());
        Diagnostic::at(position, "this byte is not UTF-8: save the file as UTF-8")
    })
}

/// Without NONBLOCK the open of a FIFO waits for its writer, and that of a terminal for its line.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    OpenOptions::new()
        .read(true)
        .custom_flags(flags as i32)
        .open(path)
}

fn opening(error: &io::Error) -> String {
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default();
    let right = match error.kind() {
        io::ErrorKind::PermissionDenied => "let the user that runs Vigie read it",
        _ => "name a configuration file with -c FILE or VIGIE_CONFIG_PATH",
    };
    format!("opening: {reason}; {right}")
}

fn regular(file: &File) -> Result<(), Diagnostic> {
    let kind = file
        .metadata()
        .map_err(|error| Diagnostic::whole(opening(&error)))?
        .file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a FIFO",
        () => "a device",
    };
    Err(Diagnostic::whole(format!(
        "this is {what}: name a regular file"
    )))
}
