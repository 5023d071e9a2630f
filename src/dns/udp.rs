//! One question in datagrams, from a port of its own.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use async_io::Async;
use smol::future::yield_now;

use super::answer::{Read, read};
use super::exchange::encode;
use super::failure::Problem;
use super::question::Question;
use super::server::Server;
use crate::clock;

/// More than was asked for fits, and what is longer still is malformed.
const LARGEST: usize = 4096;
/// Between two sendings at most.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// So many datagrams that do not match are looked at before others get their turn.
const MISMATCHES: usize = 16;

/// Asks, and again after `pace` and at growing intervals, until an answer comes that belongs to the
/// question. Others are ignored.
///
/// Errors: an answer that is an error or malformed, a server that cannot be reached.
pub(super) async fn exchange(
    server: &Server,
    question: &Question,
    edns: bool,
    pace: Duration,
) -> Result<Read, Problem> {
    let (id, bytes) = encode(question, edns)?;
    let socket = connect(server).map_err(|error| Problem::io("opening a socket", &error))?;
    let mut pause = pace;
    loop {
        let sent = socket.send(&bytes).await;
        sent.map_err(|error| Problem::io("sending", &error))?;
        if let Some(outcome) = clock::within(pause, receive(&socket, question, id)).await {
            return outcome;
        }
        pause = (pause * 3 / 2).min(LONGEST_PAUSE.max(pace));
    }
}

/// A fresh socket at a port that the system chooses at random (RFC 5452, section 9.2). Connected, it
/// takes datagrams of the server alone, and learns when nobody listens there.
fn connect(server: &Server) -> io::Result<Async<UdpSocket>> {
    let address = server.address()?;
    let any = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(address)?;
    Async::new(socket)
}

async fn receive(socket: &Async<UdpSocket>, question: &Question, id: u16) -> Result<Read, Problem> {
    let peer = socket.get_ref().peer_addr();
    let peer = peer.map_err(|error| Problem::io("receiving", &error))?;
    let mut buffer = [0; LARGEST];
    let mut mismatches = 0;
    loop {
        let received = socket.recv_from(&mut buffer).await;
        let (length, sender) = received.map_err(|error| Problem::io("receiving", &error))?;
        // Who was quick enough sent before the socket was connected.
        if sender == peer
            && let Some(outcome) = read(buffer.get(..length).unwrap_or_default(), question, id)
        {
            return outcome;
        }
        mismatches += 1;
        if mismatches % MISMATCHES == 0 {
            yield_now().await;
        }
    }
}
