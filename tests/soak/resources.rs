//! What Vigie holds when all is quiet: no more than at the first quiet moment. And its metrics against what was counted.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::scene::MOVES;
use crate::stage::Stage;
use crate::support::wait_until;
use crate::{behind, honest};

/// Connections that are kept to peers, and what else comes and goes; more would be a leak.
const SPARE_FILES: usize = 48;
/// What the memory may grow by that the allocator keeps in pieces, in KiB: from the first quiet moment on.
const SPARE_MEMORY: usize = 4 << 10;

/// What was held at the quiet moments.
pub(crate) struct Resources {
    files: usize,
    threads: usize,
    memory: Vec<usize>,
}

impl Resources {
    /// Those of a server that nobody has asked yet.
    pub(crate) fn at_the_start(stage: &Stage) -> Self {
        Self {
            files: stage.vigie.count("fd"),
            threads: stage.vigie.count("task"),
            memory: Vec::new(),
        }
    }

    /// Makes everything quiet, looks, and lets it go on.
    pub(crate) fn look(&mut self, stage: &Arc<Stage>, services: &[&str]) {
        stage.quiet.want(true);
        wait_for_rest(stage);
        if stage.goes_on() {
            self.compare(stage);
            compare_metrics(stage, services);
            stage.tally.count("watched", "quiet moments");
        }
        stage.quiet.want(false);
    }

    fn compare(&mut self, stage: &Stage) {
        let mut connections = stage.vigie.connect();
        wait_until("only honest clients are connected", || {
            let open = honest::OPEN.load(Ordering::SeqCst) + 1;
            let text = connections.ask("GET", "/metrics", &[]);
            let most = open + behind::SERVICES.len() * behind::CONNECTIONS;
            value(text.text(), "vigie_http_connections")
                .is_some_and(|count: usize| (open..=most).contains(&count))
        });
        let open = honest::OPEN.load(Ordering::SeqCst);
        wait_until("the files are closed", || {
            stage.vigie.count("fd") <= self.files + open + SPARE_FILES
        });
        wait_until("the threads have ended", || {
            stage.vigie.count("task") <= self.threads + 1
        });
        let memory = stage.vigie.status("VmRSS");
        let memory: usize = memory
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap();
        self.memory.push(memory);
        let first = self.memory[0];
        if memory > first + SPARE_MEMORY {
            stage.fail(format!(
                "the memory has grown from quiet moment to quiet moment: {:?} KiB",
                self.memory
            ));
        }
    }

    /// In a long run the second half needs no more than the first.
    pub(crate) fn told(&self, stage: &Stage) -> String {
        let half = self.memory.len() / 2;
        let most = |some: &[usize]| some.iter().copied().max().unwrap_or_default();
        let (before, after) = (most(&self.memory[..half]), most(&self.memory[half..]));
        if half >= 5 && after > before + SPARE_MEMORY / 2 {
            stage.conclude(format!("the memory has grown: {:?} KiB", self.memory));
        }
        format!(
            "memory: {before} KiB at most in the first half of the quiet moments, {after} KiB in the second"
        )
    }
}

fn wait_for_rest(stage: &Stage) {
    let begin = Instant::now();
    while !stage.quiet.is_reached() && stage.goes_on() {
        if begin.elapsed() > Duration::from_secs(30) {
            return stage.fail("somebody did not come to rest within 30 s");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What was answered, against what Vigie has counted.
fn compare_metrics(stage: &Stage, services: &[&str]) {
    let text = stage.vigie.get("/metrics");
    for service in services {
        let counted = |outcome: &str| {
            value(
                text.text(),
                &format!("vigie_answers_total{{service=\"{service}\",outcome=\"{outcome}\"}}"),
            )
            .unwrap_or_default()
        };
        let ours = |outcome: &str| stage.tally.of("outcomes", &format!("{service} {outcome}"));
        let [misses, stale, errors] = ["miss", "stale", "error"].map(counted);
        let theirs = [counted("hit") + misses + counted("joined"), stale, errors];
        let ours = [ours("fresh"), ours("stale"), ours("error")];
        if theirs != ours {
            stage.fail(format!("{service}: vigie_answers_total says {theirs:?}, and {ours:?} were fresh, stale and errors"));
        }
        if *service == MOVES {
            // Its reads are counted anew with each kind of source.
            continue;
        }
        let [good, empty, failed] = reads(text.text(), service);
        let good = good + empty;
        // Who begins a read gets its list or error, or a stale list.
        if good < misses || good > misses + stale || failed > errors + stale {
            stage.fail(format!(
                "{service}: vigie_source_reads_total says {good} good and {failed} failed, of which {misses} to \
                 {} and at most {} were begun",
                misses + stale,
                errors + stale
            ));
        }
    }
}

/// How many reads of a service gave a list, an empty one and an error.
fn reads(text: &str, service: &str) -> [u64; 3] {
    let begin = format!("vigie_source_reads_total{{service=\"{service}\",source=\"");
    ["ok", "empty", "error"].map(|result| {
        let end = format!("\",result=\"{result}\"}} ");
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&begin)?.split_once(&end));
        line.and_then(|(_, number)| number.parse().ok())
            .unwrap_or_default()
    })
}

/// The value of a metric.
pub(crate) fn value<T: FromStr>(text: &str, metric: &str) -> Option<T> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok())
}
