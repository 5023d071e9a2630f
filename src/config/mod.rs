//! The keys of the configuration file, read into values that cannot be wrong.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use crate::slot::Policy;
use crate::source::Source;

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
}

/// Where and how Vigie listens.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// All of them are bound.
    pub addresses: Vec<Address>,
    /// Permission bits of unix sockets.
    pub socket_mode: u32,
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// For a whole request, head and body.
    pub request_timeout: Duration,
    /// How long a client may take no byte of its answer.
    pub write_timeout: Duration,
    /// How long a connection may stay open without a request.
    pub idle_timeout: Duration,
    /// How long after SIGTERM Vigie goes on serving.
    pub shutdown_delay: Duration,
    /// How long it then waits for answers under way.
    pub shutdown_timeout: Duration,
}

/// One address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP address; `[::]` takes IPv4 too.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// What is logged and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The least important level that is written.
    pub level: ::log::LevelFilter,
    /// Text for people or JSON for machines.
    pub format: crate::log::Format,
}

/// One service, as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// 1 to 255 bytes without control characters.
    pub name: Box<str>,
    /// Where its endpoints are listed.
    pub source: Source,
    /// For endpoints that come without a port.
    pub default_port: NonZeroU16,
    /// How long its answers are kept.
    pub cache: Policy,
}
