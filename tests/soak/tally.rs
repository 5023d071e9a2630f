//! What has happened, and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;

/// How often each kind of thing has happened.
#[derive(Default)]
pub(crate) struct Tally(Mutex<BTreeMap<(&'static str, String), u64>>);

impl Tally {
    pub(crate) fn count(&self, group: &'static str, what: impl Into<String>) {
        *self
            .0
            .lock()
            .unwrap()
            .entry((group, what.into()))
            .or_default() += 1;
    }

    pub(crate) fn of(&self, group: &'static str, what: &str) -> u64 {
        self.0
            .lock()
            .unwrap()
            .get(&(group, what.to_owned()))
            .copied()
            .unwrap_or_default()
    }

    /// A line a group.
    pub(crate) fn told(&self) -> String {
        let all = self.0.lock().unwrap();
        let groups: BTreeSet<&str> = all.keys().map(|(group, _)| *group).collect();
        let mut text = String::new();
        for group in groups {
            let parts = all.iter().filter(|((of, _), _)| *of == group);
            let parts: Vec<_> = parts
                .map(|((_, what), count)| format!("{count} {what}"))
                .collect();
            let _ = writeln!(text, "{group}: {}", parts.join(", "));
        }
        text
    }
}
