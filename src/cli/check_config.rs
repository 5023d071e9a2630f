//! `vigie check-config`: every error of a configuration file in one run.

use std::process::ExitCode;

use super::arguments::{Arguments, Command, Word};
use super::output;
use crate::catalog::Catalog;
use crate::wording::count;

pub(super) const COMMAND: Command = Command {
    name: "check-config",
    help: HELP,
    flags: &["config-path"],
    word: Word::None,
    run,
};

const HELP: &str = "\
Checks the configuration file without touching the network, and says how many services it holds.
Every error comes in one run, as FILE:LINE:COLUMN: what is wrong, and what would be right.

usage: vigie check-config [-c FILE]

flags:
  -c, --config-path FILE  the configuration file; without it VIGIE_CONFIG_PATH, else ./config.yml
  -h, --help              print this

exit status: 0 the file is good, 1 it is not, 2 usage
";

fn run(arguments: Arguments) -> ExitCode {
    let path = arguments.config_path();
    let (config, catalog) = match Catalog::load(&path, None) {
        Ok(loaded) => loaded,
        Err(errors) => {
            output::complain(&errors.to_string());
            return ExitCode::FAILURE;
        }
    };
    for warning in &config.warnings {
        output::complain(&format!(
            "{}{}",
            path.display(),
            warning.labelled("warning")
        ));
    }
    let services = count(catalog.count(), "service");
    output::print(format!("{}: good, {services}\n", path.display()).as_bytes())
}
