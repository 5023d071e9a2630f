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
}

/// The route of a request, or the reason why there is none.
pub fn route<'a>(head: &Head<'a>) -> Result<Route<'a>, Refusal> {
    match head.method {
        Method::Unknown(_) => return Err(Refusal::UnknownMethod { close: false }),
        Method::Connect => return Err(Refusal::UnknownMethod { close: true }),
        _ if head.expectation == Expectation::Unknown => return Err(Refusal::Expectation),
        _ => {}
    }
    match head.path {
        "/services" => {
            allow_get(head)?;
            let name = query::service_name(head.query)?.filter(|name| !name.is_empty());
            let named = name.is_some();
            Ok(Route::Services {
                name: name.unwrap_or(Cow::Borrowed(DEFAULT)),
                named,
            })
        }
        "/reload" if head.method == Method::Post => Ok(Route::Errand(Errand::Reload)),
        "/reload" => Err(Refusal::WrongMethod { allow: "POST" }),
        "/livez" | "/healthz" | "/-/healthy" => {
            allow_get(head).map(|()| Route::Errand(Errand::Live))
        }
        "/readyz" | "/-/ready" => allow_get(head).map(|()| Route::Errand(Errand::Ready)),
        // The server as a whole (RFC 9110, section 9.3.7).
        "*" => Err(Refusal::WrongMethod {
            allow: "GET, HEAD, POST",
        }),
        path => Err(Refusal::NoSuchPath(path[..path.len().min(SHOWN)].into())),
    }
}

fn allow_get(head: &Head<'_>) -> Result<(), Refusal> {
    match head.method {
        Method::Get | Method::Head => Ok(()),
        _ => Err(Refusal::WrongMethod { allow: "GET, HEAD" }),
    }
}
