//! The seats, and the queues that those who wait stand in.

use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

use rustix::net::{RecvFlags, Shutdown};
use slab::Slab;

use super::{Stream, Wait};

/// So many connections are looked at for one that is idle.
const MAX_LOOKS: usize = 16;

const KINDS: usize = 7;

#[derive(Default)]
pub(super) struct State {
    pub(super) seats: Slab<Taken>,
    queues: [Queue; KINDS],
    /// Seats within the limit: not those that were told to leave or that there is no room.
    pub(super) counted: usize,
    pub(super) refused: usize,
    /// When the deadlines are looked at next.
    pub(super) planned: Option<Instant>,
}

pub(super) struct Taken {
    pub(super) stream: Arc<Stream>,
    pub(super) wait: Wait,
    pub(super) since: Instant,
    pub(super) before: Option<usize>,
    pub(super) after: Option<usize>,
    pub(super) standing: Standing,
    pub(super) late: bool,
    pub(super) waker: Option<Waker>,
}

impl Taken {
    /// Whether no request is under way, not even one that has come and has not been read yet.
    pub(super) fn is_idle(&self) -> bool {
        let peek = || rustix::net::recv(&self.stream, &mut [0; 1], RecvFlags::PEEK);
        matches!(self.wait, Wait::First | Wait::Idle) && !peek().is_ok_and(|(_, count)| count > 0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Served,
    ToldToLeave,
    Refused,
}

#[derive(Clone, Copy, Default)]
struct Queue {
    first: Option<usize>,
    last: Option<usize>,
}

impl State {
    pub(super) fn count(&mut self, standing: Standing) {
        match standing {
            Standing::Served => self.counted += 1,
            Standing::Refused => self.refused += 1,
            Standing::ToldToLeave => {}
        }
    }

    pub(super) fn uncount(&mut self, standing: Standing) {
        match standing {
            Standing::Served => self.counted = self.counted.saturating_sub(1),
            Standing::Refused => self.refused = self.refused.saturating_sub(1),
            Standing::ToldToLeave => {}
        }
    }

    pub(super) fn first(&self, wait: Wait) -> Option<(usize, Instant)> {
        let key = self.queues[wait as usize].first?;
        self.seats.get(key).map(|taken| (key, taken.since))
    }

    /// Hangs up on the connection that has had no request for the longest time, or else on one that has
    /// its last answer, or else on those who wait for a read and are gone.
    pub(super) fn make_room(&mut self, now: Instant) -> bool {
        let waits = [Wait::First, Wait::Idle]
            .into_iter()
            .filter_map(|wait| self.first_idle(wait));
        let idle = waits.min_by_key(|(_, since)| *since).map(|(key, _)| key);
        let Some(key) = idle.or_else(|| self.first_lingering(Standing::Served)) else {
            return self.send_away_the_gone(now);
        };
        self.dismiss(key);
        true
    }

    /// Those in the queue of a wait, the first one first.
    pub(super) fn waiting(&self, wait: Wait) -> impl Iterator<Item = (usize, &Taken)> {
        let mut place = self.queues[wait as usize].first;
        std::iter::from_fn(move || {
            let (key, taken) = place.and_then(|key| Some((key, self.seats.get(key)?)))?;
            place = taken.after;
            Some((key, taken))
        })
    }

    fn first_idle(&self, wait: Wait) -> Option<(usize, Instant)> {
        let mut looked_at = self.waiting(wait).take(MAX_LOOKS);
        let idle = looked_at.find(|(_, taken)| taken.is_idle());
        idle.map(|(key, taken)| (key, taken.since))
    }

    /// Hangs up on who was told longest ago that there is no room.
    pub(super) fn forget_refused(&mut self) -> bool {
        let told = self.first_lingering(Standing::Refused);
        if let Some(key) = told {
            self.dismiss(key);
        }
        told.is_some()
    }

    /// Who has had the last answer for the longest time.
    fn first_lingering(&self, standing: Standing) -> Option<usize> {
        let mut lingering = self.waiting(Wait::Linger);
        let first = lingering.find(|(_, taken)| taken.standing == standing);
        first.map(|(key, _)| key)
    }

    pub(super) fn expire(&mut self, key: usize, now: Instant) {
        let Some(taken) = self.seats.get_mut(key) else {
            return;
        };
        match taken.wait {
            // Who is late with a request can still be told so, and who takes no more is tried once more; who just
            // sits there is closed.
            Wait::First | Wait::Request | Wait::Write => {
                taken.late = true;
                if let Some(waker) = &taken.waker {
                    waker.wake_by_ref();
                }
                // Until it says what it waits for then, it is on its way out.
                self.change(key, Wait::Linger, now);
            }
            // Its request came in the nick of time.
            Wait::Idle if !taken.is_idle() => self.change(key, Wait::Idle, now),
            _ => self.dismiss(key),
        }
    }

    /// Moves a seat to the queue of another wait.
    pub(super) fn change(&mut self, key: usize, wait: Wait, since: Instant) {
        self.unlink(key);
        if let Some(taken) = self.seats.get_mut(key) {
            (taken.wait, taken.since) = (wait, since);
        }
        self.enqueue(key);
    }

    /// Ends the stream of a connection, which then leaves by itself: at once, or when its answer is out. Who waits for
    /// a read, and not for its stream, is woken.
    pub(super) fn dismiss(&mut self, key: usize) {
        let Some(since) = self.seats.get(key).map(|taken| taken.since) else {
            return;
        };
        self.change(key, Wait::Answer, since);
        let Some(taken) = self.seats.get_mut(key) else {
            return;
        };
        // A socket that is gone already needs no shutdown.
        let _ = rustix::net::shutdown(&taken.stream, Shutdown::Both);
        if let Some(waker) = &taken.waker {
            waker.wake_by_ref();
        }
        let standing = std::mem::replace(&mut taken.standing, Standing::ToldToLeave);
        self.uncount(standing);
    }

    /// Puts a seat into the queue of its wait. Nearly always the end is its place.
    pub(super) fn enqueue(&mut self, key: usize) {
        let Some((wait, since)) = self.seats.get(key).map(|taken| (taken.wait, taken.since)) else {
            return;
        };
        let (mut before, mut after) = (self.queues[wait as usize].last, None);
        while let Some((place, taken)) =
            before.and_then(|place| Some((place, self.seats.get(place)?)))
            && taken.since > since
        {
            (before, after) = (taken.before, Some(place));
        }
        self.link(wait, before, Some(key));
        self.link(wait, Some(key), after);
    }

    pub(super) fn unlink(&mut self, key: usize) {
        let Some((wait, before, after)) = self
            .seats
            .get(key)
            .map(|taken| (taken.wait, taken.before, taken.after))
        else {
            return;
        };
        self.link(wait, before, after);
    }

    /// Makes two places neighbours; nobody on one side means an end of the queue.
    fn link(&mut self, wait: Wait, before: Option<usize>, after: Option<usize>) {
        match before.and_then(|key| self.seats.get_mut(key)) {
            Some(taken) => taken.after = after,
            None => self.queues[wait as usize].first = after,
        }
        match after.and_then(|key| self.seats.get_mut(key)) {
            Some(taken) => taken.before = before,
            None => self.queues[wait as usize].last = before,
        }
    }
}
