//! What one read has learned of its servers, so that it waits for a silent one once, not at each question.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::failure::Problem;
use super::question::Kind;

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

/// What is known of one server.
#[derive(Clone, Debug)]
struct Known {
    standing: Standing,
    /// Of which kinds it answered questions, whatever it said.
    answered: Vec<Kind>,
}

/// What is known of each server, by its place.
#[derive(Debug)]
pub(super) struct Standings(Mutex<Vec<Known>>);

impl Standings {
    pub(super) fn of_live(servers: usize) -> Self {
        let known = Known {
            standing: Standing::Live,
            answered: Vec::new(),
        };
        Self(Mutex::new(vec![known; servers]))
    }

    /// The places of all servers in the order in which they are to be asked now.
    pub(super) fn order(&self) -> Vec<usize> {
        let all = self.lock();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|at| all.get(*at).map(|known| known.standing));
        order
    }

    /// Whether this read has waited for the server in vain before, and it never answered a question of
    /// the kind.
    pub(super) fn was_waited_for(&self, at: usize, kind: Kind) -> bool {
        self.lock().get(at).is_some_and(|known| {
            matches!(known.standing, Standing::Late | Standing::Silent)
                && !known.answered.contains(&kind)
        })
    }

    /// Nobody waits for it alone any more.
    pub(super) fn is_silent(&self, at: usize) {
        self.change(at, |known| known.standing = Standing::Silent);
    }

    /// A question of the kind to it has ended so.
    pub(super) fn has_ended(&self, at: usize, kind: Kind, outcome: &Result<Answer, Problem>) {
        let (is_dead, has_answered) = match outcome {
            Ok(_) => (false, true),
            Err(problem) => (problem.is_of_dead(), problem.is_of_answer()),
        };
        self.change(at, |known| {
            known.standing = match known.standing {
                Standing::Live if is_dead => Standing::Dead,
                Standing::Silent if has_answered => Standing::Late,
                standing => standing,
            };
            if has_answered && !known.answered.contains(&kind) {
                known.answered.push(kind);
            }
        });
    }

    fn change(&self, at: usize, change: impl FnOnce(&mut Known)) {
        if let Some(known) = self.lock().get_mut(at) {
            change(known);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
