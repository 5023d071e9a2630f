//! All pages of a list, or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use smol::lock::Semaphore;

use super::cluster::{Cluster, Ready};
use super::large::{SMALL, TURNS};
use super::refusal;
use crate::blocking;
use crate::client::{
    self, Answer, HeaderMap, HeaderValue, Kind, Request, StatusCode, Target, header,
};
use crate::endpoint::Endpoint;
use crate::slices::{Gathered, Wanted};
use crate::source::sent::Sent;
use crate::source::{Failure, Found};

/// Slices a page. From its cache (`resourceVersion=0`) the API server may give all at once.
const LIMIT: usize = 500;
/// So many pages are read.
const MOST_PAGES: usize = 1000;
/// So many bytes are read of all pages together: the slices of more than 75,000 endpoints.
pub(super) const MOST_BYTES: u64 = 32 << 20;
/// A page of so many bytes is read in less time than a thread takes to start.
const READ_AT_ONCE: u64 = 32 << 10;

/// The list of one Service.
pub(super) struct Pages<'a> {
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) system: &'a client::System,
    pub(super) namespace: &'a str,
    pub(super) service: &'a str,
    pub(super) wanted: &'a Wanted,
    /// Whether the last page that came was large; then the next is taken for a large one at once.
    pub(super) is_large: &'a AtomicBool,
    /// When the time began to run, and how long it runs.
    pub(super) begun: Instant,
    pub(super) timeout: Duration,
}

/// How far the reading has come.
struct Progress {
    gathered: Gathered,
    /// What the next page is asked for with.
    more: Option<Box<str>>,
    bytes: u64,
}

/// What an answer led to.
enum Step {
    More(Progress),
    Whole(Vec<Endpoint>),
}

impl Pages<'_> {
    /// Reads all pages. A failure holds nothing of the credentials that were sent.
    pub(super) async fn read(&self, ready: Ready) -> Found {
        let mut sent = Sent::default();
        let found = self.read_pages(ready, &mut sent).await;
        found.map_err(|failure| failure.map(|reason| sent.strike(reason)))
    }

    /// When the server has forgotten the list between two pages, it begins again, once. Credentials that
    /// the server does not accept are read again, once, where they come from files.
    async fn read_pages(&self, mut ready: Ready, sent: &mut Sent) -> Found {
        sent.note_authorization(ready.token.as_ref());
        let (mut may_renew, mut may_restart) = (self.cluster.has_files(), true);
        let mut progress = self.start();
        let mut pages = 0;
        while pages < MOST_PAGES {
            let answer = self.ask(&ready, &progress).await?;
            match answer.status {
                StatusCode::OK => match self.take(progress, answer).await? {
                    Step::Whole(endpoints) => return Ok(Arc::new(endpoints)),
                    Step::More(further) => {
                        progress = further;
                        pages += 1;
                    }
                },
                StatusCode::UNAUTHORIZED if may_renew => {
                    may_renew = false;
                    let deadline = self.begun + self.timeout;
                    ready = self.cluster.ready(deadline, self.system).await?;
                    sent.note_authorization(ready.token.as_ref());
                }
                StatusCode::GONE if progress.more.is_some() && may_restart => {
                    may_restart = false;
                    (progress, pages) = (self.start(), 0);
                }
                status => {
                    let is_first = progress.more.is_none();
                    let unread = ready.unread.as_deref();
                    return Err(refusal::of(status, self.namespace, is_first, unread));
                }
            }
        }
        let reason = format!("the slices come in more than {MOST_PAGES} pages");
        Err(Failure::Unreadable(reason.into()))
    }

    fn start(&self) -> Progress {
        Progress {
            gathered: Gathered::new(self.wanted.clone()),
            more: None,
            bytes: 0,
        }
    }

    /// Asks for a page. One that turns out to be large is asked for again, and waits for its turn once it comes.
    async fn ask(&self, ready: &Ready, progress: &Progress) -> Result<Answer, Failure> {
        let told = |failure| refusal::told(failure, self.cluster.is_of_a_pod());
        let target = self.target(progress.more.as_deref())?;
        let left = MOST_BYTES - progress.bytes;
        if !self.is_large.load(Ordering::Relaxed) {
            match self.get(ready, &target, left.min(SMALL), None).await {
                Err(failure) if failure.kind == Kind::TooLarge && left > SMALL => {}
                outcome => return outcome.map_err(told),
            }
        }
        let answer = self.get(ready, &target, left, Some(&TURNS)).await;
        let answer = answer.map_err(told)?;
        let is_large = answer.body.len() as u64 > SMALL;
        self.is_large.store(is_large, Ordering::Relaxed);
        Ok(answer)
    }

    async fn get(
        &self,
        ready: &Ready,
        target: &Target,
        max_size: u64,
        turns: Option<&'static Semaphore>,
    ) -> Result<Answer, client::Failure> {
        let json = (header::ACCEPT, HeaderValue::from_static(refusal::JSON));
        let token = ready.token.iter().cloned();
        let token = token.map(|token| (header::AUTHORIZATION, token));
        let request = Request {
            target,
            credentials: HeaderMap::from_iter(token.chain([json])),
            at_hand: None,
            begun: self.begun,
            timeout: self.timeout,
            max_size,
            max_redirects: 0,
            turns,
        };
        ready.client.get(&request).await
    }

    /// A page that goes on with a list names no `resourceVersion`: it is that of the list.
    fn target(&self, more: Option<&str>) -> Result<Target, Failure> {
        let from = match more {
            None => "resourceVersion=0".to_owned(),
            Some(more) => format!("continue={}", utf8_percent_encode(more, NON_ALPHANUMERIC)),
        };
        let url = format!(
            "{}/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io/service-name%3D{}&limit={LIMIT}&{from}",
            self.cluster.server(),
            self.namespace,
            self.service
        );
        let parsed = Target::parse(&url).map_err(|_| {
            let reason = match more {
                None => {
                    "asking for the slices makes no good URL; correct the address of the API server"
                }
                Some(_) => {
                    "the server's continue token is too long; see whether it is an API server"
                }
            };
            Failure::Unreadable(reason.into())
        });
        parsed.map(|(target, _)| target)
    }

    async fn take(
        &self,
        mut progress: Progress,
        Answer {
            headers,
            body,
            turn,
            ..
        }: Answer,
    ) -> Result<Step, Failure> {
        refusal::of_type(&headers)?;
        progress.bytes += body.len() as u64;
        if progress.bytes <= READ_AT_ONCE {
            return take(progress, body);
        }
        let taken = blocking::compute(move || {
            let taken = take(progress, body);
            drop(turn);
            taken
        });
        taken.await.unwrap_or_else(|stuck| {
            let reason = format!("reading the slices: {stuck}");
            Err(Failure::Unreadable(reason.into()))
        })
    }
}

/// Takes a page, and drops its bytes.
fn take(progress: Progress, body: Vec<u8>) -> Result<Step, Failure> {
    let Progress {
        mut gathered,
        bytes,
        ..
    } = progress;
    let unreadable = |reason: String| Failure::Unreadable(reason.into());
    let text = String::from_utf8(body)
        .map_err(|_| unreadable("reading the slices: they are not UTF-8".into()))?;
    let more = gathered
        .take(&text)
        .map_err(|bad| unreadable(format!("reading the slices: {bad}")))?;
    Ok(match more {
        None => Step::Whole(gathered.finish().map_err(unreadable)?),
        more => Step::More(Progress {
            gathered,
            more,
            bytes,
        }),
    })
}
