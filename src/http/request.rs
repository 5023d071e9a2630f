//! A whole request that needs more than a look at what is kept, and its answer.

use std::sync::Arc;

use super::about::{About, LONGEST_NAME};
use super::answer::{self, Asked, Fate};
use super::head::{Head, Method};
use super::outgoing::Outgoing;
use super::refusal::Refusal;
use super::route::{Errand, Handler, Route};
use super::shared::Shared;
use super::{codec, errand};
use crate::service::Listed;
use crate::wording::shorten;

/// What is to be done for a request, and how the answer is to be sent.
pub(super) struct Request {
    work: Work,
    handler: Handler,
    /// Whether it asks by HEAD, so that no body follows.
    pub(super) head_only: bool,
    fate: Fate,
    /// What it asks for, for a log that tells of requests.
    about: Option<About>,
}

enum Work {
    List {
        name: Box<str>,
        named: bool,
        if_none_match: Option<Box<[u8]>>,
    },
    Errand {
        errand: Errand,
        vetted: Vec<u8>,
    },
    Refuse(Refusal),
}

impl Request {
    /// Keeps of a request what its answer needs.
    pub(super) fn new(
        head: &Head<'_>,
        routed: Result<Route<'_>, Refusal>,
        about: Option<About>,
        fate: Fate,
    ) -> Self {
        let work = match routed {
            Ok(Route::Services { name, named }) => Work::List {
                name: name.into(),
                named,
                if_none_match: head.if_none_match.map(Into::into),
            },
            Ok(Route::Errand(errand)) => Work::Errand {
                errand,
                vetted: codec::vetted_bytes(head),
            },
            Err(refusal) => Work::Refuse(refusal),
        };
        Self {
            work,
            handler: Handler::at(head.path),
            head_only: head.method == Method::Head,
            fate,
            about,
        }
    }

    /// A request that cannot be read.
    pub(super) fn refused(refusal: Refusal, head_only: bool) -> Self {
        Self {
            work: Work::Refuse(refusal),
            handler: Handler::Other,
            head_only,
            fate: Fate::Close,
            about: None,
        }
    }

    /// Whether its answer waits for a read, of a list or of the configuration. Such a read goes on, and keeps nothing
    /// of who has asked for it.
    pub(super) fn needs_a_read(&self) -> bool {
        matches!(
            &self.work,
            Work::List { .. }
                | Work::Errand {
                    errand: Errand::Reload,
                    ..
                }
        )
    }

    /// The answer, and what becomes of the connection after it.
    pub(super) async fn answer(self, shared: &Arc<Shared>) -> (Outgoing, Fate) {
        let Self {
            work,
            handler,
            head_only,
            fate,
            about,
        } = self;
        let tell = |status| match &about {
            Some(about) => about.tell(status),
            None => log::debug!("no request: {status}"),
        };
        let result = match work {
            Work::List {
                name,
                named,
                if_none_match,
            } => match list(&name, named, shared).await {
                Ok(listed) => {
                    let fate = fate.unless(shared.phase.is_closing());
                    let asked = Asked {
                        head_only,
                        if_none_match: if_none_match.as_deref(),
                        fate,
                    };
                    let status = asked.status(&listed.value);
                    shared.counts.add(handler, status);
                    tell(status);
                    return (send_list(&listed, asked, shared), fate);
                }
                Err(refusal) => Err(refusal),
            },
            Work::Errand { errand, vetted } => errand::answer(errand, vetted, shared).await,
            Work::Refuse(refusal) => Err(refusal),
        };
        let closes = shared.phase.is_closing() || result.as_ref().is_err_and(Refusal::closes);
        let response = result.unwrap_or_else(|refusal| refusal.response());
        let status = response.status().into();
        shared.counts.add(handler, status);
        tell(status);
        let fate = fate.unless(closes);
        (
            Outgoing::whole(codec::bytes(response, head_only, fate).await),
            fate,
        )
    }
}

/// The list of a service, fresh or standing in.
async fn list(name: &str, named: bool, shared: &Shared) -> Result<Listed, Refusal> {
    let service = shared.catalog.load().get(name).cloned();
    let missing = || {
        if named {
            Refusal::NoSuchService(shorten(name, LONGEST_NAME).into())
        } else {
            Refusal::NoDefault
        }
    };
    let service = service.ok_or_else(missing)?;
    let answer = service.get(&shared.runtime, &shared.durations).await;
    answer.map_err(Refusal::Source)
}

fn send_list(listed: &Listed, asked: Asked<'_>, shared: &Shared) -> Outgoing {
    let mut head = Vec::new();
    let now = shared.runtime.clock.now();
    let follows = answer::write_head(
        &mut head,
        shared.scratch().date.then_age(now),
        asked,
        listed,
    );
    Outgoing::list(head, follows.then(|| listed.value.clone()))
}
