//! A service: a name, its source, its memory and what is counted of it.

mod history;
mod listing;
pub mod tally;

use std::num::NonZeroU16;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use smol::future::FutureExt;

use self::history::History;
pub use self::listing::Listing;
use self::tally::{Answers, Reads, Statistics};
use crate::blocking::{self, Lane};
use crate::clock::Clock;
use crate::config;
use crate::endpoint::Endpoint;
use crate::metrics::Histograms;
use crate::slot::{Given, Policy, Runtime, Slot};
use crate::source::{Common, Failure, Reader, Source};
use crate::wording::count;
use crate::yaml::Diagnostic;

/// A list of so many endpoints is rendered in less time than a thread takes to start.
const RENDERED_AT_ONCE: usize = 500;

/// A list that a request for a service gets.
pub type Listed = Given<Arc<Listing>, Failure>;

/// A configured service.
pub struct Service {
    name: Box<str>,
    source: Source,
    default_port: NonZeroU16,
    policy: Policy,
    lane: Lane,
    reader: Arc<dyn Reader>,
    /// As its reader last knew it.
    place: Option<String>,
    slot: Arc<Slot<Arc<Listing>, Failure>>,
    history: Arc<Mutex<History>>,
    answers: Arc<Answers>,
    reads: Arc<Reads>,
}

/// A read that may hang, and holds up all others of its place.
#[derive(Clone)]
pub struct Hanging {
    source: Source,
    /// Where it is under way.
    pub lane: Lane,
}

impl Service {
    /// Builds the service and its source; reads no list. `old` is the service of the same name before a
    /// reload, whose memory it takes over: where the source did not change, the last good list may stand in still,
    /// and in any case a read that hangs is not begun again beside itself, nor beside one of those that are `hanging`.
    ///
    /// Errors: all that keeps the source from being built.
    pub fn build(
        settings: config::Service,
        old: Option<&Self>,
        hanging: &[Hanging],
        common: &mut Common,
    ) -> Result<Self, Vec<Diagnostic>> {
        let config::Service {
            name,
            source,
            default_port,
            cache,
        } = settings;
        let same = old.filter(|old| old.source == source && old.default_port == default_port);
        let beside = same.or(old.filter(|old| source.is_at_the_place_of(&old.source)));
        let lane = beside.map(|old| &old.lane).or_else(|| {
            let mut hanging = hanging.iter();
            let one = hanging.find(|one| source.is_at_the_place_of(&one.source))?;
            Some(&one.lane)
        });
        let lane = lane.cloned().unwrap_or_default();
        let reader = match same.filter(|_| !source.is_built_from_files()) {
            Some(old) => old.reader.clone(),
            None => source.build(lane.clone(), common)?,
        };
        // While it is not known where it reads, it is where it was.
        let place = reader
            .place()
            .or_else(|| same.and_then(|old| old.place.clone()));
        let stays = same.filter(|old| old.place.is_none() || old.place == place);
        let slot = stays.map_or_else(|| Slot::new(cache), |old| Slot::after(cache, &old.slot));
        let of_kind = old.filter(|old| old.source.kind() == source.kind());
        Ok(Self {
            name,
            reader,
            place,
            source,
            default_port,
            policy: cache,
            lane,
            slot: Arc::new(slot),
            history: old.map(|old| old.history.clone()).unwrap_or_default(),
            answers: old.map(|old| old.answers.clone()).unwrap_or_default(),
            reads: of_kind.map(|old| old.reads.clone()).unwrap_or_default(),
        })
    }

    /// What it reads at the moment, where that may hang.
    pub fn hanging(&self) -> Option<Hanging> {
        self.lane.is_busy().then(|| Hanging {
            source: self.source.clone(),
            lane: self.lane.clone(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its source, as it is configured.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What there is to tell of it.
    pub fn statistics(&self) -> Statistics {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        Statistics {
            answers: self.answers.get(),
            reads: self.reads.get(),
            last_good: history.last_good,
        }
    }

    /// Whether both were configured alike.
    pub fn same_settings(&self, other: &Self) -> bool {
        self.source == other.source
            && self.default_port == other.default_port
            && self.policy == other.policy
    }

    /// Whether its last read failed.
    pub fn is_failing(&self) -> bool {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.failing_since.is_some()
    }

    /// The list, if it is fresh. Never waits.
    pub fn fresh(&self, now: Instant) -> Option<Listed> {
        let fresh = self.slot.fresh(now)?;
        self.answers.add(Ok(&fresh));
        Some(fresh)
    }

    /// The list: fresh, read now together with whoever else waits, or the last good one.
    /// How long a read takes goes to `durations`, by the kind of its source.
    pub async fn get(
        &self,
        runtime: &Runtime,
        durations: &Arc<Histograms>,
    ) -> Result<Listed, Failure> {
        let read = || self.read(runtime.clock.clone(), durations.clone());
        let answer = self.slot.get(runtime, read).await;
        self.answers.add(answer.as_ref());
        answer
    }

    /// One read of the source, from begin to rendered list.
    fn read(
        &self,
        clock: Clock,
        durations: Arc<Histograms>,
    ) -> impl Future<Output = Result<Arc<Listing>, Failure>> + Send + 'static {
        let (name, reader, history, port) = (
            self.name.clone(),
            self.reader.clone(),
            self.history.clone(),
            self.default_port,
        );
        let (kind, reads) = (self.source.kind(), self.reads.clone());
        async move {
            let begin = clock.now();
            let read = async { render(reader.read(port).await?).await };
            // Those who wait must get an answer even if a source has a bug.
            let outcome = AssertUnwindSafe(read)
                .catch_unwind()
                .await
                .unwrap_or_else(|_| Err(broken()));
            let outcome = outcome.map_err(|failure| failure.of(format_args!("service {name}")));
            let now = clock.now();
            log::debug!(service = &*name, source = kind; "service {name}: read in {:?}: {}", now - begin, told(&outcome));
            for notice in reader.notices() {
                log::info!(service = &*name, source = kind; "service {name}: {notice}");
            }
            durations.observe(kind, now.saturating_duration_since(begin));
            reads.add(outcome.as_ref().ok().map(|listing| listing.endpoints));
            let mut history = history.lock().unwrap_or_else(PoisonError::into_inner);
            history.tell(&name, kind, &outcome, (begin, now));
            outcome.map(|listing| history.share(listing))
        }
    }
}

/// Renders a list; a long one on a thread of its own, so that it holds up nobody.
async fn render(list: Arc<Vec<Endpoint>>) -> Result<Listing, Failure> {
    if list.len() <= RENDERED_AT_ONCE {
        return Ok(Listing::new(&list));
    }
    let rendered = blocking::compute(move || Listing::new(&list)).await;
    rendered.map_err(|stuck| Failure::Unreadable(format!("rendering: {stuck}").into()))
}

fn broken() -> Failure {
    Failure::Unreadable("the read stopped at a fault of Vigie itself; please report it".into())
}

fn told(outcome: &Result<Listing, Failure>) -> String {
    match outcome {
        Ok(listing) => count(listing.endpoints, "endpoint"),
        Err(_) => "failed".into(),
    }
}
