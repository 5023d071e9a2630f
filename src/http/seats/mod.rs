//! Who is connected, and for how long each may wait.
//!
//! A connection waits for its socket only. Whoever waits too long, or must make room, has its socket
//! shut down from here, and sees the end of its stream; who is late with a request is woken, to be told
//! so. So a connection needs no timer of its own: each kind of wait has one length, and the connections
//! in it stand in a queue by the moment at which they came.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use async_io::Async;
use event_listener::Event;
use smol::future::FutureExt;

use crate::clock::Clock;

mod gone;
mod state;

use state::{Standing, State, Taken};

/// A connected socket, TCP or unix.
pub type Stream = Async<OwnedFd>;

/// How long a client that is sent away may take to read why.
const LINGER: Duration = Duration::from_secs(2);

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
    /// A read, which has its own bounds.
    Read,
    /// The answer, which is made at once.
    Answer,
}

/// How long each wait may last.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Beyond them, those that are kept open until they have read that the limit is reached.
    pub refused: usize,
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
    /// time makes room, or those who wait for a read and have hung up.
    pub fn admit(&self, stream: Arc<Stream>, now: Instant) -> Admission {
        let mut state = self.state();
        let room = state.counted < self.limits.connections || state.make_room(now);
        if !room && state.refused >= self.limits.refused && !state.forget_refused() {
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
            waker: None,
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

    /// The connection is there, and is woken by this when it is late.
    pub fn take(&self, seat: Seat, waker: Waker) {
        if let Some(taken) = self.state().seats.get_mut(seat.0) {
            taken.waker = Some(waker);
        }
    }

    /// From now on the connection waits for this; false when it cannot, since the time of its request is
    /// up already. The rest of a first request must come within the time that its first byte had.
    pub fn wait(&self, seat: Seat, wait: Wait, now: Instant) -> bool {
        let mut state = self.state();
        let Some(taken) = state.seats.get_mut(seat.0) else {
            return true;
        };
        if taken.late && wait == Wait::Request {
            return false;
        }
        taken.late = false;
        let since = if (taken.wait, wait) == (Wait::First, Wait::Request) {
            taken.since
        } else {
            now
        };
        state.change(seat.0, wait, since);
        self.plan(&mut state, wait, since);
        true
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

    /// Whether the request of the connection took too long.
    pub fn is_late(&self, seat: Seat) -> bool {
        self.state()
            .seats
            .get(seat.0)
            .is_some_and(|taken| taken.late)
    }

    /// Whether the connection was told to leave.
    pub fn is_sent_away(&self, seat: Seat) -> bool {
        let state = self.state();
        let taken = state.seats.get(seat.0);
        taken.is_some_and(|taken| taken.standing == Standing::ToldToLeave)
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
    pub fn count(&self) -> usize {
        self.state().seats.len()
    }

    /// Ends when nobody is connected.
    pub async fn emptied(&self) {
        loop {
            let left = self.left.listen();
            if self.count() == 0 {
                return;
            }
            left.await;
        }
    }

    /// Hangs up on everyone who has no request under way.
    pub fn close_idle(&self) {
        let mut state = self.state();
        let keys: Vec<_> = state
            .seats
            .iter()
            .filter(|(_, taken)| taken.is_idle())
            .map(|(key, _)| key)
            .collect();
        for key in keys {
            state.dismiss(key);
        }
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
                state.expire(key, now);
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
            Wait::Read | Wait::Answer => None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
