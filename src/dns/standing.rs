//! What one read has learned of its servers, so that it waits for a silent one once, not at each question.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::failure::Problem;

/// What a server did so far; the better ones are asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It answered each question in time, whatever it said, or was not asked yet.
    Live,
    /// It answered, but when nobody waited for it alone any more.
    Late,
    /// It could not be asked, or broke off.
    Dead,
    /// It left a question unanswered for as long as anyone waits.
    Silent,
}

/// The standing of each server, by its place.
#[derive(Debug)]
pub(super) struct Standings(Mutex<Vec<Standing>>);

impl Standings {
    pub(super) fn of_live(servers: usize) -> Self {
        Self(Mutex::new(vec![Standing::Live; servers]))
    }

    /// The places of all servers in the order in which they are to be asked now.
    pub(super) fn order(&self) -> Vec<usize> {
        let standings = self.lock();
        let mut order: Vec<usize> = (0..standings.len()).collect();
        order.sort_by_key(|at| standings.get(*at).copied());
        order
    }

    /// Whether this read has waited for the server in vain before.
    pub(super) fn was_waited_for(&self, at: usize) -> bool {
        let standing = self.lock().get(at).copied();
        matches!(standing, Some(Standing::Late | Standing::Silent))
    }

    /// Nobody waits for it alone any more.
    pub(super) fn is_silent(&self, at: usize) {
        self.change(at, |_| Standing::Silent);
    }

    /// A question to it has ended so.
    pub(super) fn has_ended(&self, at: usize, outcome: &Result<Answer, Problem>) {
        let is_dead = matches!(outcome, Err(problem) if problem.is_of_dead());
        self.change(at, |standing| match standing {
            Standing::Live if is_dead => Standing::Dead,
            Standing::Silent if !is_dead => Standing::Late,
            standing => standing,
        });
    }

    fn change(&self, at: usize, change: impl FnOnce(Standing) -> Standing) {
        if let Some(standing) = self.lock().get_mut(at) {
            *standing = change(*standing);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
