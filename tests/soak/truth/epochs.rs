//! Which configurations may be in force at a moment: the one before a reload, the one after it, or either.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::place::Place;
use crate::lists::DEFAULT_PORT;

/// So many are known at once; no answer is as old as the first of them.
const KEPT: usize = 100;

/// One configuration, from the reload that brought it.
pub(crate) struct Epoch {
    pub(crate) number: u64,
    /// Before its file was written.
    pub(crate) begun: Instant,
    /// When its reload was known to be done.
    pub(crate) done: OnceLock<Instant>,
    pub(crate) services: HashMap<String, Spec>,
    /// Whether there surely is a reload that brings it.
    pub(super) is_sure: bool,
}

/// A service as one configuration has it.
#[derive(Clone)]
pub(crate) struct Spec {
    pub(crate) place: Arc<Place>,
    /// The key of its source.
    pub(crate) kind: &'static str,
    /// Its source as the file has it.
    pub(crate) source: String,
    pub(crate) default_port: u16,
    pub(crate) ttl: Duration,
    pub(crate) max_stale: Duration,
}

impl Spec {
    /// Whether the last good list stays from one to the other.
    pub(super) fn same_source(&self, other: &Self) -> bool {
        self.source == other.source && self.default_port == other.default_port
    }

    /// Whether both are configured alike.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.same_source(other) && self.ttl == other.ttl && self.max_stale == other.max_stale
    }

    /// The body that the log has for one of this service, whose endpoints without a port have its default one.
    pub(super) fn as_logged<'a>(&self, body: &'a str) -> Cow<'a, str> {
        let port = |port: u16| format!("\"port\": {port},");
        match self.default_port {
            DEFAULT_PORT => body.into(),
            // What has the other port has it wrongly, and is known by none that it could be taken for.
            other => body
                .replace(&port(DEFAULT_PORT), &port(0))
                .replace(&port(other), &port(DEFAULT_PORT))
                .into(),
        }
    }
}

/// All that were in force, the last one last.
#[derive(Default)]
pub(crate) struct Epochs(VecDeque<Arc<Epoch>>);

impl Epochs {
    /// A new one, whose file is about to be written.
    pub(crate) fn begin(
        &mut self,
        number: u64,
        services: HashMap<String, Spec>,
        is_sure: bool,
    ) -> Arc<Epoch> {
        let epoch = Arc::new(Epoch {
            number,
            begun: Instant::now(),
            done: OnceLock::new(),
            services,
            is_sure,
        });
        self.0.push_back(epoch.clone());
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
        epoch
    }

    /// Those that a request between two moments may have met, the latest first, each with those before it,
    /// the latest first.
    pub(crate) fn met(&self, from: Instant, to: Instant) -> Vec<Vec<Arc<Epoch>>> {
        let mut met = Vec::new();
        for (at, epoch) in self.0.iter().enumerate().rev() {
            if epoch.begun > to {
                continue;
            }
            met.push(self.0.iter().take(at + 1).rev().cloned().collect());
            if epoch.done.get().is_some_and(|done| *done <= from) {
                break;
            }
        }
        met
    }

    /// The last so many, the last one last.
    pub(super) fn last(&self, count: usize) -> impl Iterator<Item = &Arc<Epoch>> {
        self.0.iter().skip(self.0.len().saturating_sub(count))
    }

    /// The one that was in force all the time between two moments, if there is one.
    pub(crate) fn only(&self, from: Instant, to: Instant) -> Option<&Arc<Epoch>> {
        let last = self.0.iter().rfind(|epoch| epoch.begun <= to)?;
        last.done
            .get()
            .is_some_and(|done| *done <= from)
            .then_some(last)
    }
}
