//! The answer of `/metrics`: every metric there is.

use std::time::{SystemTime, UNIX_EPOCH};

use super::shared::Shared;
use crate::metrics::{Kind, Text, process};
use crate::service::tally::{OUTCOMES, RESULTS, Statistics};

/// About what a service takes: ten samples with its name in each.
const BYTES_A_SERVICE: usize = 800;

/// All metrics as text; no source is read for it.
pub(super) fn render(shared: &Shared) -> String {
    let mut text = Text::with_capacity(8192 + shared.catalog.load().count() * BYTES_A_SERVICE);
    vigie(&mut text, shared);
    services(&mut text, shared);
    requests(&mut text, shared);
    this_process(&mut text);
    text.into_string()
}

fn vigie(text: &mut Text, shared: &Shared) {
    let labels = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("revision", env!("VIGIE_COMMIT")),
    ];
    text.family(
        Kind::Gauge,
        "vigie_build_info",
        "Always 1; the labels tell which build runs.",
    )
    .sample(&labels, 1);
    let last = shared.reloads.last();
    text.gauge(
        "vigie_config_last_reload_successful",
        "Whether the last reload succeeded; the start counts as one.",
        Some(u8::from(last.successful)),
    );
    text.gauge(
        "vigie_config_last_reload_success_timestamp_seconds",
        "When the last reload that succeeded ended.",
        Some(seconds(last.success_at)),
    );
}

fn services(text: &mut Text, shared: &Shared) {
    let catalog = shared.catalog.snapshot();
    text.gauge(
        "vigie_services",
        "How many services are configured.",
        Some(catalog.count()),
    );
    let services: Vec<_> = catalog
        .sorted()
        .into_iter()
        .map(|service| {
            (
                service.name(),
                service.source().kind(),
                service.statistics(),
            )
        })
        .collect();
    reads(text, shared, &services);
    last_good(text, &services);
    let mut family = text.family(
        Kind::Counter,
        "vigie_answers_total",
        "Requests for the list of a service, by how they were answered.",
    );
    for (name, _, statistics) in &services {
        for (outcome, count) in OUTCOMES.iter().zip(statistics.answers) {
            family.sample(&[("service", name), ("outcome", outcome)], count);
        }
    }
}

fn reads(text: &mut Text, shared: &Shared, services: &[(&str, &str, Statistics)]) {
    let mut family = text.family(
        Kind::Counter,
        "vigie_source_reads_total",
        "Reads of sources that have ended, by what they gave.",
    );
    for (name, kind, statistics) in services {
        for (result, count) in RESULTS.iter().zip(statistics.reads) {
            family.sample(
                &[("service", name), ("source", kind), ("result", result)],
                count,
            );
        }
    }
    let mut family = text.family(
        Kind::Histogram,
        "vigie_source_read_duration_seconds",
        "How long reads of sources take, failed ones too.",
    );
    for (kind, histogram) in shared.durations.all() {
        family.histogram(&[("source", kind)], &histogram);
    }
}

fn last_good(text: &mut Text, services: &[(&str, &str, Statistics)]) {
    let good = || {
        services
            .iter()
            .filter_map(|(name, _, statistics)| Some((*name, statistics.last_good?)))
    };
    let mut family = text.family(
        Kind::Gauge,
        "vigie_endpoints",
        "How many endpoints the last good read of a service gave.",
    );
    for (name, (endpoints, _)) in good() {
        family.sample(&[("service", name)], endpoints);
    }
    let mut family = text.family(
        Kind::Gauge,
        "vigie_service_last_success_timestamp_seconds",
        "When the last good read of a service ended.",
    );
    for (name, (_, ended)) in good() {
        family.sample(&[("service", name)], seconds(ended));
    }
}

fn requests(text: &mut Text, shared: &Shared) {
    let mut family = text.family(
        Kind::Counter,
        "vigie_http_requests_total",
        "HTTP answers, by what was asked for and the status.",
    );
    for (handler, code, count) in shared.counts.all() {
        let code = code.to_string();
        family.sample(&[("handler", handler.name()), ("code", &code)], count);
    }
    text.gauge(
        "vigie_http_connections",
        "Connections that are open.",
        Some(shared.seats.count()),
    );
}

fn this_process(text: &mut Text) {
    text.gauge(
        "process_resident_memory_bytes",
        "Memory that is resident.",
        process::resident_bytes(),
    );
    text.gauge(
        "process_start_time_seconds",
        "When the process started, since 1970.",
        process::start_seconds(),
    );
    text.gauge(
        "process_open_fds",
        "Files that are open.",
        process::open_files(),
    );
}

fn seconds(moment: SystemTime) -> f64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_millis() as f64 / 1000.0
}
