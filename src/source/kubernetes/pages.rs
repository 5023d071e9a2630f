//! All pages of a list, or none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::cluster::{Cluster, Ready};
use super::refusal;
use crate::blocking;
use crate::client::{self, Answer, HeaderMap, Kind, Request, StatusCode, Target, header};
use crate::endpoint::Endpoint;
use crate::slices::{Gathered, Wanted};
use crate::source::{Failure, Found};

/// Slices a page. From its cache (`resourceVersion=0`) the API server may give all at once.
const LIMIT: usize = 500;
/// So many pages are read.
const MOST_PAGES: usize = 1000;
/// So many bytes are read of all pages together: the slices of more than 150,000 endpoints.
const MOST_BYTES: u64 = 64 << 20;
/// A page of so many bytes is read in less time than a thread takes to start.
const READ_AT_ONCE: u64 = 32 << 10;

/// The list of one Service.
pub(super) struct Pages<'a> {
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) namespace: &'a str,
    pub(super) service: &'a str,
    pub(super) wanted: &'a Wanted,
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
    /// Reads all pages. When the server has forgotten the list between two of them, it begins again,
    /// once. Credentials that it does not accept are read again, once, where they come from files.
    pub(super) async fn read(&self, mut ready: Ready) -> Found {
        let (mut may_renew, mut may_restart) = (self.cluster.has_files(), true);
        let mut progress = self.start();
        let mut pages = 0;
        while pages < MOST_PAGES {
            let answer = self.ask(&ready, &progress).await?;
            match answer.status {
                StatusCode::OK => match self.take(progress, answer.body).await? {
                    Step::Whole(endpoints) => return Ok(Arc::new(endpoints)),
                    Step::More(further) => {
                        progress = further;
                        pages += 1;
                    }
                },
                StatusCode::UNAUTHORIZED if may_renew => {
                    may_renew = false;
                    let deadline = self.begun + self.timeout;
                    ready = self.cluster.ready(deadline).await?;
                }
                StatusCode::GONE if progress.more.is_some() && may_restart => {
                    may_restart = false;
                    (progress, pages) = (self.start(), 0);
                }
                status => return Err(refusal::of(status, self.namespace)),
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

    async fn ask(&self, ready: &Ready, progress: &Progress) -> Result<Answer, Failure> {
        let target = self.target(progress.more.as_deref())?;
        let token = ready.token.iter().cloned();
        let request = Request {
            target: &target,
            credentials: HeaderMap::from_iter(token.map(|token| (header::AUTHORIZATION, token))),
            at_hand: None,
            begun: self.begun,
            timeout: self.timeout,
            max_size: MOST_BYTES - progress.bytes,
            max_redirects: 0,
        };
        let answer = ready.client.get(&request).await;
        answer.map_err(|failure| told(failure, self.cluster.is_of_a_pod()))
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
            let reason =
                "asking for the slices makes no good URL; correct the address of the API server";
            Failure::Unreadable(reason.into())
        });
        parsed.map(|(target, _)| target)
    }

    async fn take(&self, mut progress: Progress, body: Vec<u8>) -> Result<Step, Failure> {
        progress.bytes += body.len() as u64;
        if progress.bytes <= READ_AT_ONCE {
            return take(progress, body);
        }
        let taken = blocking::run(move || take(progress, body)).await;
        taken.unwrap_or_else(|stuck| {
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

/// What a pod is told, which has no keys.
const OF_A_POD: [(&str, &str); 4] = [
    (
        "name its authority with ca_file",
        "ca.crt of the service account does not hold the authority of the API server",
    ),
    ("correct ca_file", "correct ca.crt of the service account"),
    (
        "correct the url, or set server_name",
        "see whether KUBERNETES_SERVICE_HOST is that of the API server",
    ),
    (
        "set cert_file and key_file",
        "name a kubeconfig that has one with kubeconfig",
    ),
];

/// The client speaks of the keys of the url source.
const KEYS: [(&str, &str); 4] = [
    (
        "cert_file and key_file",
        "client-certificate and client-key",
    ),
    ("ca_file", "certificate-authority"),
    ("server_name", "tls-server-name"),
    ("the url", "the server"),
];

fn told(failure: client::Failure, is_in_pod: bool) -> Failure {
    let mut reason = failure.reason;
    match failure.kind {
        Kind::TimedOut => return Failure::TimedOut(reason.into()),
        Kind::Tls => {
            let of_a_pod = OF_A_POD.iter().filter(|_| is_in_pod);
            for (key, other) in of_a_pod.chain(&KEYS) {
                reason = reason.replace(key, other);
            }
        }
        Kind::TooLarge => reason = format!("the slices have more than {} MiB", MOST_BYTES >> 20),
        Kind::Redirect => {
            reason = "the API server redirects, which is not followed; correct its address".into()
        }
        _ => {}
    }
    Failure::Unreadable(reason.into())
}
