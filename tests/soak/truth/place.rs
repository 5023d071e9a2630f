//! A place where a list is kept, and the log of all that its peer has said of it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::log::{Log, Version};
use crate::lists::{self, Endpoint};

/// What is known of one place. At any time one service reads it at most.
pub(crate) struct Place {
    pub(crate) name: String,
    log: Mutex<Log>,
}

/// What is known of the reads that took a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Give {
    /// The latest moment at which such a read can have begun; `None` is now.
    pub(crate) begun: Option<Instant>,
    /// The earliest moment at which it can have ended.
    pub(crate) from: Instant,
    /// When the place ceased to say so; a read ends a little later at most. `None` is now.
    pub(crate) until: Option<Instant>,
    /// Whether there was one such read and no more.
    pub(crate) once: bool,
}

/// Some time in which the place was not well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(super) id: u64,
    pub(crate) begin: Instant,
    pub(crate) end: Option<Instant>,
    pub(crate) excuse: Excuse,
}

/// What a fault of a place is an excuse for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excuse {
    /// A good answer takes a while.
    Slow,
    /// There is no answer in time.
    Silent,
    /// There is an answer that is no list.
    Failing,
    /// There is an answer that is no list, and what is said of it has one of these words.
    Saying(&'static [&'static str]),
}

impl Place {
    pub(crate) fn new(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            log: Mutex::default(),
        })
    }

    /// One whose list never changes.
    pub(crate) fn still(name: impl Into<String>, list: &[Endpoint]) -> Arc<Self> {
        let place = Self::new(name);
        place.whole(place.draft(), list, Give::standing());
        place
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    /// The number of a new version, which nobody has got yet.
    pub(crate) fn draft(&self) -> u64 {
        let mut log = self.log();
        log.forget();
        let number = log.base + log.versions.len() as u64;
        log.versions.push_back(Version {
            number,
            drafted: Instant::now(),
            body: None,
            gives: Vec::new(),
            first_seen: None,
            landed: Vec::new(),
            fresh_in: None,
        });
        number
    }

    /// From now on a read may have this version whole.
    pub(crate) fn whole(&self, number: u64, list: &[Endpoint], give: Give) {
        let body: Arc<str> = lists::body(list).into();
        let mut log = self.log();
        log.by_body.entry(body.clone()).or_default().push(number);
        if give.once {
            log.last_whole = Some(number);
        }
        let version = log
            .version(number)
            .expect("a version that is given was drafted just now");
        version.body = Some(body);
        version.gives.push(give);
    }

    /// Another read has it.
    pub(crate) fn again(&self, number: u64, give: Give) {
        let mut log = self.log();
        log.last_whole = Some(number);
        let version = log
            .version(number)
            .expect("what is given again was given a moment ago");
        version.gives.push(give);
    }

    /// The place says so no longer.
    pub(crate) fn gone(&self, number: u64, at: Instant) {
        if let Some(give) = self
            .log()
            .version(number)
            .and_then(|version| version.gives.last_mut())
        {
            (give.begun, give.until) = (Some(at), Some(at));
        }
    }

    /// The read of a version goes on.
    pub(crate) fn goes_on(&self, number: u64) {
        if let Some(give) = self
            .log()
            .version(number)
            .and_then(|version| version.gives.last_mut())
        {
            give.until = Some(Instant::now());
        }
    }

    /// A fault begins now.
    pub(crate) fn begin(&self, excuse: Excuse) -> u64 {
        self.begin_at(excuse, Instant::now())
    }

    pub(crate) fn begin_at(&self, excuse: Excuse, begin: Instant) -> u64 {
        let mut log = self.log();
        log.forget();
        log.next_span += 1;
        let id = log.next_span;
        log.spans.push_back(Span {
            id,
            begin,
            end: None,
            excuse,
        });
        id
    }

    /// It ends now.
    pub(crate) fn end(&self, id: u64) {
        self.end_at(id, Instant::now());
    }

    pub(crate) fn end_at(&self, id: u64, end: Instant) {
        let mut log = self.log();
        if let Some(at) = log.spans.iter().position(|span| span.id == id) {
            match log.spans[at].begin <= end {
                true => log.spans[at].end = Some(end),
                // It was to begin later, and did not.
                false => drop(log.spans.remove(at)),
            }
        }
    }
}

/// What is said where there is no answer in time.
pub(super) const LATE: [&str; 2] = ["not done within ", " did not answer in time"];

impl Span {
    /// Whether it explains a failure in these words, which is no time-out.
    pub(super) fn explains(&self, reason: &str) -> bool {
        match self.excuse {
            Excuse::Failing => true,
            Excuse::Saying(words) => words.iter().any(|words| reason.contains(words)),
            Excuse::Silent | Excuse::Slow => false,
        }
    }
}

impl Give {
    /// By an exchange whose request came at a moment, and whose answer ends now at the earliest.
    pub(crate) fn exchanged(arrived: Instant) -> Self {
        let now = Instant::now();
        Self {
            begun: Some(arrived),
            from: now,
            until: Some(now),
            once: true,
        }
    }

    /// By whoever looks from now on.
    pub(crate) fn standing() -> Self {
        Self {
            begun: None,
            from: Instant::now(),
            until: None,
            once: false,
        }
    }
}
