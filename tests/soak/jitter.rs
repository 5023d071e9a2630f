//! How late this machine wakes who sleeps, and who waits for another. Where a rule needs slack for what nobody has seen, it gets more on a machine
//! that is held up, and none of the rules that compare what was seen needs any.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const PACE: Duration = Duration::from_millis(10);
/// Lateness below this is nothing.
const USUAL: Duration = Duration::from_millis(15);
const KEPT: Duration = Duration::from_secs(60);

/// When, and how much, the machine was late.
#[derive(Default)]
pub(crate) struct Jitter(Mutex<VecDeque<(Instant, Duration)>>);

impl Jitter {
    /// Looks for lateness as long as `goes_on`.
    pub(crate) fn watch(&self, goes_on: impl Fn() -> bool) {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || io::copy(&mut theirs.try_clone().unwrap(), &mut theirs));
        while goes_on() {
            let due = Instant::now() + PACE;
            // The pace of a schedule, not a wait for an event.
            thread::sleep(PACE);
            ours.write_all(b"x").unwrap();
            ours.read_exact(&mut [0]).unwrap();
            let late = due.elapsed();
            if late > USUAL {
                let mut all = self.0.lock().unwrap();
                all.push_back((due, late));
                while all.front().is_some_and(|(at, _)| at.elapsed() > KEPT) {
                    all.pop_front();
                }
            }
        }
    }

    /// The worst between two moments, or now if it is late now.
    fn worst(&self, from: Instant, to: Instant) -> Duration {
        let all = self.0.lock().unwrap();
        let within = all
            .iter()
            .filter(|(at, late)| *at + *late >= from && *at <= to);
        within.map(|(_, late)| *late).max().unwrap_or_default()
    }

    /// How long things may take that take no time, between two moments.
    pub(crate) fn slack(&self, from: Instant, to: Instant) -> Duration {
        let before = from.checked_sub(Duration::from_secs(1)).unwrap_or(from);
        Duration::from_millis(400) + 4 * self.worst(before, to + PACE)
    }
}
