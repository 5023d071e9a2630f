//! What `/metrics` tells, in the text that Prometheus reads.

use std::collections::BTreeMap;
use std::sync::{Mutex, mpsc};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::support::peer::list;
use crate::support::{Hanging, Peer, Reply, Setup, Vigie, endpoints, only, wait_until};

/// Metrics whose values are other ones each time.
const MOVING: [&str; 5] = [
    "vigie_config_last_reload_success_timestamp_seconds",
    "vigie_service_last_success_timestamp_seconds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_open_fds",
];

/// A scrape: the samples, name and labels to value.
fn scrape(vigie: &Vigie) -> BTreeMap<String, String> {
    let answer = vigie.get("/metrics");
    assert_eq!(answer.status, 200);
    let samples = answer
        .text()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_owned(), value.to_owned())
        });
    samples.collect()
}

/// The samples of a metric, without its name.
fn samples(vigie: &Vigie, metric: &str) -> Vec<String> {
    let of_metric = |(name, value): (&String, &String)| {
        let labels = name.strip_prefix(metric)?;
        (labels.is_empty() || labels.starts_with('{')).then(|| format!("{labels} {value}"))
    };
    scrape(vigie).iter().filter_map(of_metric).collect()
}

fn value(vigie: &Vigie, sample: &str) -> f64 {
    let scrape = scrape(vigie);
    let value = scrape
        .get(sample)
        .unwrap_or_else(|| panic!("no {sample} in {scrape:#?}"));
    value.parse().unwrap()
}

/// The answers of a service: hit, miss, joined, stale, error.
fn answers(vigie: &Vigie, service: &str) -> [f64; 5] {
    ["hit", "miss", "joined", "stale", "error"].map(|outcome| {
        let labels = format!("service=\"{service}\",outcome=\"{outcome}\"");
        value(vigie, &format!("vigie_answers_total{{{labels}}}"))
    })
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
}

#[test]
fn the_text_has_every_metric_with_its_help_and_type() {
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n10.0.0.2\n")
        .start();
    let mut connection = vigie.connect();
    let list = connection.ask("GET", "/services?service_name=one", &[]);
    assert_eq!(list.status, 200);
    let answer = connection.ask("GET", "/metrics", &[]);
    assert_eq!(
        (
            answer.header("content-type"),
            answer.header("cache-control")
        ),
        (
            Some("text/plain; version=0.0.4; charset=utf-8"),
            Some("no-cache")
        )
    );
    let fixed = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let moves = MOVING.iter().any(|moving| name.starts_with(moving))
            || name.contains("_duration_seconds_sum")
            || name.contains("_duration_seconds_bucket");
        match moves {
            true => {
                assert!(
                    value.parse::<f64>().is_ok_and(|value| value >= 0.0),
                    "{line}"
                );
                format!("{name} ...\n")
            }
            false => format!("{line}\n"),
        }
    };
    let text: String = answer
        .text()
        .lines()
        .map(|line| {
            if line.starts_with('#') {
                format!("{line}\n")
            } else {
                fixed(line)
            }
        })
        .collect();
    let build = text
        .lines()
        .find(|line| line.starts_with("vigie_build_info{"))
        .unwrap();
    assert!(
        build.starts_with("vigie_build_info{version=\"0.1.0\",revision=\""),
        "{build}"
    );
    assert_eq!(text.replace(build, "vigie_build_info{...} 1"), WHOLE);
}

const WHOLE: &str = "\
# HELP vigie_build_info Always 1; the labels tell which build runs.
# TYPE vigie_build_info gauge
vigie_build_info{...} 1
# HELP vigie_config_last_reload_successful Whether the last reload succeeded; the start counts as one.
# TYPE vigie_config_last_reload_successful gauge
vigie_config_last_reload_successful 1
# HELP vigie_config_last_reload_success_timestamp_seconds When the last reload that succeeded ended.
# TYPE vigie_config_last_reload_success_timestamp_seconds gauge
vigie_config_last_reload_success_timestamp_seconds ...
# HELP vigie_services How many services are configured.
# TYPE vigie_services gauge
vigie_services 1
# HELP vigie_source_reads_total Reads of sources that have ended, by what they gave.
# TYPE vigie_source_reads_total counter
vigie_source_reads_total{service=\"one\",source=\"file\",result=\"ok\"} 1
vigie_source_reads_total{service=\"one\",source=\"file\",result=\"empty\"} 0
vigie_source_reads_total{service=\"one\",source=\"file\",result=\"error\"} 0
# HELP vigie_source_read_duration_seconds How long reads of sources take, failed ones too.
# TYPE vigie_source_read_duration_seconds histogram
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.001\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.0025\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.005\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.01\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.025\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.05\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.1\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.25\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"0.5\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"1\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"2.5\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"5\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"10\"} ...
vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"+Inf\"} ...
vigie_source_read_duration_seconds_sum{source=\"file\"} ...
vigie_source_read_duration_seconds_count{source=\"file\"} 1
# HELP vigie_endpoints How many endpoints the last good read of a service gave.
# TYPE vigie_endpoints gauge
vigie_endpoints{service=\"one\"} 2
# HELP vigie_service_last_success_timestamp_seconds When the last good read of a service ended.
# TYPE vigie_service_last_success_timestamp_seconds gauge
vigie_service_last_success_timestamp_seconds{service=\"one\"} ...
# HELP vigie_answers_total Requests for the list of a service, by how they were answered.
# TYPE vigie_answers_total counter
vigie_answers_total{service=\"one\",outcome=\"hit\"} 0
vigie_answers_total{service=\"one\",outcome=\"miss\"} 1
vigie_answers_total{service=\"one\",outcome=\"joined\"} 0
vigie_answers_total{service=\"one\",outcome=\"stale\"} 0
vigie_answers_total{service=\"one\",outcome=\"error\"} 0
# HELP vigie_http_requests_total HTTP answers, by what was asked for and the status.
# TYPE vigie_http_requests_total counter
vigie_http_requests_total{handler=\"services\",code=\"200\"} 1
# HELP vigie_http_connections Connections that are open.
# TYPE vigie_http_connections gauge
vigie_http_connections 1
# HELP process_resident_memory_bytes Memory that is resident.
# TYPE process_resident_memory_bytes gauge
process_resident_memory_bytes ...
# HELP process_start_time_seconds When the process started, since 1970.
# TYPE process_start_time_seconds gauge
process_start_time_seconds ...
# HELP process_open_fds Files that are open.
# TYPE process_open_fds gauge
process_open_fds ...
";

#[test]
fn an_answer_is_a_hit_a_miss_stale_or_an_error() {
    let vigie = Setup::services(
        "kept: {file: list.txt, cache_ttl: 1h}\nuncached: {file: list.txt, cache_ttl: 0s}\n\
         bridged: {file: gone.txt, cache_ttl: 0s, max_stale: 1h}\nbroken: {file: missing.txt}",
    )
    .file("list.txt", "10.0.0.1\n")
    .file("gone.txt", "10.0.0.2\n")
    .start();
    let ask = |service: &str, times: usize, status: u16| {
        for _ in 0..times {
            assert_eq!(vigie.list(service).status, status, "{service}");
        }
    };
    ask("kept", 4, 200);
    ask("uncached", 3, 200);
    ask("bridged", 1, 200);
    std::fs::remove_file(vigie.setup.path("gone.txt")).unwrap();
    ask("bridged", 2, 200);
    ask("broken", 2, 502);
    let known = vigie.list("kept").header("etag").unwrap().to_owned();
    let headers = [("If-None-Match", known.as_str())];
    let target = "/services?service_name=kept";
    assert_eq!(vigie.ask("HEAD", target, &headers).status, 304);
    assert_eq!(answers(&vigie, "kept"), [5.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(answers(&vigie, "uncached"), [0.0, 3.0, 0.0, 0.0, 0.0]);
    assert_eq!(answers(&vigie, "bridged"), [0.0, 1.0, 0.0, 2.0, 0.0]);
    assert_eq!(answers(&vigie, "broken"), [0.0, 0.0, 0.0, 0.0, 2.0]);
    assert_eq!(
        samples(&vigie, "vigie_endpoints"),
        [
            "{service=\"bridged\"} 1",
            "{service=\"kept\"} 1",
            "{service=\"uncached\"} 1"
        ]
    );
    assert_eq!(
        value(
            &vigie,
            "vigie_source_read_duration_seconds_count{source=\"file\"}"
        ),
        9.0
    );
}

#[test]
fn who_waits_for_a_read_that_another_request_began_has_joined_it() {
    let Some(mount) = Hanging::mount("joined answers", "list.txt", "10.0.0.1\n") else {
        return;
    };
    let path = mount.path("list.txt");
    let services = format!("one: {{file: {{path: {}, timeout: 1h}}}}", path.display());
    let vigie = Setup::services(&services).start();
    mount.hang();
    let request = b"GET /services?service_name=one HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut waiting = [vigie.connect(), vigie.connect(), vigie.connect()];
    for connection in &mut waiting {
        connection.send(request);
    }
    // Whoever is answered thrice after them has had a turn behind them.
    for _ in 0..3 {
        assert_eq!(vigie.get("/livez").status, 200);
    }
    mount.go_on();
    for connection in &mut waiting {
        assert_eq!(connection.receive().status, 200);
    }
    assert_eq!(answers(&vigie, "one"), [0.0, 1.0, 2.0, 0.0, 0.0]);
}

#[test]
fn reads_are_told_apart_by_what_they_gave() {
    let vigie = Setup::services("one: {file: one.txt, cache_ttl: 0s}")
        .file("one.txt", "10.0.0.1\n10.0.0.2\n")
        .start();
    for (list, status) in [
        ("10.0.0.1\n", 200),
        ("# nobody\n", 200),
        ("bad line\n", 502),
    ] {
        vigie.setup.write("one.txt", list);
        assert_eq!(vigie.list("one").status, status);
    }
    assert_eq!(vigie.list("one").status, 502);
    let after = now();
    assert_eq!(
        samples(&vigie, "vigie_source_reads_total"),
        [
            "{service=\"one\",source=\"file\",result=\"empty\"} 1",
            "{service=\"one\",source=\"file\",result=\"error\"} 2",
            "{service=\"one\",source=\"file\",result=\"ok\"} 1"
        ]
    );
    assert_eq!(samples(&vigie, "vigie_endpoints"), ["{service=\"one\"} 0"]);
    let success = value(
        &vigie,
        "vigie_service_last_success_timestamp_seconds{service=\"one\"}",
    );
    assert!(
        (after - 20.0..=after).contains(&success),
        "{success} is not before {after}"
    );
}

#[test]
fn a_read_that_ends_after_a_later_one_changes_no_metric() {
    let (release, held) = mpsc::channel();
    let held = Mutex::new(held);
    let peer = Peer::start(move |_| {
        let _ = held.lock().unwrap().recv();
        Reply::Keep(list("10.0.0.2\n10.0.0.3\n"))
    });
    let vigie = Setup::services(&format!("web: {{url: '{}'}}", peer.url("/")))
        .file("one.txt", "10.0.0.1\n")
        .start();
    let mut before = vigie.connect();
    before.send(b"GET /services?service_name=web HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("it is read", || peer.requests().len() == 1);
    vigie
        .setup
        .write_services("web: {file: one.txt, cache_ttl: 1h}");
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").summary(), (200, &*only("10.0.0.1")));
    release.send(()).unwrap();
    assert_eq!(endpoints(&before.receive()).len(), 2);
    assert_eq!(samples(&vigie, "vigie_endpoints"), ["{service=\"web\"} 1"]);
}

#[test]
fn a_scrape_reads_no_source_and_may_come_by_head() {
    let vigie = Setup::services("one: {file: missing.txt}").start();
    assert_eq!(vigie.ask("HEAD", "/metrics", &[]).status, 200);
    let reads = samples(&vigie, "vigie_source_reads_total");
    assert!(
        reads.len() == 3 && reads.iter().all(|line| line.ends_with(" 0")),
        "{reads:?}"
    );
    assert_eq!(
        samples(&vigie, "vigie_source_read_duration_seconds_count"),
        [""; 0]
    );
    assert_eq!(samples(&vigie, "vigie_endpoints"), [""; 0]);
}

#[test]
fn a_name_that_is_not_configured_is_never_a_label() {
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    for name in ["nobody", "hunter2", "one%0A"] {
        assert_eq!(vigie.list(name).status, 404);
    }
    assert_eq!(vigie.get("/hunter2").status, 404);
    let text = vigie.get("/metrics");
    assert!(!text.text().contains("hunter2") && !text.text().contains("nobody"));
    assert_eq!(
        samples(&vigie, "vigie_http_requests_total"),
        [
            "{handler=\"metrics\",code=\"200\"} 1",
            "{handler=\"other\",code=\"404\"} 1",
            "{handler=\"services\",code=\"404\"} 3"
        ]
    );
}

#[test]
fn requests_are_counted_by_what_they_asked_for_and_their_status() {
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    for (method, target) in [
        ("GET", "/services?service_name=one"),
        ("HEAD", "/services?service_name=one"),
        ("GET", "/services?service_name=%zz"),
        ("GET", "/services"),
        ("PUT", "/services"),
        ("POST", "/reload"),
        ("GET", "/reload"),
        ("GET", "/"),
        ("GET", "/healthz"),
        ("GET", "/livez"),
        ("GET", "/-/healthy"),
        ("GET", "/readyz"),
        ("GET", "/-/ready"),
        ("BREW", "/"),
    ] {
        vigie.ask(method, target, &[]);
    }
    assert_eq!(vigie.tell(b"NONSENSE\r\n\r\n").len(), 1);
    assert_eq!(
        samples(&vigie, "vigie_http_requests_total"),
        [
            "{handler=\"livez\",code=\"200\"} 3",
            "{handler=\"other\",code=\"400\"} 1",
            "{handler=\"page\",code=\"200\"} 1",
            "{handler=\"page\",code=\"501\"} 1",
            "{handler=\"readyz\",code=\"200\"} 2",
            "{handler=\"reload\",code=\"200\"} 1",
            "{handler=\"reload\",code=\"405\"} 1",
            "{handler=\"services\",code=\"200\"} 2",
            "{handler=\"services\",code=\"400\"} 2",
            "{handler=\"services\",code=\"405\"} 1"
        ]
    );
}

#[test]
fn the_counters_of_a_service_outlive_a_reload_that_keeps_its_name_and_end_with_it() {
    let vigie = Setup::services("same: {file: a.txt}\nmoved: {file: a.txt}\ngone: {file: a.txt}")
        .file("a.txt", "10.0.0.1\n")
        .file("b.txt", "10.0.0.2\n10.0.0.3\n")
        .start();
    for service in ["same", "moved", "gone"] {
        assert_eq!(
            (vigie.list(service).status, vigie.list(service).status),
            (200, 200)
        );
    }
    vigie
        .setup
        .write_services("same: {file: a.txt}\nmoved: {file: b.txt}\nnew: {file: b.txt}");
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("moved").status, 200);
    assert_eq!(answers(&vigie, "same"), [1.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(answers(&vigie, "moved"), [1.0, 2.0, 0.0, 0.0, 0.0]);
    assert_eq!(answers(&vigie, "new"), [0.0; 5]);
    assert!(!vigie.get("/metrics").text().contains("gone"));
    assert_eq!(
        samples(&vigie, "vigie_endpoints"),
        ["{service=\"moved\"} 2", "{service=\"same\"} 1"]
    );
    assert_eq!(value(&vigie, "vigie_services"), 3.0);
}

#[test]
fn a_reload_that_fails_is_told_until_one_succeeds() {
    let vigie = Setup::services("one: {file: one.txt}").start();
    let status = || {
        (
            value(&vigie, "vigie_config_last_reload_successful"),
            value(&vigie, "vigie_config_last_reload_success_timestamp_seconds"),
        )
    };
    let (first, at_start) = status();
    assert!(
        first == 1.0 && (now() - 20.0..=now()).contains(&at_start),
        "{at_start}"
    );
    vigie.setup.write_services("one: {fil: one.txt}");
    assert_eq!(vigie.reload().status, 500);
    assert_eq!(status(), (0.0, at_start));
    vigie.setup.write_services("two: {file: one.txt}");
    let before = (now() * 1000.0).floor() / 1000.0;
    assert_eq!(vigie.reload().status, 200);
    let (last, at_end) = status();
    assert!(
        last == 1.0 && (before..=now()).contains(&at_end),
        "{at_end} is not after {before}"
    );
}

#[test]
fn label_values_that_need_it_are_escaped() {
    let vigie = Setup::services("'q\"uo\\te <é> 🦀': {file: one.txt}").start();
    let text = vigie.get("/metrics");
    let line = "vigie_answers_total{service=\"q\\\"uo\\\\te <é> 🦀\",outcome=\"hit\"} 0\n";
    assert!(text.text().contains(line), "{}", text.text());
}

#[test]
fn the_process_is_told_of_as_the_system_tells_of_it() {
    let vigie = Setup::services("").start();
    let started = value(&vigie, "process_start_time_seconds");
    assert!((started - now()).abs() < 20.0, "{started}");
    let resident: f64 = vigie
        .status("VmRSS")
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    let told = value(&vigie, "process_resident_memory_bytes") / 1024.0;
    assert!(
        (resident / 2.0..resident * 2.0).contains(&told),
        "{told} kB, not {resident} kB"
    );
    let open = vigie.count("fd");
    let told = value(&vigie, "process_open_fds");
    // The connection of the scrape may be one more.
    assert!(
        (open as f64 - 1.0..=open as f64 + 1.0).contains(&told),
        "{told}, not {open}"
    );
}

#[test]
fn connections_are_counted_while_they_are_open() {
    let vigie = Setup::services("").start();
    let mut open = [vigie.connect(), vigie.connect(), vigie.connect()];
    for connection in &mut open {
        assert_eq!(connection.ask("GET", "/livez", &[]).status, 200);
    }
    let [first, ..] = &mut open;
    let text = first.ask("GET", "/metrics", &[]);
    assert!(
        text.text().contains("\nvigie_http_connections 3\n"),
        "{}",
        text.text()
    );
}

#[test]
fn two_thousand_services_are_told_of_whole() {
    let services: String = (0..2_000)
        .map(|n| format!("s{n}: {{file: one.txt}}\n"))
        .collect();
    let vigie = Setup::services(&services).start();
    assert_eq!(samples(&vigie, "vigie_answers_total").len(), 10_000);
    assert_eq!(samples(&vigie, "vigie_source_reads_total").len(), 6_000);
    assert_eq!(samples(&vigie, "process_open_fds").len(), 1);
}
