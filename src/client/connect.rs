//! New connections: every address is tried.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use async_io::Async;
use smol::io::{AsyncRead, AsyncWrite};

use super::{Client, Deadline, Failure, Kind, Step, Target, address, tls};
use crate::clock;
use crate::racing::Racing;
use crate::wording::without_number;

/// A connection, with TLS or without.
pub(super) type Stream = Box<dyn Transport>;

/// What both kinds of connection can do.
pub(super) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// After so long without a connection the next address is tried beside (RFC 8305, section 5).
const HEAD_START: Duration = Duration::from_millis(250);
/// So many addresses are tried at once.
const MOST_AT_ONCE: usize = 8;
/// A failure names so many addresses.
const MOST_NAMED: usize = 4;

impl Client {
    /// A new connection to the target, handshake done.
    pub(super) async fn connect(
        &self,
        target: &Target,
        is_first: bool,
        step: &Step,
        deadline: Deadline,
    ) -> Result<Stream, Failure> {
        step.begin("looking up the host");
        let addresses = address::of(target, &self.names, deadline).await?;
        step.begin(match &*addresses {
            [one] => format!("connecting to {one}"),
            several => format!("connecting to {} addresses", several.len()),
        });
        let stream = dial(addresses).await?;
        // A request goes out in one write, so there is nothing to wait for.
        let _ = stream.get_ref().set_nodelay(true);
        if !target.is_https() {
            return Ok(Box::new(stream));
        }
        step.begin("agreeing on TLS");
        let stream = self.tls.wrap(stream, target, is_first).await;
        Ok(Box::new(stream?))
    }
}

/// What the words about an error of a connection are: of TLS if it is one of TLS.
pub(super) fn failed(step: &str, kind: Kind, error: &io::Error) -> Failure {
    match tls::words(error) {
        Some(words) => Failure::new(Kind::Tls, format!("TLS: {words}")),
        None => Failure::new(kind, format!("{step}: {}", without_number(error))),
    }
}

/// Connects to the first address that takes it. The next one is tried when one fails or is slow.
async fn dial(addresses: Vec<SocketAddr>) -> Result<Async<TcpStream>, Failure> {
    let mut rest = addresses.into_iter();
    let mut under_way = Racing::new();
    let mut errors = Vec::new();
    loop {
        if under_way.len() < MOST_AT_ONCE
            && let Some(address) = rest.next()
        {
            under_way.add(async move { (address, Async::<TcpStream>::connect(address).await) });
        }
        if under_way.is_empty() {
            return Err(unconnected(&errors));
        }
        match clock::within(HEAD_START, under_way.next()).await {
            Some((_, Ok(stream))) => return Ok(stream),
            Some((address, Err(error))) => errors.push((address, error)),
            None => {}
        }
    }
}

fn unconnected(errors: &[(SocketAddr, io::Error)]) -> Failure {
    let named = errors.iter().take(MOST_NAMED);
    let mut all: Vec<_> = named
        .map(|(address, error)| format!("connecting to {address}: {}", without_number(error)))
        .collect();
    match errors.len().checked_sub(MOST_NAMED) {
        _ if errors.is_empty() => all.push("the host has no address".into()),
        None | Some(0) => {}
        Some(more) => all.push(format!("and {more} more addresses")),
    }
    let right = "see whether the server runs and listens there";
    Failure::new(Kind::Connect, format!("{}; {right}", all.join(", ")))
}
