//! All that is known about a service, for whoever looks into a failure.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use super::Truth;
use super::epochs::{Epoch, Spec};
use super::log::{Log, Version};
use super::place::{Give, Place};

/// So many of each kind, the last ones.
const MOST: usize = 8;

impl Truth {
    /// The service that is read from a place, if one is.
    pub(crate) fn service_of(&self, place: &Arc<Place>) -> Option<String> {
        let epochs: Vec<_> = self.epochs.read().unwrap().last(1).cloned().collect();
        let mut services = epochs.iter().flat_map(|epoch| &epoch.services);
        let service = services.find(|(_, spec)| Arc::ptr_eq(&spec.place, place));
        service.map(|(service, _)| service.clone())
    }

    /// What its place has said of late and what was in force, in seconds before now.
    pub(crate) fn dossier(&self, service: &str) -> String {
        let now = Instant::now();
        let epochs: Vec<_> = self.epochs.read().unwrap().last(MOST).cloned().collect();
        let mut told = format!("known of {service}, in seconds before now:\n");
        for epoch in &epochs {
            let _ = writeln!(told, "  {}", tell_epoch(epoch, service, now));
        }
        let spec = epochs.last().and_then(|epoch| epoch.services.get(service));
        if let Some(Spec { place, .. }) = spec {
            let log = place.log();
            told.push_str(&tell_log(&log, now));
        }
        told
    }
}

fn tell_epoch(epoch: &Epoch, service: &str, now: Instant) -> String {
    let number = epoch.number;
    let (begun, done) = (ago(epoch.begun, now), epoch.done.get());
    let done = done.map_or("not yet".into(), |done| ago(*done, now));
    let spec = epoch.services.get(service).map(|spec| {
        let Spec {
            place,
            default_port,
            ttl,
            max_stale,
            ..
        } = spec;
        format!(
            "{}, default_port {default_port}, ttl {ttl:?}, max_stale {max_stale:?}",
            place.name
        )
    });
    let spec = spec.unwrap_or_else(|| "none".into());
    format!("configuration {number}: begun {begun}, done {done}: {spec}")
}

fn tell_log(log: &Log, now: Instant) -> String {
    let mut told = String::new();
    let versions: Vec<&Version> = log.last_first().take(MOST).collect();
    for version in versions.into_iter().rev() {
        let gives: Vec<String> = version
            .gives
            .iter()
            .map(|give| tell_give(give, now))
            .collect();
        let seen = version.first_seen.map(|seen| ago(seen, now));
        let landed: Vec<String> = version
            .landed
            .iter()
            .map(|(epoch, at)| format!("{epoch} at {}", ago(*at, now)))
            .collect();
        let _ = writeln!(
            told,
            "  version {}: drafted {}, given {gives:?}, first seen {seen:?}, surely of {landed:?}",
            version.number,
            ago(version.drafted, now)
        );
    }
    for span in log.spans.iter().rev().take(MOST).rev() {
        let end = span.end.map_or("now".into(), |end| ago(end, now));
        let _ = writeln!(
            told,
            "  {:?} from {} to {end}",
            span.excuse,
            ago(span.begin, now)
        );
    }
    told
}

fn tell_give(give: &Give, now: Instant) -> String {
    let or_now = |at: Option<Instant>| at.map_or("now".into(), |at| ago(at, now));
    format!(
        "begun by {}, from {} until {}",
        or_now(give.begun),
        ago(give.from, now),
        or_now(give.until)
    )
}

/// A moment that may still come.
fn ago(at: Instant, now: Instant) -> String {
    match now.checked_duration_since(at) {
        Some(past) => format!("{:.3}", past.as_secs_f64()),
        None => format!("-{:.3}", (at - now).as_secs_f64()),
    }
}
