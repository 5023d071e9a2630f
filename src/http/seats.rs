//! Who is connected, and for how long each may wait.
//!
//! A connection waits for its socket only. Whoever waits too long, or must make room, has its socket
//! shut down from here, and sees the end of its stream. So a connection needs no timer of its own:
//! each kind of wait has one length, and the connections in it stand in a queue by the moment at which
//! they came.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_io::Async;
use event_listener::Event;
use rustix::net::Shutdown;
use slab::Slab;
use smol::future::FutureExt;

use crate::clock::Clock;

/// A connected socket, TCP or unix.
pub type Stream = Async<OwnedFd>;

/// How long a refused client may take to read why.
const LINGER: Duration = Duration::from_secs(2);
/// So many connections beyond the limit are kept open until they have read that it is reached.
const MAX_REFUSED: usize = 64;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The first byte of its first request.
    First,
    /// The first byte of another request.
    Idle,
    /// The rest of a request.
    Request,
    /// The client, to take bytes.
    Write,
    /// The client, to read the last answer and hang up.
    Linger,
    /// The answer, which has its own bounds.
    Answer,
}

const KINDS: usize = 6;

/// How long each wait may last.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// From accept or the first byte to the last of a request.
    pub request: Duration,
    /// From one byte taken to the next.
    pub write: Duration,
    /// From an answer to the next request.
    pub idle: Duration,
}

/// Who is connected.
pub struct Seats {
    limits: Limits,
    state: Mutex<State>,
    /// A deadline has come up that is earlier than the one waited for.
    sooner: Event,
    /// Somebody has left.
    left: Event,
}

/// A place among the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat(usize);

/// What becomes of a new connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is served.
    Welcome(Seat),
    /// It is told that there is no room.
    Refused(Seat),
    /// It is closed, since too many are being told.
    Dropped,
}

#[derive(Default)]
struct State {
    seats: Slab<Taken>,
    queues: [Queue; KINDS],
    /// Seats within the limit: not those that were told to leave or that there is no room.
    counted: usize,
    refused: usize,
    /// When the deadlines are looked at next.
    planned: Option<Instant>,
}

struct Taken {
    stream: Arc<Stream>,
    wait: Wait,
    since: Instant,
    before: Option<usize>,
    after: Option<usize>,
    standing: Standing,
    late: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Served,
    ToldToLeave,
    Refused,
}

#[derive(Clone, Copy, Default)]
struct Queue {
    first: Option<usize>,
    last: Option<usize>,
}

impl Seats {
    /// Nobody is connected yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Mutex::default(),
            sooner: Event::new(),
            left: Event::new(),
        }
    }

    /// Lets a new connection in. When all seats are taken, whoever has had no request for the longest
    /// time makes room.
    pub fn admit(&self, stream: Arc<Stream>, now: Instant) -> Admission {
        let mut state = self.state();
        let room = state.counted < self.limits.connections || state.make_room();
        if !room && state.refused >= MAX_REFUSED && !state.forget_refused() {
            return Admission::Dropped;
        }
        let (standing, wait) = if room {
            (Standing::Served, Wait::First)
        } else {
            (Standing::Refused, Wait::Linger)
        };
        state.count(standing);
        let taken = Taken {
            stream,
            wait,
            since: now,
            before: None,
            after: None,
            standing,
            late: false,
        };
        let key = state.seats.insert(taken);
        state.enqueue(key);
        self.plan(&mut state, wait, now);
        if room {
            Admission::Welcome(Seat(key))
        } else {
            Admission::Refused(Seat(key))
        }
    }

    /// From now on the connection waits for this. The rest of a first request must come within the
    /// time that its first byte had.
    pub fn wait(&self, seat: Seat, wait: Wait, now: Instant) {
        let mut state = self.state();
        let Some(taken) = state.seats.get_mut(seat.0) else {
            return;
        };
        let since = if (taken.wait, wait) == (Wait::First, Wait::Request) {
            taken.since
        } else {
            now
        };
        state.unlink(seat.0);
        if let Some(taken) = state.seats.get_mut(seat.0) {
            (taken.wait, taken.since) = (wait, since);
        }
        state.enqueue(seat.0);
        self.plan(&mut state, wait, since);
    }

    /// Has the deadlines looked at in time for a wait that has begun.
    fn plan(&self, state: &mut State, wait: Wait, since: Instant) {
        let Some(deadline) = self.limit(wait).map(|limit| since + limit) else {
            return;
        };
        if state.planned.is_none_or(|planned| deadline < planned) {
            state.planned = Some(deadline);
            self.sooner.notify(1);
        }
    }

    /// Whether the stream of the connection has ended because its request took too long.
    pub fn is_late(&self, seat: Seat) -> bool {
        self.state()
            .seats
            .get(seat.0)
            .is_some_and(|taken| taken.late)
    }

    /// The connection is gone.
    pub fn leave(&self, seat: Seat) {
        let mut state = self.state();
        state.unlink(seat.0);
        if let Some(taken) = state.seats.try_remove(seat.0) {
            state.uncount(taken.standing);
        }
        drop(state);
        self.left.notify(usize::MAX);
    }

    /// How many are connected.
    pub fn len(&self) -> usize {
        self.state().seats.len()
    }

    /// Whether nobody is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends when nobody is connected.
    pub async fn emptied(&self) {
        loop {
            let left = self.left.listen();
            if self.is_empty() {
                return;
            }
            left.await;
        }
    }

    /// Hangs up on everyone who has no request under way.
    pub fn close_idle(&self) {
        let mut state = self.state();
        while state.make_room() {}
    }

    /// Hangs up on whoever waits too long, for ever.
    pub async fn keep_time(&self, clock: &Clock) {
        loop {
            let sooner = self.sooner.listen();
            match self.hang_up(clock.now()) {
                Some(next) => sooner.or(clock.sleep_until(next)).await,
                None => sooner.await,
            }
        }
    }

    /// Hangs up on whoever has waited too long, and says when to look again.
    fn hang_up(&self, now: Instant) -> Option<Instant> {
        let mut state = self.state();
        let mut next: Option<Instant> = None;
        for wait in [
            Wait::First,
            Wait::Idle,
            Wait::Request,
            Wait::Write,
            Wait::Linger,
        ] {
            let Some(limit) = self.limit(wait) else {
                continue;
            };
            while let Some((key, since)) = state.first(wait) {
                if since + limit > now {
                    next = Some(next.map_or(since + limit, |next| next.min(since + limit)));
                    break;
                }
                state.expire(key);
            }
        }
        state.planned = next;
        next
    }

    fn limit(&self, wait: Wait) -> Option<Duration> {
        match wait {
            Wait::First | Wait::Request => Some(self.limits.request),
            Wait::Idle => Some(self.limits.idle),
            Wait::Write => Some(self.limits.write),
            Wait::Linger => Some(LINGER),
            Wait::Answer => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&mut self, standing: Standing) {
        match standing {
            Standing::Served => self.counted += 1,
            Standing::Refused => self.refused += 1,
            Standing::ToldToLeave => {}
        }
    }

    fn uncount(&mut self, standing: Standing) {
        match standing {
            Standing::Served => self.counted = self.counted.saturating_sub(1),
            Standing::Refused => self.refused = self.refused.saturating_sub(1),
            Standing::ToldToLeave => {}
        }
    }

    fn first(&self, wait: Wait) -> Option<(usize, Instant)> {
        let key = self.queues[wait as usize].first?;
        self.seats.get(key).map(|taken| (key, taken.since))
    }

    /// Hangs up on the connection that has had no request for the longest time.
    fn make_room(&mut self) -> bool {
        let waits = [Wait::First, Wait::Idle]
            .into_iter()
            .filter_map(|wait| self.first(wait));
        let Some((key, _)) = waits.min_by_key(|(_, since)| *since) else {
            return false;
        };
        self.dismiss(key, Shutdown::Both);
        true
    }

    /// Hangs up on who was told longest ago that there is no room.
    fn forget_refused(&mut self) -> bool {
        let mut place = self.queues[Wait::Linger as usize].first;
        while let Some((key, taken)) = place.and_then(|key| Some((key, self.seats.get(key)?))) {
            if taken.standing == Standing::Refused {
                self.dismiss(key, Shutdown::Both);
                return true;
            }
            place = taken.after;
        }
        false
    }

    fn expire(&mut self, key: usize) {
        // Who is late with a request can still be told so; who just sits there is closed.
        let request = self
            .seats
            .get(key)
            .is_some_and(|taken| matches!(taken.wait, Wait::First | Wait::Request));
        if let Some(taken) = self.seats.get_mut(key) {
            taken.late = request;
        }
        self.dismiss(
            key,
            if request {
                Shutdown::Read
            } else {
                Shutdown::Both
            },
        );
    }

    /// Ends the stream of a connection, which then leaves by itself: at once, or when its answer is out.
    fn dismiss(&mut self, key: usize, how: Shutdown) {
        self.unlink(key);
        let Some(taken) = self.seats.get_mut(key) else {
            return;
        };
        taken.wait = Wait::Answer;
        // A socket that is gone already needs no shutdown.
        let _ = rustix::net::shutdown(&taken.stream, how);
        if how == Shutdown::Both {
            let standing = std::mem::replace(&mut taken.standing, Standing::ToldToLeave);
            self.uncount(standing);
        }
        self.enqueue(key);
    }

    /// Puts a seat into the queue of its wait. Nearly always the end is its place.
    fn enqueue(&mut self, key: usize) {
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

    fn unlink(&mut self, key: usize) {
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
