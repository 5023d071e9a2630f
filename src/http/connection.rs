//! One connection, from accept to close.
//!
//! It works in turns. A turn reads what has come, answers what it can at once, and says what to wait
//! for; the room it needs is borrowed for the turn, so a connection at rest holds next to nothing.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;
use rustix::net::{RecvFlags, Shutdown};

use super::answer::{self, Asked, Date, Fate};
use super::body::{Body, Framing};
use super::head::{self, Expectation, Head, Method};
use super::outgoing::{self, Outgoing};
use super::refusal::Refusal;
use super::request::{Request, describe};
use super::route::{Route, route};
use super::seats::{Seat, Stream, Wait};
use super::shared::{Scratch, Shared};
use crate::service::Listed;

/// The answer that lets a client send its body (RFC 9110, section 15.2.1).
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// So many answers a turn; then the other connections have theirs.
const ANSWERS_A_TURN: usize = 16;
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

/// A request whose head is vetted.
struct Begun {
    request: Request,
    body: Body,
    /// Whether the client waits for a 100.
    expects: bool,
}

/// What a turn ends with.
enum Turn {
    /// More bytes are needed.
    Read,
    /// Let others have a turn.
    Yield,
    /// The client is to be told that it may send the body.
    Continue,
    /// The client did not take a whole answer.
    Write(Outgoing, Fate),
    /// A request that needs more than a look at what is kept.
    Work(Request),
    /// The last answer is out.
    Finish,
    /// Nobody is there any more.
    Gone,
}

/// What a turn works on.
struct Desk<'a> {
    /// What has been read and not yet used.
    bytes: &'a [u8],
    output: &'a mut Vec<u8>,
    date: &'a mut Date,
    now: Instant,
    answered: usize,
}

/// Serves a connection until either side ends it.
pub(super) async fn serve(stream: Arc<Stream>, shared: Arc<Shared>, seat: Seat) {
    let mut connection = Connection::new(stream, shared, seat);
    while connection.next().await {}
}

/// Tells a connection that there is no room for it.
pub(super) async fn refuse(stream: Arc<Stream>, shared: Arc<Shared>, seat: Seat) {
    let mut connection = Connection::new(stream, shared, seat);
    connection
        .work(Request::refused(Refusal::TooManyConnections))
        .await;
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

    /// One turn and the wait after it; whether another follows.
    async fn next(&mut self) -> bool {
        // What is rare is boxed, so that a connection at rest stays small.
        match self.turn() {
            Turn::Read => self.stream.readable().await.is_ok(),
            Turn::Yield => {
                smol::future::yield_now().await;
                true
            }
            Turn::Continue => Box::pin(self.send(Outgoing::whole(CONTINUE.to_vec()))).await,
            Turn::Write(outgoing, fate) => Box::pin(self.finish_answer(outgoing, fate)).await,
            Turn::Work(request) => Box::pin(self.work(request)).await,
            Turn::Finish => Box::pin(self.finish()).await,
            Turn::Gone => false,
        }
    }

    fn turn(&mut self) -> Turn {
        let shared = self.shared.clone();
        let now = shared.runtime.clock.now();
        let mut scratch = shared.scratch();
        let Scratch {
            input,
            output,
            date,
        } = &mut *scratch;
        let mut filled = self.input.len();
        input[..filled].copy_from_slice(&self.input);
        if !self.unread {
            match rustix::net::recv(&self.stream, &mut input[filled..], RecvFlags::empty()) {
                Ok((_, 0)) => return self.ended(),
                Ok((_, count)) => filled += count,
                Err(error) if is_passing(error) => return self.settle(now, 0),
                Err(_) => return Turn::Gone,
            }
        }
        let mut desk = Desk {
            bytes: &input[..filled],
            output,
            date,
            now,
            answered: 0,
        };
        let turn = self.read_requests(&mut desk);
        let (rest, answered) = (desk.bytes, desk.answered);
        self.unread = !matches!(turn, Turn::Read) && !rest.is_empty();
        if !(rest.is_empty() && self.input.is_empty()) {
            self.input = rest.into();
        }
        match turn {
            Turn::Read => self.settle(now, answered),
            turn => turn,
        }
    }

    /// Nothing more will come.
    fn ended(&mut self) -> Turn {
        let begun = self.begun.take().is_some() || head::has_begun(&self.input);
        if matches!(self.wait, Wait::First | Wait::Request) && self.shared.seats.is_late(self.seat)
        {
            Turn::Work(Request::refused(Refusal::TooSlow))
        } else if begun {
            Turn::Work(Request::refused(Refusal::CutShort))
        } else {
            Turn::Gone
        }
    }

    /// Waits for the rest of a request, or for another one.
    fn settle(&mut self, now: Instant, answered: usize) -> Turn {
        let begun = self.begun.is_some() || head::has_begun(&self.input);
        if !begun && self.shared.phase.is_closing() {
            return Turn::Finish;
        }
        match (begun, self.wait) {
            (true, Wait::Request) | (false, Wait::First | Wait::Idle) if answered == 0 => {}
            (true, _) => self.wait_for(Wait::Request, now),
            (false, _) => self.wait_for(Wait::Idle, now),
        }
        Turn::Read
    }

    fn wait_for(&mut self, wait: Wait, now: Instant) {
        self.wait = wait;
        self.shared.seats.wait(self.seat, wait, now);
    }

    fn read_requests(&mut self, desk: &mut Desk<'_>) -> Turn {
        loop {
            if self.begun.is_some() {
                return self.read_body(desk);
            }
            if desk.bytes.is_empty() {
                return Turn::Read;
            }
            let (head, length) = match head::parse(desk.bytes) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return Turn::Read,
                Err(refusal) => return Turn::Work(Request::refused(refusal)),
            };
            desk.bytes = &desk.bytes[length..];
            let fate = self.fate(&head);
            let routed = route(&head);
            if let Some(listed) = self.fresh(&head, &routed, desk.now) {
                let asked = Asked {
                    head_only: head.method == Method::Head,
                    if_none_match: head.if_none_match,
                    fate,
                };
                log::debug!(
                    "{}: {}, kept",
                    describe(&head, &routed),
                    asked.status(&listed.value)
                );
                match self.answer_at_once(asked, &listed, desk) {
                    Turn::Read => continue,
                    turn => return turn,
                }
            }
            let (body, expects) = (
                Body::new(head.framing),
                head.expectation == Expectation::Continue,
            );
            self.begun = Some(Begun {
                request: Request::new(&head, routed, fate),
                body,
                expects,
            });
        }
    }

    /// Follows the body of the request that has begun. It is dropped: no path takes one.
    fn read_body(&mut self, desk: &mut Desk<'_>) -> Turn {
        let Some(mut begun) = self.begun.take() else {
            return Turn::Read;
        };
        match begun.body.take(desk.bytes) {
            Err(refusal) => return Turn::Work(Request::refused(refusal)),
            Ok(taken) => {
                desk.bytes = &desk.bytes[taken..];
                // Who has sent some of it does not wait.
                begun.expects &= taken == 0;
            }
        }
        if begun.body.is_done() {
            return Turn::Work(begun.request);
        }
        let expects = std::mem::take(&mut begun.expects);
        self.begun = Some(begun);
        if expects { Turn::Continue } else { Turn::Read }
    }

    fn fate(&self, head: &Head<'_>) -> Fate {
        let fate = match head.keep_alive {
            true if head.old => Fate::KeptOld,
            true => Fate::Kept,
            false => Fate::Close,
        };
        fate.unless(self.shared.phase.is_closing())
    }

    /// The list that a request asks for, if it is there and nothing more is to be read.
    fn fresh(
        &self,
        head: &Head<'_>,
        routed: &Result<Route<'_>, Refusal>,
        now: Instant,
    ) -> Option<Listed> {
        let Ok(Route::Services { name, .. }) = routed else {
            return None;
        };
        if head.framing != Framing::None {
            return None;
        }
        self.shared.catalog.load().get(name)?.fresh(now)
    }

    /// Sends a list straight from the desk. `Turn::Read` means that the next request can be read.
    fn answer_at_once(&mut self, asked: Asked<'_>, listed: &Listed, desk: &mut Desk<'_>) -> Turn {
        desk.output.clear();
        let follows = answer::write_head(desk.output, desk.date, asked, listed);
        match outgoing::send_at_once(&self.stream, desk.output, follows.then_some(&listed.value)) {
            Err(_) => return Turn::Gone,
            Ok(Some(rest)) => return Turn::Write(rest, asked.fate),
            Ok(None) => desk.answered += 1,
        }
        if asked.fate == Fate::Close {
            Turn::Finish
        } else if desk.answered >= ANSWERS_A_TURN && !desk.bytes.is_empty() {
            self.wait_for(Wait::Answer, desk.now);
            Turn::Yield
        } else {
            Turn::Read
        }
    }

    /// Answers a request that needs more than a look at what is kept; whether the connection goes on.
    async fn work(&mut self, request: Request) -> bool {
        self.wait_for(Wait::Answer, self.now());
        let (outgoing, fate) = request.answer(&self.shared).await;
        self.finish_answer(outgoing, fate).await
    }

    async fn finish_answer(&mut self, outgoing: Outgoing, fate: Fate) -> bool {
        match self.send(outgoing).await {
            true if fate == Fate::Close => self.finish().await,
            sent => sent,
        }
    }

    /// Sends an answer to its end; whether that succeeded.
    async fn send(&mut self, mut outgoing: Outgoing) -> bool {
        self.wait_for(Wait::Answer, self.now());
        loop {
            match outgoing.send(&self.stream) {
                Ok(true) => return true,
                Ok(false) => self.wait_for(Wait::Write, self.now()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.wait != Wait::Write {
                        self.wait_for(Wait::Write, self.now());
                    }
                    if self.stream.writable().await.is_err() {
                        return false;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Ends the connection so that the client can read the last answer: closing with bytes unread would
    /// reset it (RFC 9112, section 9.6).
    async fn finish(&mut self) -> bool {
        let _ = rustix::net::shutdown(&self.stream, Shutdown::Write);
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
