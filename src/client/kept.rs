//! Connections that are kept for the next request.
//!
//! All of the process stand on one shelf, so that they never take the files that others need. No task
//! looks after them, and none is needed: the reactor wakes whoever waits for their sockets and timers,
//! and that is the shelf itself, which then drops what is no longer at rest. So none outlives its time,
//! its server's end or its client, though nobody asks again.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use async_io::Timer;
use rustix::process::{Resource, getrlimit};
use smol::future::poll_once;
use smol::io::{AsyncRead, AsyncReadExt};
use url::Origin;

use super::connect::{Socket, Stream};

/// How long a connection is kept at rest.
const IDLE: Duration = Duration::from_secs(60);
/// So many are kept of one client, whatever their origins; the oldest makes room.
const MOST_OF_A_CLIENT: usize = 4;
/// So many are kept of all clients together, and no more than this share of the files that may be open.
const MOST: u64 = 32;
const SHARE_OF_FILES: u64 = 8;

static SHELF: LazyLock<Arc<Shelf>> = LazyLock::new(Arc::default);

/// The connections of one client. They are closed with it.
pub(super) struct Kept {
    shelf: Arc<Shelf>,
    client: u64,
    idle: Duration,
}

/// The oldest come first.
#[derive(Default)]
struct Shelf(Mutex<Vec<Idle>>);

struct Idle {
    client: u64,
    origin: Origin,
    stream: Stream,
    socket: Socket,
    timer: Timer,
}

impl Default for Kept {
    fn default() -> Self {
        Self::on(SHELF.clone(), IDLE)
    }
}

impl Kept {
    fn on(shelf: Arc<Shelf>, idle: Duration) -> Self {
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let client = CLIENTS.fetch_add(1, Ordering::Relaxed);
        Self {
            shelf,
            client,
            idle,
        }
    }

    /// A connection to that origin which is at rest: not closed, and without bytes that nobody asked for.
    pub(super) async fn take(&self, origin: &Origin) -> Option<(Stream, Socket)> {
        loop {
            let (mut stream, socket) = self.shelf.take(self.client, origin)?;
            if poll_once(stream.read(&mut [0])).await.is_none() {
                return Some((stream, socket));
            }
        }
    }

    /// Keeps a connection for a while.
    pub(super) fn put(&self, origin: Origin, stream: Stream, socket: Socket) {
        let one = Idle {
            client: self.client,
            origin,
            stream,
            socket,
            timer: Timer::after(self.idle),
        };
        self.shelf.put(one, most());
    }

    /// Closes those to an origin.
    pub(super) fn give_up(&self, origin: &Origin) {
        let is_it = |one: &Idle| one.client == self.client && one.origin == *origin;
        self.shelf.lock().retain(|one| !is_it(one));
    }

    /// Closes those of all clients, for want of files; says whether there were any.
    pub(super) fn give_up_all(&self) -> bool {
        !std::mem::take(&mut *self.shelf.lock()).is_empty()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.shelf.lock().retain(|one| one.client != self.client);
    }
}

/// How many may be kept of all clients together.
fn most() -> usize {
    let files = getrlimit(Resource::Nofile).current;
    let share = files.map_or(MOST, |files| (files / SHARE_OF_FILES).clamp(1, MOST));
    usize::try_from(share).unwrap_or(1)
}

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, client: u64, origin: &Origin) -> Option<(Stream, Socket)> {
        let mut idle = self.lock();
        let is_it = |one: &Idle| one.client == client && one.origin == *origin;
        let at = idle.iter().rposition(is_it)?;
        let Idle { stream, socket, .. } = idle.remove(at);
        Some((stream, socket))
    }

    fn put(self: &Arc<Self>, one: Idle, most: usize) {
        let mut idle = self.lock();
        let is_sibling = |other: &Idle| other.client == one.client;
        if idle.iter().filter(|other| is_sibling(other)).count() >= MOST_OF_A_CLIENT
            && let Some(oldest) = idle.iter().position(is_sibling)
        {
            drop(idle.remove(oldest));
        }
        let surplus = (idle.len() + 1).saturating_sub(most);
        idle.drain(..surplus);
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

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    use async_io::Async;
    use smol::block_on;

    use super::*;

    fn kept(idle: Duration) -> (Kept, Origin, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (other, _) = listener.accept().unwrap();
        other
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let origin = url::Url::parse("http://h/").unwrap().origin();
        let kept = Kept::on(Arc::default(), idle);
        let stream = smol::net::TcpStream::from(Async::new(stream).unwrap());
        let socket = Socket(stream.clone());
        kept.put(origin.clone(), Box::new(stream), socket);
        (kept, origin, other)
    }

    fn is_closed(other: &mut TcpStream) -> bool {
        match other.read(&mut [0]) {
            Ok(0) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
            Ok(_) => false,
        }
    }

    #[test]
    fn a_connection_is_closed_after_its_time_though_nobody_asks() {
        let (kept, origin, mut other) = kept(Duration::from_millis(50));
        assert!(is_closed(&mut other));
        assert!(block_on(kept.take(&origin)).is_none());
    }

    #[test]
    fn a_connection_is_closed_when_something_comes_that_nobody_asked_for() {
        let (_kept, _, mut other) = kept(IDLE);
        other.write_all(b"x").unwrap();
        assert!(is_closed(&mut other));
    }

    #[test]
    fn a_connection_is_closed_with_its_client() {
        let (kept, _, mut other) = kept(IDLE);
        drop(kept);
        assert!(is_closed(&mut other));
    }

    #[test]
    fn connections_to_an_origin_are_given_up_and_no_others() {
        let (kept, origin, mut other) = kept(IDLE);
        let elsewhere = url::Url::parse("https://h/").unwrap().origin();
        kept.give_up(&elsewhere);
        let (stream, socket) = block_on(kept.take(&origin)).unwrap();
        kept.put(origin.clone(), stream, socket);
        kept.give_up(&origin);
        assert!(is_closed(&mut other));
    }

    #[test]
    fn a_connection_is_for_its_origin_and_given_once() {
        let (kept, origin, _other) = kept(IDLE);
        let elsewhere = url::Url::parse("https://h/").unwrap().origin();
        block_on(async {
            assert!(kept.take(&elsewhere).await.is_none());
            assert!(kept.take(&origin).await.is_some());
            assert!(kept.take(&origin).await.is_none());
        });
    }

    #[test]
    fn all_clients_share_the_room_and_the_oldest_makes_it() {
        let (first, origin, mut other) = kept(IDLE);
        let second = Kept::on(first.shelf.clone(), IDLE);
        let (third, _, _open) = kept(IDLE);
        let (stream, socket) = block_on(third.take(&origin)).unwrap();
        let one = Idle {
            client: second.client,
            origin: origin.clone(),
            stream,
            socket,
            timer: Timer::after(IDLE),
        };
        first.shelf.put(one, 1);
        assert!(is_closed(&mut other));
        assert!(block_on(first.take(&origin)).is_none());
        assert!(block_on(second.take(&origin)).is_some());
    }
}
