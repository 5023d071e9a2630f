//! A place where a list is kept, and the log of all that its peer has said of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::lists::{self, Endpoint};

/// Nothing older can be an answer any more: longer than each timeout, ttl and max_stale together.
const KEPT: Duration = Duration::from_secs(60);

/// What is known of one place. At any time one service reads it at most.
pub(crate) struct Place {
    pub(crate) name: String,
    log: Mutex<Log>,
}

/// All that was said.
#[derive(Default)]
pub(crate) struct Log {
    /// The number of the first version that is kept.
    base: u64,
    versions: VecDeque<Version>,
    by_body: HashMap<Arc<str>, Vec<u64>>,
    pub(crate) spans: VecDeque<Span>,
    next_span: u64,
    /// The last exchange that gave a whole list.
    pub(crate) last_whole: Option<Give>,
}

/// A list of which no other has the content, but the empty ones.
pub(crate) struct Version {
    pub(crate) number: u64,
    drafted: Instant,
    body: Option<Arc<str>>,
    pub(crate) gives: Vec<Give>,
    /// The end of the first request that it answered.
    pub(crate) first_seen: Option<Instant>,
    /// In which epochs it has answered a request that no other epoch can have answered, and the end of the first.
    pub(crate) landed: Vec<(u64, Instant)>,
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
    id: u64,
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
    /// A file is being emptied: for a moment it may be empty already, but not yet look as if it had just been written.
    Emptied,
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
        });
        number
    }

    /// From now on a read may have this version whole.
    pub(crate) fn whole(&self, number: u64, list: &[Endpoint], give: Give) {
        let body: Arc<str> = lists::body(list).into();
        let mut log = self.log();
        log.by_body.entry(body.clone()).or_default().push(number);
        if give.once {
            log.last_whole = Some(give);
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
        log.last_whole = Some(give);
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

impl Span {
    /// Whether it explains a failure in these words.
    pub(crate) fn explains(&self, reason: &str) -> bool {
        match self.excuse {
            Excuse::Failing | Excuse::Silent => true,
            Excuse::Emptied => reason.contains("it has no byte"),
            Excuse::Slow => false,
        }
    }
}

impl Log {
    pub(crate) fn version(&mut self, number: u64) -> Option<&mut Version> {
        let at = number.checked_sub(self.base)?;
        self.versions.get_mut(at as usize)
    }

    /// The versions with this body, the last first.
    pub(crate) fn with_body(&self, body: &str) -> Vec<&Version> {
        let numbers = self.by_body.get(body).into_iter().flatten().rev();
        numbers
            .filter_map(|number| self.versions.get((number - self.base) as usize))
            .collect()
    }

    /// All versions, the last first.
    pub(crate) fn last_first(&self) -> impl Iterator<Item = &Version> {
        self.versions.iter().rev()
    }

    fn forget(&mut self) {
        let is_old = |moment: Instant| moment.elapsed() > KEPT;
        while self
            .versions
            .front()
            .is_some_and(|version| is_old(version.last_said()))
        {
            let Some(version) = self.versions.pop_front() else {
                return;
            };
            self.base += 1;
            let Some(body) = version.body else { continue };
            let numbers = self.by_body.get_mut(&body).expect("each body is known");
            numbers.retain(|number| *number != version.number);
            if numbers.is_empty() {
                self.by_body.remove(&body);
            }
        }
        while self
            .spans
            .front()
            .is_some_and(|span| span.end.is_some_and(is_old))
        {
            self.spans.pop_front();
        }
    }
}

impl Version {
    fn last_said(&self) -> Instant {
        match self.gives.last() {
            None => self.drafted,
            Some(give) => give.until.unwrap_or_else(Instant::now),
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
