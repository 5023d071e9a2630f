//! `vigie completions`: what a shell needs to complete the command line.
//!
//! The scripts are written from the table of commands, so they know what the program knows.

use std::process::ExitCode;

use super::arguments::{Arguments, Command, Word};
use super::form::Form;
use super::{COMMANDS, names, output};
use crate::wording::{quote, suggest};

pub(super) const COMMAND: Command = Command {
    name: "completions",
    help: HELP,
    flags: &[],
    word: Word::Shell,
    run,
};

const HELP: &str = "\
Prints a script that lets a shell complete the command line.

usage: vigie completions bash|zsh|fish

To have it in each new shell:
  bash  vigie completions bash > ~/.local/share/bash-completion/completions/vigie
        (needs the package bash-completion, and that folder)
  zsh   vigie completions zsh > DIRECTORY/_vigie, where DIRECTORY is in $fpath
  fish  vigie completions fish > ~/.config/fish/completions/vigie.fish

flags:
  -h, --help  print this
";

type Script = fn() -> String;

const SHELLS: [(&str, Script); 3] = [("bash", bash), ("zsh", zsh), ("fish", fish)];

fn run(arguments: Arguments) -> ExitCode {
    let names = SHELLS.map(|(name, _)| name);
    let wrong = match arguments.word.as_deref() {
        None => format!("no shell: write one of {}", names.join(", ")),
        Some(word) => match SHELLS.iter().find(|(name, _)| *name == word) {
            Some((_, script)) => return output::print(script().as_bytes()),
            None => format!("unknown shell {}: {}", quote(word), suggest(word, &names)),
        },
    };
    output::complain(&format!("vigie completions: {wrong}"));
    ExitCode::from(2)
}

/// What may follow a command, in words: its flags and what it takes beside them.
fn words(command: &Command) -> String {
    let flags = command.flags.iter().chain(&["help"]);
    let mut words: Vec<String> = flags.map(|flag| format!("--{flag}")).collect();
    if command.word == Word::Shell {
        words.extend(SHELLS.map(|(name, _)| name.into()));
    }
    words.join(" ")
}

fn commands() -> String {
    names().join(" ")
}

fn bash() -> String {
    let cases: String = COMMANDS
        .iter()
        .map(|command| format!("    {}) words='{}' ;;\n", command.name, words(command)))
        .collect();
    let (commands, forms) = (commands(), Form::names().join(" "));
    format!(
        "_vigie() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} words=
  # The shell takes --flag=value for three words.
  [[ $previous != = ]] || previous=${{COMP_WORDS[COMP_CWORD-2]}}
  [[ $current != = ]] || current=
  case $previous in
    -c | --config-path) mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;
    --output) mapfile -t COMPREPLY < <(compgen -W '{forms}' -- \"$current\"); return ;;
    --server) COMPREPLY=(); return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{cases}    help) words='{commands}' ;;
  esac
  ((COMP_CWORD > 1)) || words='{commands} --help --version'
  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")
}}
complete -o filenames -F _vigie vigie
"
    )
}

fn zsh() -> String {
    let cases: String = COMMANDS
        .iter()
        .map(|command| format!("    {}) choices=({}) ;;\n", command.name, words(command)))
        .collect();
    let (commands, forms) = (commands(), Form::names().join(" "));
    format!(
        "#compdef vigie
_vigie() {{
  local -a choices
  case $words[CURRENT-1] in
    -c | --config-path) _files; return ;;
    --output) compadd -- {forms}; return ;;
    --server) return ;;
  esac
  case $words[2] in
{cases}    help) choices=({commands}) ;;
  esac
  ((CURRENT > 2)) || choices=({commands} --help --version)
  compadd -- $choices
}}
compdef _vigie vigie
"
    )
}

fn fish() -> String {
    let first = "__fish_use_subcommand";
    let mut script = format!(
        "complete -c vigie -f\n\
         complete -c vigie -n {first} -a '{}'\n\
         complete -c vigie -n {first} -l version\n\
         complete -c vigie -s h -l help\n\
         complete -c vigie -n '__fish_seen_subcommand_from help' -a '{}'\n",
        commands(),
        commands()
    );
    for command in &COMMANDS {
        let seen = format!("'__fish_seen_subcommand_from {}'", command.name);
        for flag in command.flags {
            let value = match *flag {
                "config-path" => "-s c -l config-path -r -F".into(),
                "output" => format!("-l output -x -a '{}'", Form::names().join(" ")),
                flag => format!("-l {flag} -x"),
            };
            script += &format!("complete -c vigie -n {seen} {value}\n");
        }
        if command.word == Word::Shell {
            let shells = SHELLS.map(|(name, _)| name).join(" ");
            script += &format!("complete -c vigie -n {seen} -a '{shells}'\n");
        }
    }
    script
}
