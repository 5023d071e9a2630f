//! Requests in the words of the log.

use std::fmt;

use super::head::Head;
use super::refusal::Refusal;
use super::route::Route;
use crate::catalog::Current;
use crate::wording::shorten;

/// No service has a longer name, in bytes.
pub(super) const LONGEST_NAME: usize = 255;

/// What a request asks for. No query, since that could hold a secret.
pub(super) struct About {
    words: String,
    /// The name and the kind of the source of the service that it is about, if there is such a service.
    service: Option<(Box<str>, &'static str)>,
}

impl About {
    /// `None` when the log does not tell of requests.
    pub(super) fn new(
        head: &Head<'_>,
        routed: &Result<Route<'_>, Refusal>,
        catalog: &Current,
    ) -> Option<Self> {
        if !log::log_enabled!(log::Level::Debug) {
            return None;
        }
        let mut words = format!("{} {}", head.method, head.path);
        let mut service = None;
        if let Ok(Route::Services { name, .. }) = routed {
            words += &format!(" of {}", shorten(name, LONGEST_NAME));
            let catalog = catalog.load();
            service = catalog
                .get(name)
                .map(|known| (known.name().into(), known.source().kind()));
        }
        Some(Self { words, service })
    }

    /// Logs how it was answered.
    pub(super) fn tell(&self, outcome: impl fmt::Display) {
        let words = &self.words;
        match &self.service {
            Some((name, kind)) => {
                log::debug!(service = &**name, source = *kind; "{words}: {outcome}");
            }
            None => log::debug!("{words}: {outcome}"),
        }
    }
}
