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
/// A thread that has just done its work is gone after some milliseconds: so often, and each time after this, another one
/// is tried.
const TRIES: usize = 10;
const MOMENT: Duration = Duration::from_millis(2);
/// The thread waits this long for more before it ends.
const LINGER: Duration = Duration::from_millis(100);
/// Standard error may be set to refuse instead of waiting; then it is asked again after this time.
const AGAIN: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};
const STACK: usize = 64 * 1024;

/// The lines that wait to be written.
pub(super) struct Writer {
    state: Mutex<State>,
    changed: Condvar,
    /// The line that tells how many were lost.
    tell_lost: Box<dyn Fn(usize) -> String + Send + Sync>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    lost: usize,
    /// Whether a thread is there.
    running: bool,
    /// There was none to be had for it the last time.
    lacks_thread: bool,
    /// Whether that thread is writing a line.
    writing: bool,
    /// Whether the last line that was written lacks its end.
    torn: bool,
    /// Whether the last line could not be written whole.
    failing: bool,
}

/// What the thread writes next.
struct Next {
    /// So many lost lines are to be told of.
    lost: usize,
    line: Option<String>,
    /// Whether the line before lacks its end.
    torn: bool,
}

impl State {
    /// Whether nothing is left to write: no line, and nothing to tell to one who takes lines again.
    fn is_done(&self) -> bool {
        self.lines.is_empty() && (self.lost == 0 || self.failing)
    }
}

impl Writer {
    /// Nothing is written yet. `tell_lost` makes the line that tells how many were lost.
    pub(super) fn new(tell_lost: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            tell_lost: Box::new(tell_lost),
        }
    }

    /// Has a line written. It waits for no line; only the first time that no thread can be had, some milliseconds for one
    /// that has just done its work.
    pub(super) fn push(&'static self, line: String) {
        let mut state = self.state();
        if state.bytes + line.len() > MOST {
            state.lost += 1;
            return;
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        if !state.running {
            let tries = if state.lacks_thread { 1 } else { TRIES };
            state.running = (0..tries).any(|_| self.start());
            // Without a thread the line waits for the next one that can be had.
            state.lacks_thread = !state.running;
        }
        self.changed.notify_all();
    }

    /// Starts the thread that writes, if one can be had; if not, one that has just done its work has a moment to end.
    fn start(&'static self) -> bool {
        let thread = thread::Builder::new().name("log".into()).stack_size(STACK);
        let started = thread.spawn(|| self.run()).is_ok();
        if !started {
            thread::sleep(MOMENT);
        }
        started
    }

    /// Waits until every line is written, or `limit` is over.
    pub(super) fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut state = self.state();
        while state.running && (state.writing || !state.is_done()) {
            let Some(left) = end.checked_duration_since(Instant::now()) else {
                return;
            };
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn run(&self) {
        while let Some(Next {
            lost,
            line,
            mut torn,
        }) = self.next()
        {
            // Both are tried: what is lost is told as soon as lines are taken again.
            let told = lost == 0 || write_line(&(self.tell_lost)(lost), &mut torn);
            let written = line.as_ref().is_none_or(|line| write_line(line, &mut torn));
            let mut state = self.state();
            state.writing = false;
            state.bytes -= line.map_or(0, |line| line.len());
            state.lost += if told { 0 } else { lost } + usize::from(!written);
            (state.torn, state.failing) = (torn, !(told && written));
            self.changed.notify_all();
        }
    }

    /// What to write next; `None` when there was nothing for a while, and then the thread is taken for
    /// gone.
    fn next(&self) -> Option<Next> {
        let state = self.state();
        let waited = self
            .changed
            .wait_timeout_while(state, LINGER, |state| state.is_done());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        (state.running, state.writing) = (!state.is_done(), !state.is_done());
        // As long as more are lost than written, to tell of it would lose even more.
        let tell = state.running && state.bytes < MOST / 2;
        let lost = if tell {
            std::mem::take(&mut state.lost)
        } else {
            0
        };
        let (line, torn) = (state.lines.pop_front(), state.torn);
        state.running.then_some(Next { lost, line, torn })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a line, after the end of one that is torn; whether all of it was taken.
fn write_line(line: &str, torn: &mut bool) -> bool {
    let ended = !*torn || write(b"\n") == Ok(1);
    let written = ended.then(|| write(line.as_bytes()));
    *torn = match written {
        None | Some(Err(_)) => !ended,
        Some(Ok(count)) => count < line.len(),
    };
    written == Some(Ok(line.len()))
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
