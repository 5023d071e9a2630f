//! A list as an HTTP answer, written as ready bytes.

use std::time::UNIX_EPOCH;

use super::conditional;
use crate::clock;
use crate::service::{Listed, Listing};
use crate::source::Failure;

/// What becomes of the connection after an answer, and what the answer says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing: HTTP/1.1 keeps it.
    Kept,
    /// `keep-alive`, for a client of HTTP/1.0 that asked for it.
    KeptOld,
    /// `close`.
    Close,
}

impl Fate {
    /// The same, unless every connection is being closed.
    pub fn unless(self, closing: bool) -> Self {
        if closing { Self::Close } else { self }
    }

    /// The value of the field, if it is sent.
    pub fn value(self) -> Option<&'static str> {
        match self {
            Self::Kept => None,
            Self::KeptOld => Some("keep-alive"),
            Self::Close => Some("close"),
        }
    }
}

/// How the client asked for the list.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// By HEAD, so that no body follows.
    pub head_only: bool,
    /// The tags that it has.
    pub if_none_match: Option<&'a [u8]>,
    /// What becomes of the connection.
    pub fate: Fate,
}

impl Asked<'_> {
    /// Whether the client has this very list already.
    pub fn knows(&self, listing: &Listing) -> bool {
        self.if_none_match
            .is_some_and(|value| conditional::names_tag(value, &listing.etag))
    }

    /// The status of the answer.
    pub fn status(&self, listing: &Listing) -> u16 {
        if self.knows(listing) { 304 } else { 200 }
    }
}

/// Writes the head of the answer to `out`, and says whether the body follows.
pub fn write_head(out: &mut Vec<u8>, date: &mut Date, asked: Asked<'_>, listed: &Listed) -> bool {
    let listing = &listed.value;
    let known = asked.knows(listing);
    if known {
        out.extend_from_slice(b"HTTP/1.1 304 Not Modified\r\n");
    } else {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
        number(out, "Content-Length: ", listing.body.len() as u64);
    }
    field(out, "Cache-Control: no-cache\r\nETag: ", &listing.etag);
    field(out, "Date: ", date.now());
    number(out, "Age: ", listed.age.as_secs());
    if let Some(stale) = &listed.stale {
        let reason = stale
            .reason
            .as_ref()
            .map_or("the source has not answered yet", Failure::reason);
        number(out, "Vigie-Stale: ", stale.past_ttl.as_secs());
        field(out, "Vigie-Error: ", &visible(reason));
    }
    if let Some(value) = asked.fate.value() {
        field(out, "Connection: ", value);
    }
    out.extend_from_slice(b"\r\n");
    !known && !asked.head_only
}

fn field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn number(out: &mut Vec<u8>, name: &str, value: u64) {
    field(out, name, itoa::Buffer::new().format(value));
}

/// The value of a field holds visible ASCII; anything else is escaped. Proxies have little room for it.
fn visible(text: &str) -> String {
    const LONGEST: usize = 1000;
    let escaped = text.chars().flat_map(|c| {
        let plain = matches!(c, ' '..='~').then_some(c);
        let escape = plain.is_none().then(|| c.escape_default());
        plain.into_iter().chain(escape.into_iter().flatten())
    });
    escaped.take(LONGEST).collect()
}

/// The value of `Date`, formatted once a second.
#[derive(Debug)]
pub struct Date {
    second: u64,
    text: String,
}

impl Default for Date {
    fn default() -> Self {
        Self {
            second: u64::MAX,
            text: String::new(),
        }
    }
}

impl Date {
    /// The present second (RFC 9110, section 5.6.7).
    pub fn now(&mut self) -> &str {
        let now = clock::date();
        let second = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if second != self.second {
            self.text = httpdate::fmt_http_date(now);
            self.second = second;
        }
        &self.text
    }
}
