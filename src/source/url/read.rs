//! One read: ask, and take the list or say why there is none.

use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Url, build, echo, list};
use crate::blocking::Lane;
use crate::client::{
    self, Answer, AtHand, Client, Kind, Request, StatusCode, Target, Trusted, header,
};
use crate::clock::Clock;
use crate::dns::System;
use crate::endpoint::Endpoint;
use crate::source::{Failure, Found, Reader, Reading};
use crate::yaml::Diagnostic;

/// A longer entity tag is not sent back.
const LONGEST_ETAG: usize = 1 << 10;

/// A list that can be read.
pub struct UrlReader {
    settings: Url,
    client: Client,
    lane: Lane,
    last: Mutex<Option<Arc<Last>>>,
}

/// The last list and its entity tag, for a server that says that it is still the same.
struct Last {
    at_hand: AtHand,
    default_port: NonZeroU16,
    list: Arc<Vec<Endpoint>>,
}

impl UrlReader {
    /// Reads the files of certificates; opens no connection. Errors: every file that cannot be used.
    pub fn build(
        settings: &Url,
        lane: Lane,
        trusted: &mut Trusted,
    ) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self {
            client: Client::new(
                build::tls(&settings.tls, trusted)?,
                System::new(lane.clone()),
            ),
            settings: settings.clone(),
            lane,
            last: Mutex::default(),
        })
    }

    async fn read_whole(&self, default_port: NonZeroU16) -> Found {
        let settings = &self.settings;
        let begun = Clock::System.now();
        let mut credentials = settings.headers.clone();
        if let Some(secret) = &settings.secret {
            let authorization = secret.authorization(&self.lane, settings.timeout).await?;
            credentials.insert(header::AUTHORIZATION, authorization);
        }
        let last = self.last(default_port);
        let request = Request {
            target: &settings.target,
            credentials,
            at_hand: last.as_ref().map(|last| &last.at_hand),
            begun,
            timeout: settings.timeout,
            max_size: settings.max_size,
            max_redirects: settings.max_redirects,
            turns: None,
        };
        let found = self.ask(&request, last.as_deref(), default_port).await;
        found.map_err(|failure| echo::strike_out(failure, &request))
    }

    async fn ask(
        &self,
        request: &Request<'_>,
        last: Option<&Last>,
        default_port: NonZeroU16,
    ) -> Found {
        let answer = self.client.get(request).await.map_err(told)?;
        match (answer.status, last) {
            (StatusCode::OK, _) => self.take(answer, default_port).await,
            (StatusCode::NOT_MODIFIED, Some(last)) if answer.conditional => Ok(last.list.clone()),
            (status, _) => Err(self.refused(status, &answer.target)),
        }
    }

    /// Why an answer from there is no list.
    fn refused(&self, status: StatusCode, target: &Target) -> Failure {
        let settings = &self.settings;
        let has_credentials = !settings.headers.is_empty()
            || settings.secret.is_some()
            || settings.tls.identity.is_some();
        let left_out = has_credentials && !target.is_at_origin_of(&settings.target);
        self.redirected(refused(status, left_out), target)
    }

    /// Says where a failure comes from that is not from the URL itself.
    fn redirected(&self, failure: Failure, target: &Target) -> Failure {
        match *target == self.settings.target {
            true => failure,
            false => failure.of(format_args!("redirected to {target}")),
        }
    }

    async fn take(&self, answer: Answer, default_port: NonZeroU16) -> Found {
        let Answer {
            target,
            headers,
            body,
            ..
        } = answer;
        let list = list::read(&headers, body, default_port).await;
        let list = list.map_err(|failure| {
            self.redirected(echo::strike_out_query(failure, &target), &target)
        })?;
        let etag = headers
            .get(header::ETAG)
            .filter(|etag| etag.len() <= LONGEST_ETAG);
        self.remember(etag.map(|etag| Last {
            at_hand: AtHand {
                target,
                etag: etag.clone(),
            },
            default_port,
            list: list.clone(),
        }));
        Ok(list)
    }

    fn last(&self, default_port: NonZeroU16) -> Option<Arc<Last>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone()
            .filter(|last| last.default_port == default_port)
    }

    fn remember(&self, last: Option<Last>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last.map(Arc::new);
    }
}

impl Reader for UrlReader {
    fn read(&self, default_port: NonZeroU16) -> Reading<'_> {
        Box::pin(async move {
            self.read_whole(default_port)
                .await
                .map_err(|failure| failure.of(format_args!("url {}", self.settings.target)))
        })
    }
}

fn told(failure: client::Failure) -> Failure {
    match failure.kind {
        Kind::TimedOut => Failure::TimedOut(failure.reason.into()),
        _ => Failure::Unreadable(failure.reason.into()),
    }
}

/// What to say of an answer that is no list, in the standard words of its status. Credentials may have been
/// `left_out` of the request.
fn refused(status: StatusCode, left_out: bool) -> Failure {
    let words = status
        .canonical_reason()
        .unwrap_or("a status that is not known");
    let right = match status.as_u16() {
        204 => "; an empty list is a 200 with an empty body",
        206 => "; a part of a list is no list",
        304 => "; there is no list that it could mean",
        401 | 403 if left_out => {
            "; credentials were left out, because the origin changed: name that url if they are for it"
        }
        401 | 407 => "; correct the user, the password or the token",
        403 => "; let who asks read the list",
        404 | 410 => "; correct the url, or put the list there",
        429 => "; raise cache_ttl, so that Vigie asks less often",
        300..=399 => "; name the url where the list is",
        500..=599 => "; see what is wrong with that server",
        _ => "",
    };
    Failure::Unreadable(format!("the server answered {} {words}{right}", status.as_u16()).into())
}
