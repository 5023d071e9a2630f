//! One connection, from accept to close.
//!
//! It works in turns. A turn reads what has come, answers what it can at once, and says what to wait
//! for; the room it needs is borrowed for the turn, so a connection at rest holds next to nothing.

mod turn;

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown, sockopt};

use self::turn::{Begun, Turn};
use super::answer::Fate;
use super::outgoing::Outgoing;
use super::refusal::Refusal;
use super::request::Request;
use super::seats::{Seat, Stream, Wait};
use super::shared::Shared;

/// The answer that lets a client send its body (RFC 9110, section 15.2.1).
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A client that is told to go may send this much before it reads why.
const MAX_LINGER: usize = 1024 * 1024;

/// One connection.
struct Connection {
    stream: Arc<Stream>,
    shared: Arc<Shared>,
    seat: Seat,
    /// What has come of a request that is not whole, or of those behind the one under way.
    input: Box<[u8]>,
    /// Whether `input` may hold a whole request.
    unread: bool,
    /// A request whose body has not ended.
    begun: Option<Begun>,
    /// What it waits for, as its seat knows.
    wait: Wait,
}

/// What a wait for the socket ends with.
enum Waited {
    /// It is ready; false when it is broken.
    Ready(bool),
    /// The time is up.
    Late,
}

/// Serves a connection until either side ends it.
pub(super) async fn serve(stream: Arc<Stream>, shared: Arc<Shared>, seat: Seat) {
    let mut connection = Connection::new(stream, shared, seat);
    connection.take_seat().await;
    while connection.next().await {}
}

/// Tells a connection that there is no room for it.
pub(super) async fn refuse(stream: Arc<Stream>, shared: Arc<Shared>, seat: Seat) {
    let mut connection = Connection::new(stream, shared, seat);
    let full = Request::refused(Refusal::TooManyConnections, false);
    if let Some(Fate::Close) = connection.work(full).await {
        connection.finish().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.seats.leave(self.seat);
    }
}

impl Connection {
    fn new(stream: Arc<Stream>, shared: Arc<Shared>, seat: Seat) -> Self {
        Self {
            stream,
            shared,
            seat,
            input: Box::default(),
            unread: false,
            begun: None,
            wait: Wait::First,
        }
    }

    /// Leaves word how to wake this connection when it is late.
    async fn take_seat(&self) {
        poll_fn(|context| {
            self.shared.seats.take(self.seat, context.waker().clone());
            Poll::Ready(())
        })
        .await;
    }

    /// One turn and the wait after it; whether another follows.
    async fn next(&mut self) -> bool {
        // What is rare is boxed, so that a connection at rest stays small.
        match self.turn() {
            Turn::Read => match self.in_time(self.stream.readable()).await {
                Waited::Ready(good) => good,
                // What has come is read first: this process may have been stopped meanwhile.
                Waited::Late => true,
            },
            Turn::Late => Box::pin(self.refuse_late()).await,
            Turn::Yield => {
                smol::future::yield_now().await;
                true
            }
            Turn::Continue => Box::pin(self.send(Outgoing::whole(CONTINUE.to_vec()))).await,
            Turn::Write(outgoing, fate) => {
                self.wait_for(Wait::Write, self.now());
                let sent = Box::pin(self.send(outgoing)).await.then_some(fate);
                self.after_answer(sent).await
            }
            Turn::Work(request) => {
                let sent = Box::pin(self.work(request)).await;
                self.after_answer(sent).await
            }
            Turn::Finish => Box::pin(self.finish()).await,
            Turn::Gone => false,
        }
    }

    /// Tells the client that its time is up.
    async fn refuse_late(&mut self) -> bool {
        let late = Request::refused(Refusal::TooSlow, self.asks_for_head());
        let sent = self.work(late).await;
        self.after_answer(sent).await
    }

    /// Waits for the socket, or for the end of the time for it.
    async fn in_time(&self, ready: impl Future<Output = io::Result<()>>) -> Waited {
        let mut ready = pin!(ready);
        let mut woken = false;
        poll_fn(|context| match ready.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Waited::Ready(outcome.is_ok())),
            // Only who is woken may be late; who has just begun to wait is spared a look.
            Poll::Pending if woken && self.shared.seats.is_late(self.seat) => {
                Poll::Ready(Waited::Late)
            }
            Poll::Pending => {
                woken = true;
                Poll::Pending
            }
        })
        .await
    }

    /// Once an answer is out the wait for the next request begins, or the end. What is ready at once would
    /// never let the others have a turn.
    async fn after_answer(&mut self, sent: Option<Fate>) -> bool {
        match sent {
            None => return false,
            Some(Fate::Close) => return Box::pin(self.finish()).await,
            Some(Fate::Kept | Fate::KeptOld) if !self.unread => {
                self.wait_for(Wait::Idle, self.now());
            }
            Some(Fate::Kept | Fate::KeptOld) => {}
        }
        smol::future::yield_now().await;
        true
    }

    /// Whether it may wait for that.
    fn wait_for(&mut self, wait: Wait, now: Instant) -> bool {
        self.wait = wait;
        self.shared.seats.wait(self.seat, wait, now)
    }

    /// Answers a request that needs more than a look at what is kept; what becomes of the connection, when
    /// the answer could be sent.
    async fn work(&mut self, request: Request) -> Option<Fate> {
        let wait = match request.needs_a_read() {
            true => Wait::Read,
            false => Wait::Answer,
        };
        self.wait_for(wait, self.now());
        let (outgoing, fate) = self.unless_sent_away(request.answer(&self.shared)).await?;
        self.send(outgoing).await.then_some(fate)
    }

    /// Waits for an answer, or for the word that nobody waits for it any more.
    async fn unless_sent_away<T>(&self, answer: impl Future<Output = T>) -> Option<T> {
        let mut answer = pin!(answer);
        poll_fn(|context| match answer.as_mut().poll(context) {
            Poll::Pending if self.shared.seats.is_sent_away(self.seat) => Poll::Ready(None),
            polled => polled.map(Some),
        })
        .await
    }

    /// Sends an answer to its end; whether that succeeded.
    async fn send(&mut self, mut outgoing: Outgoing) -> bool {
        let mut overdue = false;
        loop {
            match outgoing.send(&self.stream) {
                Ok(true) => {
                    if overdue {
                        self.wait_for(Wait::Answer, self.now());
                    }
                    return true;
                }
                Ok(false) => {
                    overdue = false;
                    self.wait_for(Wait::Write, self.now());
                    // A client that takes a long list as fast as it is sent must not keep others waiting.
                    smol::future::yield_now().await;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if overdue {
                        self.give_up();
                        return false;
                    }
                    if self.wait != Wait::Write {
                        self.wait_for(Wait::Write, self.now());
                    }
                    // The system calls a socket writable only when a third of its room is free. Who reads
                    // slowly has made some, and then the next bytes are taken all the same.
                    match self.in_time(self.stream.writable()).await {
                        Waited::Ready(good) if !good => return false,
                        Waited::Ready(_) => {}
                        Waited::Late => overdue = true,
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Has the system drop at once what the client does not take, which it would keep for minutes.
    fn give_up(&self) {
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }

    /// Ends the connection so that the client can read the last answer: closing with bytes unread would
    /// reset it (RFC 9112, section 9.6).
    async fn finish(&mut self) -> bool {
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Write);
        self.input = Box::default();
        self.wait_for(Wait::Linger, self.now());
        let mut left = MAX_LINGER;
        while left > 0 {
            let received = rustix::net::recv(
                &self.stream,
                &mut self.shared.scratch().input[..],
                RecvFlags::empty(),
            );
            match received {
                Ok((_, 0)) => break,
                Ok((_, count)) => {
                    left = left.saturating_sub(count);
                    smol::future::yield_now().await;
                }
                Err(error) if is_passing(error) => {
                    if self.stream.readable().await.is_err() {
                        break;
                    }
                }
                Err(_) => break,
            }
        }
        false
    }

    fn now(&self) -> Instant {
        self.shared.runtime.clock.now()
    }
}

fn is_passing(error: Errno) -> bool {
    matches!(error, Errno::WOULDBLOCK | Errno::INTR)
}
