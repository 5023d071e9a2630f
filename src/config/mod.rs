//! The keys of the configuration file, read into values that cannot be wrong.
//!
//! One file a section. It opens nothing but the file itself.

mod address;
mod cache;
mod errors;
mod log;
mod server;
mod service;

use std::path::Path;

pub use address::Address;
pub use errors::Errors;
pub use log::Log;
pub use server::Server;
pub use service::Service;

use crate::yaml::{self, Diagnostic, Field, Reader};

/// A whole configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where and how Vigie listens; read at the start only.
    pub server: Server,
    /// What is logged and how; read at the start only.
    pub log: Log,
    /// Whether `POST /reload` is answered 403; read at the start only.
    pub disable_reload_by_request: bool,
    /// In the order of the file, each name once.
    pub services: Vec<Service>,
    /// What is allowed, but probably not wanted.
    pub warnings: Vec<Diagnostic>,
}

const KEYS: [&str; 5] = [
    "server",
    "log",
    "cache",
    "disable_reload_by_request",
    "services",
];

impl Config {
    /// Logs what is allowed, but probably not wanted.
    pub fn warn(&self, file: &Path) {
        for warning in &self.warnings {
            ::log::warn!("{}{warning}", file.display());
        }
    }
}

/// Reads a configuration file: a regular file of at most 16 MiB.
///
/// Errors: all there are, in the order of the file.
pub fn load(path: &Path) -> Result<Config, Errors> {
    let text = yaml::read_file(path).map_err(|error| Errors::new(path, vec![error]))?;
    parse(&text, path)
}

/// The same, and makes something of the services: errors of the text and errors of that come in one
/// run. What `build` is given has been taken out of the configuration, and lacks services that have errors.
/// A file with nothing in it is no configuration where services are `at_stake`: a writer may be at work, or its disk full.
pub fn load_and<T>(
    path: &Path,
    at_stake: bool,
    build: impl FnOnce(Vec<Service>) -> Result<T, Vec<Diagnostic>>,
) -> Result<(Config, T), Errors> {
    let text = yaml::read_file(path).map_err(|error| Errors::new(path, vec![error]))?;
    let is_blank = text.trim_start_matches('\u{feff}').trim().is_empty();
    if is_blank && at_stake {
        let reason = "there is nothing in it, so a writer may be at work; for no services write services: {}";
        return Err(Errors::new(path, vec![Diagnostic::whole(reason)]));
    }
    let (config, mut errors) = read(&text, path);
    let Some(mut config) = config else {
        return Err(Errors::new(path, errors));
    };
    match build(std::mem::take(&mut config.services)) {
        Ok(built) if errors.is_empty() => Ok((config, built)),
        built => {
            errors.extend(built.err().into_iter().flatten());
            // What is about no place, such as how many more there are, comes last.
            errors.sort_by_cached_key(|error| (error.position.is_none(), error.clone()));
            Err(Errors::new(path, errors))
        }
    }
}

/// The first address that a configuration file names, and what is wrong with the file: a server that runs
/// has not taken that over.
///
/// Errors: no address can be read.
pub fn first_address(path: &Path) -> Result<(Address, Option<Errors>), Errors> {
    let text = yaml::read_file(path).map_err(|error| Errors::new(path, vec![error]))?;
    let (config, errors) = read(&text, path);
    let first = config.and_then(|config| config.server.addresses.into_iter().next());
    match first {
        Some(first) if errors.is_empty() => Ok((first, None)),
        Some(first) => Ok((first, Some(Errors::new(path, errors)))),
        None => Err(Errors::new(path, errors)),
    }
}

/// Reads the text of a configuration file. `file` is its name in errors, and relative paths are
/// taken from its folder.
///
/// Errors: all there are, in the order of the text.
pub fn parse(text: &str, file: &Path) -> Result<Config, Errors> {
    match read(text, file) {
        (Some(config), errors) if errors.is_empty() => Ok(config),
        (_, errors) => Err(Errors::new(file, errors)),
    }
}

/// What could be read, and all that is wrong; no configuration when the text is no YAML.
fn read(text: &str, file: &Path) -> (Option<Config>, Vec<Diagnostic>) {
    let mut reader = Reader::new(file.parent().unwrap_or(Path::new("")));
    let root = yaml::parse(text, &mut reader);
    let config = root.map(|node| {
        let field = Field {
            name: "the file",
            node: &node,
        };
        whole(field, &mut reader)
    });
    let (errors, warnings) = reader.finish();
    (config.map(|config| Config { warnings, ..config }), errors)
}

fn whole(root: Field<'_>, reader: &mut Reader<'_>) -> Config {
    let keys = reader.mapping(root, &KEYS);
    let disabled = keys
        .get("disable_reload_by_request")
        .and_then(|field| reader.boolean(field))
        .unwrap_or(false);
    let cache = keys
        .get("cache")
        .map_or(cache::DEFAULT, |field| cache::parse(field, reader));
    Config {
        server: keys.get("server").map_or_else(Server::default, |field| {
            server::parse(field, !disabled, reader)
        }),
        log: keys
            .get("log")
            .map_or_else(Log::default, |field| log::parse(field, reader)),
        disable_reload_by_request: disabled,
        services: keys
            .get("services")
            .map_or_else(Vec::new, |field| service::parse_all(field, cache, reader)),
        warnings: Vec::new(),
    }
}

/// Parts of a test of this room: a configuration that must be good.
#[cfg(test)]
fn good(text: &str) -> Config {
    parse(text, Path::new("dir/c.yml")).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Parts of a test of this room: the errors of a configuration that must be bad.
#[cfg(test)]
fn bad(text: &str) -> String {
    parse(text, Path::new("c.yml"))
        .expect_err("an error")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_nothing_in_it_gives_the_defaults() {
        let default = good("");
        assert_eq!(default.services, []);
        for text in [
            "# nothing\n",
            "---\n",
            "server:\nlog:\ncache:\nservices:\n",
            "services: {}\n",
            "server: {}\nlog: {}\ncache: {}",
        ] {
            assert_eq!(good(text), default, "{text}");
        }
    }

    #[test]
    fn every_error_is_found_in_one_run_and_sorted() {
        let text = "services: {b: {file: [], default_port: 0}}\nlog: 5\ndisable_reload_by_request: yes\nlog: {}\nsevrer: 1\n";
        assert_eq!(
            bad(text),
            "c.yml:1:22: file: a list is wrong here: write the path of a file, or {path: PATH}\n\
             c.yml:1:40: default_port: 0 is wrong here: write a whole number from 1 to 65535\n\
             c.yml:2:6: log is text: write keys with their values, as in key: value\n\
             c.yml:3:28: disable_reload_by_request: yes is wrong here: write true or false, without quotes\n\
             c.yml:4:1: the key \"log\" is set twice, first in line 2: remove one\n\
             c.yml:5:1: unknown key \"sevrer\": did you mean server? Known are server, log, cache, disable_reload_by_request, services"
        );
    }
}
