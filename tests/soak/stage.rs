//! What all parts of the soak share: the truth, the tally, and whether it goes on.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::support::Vigie;
use crate::truth::{Place, Truth};

/// Two reads of one place may seem to be under way at once for so long: the end of the first is seen late.
const SEEN_LATE: Duration = Duration::from_millis(700);

/// What all parts share.
pub(crate) struct Stage {
    pub(crate) seed: u64,
    pub(crate) vigie: Vigie,
    pub(crate) truth: Truth,
    pub(crate) tally: Tally,
    pub(crate) quiet: Quiet,
    ended: AtomicBool,
    failure: Mutex<Option<String>>,
    parts: Mutex<Vec<thread::JoinHandle<()>>>,
}

/// How often each kind of thing has happened.
#[derive(Default)]
pub(crate) struct Tally(Mutex<BTreeMap<(&'static str, String), u64>>);

/// Whether everyone is to be good and to rest.
#[derive(Default)]
pub(crate) struct Quiet {
    wanted: AtomicBool,
    busy: AtomicUsize,
}

impl Stage {
    pub(crate) fn new(seed: u64, vigie: Vigie, truth: Truth, tally: Tally) -> Arc<Self> {
        Arc::new(Self {
            seed,
            vigie,
            truth,
            tally,
            quiet: Quiet::default(),
            ended: AtomicBool::new(false),
            failure: Mutex::default(),
            parts: Mutex::default(),
        })
    }

    pub(crate) fn chance(&self, name: &str) -> Chance {
        Chance::of(self.seed, name)
    }

    /// The first failure stands, and ends the soak. Peers go away at the end, so what comes after it is none.
    pub(crate) fn fail(&self, why: impl Into<String>) {
        if self.goes_on() {
            self.conclude(why);
            self.end();
        }
    }

    /// A failure that only the end shows.
    pub(crate) fn conclude(&self, why: impl Into<String>) {
        self.failure.lock().unwrap().get_or_insert(why.into());
    }

    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.ended.load(Ordering::SeqCst)
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap().clone()
    }

    /// Runs a part again and again until the end, resting when all is to be quiet. A panic in it is a failure.
    pub(crate) fn run(self: &Arc<Self>, name: &str, mut turn: impl FnMut() + Send + 'static) {
        let stage = self.clone();
        let body = move || {
            while stage.goes_on() {
                stage.quiet.rest(&stage);
                let busy = stage.quiet.work();
                let done = catch_unwind(AssertUnwindSafe(&mut turn));
                drop(busy);
                if let Err(panic) = done {
                    let name = thread::current().name().unwrap_or_default().to_owned();
                    stage.fail(format!("{name} panicked: {}", words(&*panic)));
                }
            }
        };
        let part = thread::Builder::new().name(name.into()).spawn(body);
        self.parts.lock().unwrap().push(part.unwrap());
    }

    /// Ends all parts and the server, which outlive this process otherwise: peers hold on to them. It must have had
    /// no bug.
    pub(crate) fn close(&self) {
        self.end();
        let begin = Instant::now();
        for part in self.parts.lock().unwrap().drain(..) {
            while !part.is_finished() && begin.elapsed() < Duration::from_secs(25) {
                thread::sleep(Duration::from_millis(5));
            }
            if part.is_finished() && part.join().is_err() {
                self.conclude("a part of the soak ended badly; see above");
            }
        }
        let lines = self.vigie.log.lines();
        let is_bad =
            |line: &&String| line.contains("panicked") || line.contains("a fault of Vigie");
        if let Some(line) = lines.iter().find(is_bad) {
            self.conclude(format!("the log says: {line}"));
        }
        self.vigie.signal(rustix::process::Signal::KILL);
    }

    /// The pace of a schedule: it waits for no event.
    pub(crate) fn pause(&self, length: Duration) {
        let until = Instant::now() + length;
        while self.goes_on() && Instant::now() < until {
            thread::sleep(
                until
                    .saturating_duration_since(Instant::now())
                    .min(Duration::from_millis(100)),
            );
        }
    }
}

/// What a panic said.
pub(crate) fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_default()
}

impl Tally {
    pub(crate) fn count(&self, group: &'static str, what: impl Into<String>) {
        *self
            .0
            .lock()
            .unwrap()
            .entry((group, what.into()))
            .or_default() += 1;
    }

    pub(crate) fn of(&self, group: &'static str, what: &str) -> u64 {
        self.0
            .lock()
            .unwrap()
            .get(&(group, what.to_owned()))
            .copied()
            .unwrap_or_default()
    }

    /// A line a group.
    pub(crate) fn told(&self) -> String {
        let all = self.0.lock().unwrap();
        let groups: BTreeSet<&str> = all.keys().map(|(group, _)| *group).collect();
        let mut text = String::new();
        for group in groups {
            let parts = all.iter().filter(|((of, _), _)| *of == group);
            let parts: Vec<_> = parts
                .map(|((_, what), count)| format!("{count} {what}"))
                .collect();
            let _ = writeln!(text, "{group}: {}", parts.join(", "));
        }
        text
    }
}

/// One part that is at work.
pub(crate) struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Quiet {
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::SeqCst)
    }

    pub(crate) fn want(&self, wanted: bool) {
        self.wanted.store(wanted, Ordering::SeqCst);
    }

    /// Whether nobody is at work.
    pub(crate) fn is_reached(&self) -> bool {
        self.busy.load(Ordering::SeqCst) == 0
    }

    fn work(&self) -> Busy<'_> {
        self.busy.fetch_add(1, Ordering::SeqCst);
        Busy(&self.busy)
    }

    fn rest(&self, stage: &Stage) {
        while self.is_wanted() && stage.goes_on() {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The requests that a place is answering.
#[derive(Default)]
pub(crate) struct Turns(Mutex<(u64, Vec<(u64, Instant)>)>);

/// One of them.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    id: u64,
    begun: Instant,
    stage: Arc<Stage>,
    place: Arc<Place>,
}

impl Turns {
    pub(crate) fn begin(self: &Arc<Self>, stage: &Arc<Stage>, place: &Arc<Place>) -> Turn {
        let begun = Instant::now();
        let mut turns = self.0.lock().unwrap();
        turns.0 += 1;
        let id = turns.0;
        turns.1.push((id, begun));
        Turn {
            turns: self.clone(),
            id,
            begun,
            stage: stage.clone(),
            place: place.clone(),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut turns = self.turns.0.lock().unwrap();
        let since = turns
            .1
            .iter()
            .find(|(id, _)| *id > self.id)
            .map(|(_, begun)| *begun);
        turns.1.retain(|(id, _)| *id != self.id);
        let limit = SEEN_LATE + self.stage.truth.slack(self.begun, now);
        if since.is_some_and(|since| now - since > limit)
            && self.stage.truth.is_calm(self.begun, now)
        {
            self.stage.fail(format!(
                "{} was read twice at once for more than {limit:?}",
                self.place.name
            ));
        }
    }
}
