//! Wires it all together: the one place with an executor.

use std::path::Path;
use std::process::ExitCode;

use crate::config::Config;

/// Serves until SIGTERM or SIGINT. `file` is read again at each reload.
pub fn run(_file: &Path, _config: Config) -> ExitCode {
    ExitCode::SUCCESS
}
