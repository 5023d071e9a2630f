//! Reload: one at a time, shared by those who ask, all services or none.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use event_listener::Event;
use log::{error, info, warn};

use crate::blocking::{self, Stuck};
use crate::catalog::{Catalog, Changes, Current};
use crate::clock;
use crate::config::Config;
use crate::supervisor;

/// For reading the file and building every source; more means that a file system hangs.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// So many reloads that did not end in time may hang still: each has a thread and the memory of a configuration.
pub const MOST_HANGING: usize = 4;

/// How many services there are now, or why all stayed as they were.
pub type Outcome = Result<usize, Arc<str>>;

/// Asks for reloads.
#[derive(Clone)]
pub struct Reloader(Arc<Line>);

/// Takes what a [`Reloader`] asks for.
pub struct Requests(Arc<Line>);

/// The reload that has been asked for and has not begun. However many ask for it and go away, it is one.
#[derive(Default)]
struct Line {
    next: Mutex<Option<Arc<Round>>>,
    asked: Event,
}

/// One reload, and those who wait for it.
#[derive(Default)]
struct Round {
    outcome: OnceLock<Outcome>,
    ended: Event,
}

/// How the last reload went. The start counts as one that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Last {
    /// Whether it succeeded.
    pub successful: bool,
    /// When the last one that did succeed ended.
    pub success_at: SystemTime,
}

/// What is known of the last reload, for those who watch.
#[derive(Debug)]
pub struct Status(Mutex<Last>);

impl Default for Status {
    fn default() -> Self {
        Self(Mutex::new(Last {
            successful: true,
            success_at: clock::date(),
        }))
    }
}

impl Status {
    /// How the last reload went.
    pub fn last(&self) -> Last {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, successful: bool) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.successful = successful;
        if successful {
            last.success_at = clock::date();
        }
    }
}

/// What a reload needs.
pub struct Reloading {
    /// Where it is noted how each went.
    pub status: Arc<Status>,
    /// The configuration file.
    pub file: PathBuf,
    /// The configuration that Vigie was started with.
    pub started_with: Config,
    /// How long loading may take: [`TIMEOUT`], and less in tests.
    pub timeout: Duration,
}

/// What has begun to load and has not ended, the loads that nobody waits for any more among it: each has a copy.
type Begun = Arc<()>;

/// The two ends of the line between those who ask and the one who reloads.
pub fn line() -> (Reloader, Requests) {
    let line = Arc::new(Line::default());
    (Reloader(line.clone()), Requests(line))
}

impl Line {
    fn next(&self) -> MutexGuard<'_, Option<Arc<Round>>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask(&self) -> Arc<Round> {
        let round = self.next().get_or_insert_default().clone();
        self.asked.notify(1);
        round
    }
}

impl Round {
    async fn outcome(&self) -> Outcome {
        loop {
            let ended = self.ended.listen();
            if let Some(outcome) = self.outcome.get() {
                return outcome.clone();
            }
            ended.await;
        }
    }
}

impl Reloader {
    /// Waits for a reload that begins after this call; those who ask during one share the next.
    pub async fn reload(&self) -> Outcome {
        self.0.ask().outcome().await
    }

    /// Asks for a reload and does not wait for it.
    pub fn request(&self) {
        self.0.ask();
    }
}

impl Requests {
    /// Reloads whenever that is asked for, for ever.
    pub async fn serve(self, reloading: Reloading, current: &Arc<Current>) {
        let begun = Begun::default();
        loop {
            let asked = self.0.asked.listen();
            let Some(round) = self.take() else {
                asked.await;
                continue;
            };
            supervisor::reloading().await;
            let outcome = reloading.run(&begun, current).await;
            supervisor::ready(&current.snapshot().summary()).await;
            // Whoever has the answer finds in the log what was done; a log that hangs is not waited for long.
            let _ = blocking::run(crate::log::finish).await;
            // The first outcome stands; a round has one.
            let _ = round.outcome.set(outcome);
            round.ended.notify(usize::MAX);
        }
    }

    fn take(&self) -> Option<Arc<Round>> {
        self.0.next().take()
    }
}

impl Reloading {
    async fn run(&self, begun: &Begun, current: &Arc<Current>) -> Outcome {
        let swapped = self.load_and_swap(begun, current.clone()).await;
        self.status.note(swapped.is_ok());
        match swapped {
            Ok(changes) => {
                info!("reloaded: {changes}");
                Ok(changes.services)
            }
            Err(reason) => {
                for line in reason.lines() {
                    error!("{line}");
                }
                error!("not reloaded: every service stays as it was");
                Err(reason.into())
            }
        }
    }

    async fn load_and_swap(&self, begun: &Begun, current: Arc<Current>) -> Result<Changes, String> {
        let hanging = Arc::strong_count(begun) - 1;
        if hanging >= MOST_HANGING {
            return Err(self.too_many(hanging));
        }
        let (file, old, held) = (self.file.clone(), current.snapshot(), begun.clone());
        let load = move || {
            let loaded = Catalog::load(&file, Some(&old));
            drop(held);
            loaded
        };
        // It does not wait for those before it, which may hang for ever: this one may lead away from what they wait for.
        let loaded = clock::within(self.timeout, blocking::run(load)).await;
        let loaded = loaded.unwrap_or(Err(Stuck::TimedOut));
        let loaded = loaded.map_err(|stuck| self.stuck(&stuck))?;
        let (config, catalog) = loaded.map_err(|errors| errors.to_string())?;
        config.warn(&self.file);
        self.warn_of_restart(&config);
        // Off this thread too, since comparing and dropping many services takes long for those who wait
        // for their answers. It hangs on nothing, so it has no time-out: what is begun is done.
        let swapped = blocking::compute(move || current.replace(catalog)).await;
        swapped.map_err(|stuck| self.stuck(&stuck))
    }

    fn stuck(&self, stuck: &Stuck) -> String {
        format!("{}: loading: {stuck}", self.file.display())
    }

    fn too_many(&self, hanging: usize) -> String {
        format!(
            "{}: loading: {hanging} earlier reloads hang still; bring back the file system that they wait for, or unmount it by force",
            self.file.display()
        )
    }

    fn warn_of_restart(&self, config: &Config) {
        let started = &self.started_with;
        let changed = [
            ("server", started.server != config.server),
            ("log", started.log != config.log),
            (
                "disable_reload_by_request",
                started.disable_reload_by_request != config.disable_reload_by_request,
            ),
        ];
        let changed: Vec<_> = changed
            .iter()
            .filter(|(_, changed)| *changed)
            .map(|(key, _)| *key)
            .collect();
        if !changed.is_empty() {
            warn!(
                "a restart is needed for what has changed under {}",
                changed.join(", ")
            );
        }
    }
}
