//! What the promises are tested with: a real server in a folder of its own, and raw sockets.

mod authority;
pub(crate) mod bind;
pub(crate) mod browser;
pub(crate) mod cluster;
pub(crate) mod dns;
pub(crate) mod framing;
mod group;
mod hanging;
mod log;
mod network;
pub(crate) mod peer;
pub(crate) mod resolv_conf;
mod served;
mod wire;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use miniserde::{Deserialize, json};

pub(crate) use authority::{Authority, Signed};
pub(crate) use group::Group;
pub(crate) use hanging::Hanging;
pub(crate) use network::Network;
pub(crate) use peer::{Peer, Reply};
pub(crate) use served::{Setup, Vigie, connect_to, connect_to_socket};
pub(crate) use wire::{Answer, Connection};

/// The longest that a test waits for anything: far beyond what a busy machine needs, so that only a hang reaches it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for a state that no event announces.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Lets what goes on as long as this is set end, also when the test fails.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Writes a file as if a minute ago: one that is younger is read when it has been at rest for a moment.
pub(crate) fn write_at_rest(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
}

/// Says that a promise cannot be checked on this machine, past the capture of the test harness, so that it is seen.
pub(crate) fn skip(promise: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {promise}: {why}");
}

/// Asserts that a sentence holds each of the words.
#[track_caller]
pub(crate) fn assert_says(sentence: &str, words: &[&str]) {
    for word in words {
        assert!(
            sentence.contains(word),
            "{word:?} is missing in {sentence:?}"
        );
    }
}

#[derive(Deserialize)]
struct Endpoint {
    ip: String,
    port: u16,
    load_balancing_weight: u32,
}

/// The endpoints of an answer as `ADDRESS PORT WEIGHT`.
#[track_caller]
pub(crate) fn endpoints(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status, 200, "{:?}", answer.text());
    let list: Vec<Endpoint> = json::from_str(answer.text()).unwrap();
    list.iter()
        .map(|line| format!("{} {} {}", line.ip, line.port, line.load_balancing_weight))
        .collect()
}

/// The answer that holds this one endpoint, with port 80 and no weight.
pub(crate) fn only(address: &str) -> String {
    format!(
        "[\n  {{\n    \"ip\": \"{address}\",\n    \"port\": 80,\n    \"load_balancing_weight\": 0\n  }}\n]\n"
    )
}

/// Shows the input of the check that failed.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl Shown<'_> {
    pub(crate) fn was_fine(self) {
        std::mem::forget(self);
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        eprintln!("the input was b\"{}\"", self.0.escape_ascii());
    }
}
