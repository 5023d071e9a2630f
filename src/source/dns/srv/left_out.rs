//! What the log has told of targets that are left out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use log::info;

use super::targets::Reason;
use crate::dns::{Name, to_text};
use crate::wording::count;

/// A change is told of so many targets by name.
const MOST: usize = 10;

/// The targets that are left out, so that the log tells of each once when that begins and once when it
/// ends. No answer depends on it.
#[derive(Default)]
pub(in crate::source::dns) struct LeftOut(Mutex<BTreeMap<String, Reason>>);

impl LeftOut {
    /// Tells that there is nothing any more to be left out.
    pub(in crate::source::dns) fn end(&self, name: &Name) {
        self.tell(name, BTreeMap::new());
    }

    /// Tells what has changed since the last read of the name.
    pub(super) fn tell(&self, name: &Name, missing: BTreeMap<String, Reason>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = missing
            .iter()
            .filter(|(target, _)| !told.contains_key(*target));
        let begun: Vec<String> = begun
            .map(|(target, reason)| format!("{target}, which {reason}"))
            .collect();
        let ended = told.keys().filter(|target| !missing.contains_key(*target));
        let ended: Vec<String> = ended.cloned().collect();
        let name = to_text(name);
        if !begun.is_empty() {
            info!("dns {name}: leaves out {}", list(&begun));
        }
        if !ended.is_empty() {
            info!("dns {name}: no longer leaves out {}", list(&ended));
        }
        *told = missing;
    }
}

fn list(targets: &[String]) -> String {
    let shown = targets.get(..MOST).unwrap_or(targets).join("; ");
    match targets.len().checked_sub(MOST) {
        None | Some(0) => shown,
        Some(more) => format!("{shown}; and {}", count(more, "more target")),
    }
}
