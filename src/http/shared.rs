//! What all connections share.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Date;
use super::counts::Counts;
use super::limits::MAX_HEAD;
use super::seats::Seats;
use crate::catalog::Current;
use crate::metrics::Histograms;
use crate::reload::{Reloader, Status};
use crate::slot::Runtime;

/// What all connections share.
pub struct Shared {
    /// The services.
    pub catalog: Arc<Current>,
    /// Where reads run, and the time.
    pub runtime: Runtime,
    /// Who is connected, and for how long each may wait.
    pub seats: Seats,
    /// Takes reloads by request; `None` when they are switched off.
    pub reloader: Option<Reloader>,
    /// How far the server is on its way from start to end.
    pub phase: Phase,
    /// Room for one turn of one connection, so that an idle one holds no buffer.
    pub scratch: Mutex<Scratch>,
    /// Answers by handler and status.
    pub counts: Counts,
    /// How long reads take, by the kind of their source.
    pub durations: Arc<Histograms>,
    /// How the last reload went.
    pub reloads: Arc<Status>,
}

impl Shared {
    /// The room for the present turn; it is given back before anything is waited for.
    pub fn scratch(&self) -> MutexGuard<'_, Scratch> {
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one turn of one connection.
pub struct Scratch {
    /// What is read.
    pub input: Box<[u8]>,
    /// What is written.
    pub output: Vec<u8>,
    /// The date for it.
    pub date: Date,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            input: vec![0; MAX_HEAD].into_boxed_slice(),
            output: Vec::with_capacity(MAX_HEAD),
            date: Date::default(),
        }
    }
}

/// How far the server is on its way from start to end.
#[derive(Debug, Default)]
pub struct Phase(AtomicU8);

const SERVING: u8 = 0;
const LEAVING: u8 = 1;
const CLOSING: u8 = 2;

impl Phase {
    /// Whether new traffic should come here.
    pub fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SERVING
    }

    /// Whether each connection is to be closed after its next answer.
    pub fn is_closing(&self) -> bool {
        self.0.load(Ordering::Relaxed) == CLOSING
    }

    /// From now on traffic should go elsewhere, but is served still.
    pub fn leave(&self) {
        self.0.store(LEAVING, Ordering::Relaxed);
    }

    /// From now on each connection is closed after its next answer.
    pub fn close(&self) {
        self.0.store(CLOSING, Ordering::Relaxed);
    }
}
