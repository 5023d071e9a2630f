//! What becomes of a connection behind an answer. A server may end one at any time (RFC 9112, section 9.5); whoever finds
//! a kept one ended asks again on another.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt;

use crate::chance::Chance;
use crate::stage::Stage;
use crate::support::peer::{Wire, read_head};
use crate::truth::Place;

/// What becomes of a connection.
pub(super) enum Ending {
    /// It is kept.
    Kept,
    /// It ends with the answer.
    Now,
    /// It ends, and that is said.
    Said,
    /// When the next request has come, it ends without an answer.
    UponNext,
    /// When the next request comes, it is reset.
    ResetUponNext,
    /// When the next request has come, the server says that its time was up.
    TimedOutUponNext,
    /// It ends while it is at rest.
    AtRest(Duration),
    /// Bytes that nobody asked for have come behind the answer, so it must not be used again.
    UsedUp(Arc<Stage>, Arc<Place>),
}

const TIMED_OUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/// What may come behind an answer.
const LEFT_OVER: [&[u8]; 4] = [
    b"\r\n",
    b"x",
    b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n10.66.66.66:80\n",
    b"HTTP/1.1 200 OK\r\nContent-Le",
];

impl Ending {
    /// One of those that an honest server may choose.
    pub(super) fn any(stage: &Stage, chance: &mut Chance) -> Self {
        let (words, ending) = match chance.number(0..16) {
            0 => ("ends upon the next request", Self::UponNext),
            1 => ("resets upon the next request", Self::ResetUponNext),
            2 => ("408 upon the next request", Self::TimedOutUponNext),
            3 => ("ends at rest", Self::AtRest(chance.ms(0..40))),
            _ => return Self::Kept,
        };
        stage.tally.count("peers: url", words);
        ending
    }

    /// One that leaves something behind an answer; gives what to send with it.
    pub(super) fn used_up(
        stage: &Arc<Stage>,
        place: &Arc<Place>,
        chance: &mut Chance,
    ) -> (&'static [u8], Self) {
        stage.tally.count("peers: url", "left over");
        let ending = Self::UsedUp(stage.clone(), place.clone());
        (chance.of_these(&LEFT_OVER), ending)
    }

    /// Plays it; says whether the next request is waited for.
    pub(super) fn play(self, wire: &mut dyn Wire) -> io::Result<bool> {
        match self {
            Self::Kept => return Ok(true),
            Self::Now => {}
            Self::Said => wire.end(),
            Self::UponNext => drop(read_head(wire)?),
            Self::ResetUponNext => {
                wire.read_exact(&mut [0])?;
                sockopt::set_socket_linger(wire.socket(), Some(Duration::ZERO))?;
            }
            Self::TimedOutUponNext => {
                read_head(wire)?;
                wire.write_all(TIMED_OUT)?;
                wire.flush()?;
                wire.end();
            }
            Self::AtRest(length) => {
                std::thread::sleep(length);
                wire.end();
            }
            Self::UsedUp(stage, place) => {
                read_head(wire)?;
                stage.fail(format!(
                    "{}: a connection was used again on which more had come than was asked for",
                    place.name
                ));
            }
        }
        Ok(false)
    }
}
