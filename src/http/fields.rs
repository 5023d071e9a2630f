//! What the fields of a head say about its host, its framing, the connection and the client.

use super::body::Framing;
use super::head::{Expectation, Head};
use super::host;
use super::limits::MAX_BODY;
use super::refusal::Refusal;

/// Puts what the fields say into the head, or refuses what HTTP forbids.
pub(super) fn vet<'a>(
    mut head: Head<'a>,
    fields: &[httparse::Header<'a>],
) -> Result<Head<'a>, Refusal> {
    let mut seen = Seen::default();
    for field in fields {
        seen.read(&mut head, field.name, field.value)?;
    }
    if !head.old && !seen.host {
        return Err(Refusal::BadHost("it has no Host field"));
    }
    head.framing = seen.framing(head.old)?;
    head.keep_alive = !seen.close && (!head.old || seen.keep_alive);
    Ok(head)
}

#[derive(Default)]
struct Seen {
    host: bool,
    close: bool,
    keep_alive: bool,
    if_none_match: bool,
    content_length: Option<u64>,
    transfer_encoding: bool,
    chunked: bool,
    unknown_coding: bool,
}

impl Seen {
    fn read<'a>(
        &mut self,
        head: &mut Head<'a>,
        name: &str,
        value: &'a [u8],
    ) -> Result<(), Refusal> {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        // Lengths tell most names apart before any letter is compared.
        match name.len() {
            4 if is("Host") => self.read_host(head, value)?,
            6 if is("Expect") && !head.old => head.expectation = expectation(value),
            6 if is("Origin") => once(&mut head.origin, value)?,
            10 if is("Connection") => self.read_connection(value),
            13 if is("If-None-Match") => {
                // Several lists together are rare, and ignoring a condition is always safe.
                head.if_none_match = (!self.if_none_match).then_some(value);
                self.if_none_match = true;
            }
            14 if is("Content-Length") => self.read_content_length(value)?,
            14 if is("Sec-Fetch-Site") => once(&mut head.sec_fetch_site, value)?,
            17 if is("Transfer-Encoding") => self.read_transfer_encoding(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Exactly one, and valid (RFC 9112, section 3.2); an absolute target goes before it.
    fn read_host<'a>(&mut self, head: &mut Head<'a>, value: &'a [u8]) -> Result<(), Refusal> {
        if self.host {
            return Err(Refusal::BadHost("it has several Host fields"));
        }
        self.host = true;
        let value = std::str::from_utf8(value)
            .ok()
            .filter(|value| value.is_empty() || host::is_authority(value));
        let value = value.ok_or(Refusal::BadHost("its Host field is not HOST or HOST:PORT"))?;
        if head.host.is_empty() {
            head.host = value;
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// One number (RFC 9112, section 6.3): anything else could be read in two ways.
    fn read_content_length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if self.content_length.is_some() {
            return Err(Refusal::BadHeader(
                "there are several Content-Length fields",
            ));
        }
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(Refusal::BadHeader("Content-Length is not one number"));
        }
        let add = |sum: u64, digit: &u8| {
            sum.saturating_mul(10)
                .saturating_add(u64::from(digit - b'0'))
        };
        self.content_length = Some(value.iter().fold(0, add));
        Ok(())
    }

    /// `chunked` once and last (RFC 9112, section 6.1).
    fn read_transfer_encoding(&mut self, value: &[u8]) -> Result<(), Refusal> {
        self.transfer_encoding = true;
        for coding in elements(value) {
            if self.chunked {
                return Err(Refusal::BadHeader(
                    "chunked is not the last transfer coding",
                ));
            }
            self.chunked = coding.eq_ignore_ascii_case(b"chunked");
            self.unknown_coding |= !self.chunked;
        }
        Ok(())
    }

    fn framing(&self, old: bool) -> Result<Framing, Refusal> {
        match self.content_length {
            Some(_) if self.transfer_encoding => Err(Refusal::BadHeader(
                "it has both Content-Length and Transfer-Encoding",
            )),
            Some(length) if length > MAX_BODY => Err(Refusal::BodyTooLarge),
            Some(0) => Ok(Framing::None),
            Some(length) => Ok(Framing::Length(length)),
            None if !self.transfer_encoding => Ok(Framing::None),
            None if old => Err(Refusal::BadHeader("HTTP/1.0 has no Transfer-Encoding")),
            None if self.unknown_coding => Err(Refusal::TransferCoding),
            None if !self.chunked => Err(Refusal::BadHeader("Transfer-Encoding names no coding")),
            None => Ok(Framing::Chunked),
        }
    }
}

/// These fields decide whether a request is let in, so they must not be said twice.
fn once<'a>(place: &mut Option<&'a [u8]>, value: &'a [u8]) -> Result<(), Refusal> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Refusal::BadHeader("Origin or Sec-Fetch-Site stands twice")),
    }
}

fn expectation(value: &[u8]) -> Expectation {
    match value.eq_ignore_ascii_case(b"100-continue") {
        true => Expectation::Continue,
        false => Expectation::Unknown,
    }
}

/// The elements of a comma-separated list; empty ones are skipped (RFC 9110, section 5.6.1).
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
}
