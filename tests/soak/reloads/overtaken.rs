//! A reload in the middle of a read, which is overtaken by the read after the reload.

use std::time::{Duration, Instant, SystemTime};

use super::{Reloads, seconds};
use crate::honest;
use crate::resources::value;
use crate::stage::Stage;
use crate::truth::{Kind, Spec};

/// A list is read so soon, or its place is read in vain just now.
const SOON: Duration = Duration::from_millis(2500);

impl Reloads {
    /// Reloads the same file while the peer of a url holds its answer, which comes when the read after the reload has given
    /// a later list.
    pub(super) fn overtaking(&mut self) {
        let stage = self.stage.clone();
        let is_meant = |spec: &Spec| spec.kind == "url" && !spec.max_stale.is_zero();
        let (service, spec) = self.one_of(is_meant).expect("some lists may stand in");
        let holding = stage.holds.want(&spec.place);
        if !holding.is_held(SOON) {
            return;
        }
        let since = SystemTime::now();
        self.again();
        // It begins the read that overtakes the one from before, or waits for it.
        honest::ask(&stage, &service);
        if !holding.release() {
            return;
        }
        let begun = Instant::now();
        let longest = spec.ttl + spec.max_stale;
        while stage.goes_on() && begun.elapsed() < longest {
            if let Some((Kind::Stale, endpoints)) = honest::ask(&stage, &service) {
                check_metrics(&stage, &service, endpoints, since);
                stage.tally.count("reloads", "between two reads");
                break;
            }
            stage.pause(self.chance.ms(5..60));
        }
    }
}

/// The list that stands in, which was read since then, is the last good one in the metrics too.
fn check_metrics(stage: &Stage, service: &str, endpoints: usize, since: SystemTime) {
    let text = stage.vigie.get("/metrics");
    let told = |metric: &str| {
        let metric = format!("{metric}{{service=\"{service}\"}}");
        value::<f64>(text.text(), &metric).unwrap_or_default()
    };
    let count = told("vigie_endpoints");
    let at = told("vigie_service_last_success_timestamp_seconds");
    let since = seconds(since)..=seconds(SystemTime::now());
    if count != endpoints as f64 || !since.contains(&at) {
        stage.fail(format!(
            "the list of {service} that stands in has {endpoints} endpoints, and was read at {since:?}; the metrics say \
             {count}, at {at}"
        ));
    }
}
