//! `vigie get`: reads one service once, from its source or from a running server.

mod remote;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use super::arguments::Arguments;
use super::{Command, output};
use crate::blocking::Lane;
use crate::config::{self, Config};
use crate::endpoint::Endpoint;
use crate::format::json;
use crate::wording::{nearest, quote, shorten, suggest};

pub(super) const COMMAND: Command = Command {
    name: "get",
    help: HELP,
    flags: &["config-path", "server", "output"],
    takes_service: true,
    run,
};

const HELP: &str = "\
Reads one service once, from its source or from a running server, and prints its endpoints.
Without SERVICE it reads the service named default.

usage: vigie get [-c FILE | --server URL] [--output FORMAT] [SERVICE]

flags:
  -c, --config-path FILE  the configuration file; without it VIGIE_CONFIG_PATH, else ./config.yml
  --server URL            ask a server: http://IP:PORT, http://localhost:PORT or unix:PATH
  --output FORMAT         table (the default on a terminal), json, or lines (the default elsewhere):
                          ADDRESS:PORT WEIGHT
  -h, --help              print this

exit status: 0 printed, 1 failed, 2 usage, 3 no such service
";

/// The service that is meant when none is named.
const DEFAULT: &str = "default";

/// How endpoints are printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Output {
    Table,
    Json,
    Lines,
}

/// Why there is nothing to print.
enum Problem {
    /// The source, the server or the configuration failed.
    Failed(String),
    /// There is no such service.
    Unknown(String),
}

fn run(arguments: Arguments) -> ExitCode {
    let default = if std::io::stdout().is_terminal() {
        Output::Table
    } else {
        Output::Lines
    };
    let output = arguments.output.unwrap_or(default);
    match endpoints(arguments) {
        Ok(endpoints) => output.print(&endpoints),
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

fn endpoints(arguments: Arguments) -> Result<Vec<Endpoint>, Problem> {
    match &arguments.server {
        Some(server) => remote::read(server, arguments.service.as_deref()),
        None => read(&arguments),
    }
}

/// Reads the source of a service that the configuration names.
fn read(arguments: &Arguments) -> Result<Vec<Endpoint>, Problem> {
    let path = arguments.config_path();
    let name = arguments.service.as_deref().unwrap_or(DEFAULT);
    let who = prefix(name);
    let config = config::load(&path).map_err(|errors| Problem::Failed(errors.to_string()))?;
    let Some(service) = config
        .services
        .iter()
        .find(|service| &*service.name == name)
    else {
        return Err(Problem::Unknown(unknown(name, &path, &config)));
    };
    let source = service.source.build(Lane::default());
    smol::block_on(source.read(service.default_port))
        .map_err(|failure| Problem::Failed(format!("{who}: {failure}")))
}

fn unknown(name: &str, path: &Path, config: &Config) -> String {
    let names: Vec<&str> = config
        .services
        .iter()
        .map(|service| &*service.name)
        .collect();
    let right = match nearest(name, &names) {
        Some(near) => format!("did you mean {}?", quote(near)),
        None => "name one that it lists".into(),
    };
    format!(
        "{}: {} has no such service: {right}",
        prefix(name),
        path.display()
    )
}

/// What errors about a service begin with.
fn prefix(name: &str) -> String {
    format!("vigie get: service {}", shorten(name, 255))
}

impl Output {
    const KNOWN: [(&str, Self); 3] = [
        ("table", Self::Table),
        ("json", Self::Json),
        ("lines", Self::Lines),
    ];

    pub(super) fn parse(word: &str) -> Result<Self, String> {
        let known = Self::KNOWN.iter().find(|(name, _)| *name == word);
        known.map(|(_, output)| *output).ok_or_else(|| {
            let names = Self::KNOWN.map(|(name, _)| name);
            format!("unknown format {}: {}", quote(word), suggest(word, &names))
        })
    }

    fn print(self, endpoints: &[Endpoint]) -> ExitCode {
        let bytes = match self {
            Self::Table if endpoints.is_empty() => {
                output::complain("no endpoints");
                return ExitCode::SUCCESS;
            }
            Self::Table => table(endpoints).into_bytes(),
            Self::Json => json::render(endpoints),
            Self::Lines => lines(endpoints).into_bytes(),
        };
        output::print(&bytes)
    }
}

/// `ADDRESS:PORT WEIGHT`, one endpoint a line.
fn lines(endpoints: &[Endpoint]) -> String {
    endpoints
        .iter()
        .map(|endpoint| format!("{endpoint} {}\n", endpoint.weight))
        .collect()
}

/// Aligned columns under their names.
fn table(endpoints: &[Endpoint]) -> String {
    let widest = endpoints
        .iter()
        .map(|endpoint| endpoint.address.as_str().len())
        .max()
        .unwrap_or_default()
        .max("ADDRESS".len());
    let row = |address: &str, port: &str, weight: &str| {
        format!("{address:widest$}  {port:>5}  {weight:>10}\n")
    };
    let head = row("ADDRESS", "PORT", "WEIGHT");
    let rows = endpoints.iter().map(|endpoint| {
        row(
            endpoint.address.as_str(),
            &endpoint.port.to_string(),
            &endpoint.weight.to_string(),
        )
    });
    std::iter::once(head).chain(rows).collect()
}
