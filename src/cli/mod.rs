//! The command line, one file a command.
//!
//! Usage errors exit with 2, what fails with 1; errors go to standard error.

mod arguments;
mod ask;
mod check_config;
mod completions;
mod form;
mod get;
mod health;
mod output;
mod serve;
mod server;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::{Arg, Parser};

use crate::wording::{quote, suggest};
use arguments::{Arguments, Command, Usage};

const COMMANDS: [Command; 6] = [
    serve::COMMAND,
    check_config::COMMAND,
    get::COMMAND,
    health::COMMAND,
    completions::COMMAND,
    version::COMMAND,
];

const HELP: &str = "\
Vigie answers one question over HTTP: which endpoints does this service have now?

usage: vigie COMMAND [FLAGS]

commands:
  serve         run the server
  check-config  check the configuration file, without touching the network
  get           read one service once and print its endpoints
  health        ask a running server whether it is ready
  completions   print what a shell needs to complete the command line
  version       print version, commit, build date and target
  help          say what a command does and takes

flags:
  -h, --help    print this, or with a command what it does and takes
  --version     the same as version

vigie COMMAND --help says more about a command.
";

/// Runs the command that the arguments name (the first is the program's own name).
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    dispatch(Parser::from_iter(arguments)).unwrap_or_else(|usage| {
        output::complain(&usage.0);
        ExitCode::from(2)
    })
}

fn dispatch(mut parser: Parser) -> Result<ExitCode, Usage> {
    let word = match parser.next().map_err(|error| Usage::of("vigie", error))? {
        Some(Arg::Value(word)) => word,
        Some(Arg::Short('h') | Arg::Long("help")) => return Ok(output::print(HELP.as_bytes())),
        Some(Arg::Long("version")) => return Ok((version::COMMAND.run)(Arguments::default())),
        Some(flag) => return Err(unknown_flag(&flag)),
        None => {
            return Err(Usage(format!(
                "vigie: no command: write one of {}; vigie --help says more",
                names().join(", ")
            )));
        }
    };
    match word.to_str() {
        Some("help") => help(parser),
        name => {
            let command = find(name.unwrap_or_default()).ok_or_else(|| unknown_command(&word))?;
            command.start(parser)
        }
    }
}

impl Command {
    fn start(&self, parser: Parser) -> Result<ExitCode, Usage> {
        match arguments::parse(self, parser)? {
            Some(arguments) => Ok((self.run)(arguments)),
            None => Ok(output::print(self.help.as_bytes())),
        }
    }
}

/// `vigie help [COMMAND]`.
fn help(mut parser: Parser) -> Result<ExitCode, Usage> {
    let wrong = |error| Usage::of("vigie help", error);
    let mut text = HELP;
    match parser.next().map_err(wrong)? {
        Some(Arg::Value(word)) => {
            text = match word.to_str() {
                Some("help") => HELP,
                name => match find(name.unwrap_or_default()) {
                    Some(command) => command.help,
                    None => return Err(unknown_command(&word)),
                },
            };
        }
        Some(Arg::Short('h') | Arg::Long("help")) | None => {}
        Some(flag) => return Err(unexpected(&flag)),
    }
    match parser.next().map_err(wrong)? {
        Some(more) => Err(unexpected(&more)),
        None => Ok(output::print(text.as_bytes())),
    }
}

/// What `vigie help` has no use for.
fn unexpected(argument: &Arg<'_>) -> Usage {
    Usage(format!(
        "vigie help: unexpected argument {}: name one command",
        quote(&arguments::written(argument))
    ))
}

fn find(name: &str) -> Option<&'static Command> {
    const TABLE: &[Command] = &COMMANDS;
    TABLE.iter().find(|command| command.name == name)
}

/// What may be the first word.
fn names() -> Vec<&'static str> {
    let commands = COMMANDS.iter().map(|command| command.name);
    commands.chain(["help"]).collect()
}

fn unknown_command(word: &OsString) -> Usage {
    let word = word.to_string_lossy();
    Usage(format!(
        "vigie: unknown command {}: {}",
        quote(&word),
        suggest(&word, &names())
    ))
}

fn unknown_flag(flag: &Arg<'_>) -> Usage {
    let flag = arguments::written(flag);
    let known = match &*flag {
        "-v" | "-V" => "did you mean --version? Known are -h, --help, --version".into(),
        _ => suggest(&flag, &["-h", "--help", "--version"]),
    };
    Usage(format!(
        "vigie: unknown flag {}: {known}; those of a command stand after it",
        quote(&flag)
    ))
}
