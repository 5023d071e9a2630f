//! What a command is, and the flags of all of them: one spelling, one meaning.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser};

use super::form::Form;
use super::server::Server;
use crate::wording::{quote, suggest};

/// One command: its name, the flags it takes, and what it does.
pub(super) struct Command {
    /// How it is called.
    pub(super) name: &'static str,
    /// One screen.
    pub(super) help: &'static str,
    /// Long names without the dashes; `help` goes without saying.
    pub(super) flags: &'static [&'static str],
    /// What may follow beside flags.
    pub(super) word: Word,
    /// Does it.
    pub(super) run: fn(Arguments) -> ExitCode,
}

/// A word that a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    None,
    Service,
    Shell,
}

/// What stands after a command.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    config: Option<PathBuf>,
    /// A running server to ask.
    pub(super) server: Option<Server>,
    /// How endpoints are printed.
    pub(super) form: Option<Form>,
    /// The name of a service, or of a shell.
    pub(super) word: Option<String>,
}

/// Why a command line cannot be followed, and what would be right.
#[derive(Debug)]
pub(super) struct Usage(pub(super) String);

impl Usage {
    pub(super) fn of(who: &str, error: lexopt::Error) -> Self {
        Self(format!("{who}: {error}; {who} --help says more"))
    }
}

impl Arguments {
    /// The configuration file: the flag, else `VIGIE_CONFIG_PATH`, else `./config.yml`.
    pub(super) fn config_path(&self) -> PathBuf {
        let named = || std::env::var_os("VIGIE_CONFIG_PATH").filter(|path| !path.is_empty());
        let path = self.config.clone().or_else(|| named().map(PathBuf::from));
        path.unwrap_or_else(|| PathBuf::from("./config.yml"))
    }
}

/// Reads what stands after a command; `None` when it asks for help.
pub(super) fn parse(command: &Command, mut parser: Parser) -> Result<Option<Arguments>, Usage> {
    let who = format!("vigie {}", command.name);
    let mut arguments = Arguments::default();
    while let Some(argument) = parser.next().map_err(|error| Usage::of(&who, error))? {
        let flag = match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(word) => {
                arguments.take_word(command, word)?;
                continue;
            }
            flag => known(&flag, command)?,
        };
        let value = parser.value().map_err(|error| Usage::of(&who, error))?;
        arguments
            .take_flag(flag, value)
            .map_err(|wrong| Usage(format!("{who}: --{flag}: {wrong}")))?;
    }
    match arguments.config.is_some() && arguments.server.is_some() {
        true => Err(Usage(format!(
            "{who}: --config-path and --server exclude each other: leave one out"
        ))),
        false => Ok(Some(arguments)),
    }
}

/// The long name of a flag that the command takes.
fn known(flag: &Arg<'_>, command: &Command) -> Result<&'static str, Usage> {
    let long = match flag {
        Arg::Short('c') => "config-path",
        Arg::Long(name) => name,
        _ => "",
    };
    command
        .flags
        .iter()
        .find(|known| **known == long)
        .copied()
        .ok_or_else(|| {
            let mut all: Vec<String> = command
                .flags
                .iter()
                .map(|known| format!("--{known}"))
                .collect();
            if command.flags.contains(&"config-path") {
                all.push("-c".into());
            }
            all.extend(["--help".into(), "-h".into()]);
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let flag = written(flag);
            Usage(format!(
                "vigie {}: unknown flag {}: {}",
                command.name,
                quote(&flag),
                suggest(&flag, &all)
            ))
        })
}

/// An argument as it was written.
pub(super) fn written(argument: &Arg<'_>) -> String {
    match argument {
        Arg::Short(letter) => format!("-{letter}"),
        Arg::Long(name) => format!("--{name}"),
        Arg::Value(word) => word.to_string_lossy().into_owned(),
    }
}

impl Arguments {
    fn take_flag(&mut self, flag: &str, value: OsString) -> Result<(), String> {
        match flag {
            "config-path" => self.config = Some(value.into()),
            "server" => self.server = Some(Server::parse(&text(value)?)?),
            _ => self.form = Some(Form::parse(&text(value)?)?),
        }
        Ok(())
    }

    fn take_word(&mut self, command: &Command, word: OsString) -> Result<(), Usage> {
        let unexpected = |word: &str, right| {
            Usage(format!(
                "vigie {}: unexpected argument {}: {right}",
                command.name,
                quote(word)
            ))
        };
        match word.into_string() {
            Ok(word) if command.word != Word::None && self.word.is_none() => {
                self.word = Some(word);
                Ok(())
            }
            Ok(word) => Err(unexpected(&word, command.word.right())),
            Err(word) => Err(unexpected(&word.to_string_lossy(), "write it in UTF-8")),
        }
    }
}

impl Word {
    /// What would be right where there is one too many.
    fn right(self) -> &'static str {
        match self {
            Self::None => "leave it out, this command takes flags only",
            Self::Service => "name one service",
            Self::Shell => "name one shell",
        }
    }
}

fn text(value: OsString) -> Result<String, String> {
    value.into_string().map_err(|_| "write it in UTF-8".into())
}
