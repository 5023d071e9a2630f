//! Reads a file that is to be parsed as YAML: a regular one, bounded, UTF-8.

use std::path::Path;

use super::diagnostic::{Diagnostic, Position};
use crate::regular_file::{self, Unreadable};
use crate::wording::MORE_FILES;

/// The most bytes a file may have.
const LARGEST_FILE: u64 = 16 << 20;

/// The text of a regular file of at most 16 MiB, when nobody writes to it. Anything else is refused at once, without
/// waiting for a writer: a folder, a FIFO, a device.
///
/// Errors: it cannot be read, or is not UTF-8.
pub fn read_file(path: &Path) -> Result<String, Diagnostic> {
    let bytes = regular_file::read_at_rest(path, LARGEST_FILE)
        .map_err(|error| Diagnostic::whole(advise(&error)))?;
    String::from_utf8(bytes).map_err(|error| {
        let position = Position::of(error.as_bytes(), error.utf8_error().valid_up_to());
        Diagnostic::at(position, "this byte is not UTF-8: save the file as UTF-8")
    })
}

fn advise(error: &Unreadable) -> String {
    let right = match error {
        Unreadable::TooLarge => "a configuration has at most 16 MiB",
        Unreadable::Restless => "write a new file and rename it over the old one",
        _ if error.is_denied() => "let the user that runs Vigie read it",
        _ if error.lacks_files() => MORE_FILES,
        _ => "name a configuration file with -c FILE or VIGIE_CONFIG_PATH",
    };
    format!("{error}; {right}")
}
