//! Those who wait for a read, and have hung up meanwhile.
//!
//! Nobody looks at the socket of a connection while it waits for a read: a client that has closed its side may still
//! want the answer. Only when there is no seat for another are they asked, all in one system call.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Wait;
use super::state::State;

/// So many are asked for one who needs a seat.
const MOST_ASKED: usize = 256;
/// Each is asked no more often than this, however many need a seat.
const PAUSE: Duration = Duration::from_millis(10);
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

impl State {
    /// Sends away those who wait for a read and have hung up; whether there were any. Those are asked first who were
    /// asked longest ago, or have waited longest.
    pub(super) fn send_away_the_gone(&mut self, now: Instant) -> bool {
        let keys = self.to_ask(now);
        let gone = self.hung_up(&keys);
        // Asked last, they stand last, so that the others have their turn.
        for key in keys {
            self.change(key, Wait::Read, now);
        }
        for key in &gone {
            self.dismiss(*key);
        }
        !gone.is_empty()
    }

    fn to_ask(&self, now: Instant) -> Vec<usize> {
        self.waiting(Wait::Read)
            .take_while(|(_, taken)| taken.since + PAUSE <= now)
            .take(MOST_ASKED)
            .map(|(key, _)| key)
            .collect()
    }

    /// Who of these has closed its side, or is not there any more.
    fn hung_up(&self, keys: &[usize]) -> Vec<usize> {
        let taken = keys.iter().filter_map(|key| self.seats.get(*key));
        let mut asked: Vec<_> = taken
            .map(|taken| PollFd::new(&taken.stream, PollFlags::RDHUP))
            .collect();
        // Where the system does not say, all are taken to be there.
        if poll(&mut asked, Some(&AT_ONCE)).is_err() {
            return Vec::new();
        }
        let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let answers = keys.iter().zip(asked);
        let gone = answers.filter(|(_, asked)| asked.revents().intersects(gone));
        gone.map(|(key, _)| *key).collect()
    }
}
