//! Those who ask whether Vigie lives, how it is and what the page shows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::stage::Stage;

/// Starts them.
pub(crate) fn start(stage: &Arc<Stage>) {
    let shared = stage.clone();
    stage.run("livez", move || {
        shared.pause(Duration::from_millis(20));
        let begun = Instant::now();
        let answer = shared.vigie.get("/livez");
        let took = begun.elapsed();
        let jitter = &shared.truth.jitter;
        let limit = Duration::from_millis(100) + jitter.slack_of_machine(begun, Instant::now());
        jitter.server_took(begun, took);
        if answer.status != 200 || took > limit {
            shared.fail(format!(
                "/livez: {} after {took:?}; {limit:?} are allowed",
                answer.status
            ));
        }
        shared.tally.count("watched", "/livez");
    });
    let shared = stage.clone();
    stage.run("metrics and page", move || {
        shared.pause(Duration::from_millis(400));
        for (target, words) in [
            ("/metrics", "vigie_services"),
            ("/", "<h1>Vigie</h1>"),
            ("/readyz", ""),
        ] {
            let answer = shared.vigie.get(target);
            assert!(
                answer.status == 200 && answer.text().contains(words),
                "{target}: {}",
                answer.status
            );
            shared.tally.count("watched", target);
        }
    });
}
