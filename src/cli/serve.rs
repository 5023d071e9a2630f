//! `vigie serve`: runs the server.

use std::process::ExitCode;

use super::arguments::{Arguments, Command};
use super::output;
use crate::config;
use crate::signal::Wishes;
use crate::wording::without_number;

pub(super) const COMMAND: Command = Command {
    name: "serve",
    help: HELP,
    flags: &["config-path"],
    takes_service: false,
    run,
};

const HELP: &str = "\
Runs the server until SIGTERM or SIGINT. SIGHUP reads the configuration file again.

usage: vigie serve [-c FILE]

flags:
  -c, --config-path FILE  the configuration file; without it VIGIE_CONFIG_PATH, else ./config.yml
  -h, --help              print this

exit status: 0 ended by a signal, 1 a bad configuration, an address in use, or a
second signal, 2 usage
";

fn run(arguments: Arguments) -> ExitCode {
    let path = arguments.config_path();
    // Before anything that takes time: a signal that comes now is not to end the process, nor to be lost.
    let wishes = match Wishes::new() {
        Ok(wishes) => wishes,
        Err(error) => return failed(&format!("taking signals: {}", without_number(&error))),
    };
    match config::load(&path) {
        Ok(config) => crate::server::run(&path, config, wishes),
        Err(errors) => failed(&errors.to_string()),
    }
}

fn failed(reason: &str) -> ExitCode {
    output::complain(reason);
    ExitCode::FAILURE
}
