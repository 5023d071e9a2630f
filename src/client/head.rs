//! The head of an answer: read bounded, and vetted before ureq-proto's reading of it is believed.

use std::io;

use ureq_proto::client::Call;
use ureq_proto::client::state::RecvResponse;
use ureq_proto::http::{HeaderMap, Response, Version, header};

use super::connect::failed;
use super::input::Input;
use super::{Failure, Kind};
use crate::wording::shorten;

/// A head has at most this many bytes.
const LONGEST_HEAD: usize = 64 << 10;
/// It has at most this many header fields.
const MOST_FIELDS: usize = 100;
/// So many interim answers (1xx) may come before the answer.
const MOST_INTERIM: usize = 16;
/// It begins so.
const BEGIN: &[u8] = b"HTTP/1.";
const STEP: &str = "waiting for the answer";

/// Why a connection gave no answer.
pub(super) enum Trouble {
    /// It ended before the first byte of an answer: a kept one may have been closed meanwhile.
    Unanswered(Option<io::Error>),
    /// Anything else.
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Failed(failure) => failure,
            Trouble::Unanswered(Some(error)) => failed(STEP, Kind::Cut, &error),
            Trouble::Unanswered(None) => Self::new(
                Kind::Cut,
                format!("{STEP}: the server ended the connection"),
            ),
        }
    }
}

/// Takes the head of the answer; interim answers before it are dropped (RFC 9110, section 15.2).
pub(super) async fn receive(
    input: &mut Input,
    call: &mut Call<RecvResponse>,
) -> Result<Response<()>, Trouble> {
    for interim in 0..=MOST_INTERIM {
        let length = match whole(input).await {
            Err(Trouble::Unanswered(error)) if interim > 0 => return Err(cut(error).into()),
            length => length?,
        };
        let head = input.bytes().get(..length).unwrap_or_default();
        if is_interim(head) {
            input.take(length);
            continue;
        }
        let parsed = call.try_response(head, false);
        let (taken, response) =
            parsed.map_err(|error| Failure::protocol(shorten(&error.to_string(), 200)))?;
        let response = response
            .filter(|_| taken == length)
            .ok_or_else(|| Failure::protocol("it does not begin with a status line"))?;
        vet(&response).map_err(Failure::protocol)?;
        input.take(length);
        return Ok(response);
    }
    let reason = format!("more than {MOST_INTERIM} interim answers came before it");
    Err(Failure::protocol(reason).into())
}

/// How long the head is that has come, or comes now.
async fn whole(input: &mut Input) -> Result<usize, Trouble> {
    // Each byte is looked at once, though they may drip: reading a half head again and again would take long.
    let mut seen = 0;
    loop {
        let bytes = input.bytes();
        if seen < BEGIN.len() {
            begins_well(bytes)?;
        }
        let end = end(bytes, seen);
        seen = bytes.len();
        match end {
            Some(end) if end <= LONGEST_HEAD => return Ok(end),
            None if seen < LONGEST_HEAD => {}
            _ => return Err(too_large().into()),
        }
        match input.more().await {
            Ok(0) if seen == 0 => return Err(Trouble::Unanswered(None)),
            Err(error) if seen == 0 => return Err(Trouble::Unanswered(Some(error))),
            Ok(0) => return Err(cut(None).into()),
            Err(error) => return Err(cut(Some(error)).into()),
            Ok(_) => {}
        }
    }
}

/// Whether the first bytes may be those of an answer.
fn begins_well(bytes: &[u8]) -> Result<(), Failure> {
    let what = match bytes {
        _ if bytes.iter().zip(BEGIN).all(|(byte, want)| byte == want) => return Ok(()),
        // An alert or a handshake (RFC 8446, section 5.1).
        [0x15 | 0x16, 3, ..] => "it is TLS; write https://",
        _ => "it does not begin with HTTP/1.; see what listens there",
    };
    let reason = format!("the answer is not HTTP: {what}");
    Err(Failure::new(Kind::Protocol, reason))
}

fn too_large() -> Failure {
    let longest = LONGEST_HEAD >> 10;
    let reason = format!("the head of the answer has more than {longest} KiB");
    Failure::new(Kind::TooLarge, reason)
}

fn cut(error: Option<io::Error>) -> Failure {
    let step = "reading the head of the answer";
    match error {
        Some(error) => failed(step, Kind::Cut, &error),
        None => Failure::new(Kind::Cut, format!("{step}: it was cut short")),
    }
}

/// Where the head ends: behind an empty line. Up to `seen` there is no end.
fn end(bytes: &[u8], seen: usize) -> Option<usize> {
    let mut at = seen.saturating_sub(2);
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == b'\n')? + 1;
        match bytes.get(at..) {
            Some([b'\n', ..]) => return Some(at + 1),
            Some([b'\r', b'\n', ..]) => return Some(at + 2),
            _ => {}
        }
    }
}

/// 101 is none: it would be the end of HTTP on this connection.
fn is_interim(head: &[u8]) -> bool {
    matches!(head, [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', b'1', second, third, b' ' | b'\r' | b'\n', ..]
        if second.is_ascii_digit() && third.is_ascii_digit() && [*second, *third] != *b"01")
}

/// Refuses what leaves a doubt where the answer ends (RFC 9112, section 6). Contradicting lengths are
/// refused by ureq-proto.
fn vet(response: &Response<()>) -> Result<(), &'static str> {
    let headers = response.headers();
    if headers.len() > MOST_FIELDS {
        return Err("it has more than 100 header fields");
    }
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let Some(coding) = codings.next() else {
        return Ok(());
    };
    match () {
        () if response.version() != Version::HTTP_11 => Err("HTTP/1.0 knows no Transfer-Encoding"),
        () if headers.contains_key(header::CONTENT_LENGTH) => {
            Err("it has both a Content-Length and a Transfer-Encoding")
        }
        () if codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {
            Err("its Transfer-Encoding is not chunked")
        }
        () => Ok(()),
    }
}

/// Whether another request may follow on the connection (RFC 9112, section 9.3).
pub(super) fn keeps_alive(version: Version, headers: &HeaderMap) -> bool {
    let says = |word: &str| {
        let values = headers.get_all(header::CONNECTION).iter();
        let mut words = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        words.any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    };
    !says("close") && (version == Version::HTTP_11 || says("keep-alive"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_behind_its_empty_line() {
        for (bytes, want) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", Some(25)),
            ("HTTP/1.1 200 OK\nA: b\n\nbody", Some(22)),
            ("HTTP/1.1 200 OK\r\n\r\n", Some(19)),
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r", None),
            ("", None),
        ] {
            for seen in 0..want.unwrap_or(bytes.len() + 1) {
                assert_eq!(end(bytes.as_bytes(), seen), want, "{bytes:?} from {seen}");
            }
        }
    }

    #[test]
    fn only_101_of_the_1xx_is_final() {
        for (head, interim) in [
            ("HTTP/1.1 100 Continue\r\n\r\n", true),
            ("HTTP/1.1 103\r\n\r\n", true),
            ("HTTP/1.0 199 x\n\n", true),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\n\r\n", false),
            ("HTTP/1.1 1000 x\r\n\r\n", false),
            ("HTTP/2 100\r\n\r\n", false),
        ] {
            assert_eq!(is_interim(head.as_bytes()), interim, "{head:?}");
        }
    }
}
