//! The metrics and the alerts, as Prometheus itself takes them.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::support::{Setup, skip, wait_until};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config/prometheus")
}

/// What promtool says of its standard input; `None`, with a word about it, where it is not installed.
fn promtool(promise: &str, arguments: &[&str], input: &str) -> Option<Output> {
    let started = Command::new("promtool")
        .args(arguments)
        .current_dir(samples())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    match started {
        Ok(mut child) => {
            child
                .stdin
                .take()
                .unwrap()
                .write_all(input.as_bytes())
                .unwrap();
            Some(child.wait_with_output().unwrap())
        }
        Err(error) => {
            skip(promise, &format!("promtool: {error}"));
            None
        }
    }
}

fn assert_good(output: &Output) {
    let said = [&output.stdout[..], &output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}

#[test]
fn promtool_finds_nothing_to_better_in_the_metrics() {
    let vigie = Setup::services("one: {file: one.txt}\n'q\"uo\\te': {file: missing.txt}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    assert_eq!(
        (vigie.list("one").status, vigie.list("q%22uo%5Cte").status),
        (200, 502)
    );
    let metrics = vigie.get("/metrics");
    let Some(output) = promtool("the metrics", &["check", "metrics"], metrics.text()) else {
        return;
    };
    assert_good(&output);
    assert!(
        output.stdout.is_empty() && output.stderr.is_empty(),
        "{output:?}"
    );
}

#[test]
fn the_alerts_and_the_sample_are_good_and_the_alerts_tell_what_they_are_to_tell() {
    for arguments in [
        ["check", "config", "prometheus.yml"],
        ["test", "rules", "vigie.rules.test.yml"],
    ] {
        let Some(output) = promtool("the alerts", &arguments, "") else {
            return;
        };
        assert_good(&output);
    }
}

#[test]
fn the_alerts_ask_for_metrics_that_there_are() {
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    assert_eq!(vigie.list("one").status, 200);
    let metrics = vigie.get("/metrics");
    let rules = fs::read_to_string(samples().join("vigie.rules.yml")).unwrap();
    let asked: Vec<_> = rules
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("vigie_"))
        .collect();
    assert!(asked.len() >= 5, "{asked:?}");
    for name in asked {
        assert!(
            metrics.text().contains(&format!("# TYPE {name} ")),
            "{name}"
        );
    }
}

/// A running Prometheus, which ends with the test.
struct Prometheus {
    child: Child,
    port: String,
    _data: TempDir,
}

impl Prometheus {
    /// Starts it with the sample, but to scrape this port, and more often.
    fn start(port: u16) -> Option<Self> {
        let data = tempfile::tempdir().unwrap();
        let sample = fs::read_to_string(samples().join("prometheus.yml")).unwrap();
        assert!(sample.contains("127.0.0.1:8080") && sample.contains(": 15s"));
        let config = sample
            .replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"))
            .replace(": 15s", ": 200ms");
        fs::write(data.path().join("prometheus.yml"), config).unwrap();
        let rules = "vigie.rules.yml";
        fs::copy(samples().join(rules), data.path().join(rules)).unwrap();
        let started = Command::new("prometheus")
            .arg("--config.file=prometheus.yml")
            .arg("--storage.tsdb.path=data")
            .arg("--web.listen-address=127.0.0.1:0")
            .current_dir(data.path())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                skip("a real Prometheus", &format!("prometheus: {error}"));
                return None;
            }
        };
        let mut lines = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, rest) = line.split_once("msg=\"Listening on\" address=127.0.0.1:")?;
            Some(rest.trim().to_owned())
        });
        // It must never wait for somebody to read what it says.
        std::thread::spawn(move || lines.for_each(drop));
        let port = port.expect("Prometheus says at which port it is");
        Some(Self {
            child,
            port,
            _data: data,
        })
    }

    fn get(&self, path: &str) -> String {
        let url = format!("http://127.0.0.1:{}/api/v1/{path}", self.port);
        let output = Command::new("curl").args(["-sg", &url]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_vigie() {
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n10.0.0.2\n")
        .start();
    assert_eq!(vigie.list("one").status, 200);
    let Some(prometheus) = Prometheus::start(vigie.port()) else {
        return;
    };
    let has = |query: &str, value: &str| {
        let answer = prometheus.get(&format!("query?query={query}"));
        answer.contains("\"status\":\"success\"") && answer.contains(&format!(",\"{value}\"]"))
    };
    for (query, value) in [
        ("vigie_endpoints{service=\"one\"}", "2"),
        ("up{job=\"vigie\"}", "1"),
        ("vigie_answers_total{service=\"one\",outcome=\"miss\"}", "1"),
        (
            "vigie_source_read_duration_seconds_bucket{source=\"file\",le=\"%2BInf\"}",
            "1",
        ),
        (
            "count({job=\"vigie\",__name__=~\"vigie_source_reads_total\"})",
            "3",
        ),
    ] {
        wait_until(&format!("{query} is {value}"), || has(query, value));
    }
    let rules = prometheus.get("rules");
    assert!(
        rules.contains("\"name\":\"VigieServiceFailing\""),
        "{rules}"
    );
}
