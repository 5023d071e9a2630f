//! New connections: the host is looked up, an address dialled, TLS agreed on.

use std::io;

use rustix::net::sockopt;
use smol::io::{AsyncRead, AsyncWrite};
use smol::net::TcpStream;

use super::dial::{dial, lack_files, some_of, unconnected};
use super::{Client, Deadline, Failure, Kind, Step, Target, address, tls};
use crate::clock::Clock;
use crate::wording::without_number;

/// A connection, with TLS or without.
pub(super) type Stream = Box<dyn Transport>;

/// What is below a connection, TLS or not.
pub(super) struct Socket(pub(super) TcpStream);

/// What both kinds of connection can do.
pub(super) trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

impl Client {
    /// A new connection to the target, handshake done.
    pub(super) async fn connect(
        &self,
        target: &Target,
        is_first: bool,
        step: &Step,
        deadline: Deadline,
    ) -> Result<(Stream, Socket), Failure> {
        step.begin("looking up the host");
        let addresses = address::of(target, &self.names, deadline).await?;
        let words = addresses.iter().map(ToString::to_string);
        step.begin(format!("connecting to {}", some_of(words)));
        let mut dialled = dial(&addresses, deadline).await;
        if dialled.as_ref().is_err_and(lack_files) && self.kept.give_up_all() {
            dialled = dial(&addresses, deadline).await;
        }
        let stream = dialled.map_err(|errors| unconnected(&errors))?;
        let stream = TcpStream::from(stream);
        // A request goes out in one write, so there is nothing to wait for.
        let _ = stream.set_nodelay(true);
        let socket = Socket(stream.clone());
        if !target.is_https() {
            return Ok((Box::new(stream), socket));
        }
        step.begin("agreeing on TLS");
        let stream = self.tls.wrap(stream, target, is_first, deadline).await;
        Ok((Box::new(stream?), socket))
    }
}

impl Socket {
    /// From now on the connection ends when what is sent on it is not even acknowledged for a third of the time that is
    /// left: a way that has forgotten a kept one, as a firewall may, swallows all, and another one is to be had in time
    /// (RFC 5482).
    pub(super) fn bound_silence(&self, deadline: Deadline) {
        let left = deadline.saturating_duration_since(Clock::System.now());
        let patience = u32::try_from((left / 3).as_millis()).unwrap_or(u32::MAX);
        // 0 would stand for the many minutes of the system.
        let _ = sockopt::set_tcp_user_timeout(&self.0, patience.max(1));
    }
}

/// What the words about an error of a connection are: of TLS if it is one of TLS.
pub(super) fn failed(step: &str, kind: Kind, error: &io::Error) -> Failure {
    match tls::words(error) {
        Some(words) => Failure::new(Kind::Tls, format!("TLS: {words}")),
        None => Failure::new(kind, format!("{step}: {}", without_number(error))),
    }
}
