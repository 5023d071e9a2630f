//! What the promises are tested with: a real server in a folder of its own, and raw sockets.

pub(crate) mod framing;
mod hanging;
mod log;
mod served;
mod wire;

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use hanging::Hanging;
pub(crate) use served::{Setup, Vigie, connect_to};
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

/// The answer that holds this one endpoint, with port 80 and no weight.
pub(crate) fn only(address: &str) -> String {
    format!(
        "[\n  {{\n    \"ip\": \"{address}\",\n    \"port\": 80,\n    \"load_balancing_weight\": 0\n  }}\n]\n"
    )
}
