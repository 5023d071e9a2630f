//! One connection to a host that has several addresses: every one has its share of the time.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use async_io::Async;

use super::{Deadline, Failure, Kind};
use crate::clock::{self, Clock};
use crate::racing::Racing;
use crate::wording::{MORE_FILES, lacks_files, without_number};

/// After so long without a connection the next address is tried beside (RFC 8305, section 5), sooner where
/// there are so many that half of the time would not do for all.
const HEAD_START: Duration = Duration::from_millis(250);
/// So many addresses are tried at once. One that is silent as long as it takes to begin with so many more
/// makes room, when others wait for it.
const MOST_AT_ONCE: u32 = 8;
/// A failure names so many addresses.
const MOST_NAMED: usize = 4;

/// What came of the addresses that did not take the connection.
pub(super) type Errors = Vec<(SocketAddr, io::Error)>;

/// Connects to the first address that takes it. The next one is tried when one fails or is slow.
pub(super) async fn dial(
    addresses: &[SocketAddr],
    deadline: Deadline,
) -> Result<Async<TcpStream>, Errors> {
    let left = deadline.saturating_duration_since(Clock::System.now());
    let count = u32::try_from(addresses.len()).unwrap_or(u32::MAX);
    let pace = HEAD_START.min(left / count.saturating_mul(2).max(1));
    let mut rest = addresses.iter().zip(1..);
    let mut under_way = Racing::new();
    let mut errors = Vec::new();
    loop {
        if under_way.len() < MOST_AT_ONCE as usize
            && let Some((address, number)) = rest.next()
        {
            let others_wait = number + MOST_AT_ONCE <= count;
            let patience = others_wait.then_some(pace * MOST_AT_ONCE);
            under_way.add(async move { (*address, attempt(*address, patience).await) });
        }
        if under_way.is_empty() {
            return Err(errors);
        }
        match clock::within(pace, under_way.next()).await {
            Some((_, Ok(stream))) => return Ok(stream),
            Some((address, Err(error))) => errors.push((address, error)),
            None => {}
        }
    }
}

/// One that has its `patience` is given up when it has been silent so long.
async fn attempt(address: SocketAddr, patience: Option<Duration>) -> io::Result<Async<TcpStream>> {
    let connect = Async::<TcpStream>::connect(address);
    match patience {
        None => connect.await,
        Some(patience) => match clock::within(patience, connect).await {
            Some(outcome) => outcome,
            None => Err(io::Error::new(io::ErrorKind::TimedOut, "it is silent")),
        },
    }
}

/// Whether it was for want of files.
pub(super) fn lack_files(errors: &Errors) -> bool {
    errors.iter().any(|(_, error)| lacks_files(error))
}

/// The first few, and how many more addresses there are.
pub(super) fn some_of(words: impl ExactSizeIterator<Item = String>) -> String {
    let more = words.len().saturating_sub(MOST_NAMED);
    let named: Vec<_> = words.take(MOST_NAMED).collect();
    match more {
        0 => named.join(", "),
        more => format!("{}, and {more} more addresses", named.join(", ")),
    }
}

/// Why no address took the connection, and what to do.
pub(super) fn unconnected(errors: &Errors) -> Failure {
    if errors.is_empty() {
        return Failure::new(Kind::Connect, "the host has no address");
    }
    let all = errors
        .iter()
        .map(|(address, error)| format!("connecting to {address}: {}", without_number(error)));
    let right = match lack_files(errors) {
        true => MORE_FILES,
        false => "see whether the server runs and listens there",
    };
    Failure::new(Kind::Connect, format!("{}; {right}", some_of(all)))
}
