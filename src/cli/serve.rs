//! `vigie serve`: runs the server.

use std::cell::Cell;
use std::path::Path;
use std::process::ExitCode;

use smol::future::FutureExt;

use super::arguments::{Arguments, Command, Word};
use super::output;
use crate::blocking;
use crate::catalog::Catalog;
use crate::config::Config;
use crate::signal::{Wish, Wishes};
use crate::wording::{MORE_FILES, lacks_files, without_number};

pub(super) const COMMAND: Command = Command {
    name: "serve",
    help: HELP,
    flags: &["config-path"],
    word: Word::None,
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
    if let Err(stuck) = blocking::probe() {
        return failed(&format!("starting: {stuck}"));
    }
    let path = arguments.config_path();
    // Before anything that takes time: a signal that comes now is not to end the process, nor to be lost.
    let mut wishes = match Wishes::new() {
        Ok(wishes) => wishes,
        Err(error) => {
            let right = if lacks_files(&error) {
                format!("; {MORE_FILES}")
            } else {
                String::new()
            };
            return failed(&format!(
                "taking signals: {}{right}",
                without_number(&error)
            ));
        }
    };
    match smol::block_on(load(&path, &mut wishes)) {
        None => ExitCode::SUCCESS,
        Some(Ok((config, catalog))) => crate::server::run(&path, config, catalog, wishes),
        Some(Err(reason)) => failed(&reason),
    }
}

/// The configuration and its services; `None` when a signal says to stop while it is read: its file system may hang.
async fn load(path: &Path, wishes: &mut Wishes) -> Option<Result<(Config, Catalog), String>> {
    loop {
        let again = Cell::new(false);
        let file = path.to_owned();
        let loaded = async { Some(blocking::run(move || Catalog::load(&file, None)).await) };
        let stopped = async {
            while wishes.next().await == Wish::Reload {
                again.set(true);
            }
            None
        };
        let loaded = loaded.or(stopped).await?;
        // What has been read may be older than what a signal told of meanwhile.
        if !again.get() {
            let read = loaded.map_err(|stuck| format!("{}: reading: {stuck}", path.display()));
            return Some(read.and_then(|loaded| loaded.map_err(|errors| errors.to_string())));
        }
    }
}

fn failed(reason: &str) -> ExitCode {
    output::complain(reason);
    ExitCode::FAILURE
}
