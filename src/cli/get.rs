//! `vigie get`: reads one service once, from its source or from a running server.

mod problem;
mod remote;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use self::problem::Problem;
use super::arguments::{Arguments, Command, Word};
use super::form::Form;
use super::output;
use crate::blocking::{self, Lane};
use crate::config;
use crate::endpoint::Endpoint;
use crate::source::Common;
use crate::wording::{LONGEST_QUOTE, nearest, quote, shorten};

pub(super) const COMMAND: Command = Command {
    name: "get",
    help: HELP,
    flags: &["config-path", "server", "output"],
    word: Word::Service,
    run,
};

const HELP: &str = "\
Reads one service once, from its source or from a running server, and prints its endpoints.
Without SERVICE it reads the service named default.

usage: vigie get [-c FILE | --server URL] [--output FORMAT] [SERVICE]

flags:
  -c, --config-path FILE  the configuration file; without it VIGIE_CONFIG_PATH, else ./config.yml
  --server URL            ask a server: http://HOST:PORT or unix:PATH
  --output FORMAT         table (the default on a terminal), json, or lines (the default elsewhere):
                          ADDRESS:PORT WEIGHT
  -h, --help              print this

exit status: 0 printed, 1 failed, 2 usage, 3 no such service
";

/// The service that is meant when none is named.
const DEFAULT: &str = "default";
/// An error shows so much of the name of a service: all of one that can be.
const LONGEST_NAME: usize = 255;
/// An error names so many services that there are.
const MOST_NAMES: usize = 10;

fn run(arguments: Arguments) -> ExitCode {
    let default = if std::io::stdout().is_terminal() {
        Form::Table
    } else {
        Form::Lines
    };
    let form = arguments.form.unwrap_or(default);
    match endpoints(arguments) {
        Ok(endpoints) => form.print(&endpoints),
        Err(Problem::Failed(reason)) => {
            output::complain(&reason);
            ExitCode::FAILURE
        }
        Err(Problem::Unknown(reason)) => {
            output::complain(&reason);
            ExitCode::from(3)
        }
    }
}

fn endpoints(arguments: Arguments) -> Result<Arc<Vec<Endpoint>>, Problem> {
    let named = arguments.word.as_deref();
    // What errors about the service begin with.
    let who = format!(
        "vigie get: service {}",
        shorten(named.unwrap_or(DEFAULT), LONGEST_NAME)
    );
    match &arguments.server {
        Some(server) => remote::read(server, named, &who).map(Arc::new),
        None => read(&arguments.config_path(), named, &who),
    }
}

/// Reads the source of a service that the configuration names, without a name that of the default one.
fn read(path: &Path, named: Option<&str>, who: &str) -> Result<Arc<Vec<Endpoint>>, Problem> {
    let config = config::load(path).map_err(|errors| Problem::Failed(errors.to_string()))?;
    let name = named.unwrap_or(DEFAULT);
    let names: Vec<&str> = config.services.iter().map(|known| &*known.name).collect();
    let Some(service) = config.services.iter().find(|known| &*known.name == name) else {
        let file = path.display();
        return Err(Problem::Unknown(match named {
            Some(name) => format!("{who}: {file} has no such service: {}", right(name, &names)),
            None => format!(
                "vigie get: {file} has no service {DEFAULT}: {}",
                choice(&names)
            ),
        }));
    };
    let built = service
        .source
        .build(Lane::default(), &mut Common::default());
    let source =
        built.map_err(|wrong| Problem::Failed(config::Errors::new(path, wrong).to_string()))?;
    blocking::probe().map_err(|stuck| Problem::Failed(format!("{who}: starting: {stuck}")))?;
    smol::block_on(source.read(service.default_port))
        .map_err(|failure| Problem::Failed(format!("{who}: {failure}")))
}

/// What to do instead of naming a service that is not there.
fn right(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(near) => format!("did you mean {}?", quote(near)),
        None => choice(known),
    }
}

/// What can be named.
fn choice(known: &[&str]) -> String {
    let first = known.iter().take(MOST_NAMES);
    let shown: Vec<String> = first.map(|name| shorten(name, LONGEST_QUOTE)).collect();
    let all = shown.join(", ");
    match known.len().checked_sub(MOST_NAMES) {
        _ if known.is_empty() => "add one, it has no services".into(),
        None | Some(0) => format!("name a service: it has {all}"),
        Some(more) => format!("name a service: it has {all} and {more} more"),
    }
}
