//! Blocking work off the executor thread: file systems can hang for ever.
//!
//! Not a shared pool of threads: a pool has a limit, and a file system that hangs would fill it and
//! hold up every service. A [`Lane`] runs one piece of work at a time on a thread of its own, so a
//! hung one delays only the next of its own lane.

use std::fmt;
use std::io;
use std::sync::{self, Arc, Weak};
use std::thread;
use std::time::Duration;

use smol::lock::Mutex;

use crate::clock;
use crate::wording::{MORE_FILES, without_number};

/// Enough for parsing the deepest configuration that is read; memory that is not used costs nothing.
const STACK: usize = 512 * 1024;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("not done in time; see whether its file system hangs"),
            Self::NoThread(error) => {
                write!(
                    f,
                    "no thread for it: {}; raise the limit of processes (ulimit -u, TasksMax of systemd, pids of a container)",
                    without_number(error)
                )
            }
            Self::NoFile(error) => {
                write!(f, "no file for it: {}; {MORE_FILES}", without_number(error))
            }
            Self::Broken => f.write_str("it stopped at a fault of Vigie itself; please report it"),
        }
    }
}

/// Runs one piece of blocking work at a time.
#[derive(Clone, Debug, Default)]
pub struct Lane(Arc<Mutex<()>>);

/// A lane as long as somebody has it, or work of it has not ended.
#[derive(Clone, Debug)]
pub struct Known(Weak<Mutex<()>>);

impl Known {
    /// The lane, if it is there still.
    pub fn lane(&self) -> Option<Lane> {
        self.0.upgrade().map(Lane)
    }
}

/// Why a piece of work gave nothing.
#[derive(Debug)]
pub enum Stuck {
    /// The work, or an earlier one of the lane, did not end in time. It goes on and its result is
    /// dropped.
    TimedOut,
    /// No thread could be had.
    NoThread(io::Error),
    /// No file could be had.
    NoFile(io::Error),
    /// The work panicked: a fault of Vigie itself.
    Broken,
}

impl Lane {
    /// Whether a piece of work has not ended.
    pub fn is_busy(&self) -> bool {
        self.0.try_lock().is_none()
    }

    /// For who does not keep it.
    pub fn known(&self) -> Known {
        Known(Arc::downgrade(&self.0))
    }

    /// Whether both are one lane.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Runs `work` after the earlier work of this lane has ended, all within `timeout`.
    pub async fn run<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stuck> {
        let run = async {
            let turn = self.0.lock_arc().await;
            // The turn ends with the work, not with the wait for it.
            let work = move || {
                let result = work();
                drop(turn);
                result
            };
            run(work).await
        };
        clock::within(timeout, run)
            .await
            .unwrap_or(Err(Stuck::TimedOut))
    }
}

/// Starts the reactor, if a thread and a few files can be had. Without them it would not start, but panic.
pub fn probe() -> Result<(), Stuck> {
    // It takes three.
    let pipe = || io::pipe().map_err(Stuck::NoFile);
    drop((pipe()?, pipe()?));
    let thread = thread::Builder::new()
        .spawn(|| ())
        .map_err(Stuck::NoThread)?;
    thread.join().map_err(|_| Stuck::Broken)?;
    // It starts with its first timer: now, while there is what it needs, and not when work has taken that.
    let first = smol::future::poll_once(async_io::Timer::after(Duration::from_secs(60)));
    smol::block_on(first);
    Ok(())
}

/// Runs work that takes long, but does not hang, on a thread of its own.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Stuck> {
    let (sender, receiver) = smol::channel::bounded(1);
    let body = move || {
        // Nobody waits any more when the time ran out.
        let _ = sender.try_send(work());
    };
    let thread = thread::Builder::new()
        .name("blocking".into())
        .stack_size(STACK);
    thread.spawn(body).map_err(Stuck::NoThread)?;
    receiver.recv().await.map_err(|_| Stuck::Broken)
}

/// Runs work that only computes on a thread of its own; here, in the time of all others, when no thread can be had.
pub async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Stuck> {
    let work = Arc::new(sync::Mutex::new(Some(work)));
    let take = |work: &sync::Mutex<Option<_>>| {
        let mut work = work.lock().unwrap_or_else(sync::PoisonError::into_inner);
        work.take()
    };
    let shared = work.clone();
    match run(move || take(&shared).map(|work| work())).await {
        Ok(done) => done.ok_or(Stuck::Broken),
        Err(Stuck::NoThread(_)) => take(&work).map(|work| work()).ok_or(Stuck::Broken),
        Err(stuck) => Err(stuck),
    }
}
