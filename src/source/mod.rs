//! Where the endpoints of a service are listed, one file a kind.

pub mod file;

use std::fmt;
use std::num::NonZeroU16;
use std::sync::Arc;

use crate::endpoint::Endpoint;
use crate::yaml::{self, Field, Mapping};

/// The one source of a service, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Endpoint lines in a file.
    File(file::File),
}

/// Reads the settings of one kind; `None` after noting what is wrong.
type Parse = fn(Field<'_>, &mut yaml::Reader<'_>) -> Option<Source>;

/// The key of each kind and what reads it; of several in one service the first here wins.
const KINDS: [(&str, Parse); 1] = [("file", |field, reader| {
    file::File::parse(field, reader).map(Source::File)
})];

/// The keys that name a source, the one that wins first.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().map(|(key, _)| key)
}

/// Reads the source that a service names: `None` when it names none, `Some(None)` after noting
/// what is wrong with it.
pub fn parse(service: &Mapping<'_>, reader: &mut yaml::Reader<'_>) -> Option<Option<Source>> {
    let (field, parse) = KINDS
        .into_iter()
        .find_map(|(key, parse)| Some((service.get(key)?, parse)))?;
    Some(parse(field, reader))
}

/// Why a read failed.
#[derive(Debug)]
pub struct Failure(String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Source {
    /// A stand-in.
    pub fn build(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    /// A stand-in.
    pub async fn read(&self, default_port: NonZeroU16) -> Result<Vec<Endpoint>, Failure> {
        let Self::File(file) = self;
        let text = std::fs::read_to_string(&file.path)
            .map_err(|e| Failure(format!("{}: {e}", file.path.display())))?;
        text.lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| stand_in(line, default_port))
            .collect()
    }
}

fn stand_in(line: &str, default_port: NonZeroU16) -> Result<Endpoint, Failure> {
    let (place, weight) = line.split_once(' ').unwrap_or((line, "0"));
    let (address, port) = match place.parse::<std::net::SocketAddr>() {
        Ok(address) => (address.ip().to_string(), NonZeroU16::new(address.port())),
        Err(_) => (place.to_owned(), Some(default_port)),
    };
    let endpoint = || {
        Some(Endpoint {
            address: crate::endpoint::Address::parse(&address)?,
            port: port?,
            weight: weight.parse().ok()?,
        })
    };
    endpoint().ok_or_else(|| Failure(format!("bad line {line}")))
}
