//! A list as an HTTP answer, written as ready bytes.

use std::time::{Duration, Instant, UNIX_EPOCH};

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

/// Writes the head of the answer to `out`, with `date` as the text of its Date field, and says whether
/// the body follows.
pub fn write_head(out: &mut Vec<u8>, date: &str, asked: Asked<'_>, listed: &Listed) -> bool {
    let listing = &listed.value;
    let known = asked.knows(listing);
    if known {
        out.extend_from_slice(b"HTTP/1.1 304 Not Modified\r\n");
        out.extend_from_slice(listing.fields_of_304().as_bytes());
    } else {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        out.extend_from_slice(listing.fields().as_bytes());
    }
    field(out, date, itoa::Buffer::new().format(listed.age.as_secs()));
    if let Some(stale) = &listed.stale {
        let reason = stale
            .reason
            .as_ref()
            .map_or("the source has not answered yet", Failure::reason);
        let seconds = stale.past_ttl.as_secs();
        field(out, "Vigie-Stale: ", itoa::Buffer::new().format(seconds));
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

/// The field `Date`, written once a second.
#[derive(Debug, Default)]
pub struct Date {
    /// When its second ends.
    until: Option<Instant>,
    text: String,
}

impl Date {
    /// The present second (RFC 9110, section 5.6.7), and behind it the name of the field that follows.
    pub fn then_age(&mut self, now: Instant) -> &str {
        if self.until.is_none_or(|until| now >= until) {
            let date = clock::date();
            let since = date.duration_since(UNIX_EPOCH).unwrap_or_default();
            let begun = Duration::from_nanos(since.subsec_nanos().into());
            self.until = Some(now + (Duration::from_secs(1) - begun));
            self.text = format!("Date: {}\r\nAge: ", httpdate::fmt_http_date(date));
        }
        &self.text
    }
}
