//! What is counted of a service.

use std::time::SystemTime;

use super::Listed;
use crate::metrics::Counter;
use crate::slot::Part;
use crate::source::Failure;

/// The ways in which a request for a list is answered, as the label `outcome` names them: kept; by a
/// read of its own; by one that was under way; by the last good list; not.
pub const OUTCOMES: [&str; 5] = ["hit", "miss", "joined", "stale", "error"];

/// What a read gives, as the label `result` names it.
pub const RESULTS: [&str; 3] = ["ok", "empty", "error"];

/// What there is to tell of a service.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// Answers, in the order of [`OUTCOMES`].
    pub answers: [u64; OUTCOMES.len()],
    /// Reads of a source of this kind, in the order of [`RESULTS`].
    pub reads: [u64; RESULTS.len()],
    /// How many endpoints the last good read gave, and when it ended; `None` before there was one.
    pub last_good: Option<(usize, SystemTime)>,
}

/// Answers by their outcome.
#[derive(Debug, Default)]
pub(super) struct Answers([Counter; OUTCOMES.len()]);

impl Answers {
    pub(super) fn add(&self, answer: Result<&Listed, &Failure>) {
        let [hit, miss, joined, stale, error] = &self.0;
        let counter = match answer {
            Err(_) => error,
            Ok(listed) if listed.stale.is_some() => stale,
            Ok(listed) => match listed.part {
                Part::None => hit,
                Part::Began => miss,
                Part::Joined => joined,
            },
        };
        counter.add_one();
    }

    pub(super) fn get(&self) -> [u64; OUTCOMES.len()] {
        self.0.each_ref().map(Counter::get)
    }
}

/// Reads by their result.
#[derive(Debug, Default)]
pub(super) struct Reads([Counter; RESULTS.len()]);

impl Reads {
    /// Counts a read that gave so many endpoints, or none because it failed.
    pub(super) fn add(&self, endpoints: Option<usize>) {
        let [ok, empty, error] = &self.0;
        let counter = match endpoints {
            Some(0) => empty,
            Some(_) => ok,
            None => error,
        };
        counter.add_one();
    }

    pub(super) fn get(&self) -> [u64; RESULTS.len()] {
        self.0.each_ref().map(Counter::get)
    }
}
