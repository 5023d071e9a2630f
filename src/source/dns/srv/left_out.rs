//! What the log is told of targets that are left out.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::targets::Reason;
use crate::dns::{Name, to_text};
use crate::wording::count;

/// A change is told of so many targets by name.
const MOST: usize = 10;

/// The targets that are left out, so that the log tells of each once when that begins and once when it
/// ends. No answer depends on it.
#[derive(Default)]
pub(in crate::source::dns) struct LeftOut(Mutex<Told>);

#[derive(Default)]
struct Told {
    missing: BTreeMap<String, Reason>,
    /// What the log does not tell yet of the last read.
    notices: Vec<String>,
}

impl LeftOut {
    /// Tells that there is nothing any more to be left out.
    pub(in crate::source::dns) fn end(&self, name: &Name) {
        self.tell(name, BTreeMap::new());
    }

    /// Tells what has changed since the last read of the name.
    pub(super) fn tell(&self, name: &Name, missing: BTreeMap<String, Reason>) {
        let mut told = self.told();
        let begun = missing
            .iter()
            .filter(|(target, _)| !told.missing.contains_key(*target));
        let begun: Vec<String> = begun
            .map(|(target, reason)| format!("{target}, which {reason}"))
            .collect();
        let ended = told
            .missing
            .keys()
            .filter(|target| !missing.contains_key(*target));
        let ended: Vec<String> = ended.cloned().collect();
        let name = to_text(name);
        let mut notices = Vec::new();
        if !begun.is_empty() {
            notices.push(format!("dns {name}: leaves out {}", list(&begun)));
        }
        if !ended.is_empty() {
            notices.push(format!("dns {name}: no longer leaves out {}", list(&ended)));
        }
        *told = Told { missing, notices };
    }

    /// What the log is to be told, once.
    pub(in crate::source::dns) fn notices(&self) -> Vec<String> {
        std::mem::take(&mut self.told().notices)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn list(targets: &[String]) -> String {
    let shown = targets.get(..MOST).unwrap_or(targets).join("; ");
    match targets.len().checked_sub(MOST) {
        None | Some(0) => shown,
        Some(more) => format!("{shown}; and {}", count(more, "more target")),
    }
}
