//! Words to standard output and standard error, whether anyone reads them or not.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::wording::without_number;

/// Writes to standard output; a reader that has gone away ends the program with 1 and no word.
pub(super) fn print(bytes: &[u8]) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(error) => complain(&format!(
            "vigie: writing to standard output: {}",
            without_number(&error)
        )),
    }
    ExitCode::FAILURE
}

/// Writes a line to standard error, where that is possible.
pub(super) fn complain(line: &str) {
    let _ = io::stderr()
        .lock()
        .write_all(format!("{line}\n").as_bytes());
}
