//! All that the peer of a place has said, as long as an answer may rest on it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::place::{Give, Span};

/// Nothing older can be an answer any more: longer than each timeout, ttl and max_stale together.
const KEPT: Duration = Duration::from_secs(60);

/// All that was said.
#[derive(Default)]
pub(crate) struct Log {
    /// The number of the first version that is kept.
    pub(super) base: u64,
    pub(super) versions: VecDeque<Version>,
    pub(super) by_body: HashMap<Arc<str>, Vec<u64>>,
    pub(crate) spans: VecDeque<Span>,
    pub(super) next_span: u64,
    /// The last exchange that gave a whole list.
    pub(super) last_whole: Option<u64>,
}

/// A list of which no other has the content, but the empty ones.
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(super) drafted: Instant,
    pub(super) body: Option<Arc<str>>,
    pub(crate) gives: Vec<Give>,
    /// The end of the first request that it answered.
    pub(crate) first_seen: Option<Instant>,
    /// In which epochs it has answered a request that no other epoch can have answered, and the end of the first.
    pub(crate) landed: Vec<(u64, Instant)>,
    /// The last of those in which it was a fresh one.
    pub(super) fresh_in: Option<u64>,
}

impl Log {
    pub(crate) fn version(&mut self, number: u64) -> Option<&mut Version> {
        let at = number.checked_sub(self.base)?;
        self.versions.get_mut(at as usize)
    }

    /// The exchange that gave a whole list last, if an answer of this epoch surely had it as a fresh one, and no other
    /// exchange gave it.
    pub(super) fn last_fresh(&mut self, epoch: u64) -> Option<Give> {
        let last = self.last_whole?;
        let version = self.version(last)?;
        match version.gives[..] {
            [give] if version.fresh_in == Some(epoch) => Some(give),
            _ => None,
        }
    }

    /// The latest version that an answer of this epoch surely had as a fresh one, and the only exchange that gave it.
    pub(super) fn latest_fresh(&self, epoch: u64) -> Option<(u64, Give)> {
        self.last_first()
            .find_map(|version| match version.gives[..] {
                [give] if version.fresh_in == Some(epoch) => Some((version.number, give)),
                _ => None,
            })
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

    pub(super) fn forget(&mut self) {
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
