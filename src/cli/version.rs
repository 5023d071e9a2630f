//! `vigie version`: which build this is.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use super::arguments::{Arguments, Command, Word};
use super::output;

pub(super) const COMMAND: Command = Command {
    name: "version",
    help: HELP,
    flags: &[],
    word: Word::None,
    run,
};

const HELP: &str = "\
Prints version, commit, build date and target.

usage: vigie version

flags:
  -h, --help  print this
";

fn run(_: Arguments) -> ExitCode {
    let (version, commit, target) = (
        env!("CARGO_PKG_VERSION"),
        env!("VIGIE_COMMIT"),
        env!("VIGIE_TARGET"),
    );
    output::print(
        format!(
            "vigie {version} (commit {commit}, built {}, {target})\n",
            built()
        )
        .as_bytes(),
    )
}

/// The date of the build, which is that of its commit.
fn built() -> String {
    let epoch = env!("VIGIE_EPOCH").parse().ok().map(Duration::from_secs);
    match epoch.and_then(|epoch| SystemTime::UNIX_EPOCH.checked_add(epoch)) {
        Some(moment) => humantime::format_rfc3339_seconds(moment).to_string(),
        None => "unknown".into(),
    }
}
