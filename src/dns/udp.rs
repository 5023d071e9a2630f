//! One question in datagrams, from a port of its own.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use async_io::Async;
use smol::future::yield_now;

use super::answer::{Cut, Read, read};
use super::exchange::encode;
use super::failure::Problem;
use super::message::BROKEN;
use super::question::{Question, UDP_PAYLOAD};
use super::server::Server;
use crate::clock;

/// More than was asked for fits, and what is longer still is asked for over TCP.
const LARGEST: usize = 4096;
/// What a server may send to who does not say how much it takes (RFC 1035, section 4.2.1).
const SMALL_PAYLOAD: u16 = 512;
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
    let asked_for = if edns { UDP_PAYLOAD } else { SMALL_PAYLOAD };
    let mut pause = pace;
    loop {
        let sent = socket.send(&bytes).await;
        sent.map_err(|error| Problem::io("sending", &error))?;
        if let Some(outcome) = clock::within(pause, receive(&socket, question, id)).await {
            let (length, outcome) = outcome?;
            return match is_overlong(length, asked_for.into(), &outcome) {
                true => Ok(Read::Cut(Cut::Overlong)),
                false => outcome,
            };
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

/// Whether an answer of this length ends in the middle because it did not fit, though it does not say
/// so: there is no room for it here, or the server or the network cut it.
fn is_overlong(length: usize, asked_for: usize, outcome: &Result<Read, Problem>) -> bool {
    match outcome {
        Err(Problem::Answered(_)) => false,
        Err(problem) if *problem == BROKEN => length >= asked_for,
        _ => length > LARGEST,
    }
}

/// What a datagram says that belongs to the question, and its length.
async fn receive(
    socket: &Async<UdpSocket>,
    question: &Question,
    id: u16,
) -> Result<(usize, Result<Read, Problem>), Problem> {
    let peer = socket.get_ref().peer_addr();
    let peer = peer.map_err(|error| Problem::io("receiving", &error))?;
    // One byte more tells what does not fit.
    let mut buffer = [0; LARGEST + 1];
    let mut mismatches = 0;
    loop {
        let received = socket.recv_from(&mut buffer).await;
        let (length, sender) = received.map_err(|error| Problem::io("receiving", &error))?;
        // Who was quick enough sent before the socket was connected.
        if sender == peer
            && let Some(outcome) = read(buffer.get(..length).unwrap_or_default(), question, id)
        {
            return Ok((length, outcome));
        }
        mismatches += 1;
        if mismatches % MISMATCHES == 0 {
            yield_now().await;
        }
    }
}
