//! Lines on their way to standard error.
//!
//! A terminal, a disk or whoever reads a pipe can stop taking bytes at any moment, even after the
//! system has said that they would, and the server must go on. So a thread of its own writes the lines.
//! It is there only while there are some: a server at rest has no thread for its log.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// So many bytes may wait to be written; lines beyond that are lost, and counted.
const MOST: usize = 256 * 1024;
/// The thread waits this long for more before it ends.
const LINGER: Duration = Duration::from_millis(100);
/// Standard error may be set to refuse instead of waiting; then it is asked again after this time.
const AGAIN: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};
const STACK: usize = 64 * 1024;

/// The lines that wait to be written.
#[derive(Default)]
pub(super) struct Writer {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    lost: usize,
    /// Whether a thread is there.
    running: bool,
    /// Whether that thread is writing a line.
    writing: bool,
    /// Whether the last line that was written lacks its end.
    torn: bool,
}

impl Writer {
    /// Has a line written. Never waits.
    pub(super) fn push(&'static self, line: String) {
        let mut state = self.state();
        if state.bytes + line.len() > MOST {
            state.lost += 1;
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        if !state.running {
            let thread = thread::Builder::new().name("log".into()).stack_size(STACK);
            // Without a thread the line waits for the next one that can be had.
            state.running = thread.spawn(|| self.run()).is_ok();
        }
        self.changed.notify_all();
    }

    /// How many lines have been lost since the last call, if one that says so can be written.
    pub(super) fn take_lost(&self) -> usize {
        let mut state = self.state();
        if state.bytes < MOST / 2 {
            std::mem::take(&mut state.lost)
        } else {
            0
        }
    }

    /// Waits until every line is written, or `limit` is over.
    pub(super) fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut state = self.state();
        while state.running && (state.writing || !state.lines.is_empty()) {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self) {
        while let Some((line, torn)) = self.next() {
            let written = if torn {
                write(b"\n").and_then(|_| write(line.as_bytes()))
            } else {
                write(line.as_bytes())
            };
            let mut state = self.state();
            state.writing = false;
            state.bytes -= line.len();
            state.torn = match written {
                Ok(count) => count < line.len(),
                Err(_) => torn,
            };
            state.lost += usize::from(written != Ok(line.len()));
            self.changed.notify_all();
        }
    }

    /// The next line; `None` when there was none for a while, and then the thread is taken for gone.
    fn next(&self) -> Option<(String, bool)> {
        let state = self.state();
        let waited = self
            .changed
            .wait_timeout_while(state, LINGER, |state| state.lines.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        let line = state.lines.pop_front();
        state.writing = line.is_some();
        state.running = line.is_some();
        line.map(|line| (line, state.torn))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes as much as standard error takes: how many bytes, or the error if there was none before it.
fn write(bytes: &[u8]) -> Result<usize, Errno> {
    // Without the lock of `std`: whoever panics meanwhile must not wait for it.
    let stderr = std::io::stderr();
    let mut written = 0;
    while written < bytes.len() {
        match rustix::io::write(&stderr, &bytes[written..]) {
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&AGAIN));
            }
            Err(error) if written == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(written)
}
