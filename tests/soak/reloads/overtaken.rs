//! A reload in the middle of a read, which is overtaken by the read after the reload.

use std::time::{Duration, Instant};

use super::{Configuration, by_request};
use crate::chance::Chance;
use crate::honest;
use crate::stage::Stage;
use crate::truth::{Kind, Spec};

/// A list is read so soon, or its place is read in vain just now.
const SOON: Duration = Duration::from_millis(2500);

/// Reloads the same file while the peer of a url holds its answer, which comes when the read after the reload has given a
/// later list. Says whether there was a reload.
pub(super) fn reload(
    stage: &Stage,
    present: &Configuration,
    number: u64,
    chance: &mut Chance,
) -> bool {
    let is_meant = |(_, spec): &(&String, &Spec)| spec.kind == "url" && !spec.max_stale.is_zero();
    let mut meant: Vec<(&String, &Spec)> = present.specs.iter().filter(is_meant).collect();
    meant.sort_unstable_by_key(|(service, _)| *service);
    let (service, spec) = chance.of_these(&meant);
    let holding = stage.holds.want(&spec.place);
    if !holding.is_held(SOON) {
        return false;
    }
    let epoch = stage.truth.begin_epoch(number, present.specs.clone());
    by_request(stage, present.specs.len());
    let _ = epoch.done.set(Instant::now());
    // It begins the read that overtakes the one from before, or waits for it.
    honest::ask(stage, service);
    if holding.release() {
        let begun = Instant::now();
        let longest = spec.ttl + spec.max_stale;
        while stage.goes_on() && begun.elapsed() < longest {
            if honest::ask(stage, service) == Some(Kind::Stale) {
                stage.tally.count("reloads", "between two reads");
                break;
            }
            stage.pause(chance.ms(5..60));
        }
    }
    true
}
