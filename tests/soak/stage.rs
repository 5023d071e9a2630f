//! What all parts of the soak share: the truth, the tally, and whether it goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::holds::Holds;
use crate::support::Vigie;
use crate::tally::Tally;
use crate::truth::Truth;

/// What each secret begins with that is sent to a peer. Nothing that is told may hold it.
pub(crate) const SECRET: &str = "secret-";

/// A failure of a service shows so many lines of the log.
const LINES: usize = 12;

/// What all parts share.
pub(crate) struct Stage {
    pub(crate) seed: u64,
    pub(crate) vigie: Vigie,
    pub(crate) truth: Truth,
    pub(crate) tally: Tally,
    pub(crate) quiet: Quiet,
    pub(crate) holds: Holds,
    ended: AtomicBool,
    failure: Mutex<Option<String>>,
    parts: Mutex<Vec<thread::JoinHandle<()>>>,
}

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
            holds: Holds::default(),
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

    /// A failure of a service, with all that is known of it.
    pub(crate) fn fail_with(&self, service: &str, why: impl Into<String>) {
        if !self.goes_on() {
            return;
        }
        let lines = self.vigie.log.lines();
        let words = [format!("service {service}: "), "reloaded".into()];
        let is_about = |line: &&String| words.iter().any(|words| line.contains(words));
        let about: Vec<&str> = lines.iter().filter(is_about).map(String::as_str).collect();
        let about = about[about.len().saturating_sub(LINES)..].join("\n  ");
        let known = self.truth.dossier(service);
        self.fail(format!("{}\n{known}the log:\n  {about}", why.into()));
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
        let is_bad = |line: &&String| {
            ["panicked", "a fault of Vigie", SECRET]
                .iter()
                .any(|bad| line.contains(bad))
        };
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
