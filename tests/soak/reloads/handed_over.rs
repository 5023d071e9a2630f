//! A reload after which a list may stand in that was kept for its ttl alone.

use std::time::{Duration, Instant};

use super::{Reloads, by_request};
use crate::honest;
use crate::truth::{Kind, ON_THE_WAY, Spec};

/// A list that is kept for less may be gone when the reload is done.
const LONG_ENOUGH: Duration = Duration::from_millis(700);
/// Until then the list that is kept is another one.
const SOON: Duration = Duration::from_millis(2000);

impl Reloads {
    /// Takes the last good list that the peer of a url gives for a while, reloads, and sees it stand in.
    pub(super) fn handing_over(&mut self) {
        let stage = self.stage.clone();
        let is_meant =
            |spec: &Spec| spec.kind == "url" && spec.max_stale.is_zero() && spec.ttl >= LONG_ENOUGH;
        let Some((service, spec)) = self.one_of(is_meant) else {
            return self.next();
        };
        // A read from before the last reload is none of the present configuration.
        stage.pause(2 * ON_THE_WAY);
        let holding = stage.holds.want_last(&spec.place);
        let begun = Instant::now();
        while !holding.is_overtaken(Duration::ZERO) && begun.elapsed() < SOON {
            honest::ask(&stage, &service);
            stage.pause(self.chance.ms(5..30));
        }
        let seen = honest::ask(&stage, &service);
        let next = self.services.next_with(Some(&service));
        let epoch = self.begin(&next);
        self.took = by_request(&stage, next.specs.len());
        let _ = epoch.done.set(Instant::now());
        self.is_in_force(next);
        let answer = honest::ask(&stage, &service);
        if let (Some((Kind::Fresh, before)), Some((Kind::Stale, after))) = (seen, answer)
            && before == after
        {
            stage.tally.count("reloads", "handing over");
        }
    }
}
