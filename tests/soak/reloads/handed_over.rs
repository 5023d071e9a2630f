//! A reload after which a list may stand in that was kept for its ttl alone, or that comes when the reload is done.

use std::time::{Duration, Instant};

use super::Reloads;
use crate::honest;
use crate::truth::{Kind, ON_THE_WAY, Spec};

/// A list that is kept for less may be gone when the reload is done.
const LONG_ENOUGH: Duration = Duration::from_millis(700);
/// Until then the list that is kept is another one, or one is read.
const SOON: Duration = Duration::from_millis(2000);

#[derive(Clone, Copy)]
pub(super) enum Way {
    Kept,
    UnderWay,
}

/// A place may not be asked just now, or a reload take too long.
const TRIES: usize = 3;
const WAYS: [Way; 2] = [Way::Kept, Way::UnderWay];

impl Reloads {
    pub(super) fn handing_over(&mut self) {
        let way = self.chance.deal(&mut self.ways, &WAYS);
        let mut tries = 0..TRIES;
        while self.stage.goes_on() && tries.next().is_some() && !self.hand_over(way) {}
    }

    /// Says whether a list was handed over.
    fn hand_over(&mut self, way: Way) -> bool {
        let is_long = |ttl| matches!(way, Way::UnderWay) || ttl >= LONG_ENOUGH;
        let is_meant =
            |spec: &Spec| spec.kind == "url" && spec.max_stale.is_zero() && is_long(spec.ttl);
        match (self.one_of(is_meant), way) {
            (None, _) => {
                self.next();
                false
            }
            (Some((service, spec)), Way::Kept) => self.kept(&service, &spec),
            (Some((service, spec)), Way::UnderWay) => self.under_way(&service, &spec),
        }
    }

    /// Takes the last good list that the peer of a url gives for a while, reloads, and sees it stand in. Says whether it did.
    fn kept(&mut self, service: &str, spec: &Spec) -> bool {
        let stage = self.stage.clone();
        // A read from before the last reload is none of the present configuration.
        stage.pause(2 * ON_THE_WAY);
        let holding = stage.holds.want_last(&spec.place);
        let begun = Instant::now();
        while !holding.is_overtaken(Duration::ZERO) && begun.elapsed() < SOON {
            honest::ask(&stage, service);
            stage.pause(self.chance.ms(5..30));
        }
        let seen = honest::ask(&stage, service);
        self.next_standing_in(service);
        let answer = honest::ask(&stage, service);
        let (Some((Kind::Fresh, before)), Some((Kind::Stale, after))) = (seen, answer) else {
            return false;
        };
        if before == after {
            stage.tally.count("reloads", "handing over");
        }
        before == after
    }

    /// Reloads while the peer of a url holds its last good list, and sees that stand in when it has come. Says whether it
    /// did.
    fn under_way(&mut self, service: &str, spec: &Spec) -> bool {
        let stage = self.stage.clone();
        let holding = stage.holds.want_late(&spec.place);
        if !holding.is_held(SOON) {
            return false;
        }
        let held = Instant::now();
        self.next_standing_in(service);
        // This one reads in vain.
        honest::ask(&stage, service);
        if !holding.release() {
            return false;
        }
        let released = Instant::now();
        while stage.goes_on() && released.elapsed() < SOON {
            if let Some((Kind::Stale, _)) = honest::ask(&stage, service) {
                stage.tally.count("reloads", "handing over what comes");
                return true;
            }
            stage.pause(self.chance.ms(5..60));
        }
        // A read that was held up for longer may have ended in vain, and its list come later than that.
        if released - held + stage.truth.slack(held, Instant::now()) < SOON {
            stage.fail_with(
                service,
                format!("{service}: the list that came after the reload does not stand in"),
            );
        }
        false
    }
}
