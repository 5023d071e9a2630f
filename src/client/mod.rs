//! An HTTP/1.1 client over TLS that takes a part for the whole never: `GET`, one answer, bounded.
//!
//! It knows no source. A [`Request`] goes in, an [`Answer`] comes out, or a [`Failure`] that says in
//! words what a person needs and holds no secret. One time limit covers everything, from the look-up of
//! the name to the last byte.

mod address;
mod body;
mod chunked;
mod connect;
mod dial;
mod exchange;
mod failure;
mod gzip;
mod head;
mod input;
mod kept;
mod redirect;
mod slip;
mod target;
mod tls;
mod trust;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use exchange::over;
pub use failure::{Failure, Kind};
pub use futures_rustls::pki_types::ServerName;
pub use target::{Login, Target};
pub use tls::{Identity, Tls, WrongIdentity};
pub use trust::{System, Trust, Trusted};
/// The value of `Host`.
pub use ureq_proto::http::uri::Authority;
/// Names, values and sets of header fields, and the status of an answer.
pub use ureq_proto::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use smol::lock::{Semaphore, SemaphoreGuard};

use crate::clock;
use crate::dns;
use kept::Kept;

/// What is asked for.
pub struct Request<'a> {
    /// Where.
    pub target: &'a Target,
    /// Header fields for the origin of `target` alone: a redirect elsewhere does not get them.
    pub credentials: HeaderMap,
    /// What is at hand already.
    pub at_hand: Option<&'a AtHand>,
    /// When the time began to run: reading a token counts.
    pub begun: Instant,
    /// For everything, from then to the last byte.
    pub timeout: Duration,
    /// Of the decoded body of a 200.
    pub max_size: u64,
    /// How many redirects are followed.
    pub max_redirects: u64,
    /// What the body of a 200 waits for, if it may be so large that few are to be in memory at once.
    pub turns: Option<&'static Semaphore>,
}

/// An answer that need not come again while it is the same.
#[derive(Clone, Debug)]
pub struct AtHand {
    /// Where it came from, redirects followed: an entity tag means nothing elsewhere.
    pub target: Target,
    /// Its entity tag, as the server wrote it.
    pub etag: HeaderValue,
}

/// A final answer that is not a redirect.
#[derive(Debug)]
pub struct Answer {
    /// Where it came from, redirects followed.
    pub target: Target,
    /// Its status.
    pub status: StatusCode,
    /// Its header fields.
    pub headers: HeaderMap,
    /// The decoded body of a 200, whole. Of other answers what came of it soon, and at most 64 KiB.
    pub body: Vec<u8>,
    /// Leave to hold that body, where it had to wait for some.
    pub turn: Option<SemaphoreGuard<'static>>,
    /// Whether the request said what is at hand, so that 304 is an answer to it.
    pub conditional: bool,
}

/// Asks servers, and keeps connections for the next request.
pub struct Client {
    tls: Tls,
    names: dns::System,
    kept: Kept,
}

impl Client {
    /// Makes it ready; opens no connection. Names are looked up as `names` does it.
    pub fn new(tls: Tls, names: dns::System) -> Self {
        Self {
            tls,
            names,
            kept: Kept::default(),
        }
    }

    /// Sends the request, follows redirects, and takes the whole answer.
    ///
    /// Errors: no whole answer within the time and the bounds. Any status is an answer.
    pub async fn get(&self, request: &Request<'_>) -> Result<Answer, Failure> {
        let step = Step::default();
        let deadline = request.begun + request.timeout;
        let errand = self.follow(request, &step, deadline);
        match clock::until(deadline, errand).await {
            Some(outcome) => outcome,
            None => Err(Failure::timed_out(&step.words(), request.timeout)),
        }
    }
}

/// What is being done, for the words about a time-out.
#[derive(Default)]
struct Step(Mutex<Cow<'static, str>>);

impl Step {
    fn begin(&self, words: impl Into<Cow<'static, str>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words.into();
    }

    fn words(&self) -> Cow<'static, str> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Until when everything must be done.
type Deadline = Instant;
