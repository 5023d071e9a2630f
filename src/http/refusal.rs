//! Every reason not to answer, and the only table from reason to status.

use std::borrow::Cow;

use http_types::{Body, Response, StatusCode};

use super::limits::{MAX_BODY, MAX_FIELDS, MAX_HEAD};
use crate::format::json;
use crate::source::Failure;

/// Why a request is not answered with what it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request line cannot be read.
    BadRequestLine(&'static str),
    /// A field cannot be read, or says what HTTP forbids.
    BadHeader(&'static str),
    /// It is not said for which host the request is.
    BadHost(&'static str),
    /// The body is not framed as its head says.
    BadBody(&'static str),
    /// The client ended its side before the request was whole.
    CutShort,
    /// The request was not whole in time.
    TooSlow,
    /// The body has more than [`MAX_BODY`] bytes.
    BodyTooLarge,
    /// The request line alone fills the head.
    TargetTooLong,
    /// The head has too many bytes or fields.
    HeadTooLarge,
    /// A transfer coding other than chunked.
    TransferCoding,
    /// A major version other than 1.
    Version,
    /// An `Expect` other than 100-continue.
    Expectation,
    /// A method that Vigie does not know.
    UnknownMethod {
        /// Whether what follows on the connection cannot be told.
        close: bool,
    },
    /// A method that the path does not allow.
    WrongMethod {
        /// Those it allows.
        allow: &'static str,
    },
    /// Nothing is at this path.
    NoSuchPath(Box<str>),
    /// The query cannot be decoded.
    BadQuery(&'static str),
    /// No service is named, and none is called `default`.
    NoDefault,
    /// No service has this name.
    NoSuchService(Box<str>),
    /// The source of the service has no list.
    Source(Failure),
    /// Reload by request is switched off.
    ReloadDisabled,
    /// A browser asks for a reload from another site.
    ForeignSite,
    /// The reload failed, and everything stays as it was.
    ReloadFailed(std::sync::Arc<str>),
    /// SIGTERM has come.
    Stopping,
    /// Every connection is taken and busy.
    TooManyConnections,
}

/// What goes out for a refusal.
struct Row {
    status: StatusCode,
    /// Whether what follows on the connection cannot be trusted or read.
    closes: bool,
    header: Option<(&'static str, &'static str)>,
    sentence: Cow<'static, str>,
}

#[derive(miniserde::Serialize)]
struct ErrorBody<'a> {
    error: &'a str,
}

impl Refusal {
    /// Whether the connection is closed after it.
    pub fn closes(&self) -> bool {
        self.row().closes
    }

    /// The status of its answer.
    pub fn status(&self) -> StatusCode {
        self.row().status
    }

    /// Its answer: the status and `{"error": sentence}`.
    pub fn response(&self) -> Response {
        let row = self.row();
        let mut body = miniserde::json::to_string(&ErrorBody {
            error: &row.sentence,
        });
        body.push('\n');
        let mut response = Response::new(row.status);
        response.set_body(Body::from_string(body));
        response.insert_header("Content-Type", json::MEDIA_TYPE);
        if let Some((name, value)) = row.header {
            response.insert_header(name, value);
        }
        response
    }

    fn row(&self) -> Row {
        use StatusCode as S;
        let kept = |status, sentence: Cow<'static, str>| Row {
            status,
            closes: false,
            header: None,
            sentence,
        };
        let closed = |status, sentence: Cow<'static, str>| Row {
            status,
            closes: true,
            header: None,
            sentence,
        };
        match self {
            Self::BadRequestLine(why) => closed(S::BadRequest, format!("the request line cannot be read: {why}").into()),
            Self::BadHeader(why) => closed(S::BadRequest, format!("the header of the request is not allowed: {why}").into()),
            Self::BadHost(why) => closed(S::BadRequest, format!("the request must name its host once: {why}").into()),
            Self::BadBody(why) => closed(S::BadRequest, format!("the body of the request cannot be read: {why}").into()),
            Self::CutShort => closed(S::BadRequest, "the request ended before it was whole; send it again".into()),
            Self::TooSlow => closed(S::RequestTimeout, "the request was not whole in time; send it faster, or raise server.request_timeout".into()),
            Self::BodyTooLarge => closed(S::PayloadTooLarge, format!("the body has more than {} KiB; Vigie needs none", MAX_BODY / 1024).into()),
            Self::TargetTooLong => closed(S::UriTooLong, format!("the request line has more than {} KiB; shorten it", MAX_HEAD / 1024).into()),
            Self::HeadTooLarge => closed(
                S::RequestHeaderFieldsTooLarge,
                format!("the header has more than {} KiB or {MAX_FIELDS} fields; leave out what Vigie does not need", MAX_HEAD / 1024).into(),
            ),
            Self::TransferCoding => closed(S::NotImplemented, "the only transfer coding is chunked".into()),
            Self::Version => closed(S::HttpVersionNotSupported, "the only versions are HTTP/1.1 and HTTP/1.0".into()),
            Self::Expectation => kept(S::ExpectationFailed, "the only expectation that can be met is 100-continue".into()),
            Self::UnknownMethod { close } => {
                Row { closes: *close, ..kept(S::NotImplemented, "the method is not known; use GET, HEAD or POST".into()) }
            }
            Self::WrongMethod { allow } => {
                let sentence = format!("the method is not allowed here; use {allow}").into();
                Row { header: Some(("Allow", allow)), ..kept(S::MethodNotAllowed, sentence) }
            }
            Self::NoSuchPath(path) => {
                kept(S::NotFound, format!("nothing is at {path}; ask for /services?service_name=NAME").into())
            }
            Self::BadQuery(why) => kept(S::BadRequest, format!("the query cannot be read: {why}").into()),
            Self::NoDefault => kept(
                S::BadRequest,
                "no service is named, and none is called default; ask for /services?service_name=NAME".into(),
            ),
            Self::NoSuchService(name) => {
                kept(S::NotFound, format!("there is no service {name}; add it to the configuration and reload").into())
            }
            Self::Source(failure @ Failure::TimedOut(_)) => kept(S::GatewayTimeout, failure.to_string().into()),
            Self::Source(failure @ Failure::Unreadable(_)) => kept(S::BadGateway, failure.to_string().into()),
            Self::ReloadDisabled => kept(
                S::Forbidden,
                "reload by request is switched off by disable_reload_by_request; send SIGHUP instead".into(),
            ),
            Self::ForeignSite => kept(
                S::Forbidden,
                "a browser may ask for a reload only from Vigie's own page, opened by IP address or localhost".into(),
            ),
            Self::ReloadFailed(why) => kept(S::InternalServerError, why.to_string().into()),
            Self::Stopping => kept(S::ServiceUnavailable, "Vigie is stopping; ask another one".into()),
            Self::TooManyConnections => Row {
                header: Some(("Retry-After", "1")),
                ..closed(
                    S::ServiceUnavailable,
                    "too many connections are open and busy; try again, or raise server.max_connections".into(),
                )
            },
        }
    }
}
