//! How late this machine wakes who sleeps, and who waits for another, and how long the server waits for a processor. Where
//! a rule needs slack for what nobody has seen, it gets more on a machine that is held up, and none of the rules that
//! compare what was seen needs any.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const PACE: Duration = Duration::from_millis(10);
/// A disk under load holds up who writes a file.
const FILES_EACH: u64 = 10;
/// Lateness below this is nothing.
const USUAL: Duration = Duration::from_millis(15);
/// What was late shortly before may still be.
const NEAR: Duration = Duration::from_secs(1);
const KEPT: Duration = Duration::from_secs(60);

/// When, and how much, the machine was late, and the server with the least that it is asked for.
#[derive(Default)]
pub(crate) struct Jitter {
    machine: Mutex<Lateness>,
    server: Mutex<Lateness>,
    /// How long the server had waited for a processor, at each moment.
    waited: Mutex<VecDeque<(Instant, Duration)>>,
    /// When the machine is to wake who watches it.
    due: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct Lateness(VecDeque<(Instant, Duration)>);

impl Jitter {
    /// Looks for lateness as long as `goes_on`; `waited` is how long the server has waited for a processor, and `folder`
    /// lies where all files do.
    pub(crate) fn watch(
        &self,
        goes_on: impl Fn() -> bool,
        waited: impl Fn() -> Option<Duration>,
        folder: &Path,
    ) {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || io::copy(&mut theirs.try_clone().unwrap(), &mut theirs));
        let file = folder.join("late");
        for round in 0_u64.. {
            if !goes_on() {
                return;
            }
            let due = Instant::now() + PACE;
            *self.due.lock().unwrap() = Some(due);
            // The pace of a schedule, not a wait for an event.
            thread::sleep(PACE);
            ours.write_all(b"x").unwrap();
            ours.read_exact(&mut [0]).unwrap();
            if round.is_multiple_of(FILES_EACH) {
                fs::write(&file, "x").unwrap();
                fs::remove_file(&file).unwrap();
            }
            self.machine.lock().unwrap().note(due, due.elapsed());
            if let Some(waited) = waited() {
                let mut all = self.waited.lock().unwrap();
                all.push_back((Instant::now(), waited));
                forget(&mut all);
            }
        }
    }

    /// The server took so long for an answer that takes it no time. That has a bound of its own; what it did meanwhile
    /// took as much longer.
    pub(crate) fn server_took(&self, begun: Instant, took: Duration) {
        self.server.lock().unwrap().note(begun, took);
    }

    /// How long things may take that take no time, between two moments, by the machine alone.
    pub(crate) fn slack_of_machine(&self, from: Instant, to: Instant) -> Duration {
        let due = self.due.lock().unwrap().unwrap_or(to);
        let now = Instant::now().saturating_duration_since(due);
        let worst = self.machine.lock().unwrap().worst(from, to);
        Duration::from_millis(400) + 4 * worst.max(now) + self.waited(from, to)
    }

    /// How long the server waited for a processor between two moments, or a little more.
    fn waited(&self, from: Instant, to: Instant) -> Duration {
        let all = self.waited.lock().unwrap();
        let at = |at: usize| all.get(at).map(|(_, waited)| *waited);
        let begin = all.partition_point(|(at, _)| *at <= from);
        let end = all.partition_point(|(at, _)| *at < to);
        let before = at(begin.saturating_sub(1)).unwrap_or_default();
        let after = at(end.min(all.len().saturating_sub(1))).unwrap_or_default();
        after.saturating_sub(before)
    }

    /// The same with how late the server was.
    pub(crate) fn slack(&self, from: Instant, to: Instant) -> Duration {
        self.slack_of_machine(from, to) + 2 * self.server.lock().unwrap().worst(from, to)
    }
}

impl Lateness {
    fn note(&mut self, at: Instant, late: Duration) {
        if late > USUAL {
            self.0.push_back((at, late));
            forget(&mut self.0);
        }
    }

    /// The worst near this time.
    fn worst(&self, from: Instant, to: Instant) -> Duration {
        let is_near = |(at, late): &&(Instant, Duration)| *at + *late + NEAR >= from && *at <= to;
        let near = self.0.iter().filter(is_near);
        near.map(|(_, late)| *late).max().unwrap_or_default()
    }
}

/// Drops what is long ago.
fn forget(all: &mut VecDeque<(Instant, Duration)>) {
    while all.front().is_some_and(|(at, _)| at.elapsed() > KEPT) {
        all.pop_front();
    }
}
