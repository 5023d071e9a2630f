//! `vigie health`: the health check of an image that has no shell and no curl.

use std::process::ExitCode;
use std::time::Duration;

use super::arguments::{Arguments, Command, Word};
use super::ask::ask;
use super::output;
use super::server::Server;
use crate::blocking::{self, Lane};
use crate::config::{self, Address, Errors};

pub(super) const COMMAND: Command = Command {
    name: "health",
    help: HELP,
    flags: &["config-path", "server"],
    word: Word::None,
    run,
};

const HELP: &str = "\
Asks a running server whether it is ready, for 3 seconds at most. Without --server it asks the
first address that the configuration names, a wildcard by loopback. Other errors in the
configuration do not matter: a server that runs has not taken them over.

usage: vigie health [-c FILE | --server URL]

flags:
  -c, --config-path FILE  the configuration file; without it VIGIE_CONFIG_PATH, else ./config.yml
  --server URL            http://HOST:PORT or unix:PATH
  -h, --help              print this

exit status: 0 ready, 1 not ready, 2 usage
";

/// A server that takes longer is not well.
const PATIENCE: Duration = Duration::from_secs(3);

fn run(arguments: Arguments) -> ExitCode {
    match check(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            output::complain(&reason);
            ExitCode::FAILURE
        }
    }
}

fn check(arguments: Arguments) -> Result<(), String> {
    let (server, or_else, wrong) = match arguments.server {
        Some(server) => (server, "correct --server", None),
        None => {
            let (address, wrong) = configured(&arguments)?;
            (Server::at(&address), "correct server.address", wrong)
        }
    };
    let answer = ask(&server, "/readyz", PATIENCE, or_else).map_err(|reason| match wrong {
        // Its address may be one of the errors.
        Some(errors) => format!("{errors}\nvigie health: {server}: {reason}"),
        None => format!("vigie health: {server}: {reason}"),
    })?;
    match answer.status {
        200 => Ok(()),
        status => Err(format!(
            "vigie health: {server}: not ready, /readyz answered {status}"
        )),
    }
}

/// The address to ask, and what is wrong with the rest of the configuration.
fn configured(arguments: &Arguments) -> Result<(Address, Option<Errors>), String> {
    blocking::probe().map_err(|stuck| format!("vigie health: starting: {stuck}"))?;
    let path = arguments.config_path();
    // The file system of the configuration may hang.
    let lane = Lane::default();
    let read = lane.run(PATIENCE, move || config::first_address(&path));
    let read = smol::block_on(read)
        .map_err(|stuck| format!("vigie health: reading the configuration: {stuck}"))?;
    read.map_err(|errors| errors.to_string())
}
