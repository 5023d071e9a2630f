//! The log of a server, read as it is written.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Condvar, Mutex, MutexGuard};

use super::PATIENCE;

/// The lines that a server has written to standard error.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Lines>,
    more: Condvar,
}

#[derive(Default)]
struct Lines {
    written: Vec<String>,
    ended: bool,
}

impl Log {
    /// Reads to the end, so that the server never waits for room in the pipe.
    pub(super) fn follow(&self, stderr: impl Read) {
        for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            self.lines
                .lock()
                .unwrap()
                .written
                .push(String::from_utf8_lossy(&line).into_owned());
            self.more.notify_all();
        }
        self.lines.lock().unwrap().ended = true;
        self.more.notify_all();
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().written.clone()
    }

    pub(crate) fn text(&self) -> String {
        self.lines().join("\n")
    }

    /// Waits until there is a line with these words.
    pub(crate) fn wait_for(&self, words: &str) -> String {
        let found = |lines: &Lines| {
            lines
                .written
                .iter()
                .find(|line| line.contains(words))
                .cloned()
        };
        let lines = self.wait(|lines| found(lines).is_some() || lines.ended);
        found(&lines).unwrap_or_else(|| panic!("no line says {words:?}: {:#?}", lines.written))
    }

    /// Waits until the server says at which port of an address it listens.
    pub(crate) fn wait_for_port(&self, address: &str) -> u16 {
        let words = format!("listening on {address}:");
        let line = self.wait_for(&words);
        let digits =
            line[line.find(&words).unwrap() + words.len()..].split(|c: char| !c.is_ascii_digit());
        digits.into_iter().next().unwrap().parse().unwrap()
    }

    /// What a server says when it serves.
    pub(super) const STARTED: &str = "started: ";

    /// Waits until the server has started or ended; gives all that it wrote until then.
    pub(super) fn wait_for_start(&self) -> String {
        let has_started = |lines: &Lines| {
            lines
                .written
                .iter()
                .any(|line| line.contains(Self::STARTED))
        };
        let lines = self.wait(|lines| lines.ended || has_started(lines));
        lines.written.join("\n")
    }

    /// Waits until the server has ended; gives all that it wrote.
    pub(crate) fn wait_for_end(&self) -> String {
        self.wait(|lines| lines.ended).written.join("\n")
    }

    fn wait(&self, holds: impl Fn(&Lines) -> bool) -> MutexGuard<'_, Lines> {
        let lines = self.lines.lock().unwrap();
        let (lines, wait) = self
            .more
            .wait_timeout_while(lines, PATIENCE, |lines| !holds(lines))
            .unwrap();
        assert!(
            !wait.timed_out(),
            "waited in vain for a line, there are {:#?}",
            lines.written
        );
        lines
    }
}
