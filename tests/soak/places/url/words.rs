//! What is said of each fault.

use super::fault::Fault;

/// What a status is no list with, as it is sent and as it is told.
const STATUSES: [(&str, &str); 9] = [
    ("500 Oh", "the server answered 500 "),
    ("503 No", "the server answered 503 "),
    ("404 Not Found", "the server answered 404 "),
    ("403 Forbidden", "the server answered 403 "),
    ("206 Partial Content", "the server answered 206 "),
    ("203 Other", "the server answered 203 "),
    ("201 Created", "the server answered 201 "),
    ("204 No Content", "the server answered 204 "),
    ("101 Switching Protocols", "the server answered 101 "),
];
const CUT: &str = "it was cut short";
/// Over TLS an end that is not said is no end.
const TLS_CUT: &str = "TLS: the connection ended without the end of TLS";
const BAD_HTTP: &str = "the answer is not good HTTP: ";
const TOO_MANY: &str = "more than 5 redirects";
const GZIP: &str = "its gzip is damaged or cut short";
pub(super) const RESET: &str = "Connection reset by peer";
/// Of a server that takes no connections, and ends those that it has.
pub(super) const REFUSED: &[&str] = &[
    "Connection refused",
    "the server ended the connection",
    RESET,
];

/// The status that a version of a list comes with where it is none, and what is told of it.
pub(super) fn status(version: u64) -> &'static (&'static str, &'static str) {
    &STATUSES[version as usize % STATUSES.len()]
}

impl Fault {
    /// The sentences that there are for it, as parts of them, where the answer is of this version.
    pub(super) fn words(self, version: u64) -> &'static [&'static str] {
        match self {
            // These are lists, or nothing.
            Self::Slow | Self::Silent | Self::Drip => &[],
            Self::Reset => &[RESET],
            Self::Refuse => REFUSED,
            Self::CutHead | Self::CutBody | Self::CutChunk | Self::CutTls => &[CUT, TLS_CUT],
            Self::CutGzip | Self::DamagedGzip => &[GZIP],
            Self::Status => std::slice::from_ref(&status(version).1),
            // It may lead to a chain of good ones, which is one too long then.
            Self::NotModified => &["the server answered 304 ", TOO_MANY],
            Self::RedirectLoop | Self::TooManyRedirects => &[TOO_MANY],
            Self::WrongRedirect => &[
                " without a Location",
                " with several Locations",
                "redirected to what is no http or https URL",
                "redirected from https to http://",
                "the server answered 300 ",
                "the server answered 305 ",
                "the server answered 306 ",
            ],
            Self::Ambiguous => &[BAD_HTTP],
            Self::Coded => &["its Content-Encoding is not gzip"],
            Self::LargeHead => &[BAD_HTTP, "the head of the answer has more than 64 KiB"],
            Self::BadLine => &[": line "],
            Self::TooLarge => &["the body has more than 262144 bytes"],
            Self::WrongJson => &[
                "the list is no JSON",
                "the JSON is not a list of endpoints",
                " of the list: ",
            ],
            Self::NotUtf8 => &["it is not UTF-8"],
        }
    }
}
