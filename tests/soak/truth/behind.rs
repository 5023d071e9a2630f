//! The rules for a list that a second Vigie has read from the first.

use std::time::Duration;

use super::{Asked, Excuse, Truth};
use crate::support::Answer;

/// The reads of both, and what stands between them.
const LONGEST: Duration = Duration::from_secs(8);
/// The way from one to the other.
const ON_THE_WAY: Duration = Duration::from_millis(500);

impl Truth {
    /// Whether an answer of the second one is allowed, whose ttl is this. Errors: why not.
    pub(crate) fn check_behind(
        &self,
        asked: &Asked<'_>,
        answer: &Answer,
        ttl: Duration,
    ) -> Result<(), String> {
        let from = asked.begun - LONGEST;
        let slack = self.jitter.slack(from, asked.ended);
        let met = self.epochs.read().unwrap().met(from, asked.ended);
        let specs = met
            .iter()
            .filter_map(|epochs| epochs[0].services.get(asked.service));
        let mut oldest = None;
        for spec in specs {
            let log = spec.place.log();
            let keeps = spec.ttl + spec.max_stale + ttl + ON_THE_WAY + slack;
            let is_met = match answer.status {
                200 => log
                    .with_body(&spec.as_logged(answer.text()))
                    .iter()
                    .any(|version| {
                        version.gives.iter().any(|give| {
                            let until = give.until.unwrap_or(asked.ended) + keeps;
                            oldest = oldest.max(Some(until));
                            give.from <= asked.ended && asked.begun < until
                        })
                    }),
                502 | 504 => log.spans.iter().any(|span| {
                    span.excuse != Excuse::Slow
                        && span.begin <= asked.ended
                        && span.end.is_none_or(|end| end + keeps + ttl >= asked.begun)
                }),
                _ => false,
            };
            if is_met {
                return Ok(());
            }
        }
        Err(match (answer.status, oldest) {
            (200, None) => "a wrong list".to_owned(),
            (200, Some(until)) => format!("a list that is {:?} too old", asked.begun - until),
            _ => answer.error(),
        })
    }
}
