//! Connections that are kept for the next request.
//!
//! No task looks after them, and none is needed: the reactor wakes whoever waits for their sockets and
//! timers, and that is the shelf itself, which then drops what is no longer at rest. So none outlives
//! its time, its server's end or its client, though nobody asks again.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use async_io::Timer;
use smol::future::poll_once;
use smol::io::{AsyncRead, AsyncReadExt};
use url::Origin;

use super::connect::Stream;

/// How long a connection is kept at rest.
const IDLE: Duration = Duration::from_secs(60);
/// So many are kept, whatever their origins; the oldest makes room.
const MOST: usize = 4;

/// The connections of one client. They are closed with it.
#[derive(Default)]
pub(super) struct Kept(Arc<Shelf>);

#[derive(Default)]
struct Shelf(Mutex<Vec<Idle>>);

struct Idle {
    origin: Origin,
    stream: Stream,
    timer: Timer,
}

impl Kept {
    /// A connection to that origin which is at rest: not closed, and without bytes that nobody asked for.
    pub(super) async fn take(&self, origin: &Origin) -> Option<Stream> {
        loop {
            let mut stream = self.0.take(origin)?;
            if poll_once(stream.read(&mut [0])).await.is_none() {
                return Some(stream);
            }
        }
    }

    /// Keeps a connection for a while.
    pub(super) fn put(&self, origin: Origin, stream: Stream) {
        self.0.put(Idle {
            origin,
            stream,
            timer: Timer::after(IDLE),
        });
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The reactor still holds the shelf, to wake it.
        let idle = std::mem::take(&mut *self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
        drop(idle);
    }
}

impl Shelf {
    fn take(&self, origin: &Origin) -> Option<Stream> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().rposition(|one| one.origin == *origin)?;
        Some(idle.remove(at).stream)
    }

    fn put(self: &Arc<Self>, one: Idle) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MOST {
            drop(idle.remove(0));
        }
        idle.push(one);
        self.sweep(&mut idle);
    }

    /// Drops what is no longer at rest, and waits for what becomes so.
    fn sweep(self: &Arc<Self>, idle: &mut Vec<Idle>) {
        let waker = Waker::from(self.clone());
        let mut context = Context::from_waker(&waker);
        idle.retain_mut(|one| one.is_at_rest(&mut context));
    }
}

impl Wake for Shelf {
    fn wake(self: Arc<Self>) {
        // Whoever holds it may be what wakes it, by waiting for a connection in its stead. A wake that is lost
        // so is no loss: a connection is looked at again before it is used, and its timer still runs.
        if let Ok(mut idle) = self.0.try_lock() {
            self.sweep(&mut idle);
        }
    }
}

impl Idle {
    fn is_at_rest(&mut self, context: &mut Context<'_>) -> bool {
        let stream = Pin::new(&mut self.stream);
        Pin::new(&mut self.timer).poll(context).is_pending()
            && stream.poll_read(context, &mut [0]).is_pending()
    }
}
