//! The vetted head of a request: what the guard lets through.

use std::fmt;

use super::body::Framing;

/// A request method (RFC 9110, section 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method<'a> {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// One that HTTP knows and no path of Vigie allows.
    Other(&'a str),
    /// CONNECT, which asks for a proxy.
    Connect,
    /// One that Vigie does not know.
    Unknown(&'a str),
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Connect => "CONNECT",
            Self::Other(name) | Self::Unknown(name) => name,
        })
    }
}

/// What a client expects before it sends the body (RFC 9110, section 10.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// Nothing.
    None,
    /// A 100 before it sends the body.
    Continue,
    /// Something that Vigie cannot meet.
    Unknown,
}

/// A vetted head. What it borrows is visible ASCII, but for the values of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// What is to be done.
    pub method: Method<'a>,
    /// The path, still percent-encoded.
    pub path: &'a str,
    /// What follows the `?`, still percent-encoded.
    pub query: Option<&'a str>,
    /// The authority that the request is for; empty when it names none.
    pub host: &'a str,
    /// How the body is framed.
    pub framing: Framing,
    /// What the client expects before it sends the body.
    pub expectation: Expectation,
    /// Whether it is HTTP/1.0.
    pub old: bool,
    /// Whether the client wants the connection kept.
    pub keep_alive: bool,
    /// The list of entity tags the client has; `None` too when several fields give one.
    pub if_none_match: Option<&'a [u8]>,
    /// The origin of the page that a browser sends the request from.
    pub origin: Option<&'a [u8]>,
    /// How that page is related to Vigie.
    pub sec_fetch_site: Option<&'a [u8]>,
}
