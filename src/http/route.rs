//! What a vetted request asks for.

use std::borrow::Cow;

use super::head::{Expectation, Head, Method};
use super::query;
use super::refusal::Refusal;

/// The service that is meant when none is named.
const DEFAULT: &str = "default";
/// How much of an unknown path an error repeats, in bytes.
const SHOWN: usize = 80;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// The endpoints of a service.
    Services {
        /// The service.
        name: Cow<'a, str>,
        /// Whether the request named it.
        named: bool,
    },
    /// Anything else.
    Errand(Errand),
}

/// What a request asks for beside lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// A reload.
    Reload,
    /// Whether the process answers.
    Live,
    /// Whether it is ready for traffic.
    Ready,
    /// The page.
    Page,
    /// The metrics.
    Metrics,
}

/// What answers at a path, as the metrics name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// Lists.
    Services,
    /// Reloads.
    Reload,
    /// The page.
    Page,
    /// Whether the process answers.
    Live,
    /// Whether it is ready for traffic.
    Ready,
    /// Metrics.
    Metrics,
    /// Any other path, and what cannot be read.
    Other,
}

impl Handler {
    /// All of them, in their order.
    pub const ALL: [Self; 7] = [
        Self::Services,
        Self::Reload,
        Self::Page,
        Self::Live,
        Self::Ready,
        Self::Metrics,
        Self::Other,
    ];

    /// What answers at a path.
    pub fn at(path: &str) -> Self {
        match path {
            "/services" => Self::Services,
            "/reload" => Self::Reload,
            "/" => Self::Page,
            "/livez" | "/healthz" | "/-/healthy" => Self::Live,
            "/readyz" | "/-/ready" => Self::Ready,
            "/metrics" => Self::Metrics,
            _ => Self::Other,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::Reload => "reload",
            Self::Page => "page",
            Self::Live => "livez",
            Self::Ready => "readyz",
            Self::Metrics => "metrics",
            Self::Other => "other",
        }
    }
}

/// The route of a request, or the reason why there is none.
pub fn route<'a>(head: &Head<'a>) -> Result<Route<'a>, Refusal> {
    match head.method {
        Method::Unknown(_) => return Err(Refusal::UnknownMethod { close: false }),
        Method::Connect => return Err(Refusal::UnknownMethod { close: true }),
        _ if head.expectation == Expectation::Unknown => return Err(Refusal::Expectation),
        _ => {}
    }
    let errand = |errand| allow_get(head).map(|()| Route::Errand(errand));
    match Handler::at(head.path) {
        Handler::Services => {
            allow_get(head)?;
            let name = query::service_name(head.query)?.filter(|name| !name.is_empty());
            let named = name.is_some();
            Ok(Route::Services {
                name: name.unwrap_or(Cow::Borrowed(DEFAULT)),
                named,
            })
        }
        Handler::Reload if head.method == Method::Post => Ok(Route::Errand(Errand::Reload)),
        Handler::Reload => Err(Refusal::WrongMethod { allow: "POST" }),
        Handler::Page => errand(Errand::Page),
        Handler::Live => errand(Errand::Live),
        Handler::Ready => errand(Errand::Ready),
        Handler::Metrics => errand(Errand::Metrics),
        // The server as a whole (RFC 9110, section 9.3.7).
        Handler::Other if head.path == "*" => Err(Refusal::WrongMethod {
            allow: "GET, HEAD, POST",
        }),
        Handler::Other => {
            let path = head.path;
            Err(Refusal::NoSuchPath(path[..path.len().min(SHOWN)].into()))
        }
    }
}

fn allow_get(head: &Head<'_>) -> Result<(), Refusal> {
    match head.method {
        Method::Get | Method::Head => Ok(()),
        _ => Err(Refusal::WrongMethod { allow: "GET, HEAD" }),
    }
}
