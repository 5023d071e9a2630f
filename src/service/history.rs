//! What a service remembers of its reads, and what the log is told of them.

use std::sync::{Arc, Weak};
use std::time::{Instant, SystemTime};

use log::info;

use super::Listing;
use crate::clock;
use crate::source::Failure;
use crate::wording::count;

/// What the service of a name remembers of its reads, whatever its source was.
#[derive(Debug, Default)]
pub(super) struct History {
    /// What the log has told, so that each change is told once.
    pub(super) failing_since: Option<Instant>,
    empty: Option<bool>,
    /// How many endpoints the last good read gave, and when it ended.
    pub(super) last_good: Option<(usize, SystemTime)>,
    /// The last list, as long as anyone holds it.
    last: Weak<Listing>,
    /// When the last read began that is told of.
    begun: Option<Instant>,
}

impl History {
    /// The same list again is the one that is there already: who has not taken all of it yet holds it.
    pub(super) fn share(&mut self, listing: Listing) -> Arc<Listing> {
        if let Some(last) = self.last.upgrade().filter(|last| **last == listing) {
            return last;
        }
        let listing = Arc::new(listing);
        self.last = Arc::downgrade(&listing);
        listing
    }

    /// Logs what has changed with a read. One that ends after a later one, which a reload began, changes nothing.
    pub(super) fn tell(
        &mut self,
        name: &str,
        kind: &str,
        outcome: &Result<Listing, Failure>,
        (begun, now): (Instant, Instant),
    ) {
        if self.begun.is_some_and(|last| begun < last) {
            return;
        }
        self.begun = Some(begun);
        match outcome {
            Err(failure) if self.failing_since.is_none() => {
                self.failing_since = Some(now);
                info!(service = name, source = kind; "{failure}");
            }
            Err(_) => {}
            Ok(listing) => {
                if let Some(since) = self.failing_since.take() {
                    let seconds = now.saturating_duration_since(since).as_secs();
                    info!(service = name, source = kind; "service {name}: its source answers again, after {seconds} s");
                }
                self.tell_emptiness(name, kind, listing.endpoints);
                self.last_good = Some((listing.endpoints, clock::date()));
            }
        }
    }

    fn tell_emptiness(&mut self, name: &str, kind: &str, endpoints: usize) {
        let empty = endpoints == 0;
        match self.empty.replace(empty) {
            Some(true) if !empty => {
                info!(service = name, source = kind; "service {name}: lists {} again", count(endpoints, "endpoint"))
            }
            Some(false) if empty => {
                info!(service = name, source = kind; "service {name}: its source lists no endpoints now")
            }
            _ => {}
        }
    }
}
