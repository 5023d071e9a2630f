//! One turn of a connection: what has come is read, and what can be answered at once is answered.

use std::time::Instant;

use rustix::net::RecvFlags;

use super::{Connection, is_passing};
use crate::http::about::About;
use crate::http::answer::{self, Asked, Date, Fate};
use crate::http::body::{Body, Framing};
use crate::http::guard;
use crate::http::head::{Expectation, Head, Method};
use crate::http::outgoing::{self, Outgoing};
use crate::http::refusal::Refusal;
use crate::http::request::Request;
use crate::http::route::{Handler, Route, route};
use crate::http::seats::Wait;
use crate::http::shared::Scratch;
use crate::service::Listed;

/// So many answers a turn; then the other connections have theirs. A thousand clients that ask without
/// end hold up each other's answers by a thousand turns.
const ANSWERS_A_TURN: usize = 2;

/// So many bytes of a body a turn, for the same reason.
const BODY_A_TURN: usize = 4096;

/// What a turn ends with.
pub(super) enum Turn {
    /// More bytes are needed.
    Read,
    /// More bytes are needed, but the time for them is up.
    Late,
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

/// A request whose head is vetted.
pub(super) struct Begun {
    request: Request,
    body: Body,
    /// Whether the client waits for a 100.
    expects: bool,
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

impl Connection {
    /// Reads what has come and answers what it can.
    pub(super) fn turn(&mut self) -> Turn {
        let shared = self.shared.clone();
        let now = shared.runtime.clock.now();
        let mut scratch = shared.scratch();
        let Scratch {
            input,
            output,
            date,
        } = &mut *scratch;
        let mut filled = self.input.len();
        let mut more = false;
        input[..filled].copy_from_slice(&self.input);
        if !self.unread {
            let room = match self.begun {
                // Of a body little is read a turn: each of its bytes may cost a step.
                Some(_) => input.len().min(filled + BODY_A_TURN),
                None => input.len(),
            };
            match rustix::net::recv(&self.stream, &mut input[filled..room], RecvFlags::empty()) {
                Ok((_, 0)) => return self.ended(),
                Ok((_, count)) => filled += count,
                Err(error) if is_passing(error) => return self.settle(now, 0),
                Err(_) => return Turn::Gone,
            }
            more = filled == room;
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
            Turn::Read => match self.settle(now, answered) {
                // Only who has sent no more is late.
                Turn::Late if more => Turn::Yield,
                turn => turn,
            },
            Turn::Continue => {
                self.settle(now, answered);
                Turn::Continue
            }
            turn => turn,
        }
    }

    /// Nothing more will come.
    fn ended(&mut self) -> Turn {
        if self.begun.is_some() || guard::has_begun(&self.input) {
            Turn::Work(Request::refused(Refusal::CutShort, self.asks_for_head()))
        } else {
            Turn::Gone
        }
    }

    /// Whether the request that has begun asks for no body.
    pub(super) fn asks_for_head(&self) -> bool {
        let begun = self.begun.as_ref().map(|begun| begun.request.head_only);
        begun.unwrap_or(guard::asks_for_head(&self.input))
    }

    /// Waits for the rest of a request, or for another one.
    fn settle(&mut self, now: Instant, answered: usize) -> Turn {
        let begun = self.begun.is_some() || guard::has_begun(&self.input);
        if !begun && self.shared.phase.is_closing() {
            return Turn::Finish;
        }
        let in_time = match (begun, self.wait) {
            (true, Wait::Request) | (false, Wait::First | Wait::Idle) if answered == 0 => {
                !self.shared.seats.is_late(self.seat)
            }
            (true, _) => {
                if answered > 0 {
                    // The time of the one before is no time of this one.
                    self.wait_for(Wait::Idle, now);
                }
                self.wait_for(Wait::Request, now)
            }
            (false, _) => self.wait_for(Wait::Idle, now),
        };
        if in_time { Turn::Read } else { Turn::Late }
    }

    fn read_requests(&mut self, desk: &mut Desk<'_>) -> Turn {
        loop {
            if self.begun.is_some() {
                return self.read_body(desk);
            }
            if desk.bytes.is_empty() {
                return Turn::Read;
            }
            let (head, length) = match guard::parse(desk.bytes) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return Turn::Read,
                Err(refusal) => {
                    let head_only = guard::asks_for_head(desk.bytes);
                    return Turn::Work(Request::refused(refusal, head_only));
                }
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
                let status = asked.status(&listed.value);
                self.shared.counts.add(Handler::Services, status);
                if let Some(about) = self.about(&head, &routed) {
                    about.tell(format_args!("{status}, kept"));
                }
                match self.answer_at_once(asked, &listed, desk) {
                    Turn::Read => continue,
                    turn => return turn,
                }
            }
            if head.expectation == Expectation::Unknown && head.framing != Framing::None {
                // Whether the body will come nobody can tell (RFC 9110, section 10.1.1).
                let head_only = head.method == Method::Head;
                return Turn::Work(Request::refused(Refusal::Expectation, head_only));
            }
            let about = self.about(&head, &routed);
            let (body, expects) = (
                Body::new(head.framing),
                head.expectation == Expectation::Continue,
            );
            self.begun = Some(Begun {
                request: Request::new(&head, routed, about, fate),
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
            Err(refusal) => {
                return Turn::Work(Request::refused(refusal, begun.request.head_only));
            }
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

    fn about(&self, head: &Head<'_>, routed: &Result<Route<'_>, Refusal>) -> Option<About> {
        About::new(head, routed, &self.shared.catalog)
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
        let follows = answer::write_head(desk.output, desk.date.then_age(desk.now), asked, listed);
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
}
