//! Files that the settings name: bounded, and told about by their key.

use std::path::Path;

use crate::regular_file::{self, Unreadable};
use crate::wording::{MORE_FILES, shorten};

/// Errors show so many characters of a path.
const LONGEST_PATH: usize = 255;

/// The bytes of a file that does not change, as far as anyone can tell. Errors say what to do.
pub(super) fn read(key: &str, path: &Path, largest: u64) -> Result<Vec<u8>, String> {
    regular_file::read_at_rest(path, largest)
        .map_err(|error| about(key, path, &advise(&error, largest)))
}

/// What is wrong with a file.
pub(super) fn about(key: &str, path: &Path, wrong: &str) -> String {
    let path = shorten(&path.to_string_lossy(), LONGEST_PATH);
    format!("{key} {path}: {wrong}")
}

fn advise(error: &Unreadable, largest: u64) -> String {
    match error {
        Unreadable::TooLarge => format!("{error}; the limit is {} KiB: shorten it", largest >> 10),
        Unreadable::Restless => format!("{error}; write a new file and rename it over the old one"),
        Unreadable::NotRegular(_) => format!("{error}; correct its path"),
        _ if error.is_missing() => format!("{error}; create it, or correct its path"),
        _ if error.is_denied() => format!("{error}; let the user that runs Vigie read it"),
        _ if error.lacks_files() => format!("{error}; {MORE_FILES}"),
        _ => error.to_string(),
    }
}
