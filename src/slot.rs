//! The memory of one service: freshness, single flight and the last good list.
//!
//! A slot knows no source and no HTTP. It is handed the read to run, the time, and a spawner, so
//! that a read outlives the client that began it.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use event_listener::Event;
use smol::future::FutureExt;

use crate::clock::Clock;

/// While a last good list may stand in, a request waits this long for the read (RFC 8767, section 5).
const PATIENCE: Duration = Duration::from_secs(1);

/// So many reads of a source may be under way at once: one, and beside a reload one from before it. After more reloads
/// than that meanwhile, requests wait for the last of them, so that a source that hangs is not read once a reload.
const MOST_READS: usize = 2;

/// So many of those who wait for a read are woken when it ends; each of them wakes another.
const WOKEN_AT_ONCE: usize = 16;

/// How long an answer is kept, and for how long after that it may stand in for a failed read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long an answer is fresh, from the end of its read; zero turns the cache off.
    pub ttl: Duration,
    /// How long past its ttl the last good answer may stand in when a read fails; zero means never.
    pub max_stale: Duration,
}

/// A future that runs to its end whoever waits for it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where reads run, and what time it is there.
#[derive(Clone)]
pub struct Runtime {
    /// The time that decides freshness.
    pub clock: Clock,
    /// Runs a task in the background, to its end.
    pub spawn: Arc<dyn Fn(Task) + Send + Sync>,
}

/// A list that a request gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given<T, E> {
    /// The list.
    pub value: T,
    /// Since the end of its read.
    pub age: Duration,
    /// What the request had to do with a read.
    pub part: Part,
    /// Set when it stands in for a fresh one.
    pub stale: Option<Stale<E>>,
}

/// The part that a request has in the read of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// None: a fresh list was kept.
    None,
    /// It began one.
    Began,
    /// It waited for one that was under way.
    Joined,
}

/// That, and why, a list stands in for a fresh one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale<E> {
    /// How long it is past its ttl.
    pub past_ttl: Duration,
    /// Why the read failed; `None` while it is still under way.
    pub reason: Option<E>,
}

/// A list and the read that gave it.
#[derive(Clone, Debug)]
struct LastGood<T> {
    value: T,
    begun: Instant,
    /// When its read ended.
    read_at: Instant,
}

/// Where the last good list of a source is, through all reloads that leave the source as it is.
type Memory<T> = Arc<Mutex<Option<LastGood<T>>>>;

/// The same of a slot that may be dropped unused.
type Heir<T> = Weak<Mutex<Option<LastGood<T>>>>;

/// The reads of a source that are under way, through all reloads that leave the source as it is, the last one last.
type UnderWay<T, E> = Arc<Mutex<Vec<Weak<Flight<T, E>>>>>;

/// The memory of one service.
#[derive(Debug)]
pub struct Slot<T, E> {
    policy: Policy,
    last_good: Option<Memory<T>>,
    under_way: UnderWay<T, E>,
    state: Mutex<State<T, E>>,
}

#[derive(Debug)]
struct State<T, E> {
    /// A list, and until when it is fresh.
    fresh: Option<(LastGood<T>, Instant)>,
    flight: Option<Arc<Flight<T, E>>>,
    /// Those of slots after this one, where this one has none. There may be several: a reload may be prepared and never
    /// done, and end after the next.
    heirs: Vec<Heir<T>>,
}

/// One read under way, and those who wait for it.
#[derive(Debug)]
struct Flight<T, E> {
    begun: Instant,
    outcome: OnceLock<Result<LastGood<T>, E>>,
    ended: Event,
}

impl<T, E> Slot<T, E>
where
    T: Clone + Send + Sync + 'static,
    E: Clone + Send + Sync + 'static,
{
    /// A slot without any list.
    pub fn new(policy: Policy) -> Self {
        Self::with(policy, Memory::default(), UnderWay::default())
    }

    /// A slot without a fresh list. The last good one of `old` may stand in, and so may what its read under way gives:
    /// whoever has got that list is not given an older one afterwards. Of a slot where none may stand in, it is the list
    /// that is kept for its ttl, and those that come until nobody asks it any more.
    pub fn after(policy: Policy, old: &Self) -> Self {
        let memory = match &old.last_good {
            Some(memory) => memory.clone(),
            None => old.state().hand_over(),
        };
        Self::with(policy, memory, old.under_way.clone())
    }

    fn with(policy: Policy, memory: Memory<T>, under_way: UnderWay<T, E>) -> Self {
        Self {
            policy,
            under_way,
            last_good: (!policy.max_stale.is_zero()).then_some(memory),
            state: Mutex::new(State {
                fresh: None,
                flight: None,
                heirs: Vec::new(),
            }),
        }
    }

    /// The list, if it is fresh. Never waits.
    pub fn fresh(&self, now: Instant) -> Option<Given<T, E>> {
        let state = self.state();
        let (fresh, until) = state.fresh.as_ref()?;
        (now < *until).then(|| fresh.given(now, Part::None))
    }

    /// The fresh list, or else the outcome of the read under way, which begins with `read` when there
    /// is none; or else the last good list.
    pub async fn get<R>(
        self: &Arc<Self>,
        runtime: &Runtime,
        read: impl FnOnce() -> R,
    ) -> Result<Given<T, E>, E>
    where
        R: Future<Output = Result<T, E>> + Send + 'static,
    {
        let asked_at = runtime.clock.now();
        if let Some(fresh) = self.fresh(asked_at) {
            return Ok(fresh);
        }
        let (flight, part) = self.join(runtime, asked_at, read);
        if self.stand_in(asked_at, part, None).is_some() {
            let patience = runtime.clock.sleep_until(asked_at + PATIENCE);
            let landed = async {
                let _ = flight.landed().await;
            };
            landed.or(patience).await;
            if flight.is_under_way()
                && let Some(stale) = self.stand_in(runtime.clock.now(), part, None)
            {
                return Ok(stale);
            }
        }
        let outcome = flight.landed().await;
        let now = runtime.clock.now();
        match outcome {
            Ok(good) => Ok(good.given(now, part)),
            Err(reason) => self
                .stand_in(now, part, Some(reason))
                .ok_or_else(|| reason.clone()),
        }
    }

    /// The last good list, if it may stand in now.
    fn stand_in(&self, now: Instant, part: Part, reason: Option<&E>) -> Option<Given<T, E>> {
        let given = self.last_good()?.as_ref()?.given(now, part);
        let past_ttl = given.age.saturating_sub(self.policy.ttl);
        let stale = Some(Stale {
            past_ttl,
            reason: reason.cloned(),
        });
        (past_ttl < self.policy.max_stale).then_some(Given { stale, ..given })
    }

    /// A read under way, or a new one, and which of the two it is.
    fn join<R>(
        self: &Arc<Self>,
        runtime: &Runtime,
        begun: Instant,
        read: impl FnOnce() -> R,
    ) -> (Arc<Flight<T, E>>, Part)
    where
        R: Future<Output = Result<T, E>> + Send + 'static,
    {
        let flight = {
            let mut state = self.state();
            if let Some(flight) = &state.flight {
                return (flight.clone(), Part::Joined);
            }
            let mut under_way = self.under_way();
            under_way.retain(|flight| flight.upgrade().is_some_and(|flight| flight.is_under_way()));
            if under_way.len() >= MOST_READS
                && let Some(last) = under_way.last().and_then(Weak::upgrade)
            {
                return (last, Part::Joined);
            }
            let flight = Arc::new(Flight {
                begun,
                outcome: OnceLock::new(),
                ended: Event::new(),
            });
            under_way.push(Arc::downgrade(&flight));
            state.flight.insert(flight).clone()
        };
        let (slot, clock, read, landing) =
            (self.clone(), runtime.clock.clone(), read(), flight.clone());
        (runtime.spawn)(Box::pin(async move {
            let outcome = read.await;
            slot.land(&landing, outcome, clock.now());
        }));
        (flight, Part::Began)
    }

    /// Keeps what a read gave and hands it to those who wait. A failure is not kept.
    fn land(&self, flight: &Flight<T, E>, outcome: Result<T, E>, now: Instant) {
        let begun = flight.begun;
        let outcome = outcome.map(|value| LastGood {
            value,
            begun,
            read_at: now,
        });
        let mut state = self.state();
        state.flight = None;
        match &outcome {
            Ok(good) => {
                // A list that could never be served again is not worth its memory.
                state.fresh =
                    (!self.policy.ttl.is_zero()).then(|| (good.clone(), now + self.policy.ttl));
                self.keep(good, &state.heirs);
            }
            Err(_) => state.fresh = None,
        }
        drop(state);
        // The first outcome stands; a flight lands once.
        let _ = flight.outcome.set(outcome);
        flight.ended.notify(WOKEN_AT_ONCE);
    }

    /// Keeps a list in the place of one whose read did not begin later: a slot after this one may have read.
    fn keep(&self, good: &LastGood<T>, heirs: &[Heir<T>]) {
        let heirs = heirs.iter().filter_map(Weak::upgrade);
        for memory in self.last_good.iter().cloned().chain(heirs) {
            let mut last_good = locked(&memory);
            if last_good
                .as_ref()
                .is_none_or(|last| last.begun <= good.begun)
            {
                *last_good = Some(good.clone());
            }
        }
    }

    fn last_good(&self) -> Option<MutexGuard<'_, Option<LastGood<T>>>> {
        self.last_good.as_ref().map(locked)
    }

    fn under_way(&self) -> MutexGuard<'_, Vec<Weak<Flight<T, E>>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone, E> State<T, E> {
    /// The memory of a slot after this one: what is kept, and what comes.
    fn hand_over(&mut self) -> Memory<T> {
        let kept = self.fresh.clone().map(|(list, _)| list);
        let memory = Arc::new(Mutex::new(kept));
        self.heirs.retain(|heir| heir.strong_count() > 0);
        self.heirs.push(Arc::downgrade(&memory));
        memory
    }
}

fn locked<T>(memory: &Memory<T>) -> MutexGuard<'_, Option<LastGood<T>>> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Clone> LastGood<T> {
    fn given<E>(&self, now: Instant, part: Part) -> Given<T, E> {
        Given {
            value: self.value.clone(),
            age: now.saturating_duration_since(self.read_at),
            part,
            stale: None,
        }
    }
}

impl<T, E> Flight<T, E> {
    fn is_under_way(&self) -> bool {
        self.outcome.get().is_none()
    }

    async fn landed(&self) -> Result<&LastGood<T>, &E> {
        loop {
            let ended = self.ended.listen();
            if let Some(outcome) = self.outcome.get() {
                return outcome.as_ref();
            }
            ended.await;
            // Each wakes one more, so that thousands who wait do not hold up everyone else.
            self.ended.notify_additional(1);
        }
    }
}
