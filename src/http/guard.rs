//! The guard: bytes to a complete, vetted head, or the reason to refuse the request.
//!
//! The request line is read here, the fields by `httparse`; what HTTP forbids is refused
//! (RFC 9112, sections 2.2, 3, 5, 6 and 9).

use std::str;

use memchr::memchr;

use super::body::Framing;
use super::head::{Expectation, Head, Method};
use super::limits::{MAX_FIELDS, MAX_HEAD};
use super::refusal::Refusal;
use super::syntax::is_token;
use super::{fields, host};

/// Empty lines before a request are ignored (RFC 9112, section 2.2), up to this many bytes.
const MAX_EMPTY_LINES: usize = 16;
/// No method in the registry of IANA is longer.
const LONGEST_METHOD: usize = 32;

/// Reads one head from the begin of `bytes`. Gives it with its length, empty lines before it
/// included; `None` when more bytes are needed; or the reason to refuse the request and close.
pub fn parse(bytes: &[u8]) -> Result<Option<(Head<'_>, usize)>, Refusal> {
    let begin = empty_lines(bytes)?;
    let rest = &bytes[begin..];
    let Some(end) = memchr(b'\n', rest) else {
        check_begin(rest)?;
        return more(bytes, Refusal::TargetTooLong);
    };
    let head = request_line(trim_cr(&rest[..end]))?;
    let fields = &rest[end + 1..];
    let Some((vetted, length)) = read_fields(head, fields)? else {
        return more(bytes, Refusal::HeadTooLarge);
    };
    let total = begin + end + 1 + length;
    if total > MAX_HEAD {
        Err(Refusal::HeadTooLarge)
    } else {
        Ok(Some((vetted, total)))
    }
}

/// Whether a connection that sent these bytes has begun a request, or only sent empty lines.
pub fn has_begun(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| !matches!(byte, b'\r' | b'\n'))
}

/// Whether a request that cannot be read asks for no body, as far as that can be told
/// (RFC 9110, section 9.3.2).
pub fn asks_for_head(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"HEAD ")
}

fn more<T>(bytes: &[u8], over: Refusal) -> Result<Option<T>, Refusal> {
    if bytes.len() >= MAX_HEAD {
        Err(over)
    } else {
        Ok(None)
    }
}

fn empty_lines(bytes: &[u8]) -> Result<usize, Refusal> {
    let mut at = 0;
    loop {
        match bytes[at..] {
            [b'\n', ..] => at += 1,
            [b'\r', b'\n', ..] => at += 2,
            _ if at > MAX_EMPTY_LINES => {
                return Err(Refusal::BadRequestLine(
                    "too many empty lines stand before it",
                ));
            }
            _ => return Ok(at),
        }
    }
}

/// Tells what is not HTTP before its first line ends, which it may never do.
fn check_begin(line: &[u8]) -> Result<(), Refusal> {
    let method = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    let method = method
        .strip_suffix(b"\r")
        .filter(|rest| rest.is_empty())
        .unwrap_or(method);
    if method.starts_with(&[0x16, 0x03]) {
        return Err(Refusal::BadRequestLine(
            "this is TLS, but Vigie speaks plain HTTP",
        ));
    }
    if !method.iter().all(|byte| is_token(*byte)) || (line.first() == Some(&b' ')) {
        return Err(Refusal::BadRequestLine("it does not begin with a method"));
    }
    if method.len() > LONGEST_METHOD {
        return Err(Refusal::UnknownMethod { close: true });
    }
    Ok(())
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `METHOD SP TARGET SP VERSION` (RFC 9112, section 3).
fn request_line(line: &[u8]) -> Result<Head<'_>, Refusal> {
    let (method, target, old) = match plain_get(line) {
        Some(target) => (Method::Get, target, false),
        None => words(line)?,
    };
    let (host, path, query) = parse_target(method, target)?;
    Ok(Head {
        method,
        path,
        query,
        host: host.unwrap_or_default(),
        framing: Framing::None,
        expectation: Expectation::None,
        old,
        keep_alive: !old,
        if_none_match: None,
        origin: None,
        sec_fetch_site: None,
    })
}

/// The target of a request line that is like nearly all.
fn plain_get(line: &[u8]) -> Option<&[u8]> {
    let target = line.strip_prefix(b"GET ")?.strip_suffix(b" HTTP/1.1")?;
    memchr(b' ', target).is_none().then_some(target)
}

/// The method, the target, and whether the version is 1.0.
fn words(line: &[u8]) -> Result<(Method<'_>, &[u8], bool), Refusal> {
    check_begin(line)?;
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some(version), None) = (method, target, version, words.next())
    else {
        return Err(Refusal::BadRequestLine(
            "it is not METHOD TARGET HTTP/1.1 with one blank between",
        ));
    };
    if method.is_empty() {
        return Err(Refusal::BadRequestLine("it does not begin with a method"));
    }
    let old = parse_version(version)?;
    Ok((parse_method(method), target, old))
}

/// The name has been vetted to be a token.
fn parse_method(name: &[u8]) -> Method<'_> {
    let name = str::from_utf8(name).unwrap_or_default();
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" | "DELETE" | "OPTIONS" | "TRACE" | "PATCH" => Method::Other(name),
        "CONNECT" => Method::Connect,
        _ => Method::Unknown(name),
    }
}

/// Whether it is HTTP/1.0. A later minor version is read as 1.1 (RFC 9110, section 2.5).
fn parse_version(version: &[u8]) -> Result<bool, Refusal> {
    match version {
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            if *major == b'1' {
                Ok(*minor == b'0')
            } else {
                Err(Refusal::Version)
            }
        }
        _ => Err(Refusal::BadRequestLine("it does not end with HTTP/1.1")),
    }
}

type Target<'a> = (Option<&'a str>, &'a str, Option<&'a str>);

/// The authority of an absolute target, the path and the query (RFC 9112, section 3.2).
fn parse_target<'a>(method: Method<'_>, target: &'a [u8]) -> Result<Target<'a>, Refusal> {
    let visible = target
        .iter()
        .all(|byte| matches!(byte, 0x21..=0x7e) && *byte != b'#');
    let target = str::from_utf8(target)
        .ok()
        .filter(|target| visible && !target.is_empty());
    let target = target.ok_or(Refusal::BadRequestLine(
        "the target has a character that must be percent-encoded",
    ))?;
    if target.starts_with('/') {
        let (path, query) = split_query(target);
        return Ok((None, path, query));
    }
    if method == Method::Connect || (matches!(method, Method::Other(_)) && target == "*") {
        return Ok((None, target, None));
    }
    let (scheme, rest) = target.split_once("://").unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let good = (scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https"))
        && !authority.is_empty()
        && host::is_authority(authority);
    let (path, query) = split_query(rest);
    let path = if path.is_empty() { "/" } else { path };
    good.then_some((Some(authority), path, query))
        .ok_or(Refusal::BadRequestLine(
            "the target is neither a path that begins with / nor an http URL",
        ))
}

fn split_query(target: &str) -> (&str, Option<&str>) {
    match memchr(b'?', target.as_bytes()) {
        Some(at) => (&target[..at], Some(&target[at + 1..])),
        None => (target, None),
    }
}

/// Reads the fields and the empty line after them: the head with what they say, and their length.
fn read_fields<'a>(head: Head<'a>, bytes: &'a [u8]) -> Result<Option<(Head<'a>, usize)>, Refusal> {
    // Room for a hundred fields costs more time than all the rest; few requests have that many.
    let mut few = [httparse::EMPTY_HEADER; 16];
    let mut all;
    let mut parsed = httparse::parse_headers(bytes, &mut few);
    if parsed == Err(httparse::Error::TooManyHeaders) {
        all = [httparse::EMPTY_HEADER; MAX_FIELDS];
        parsed = httparse::parse_headers(bytes, &mut all);
    }
    match parsed.map_err(bad_field)? {
        httparse::Status::Partial => Ok(None),
        httparse::Status::Complete((length, fields)) => {
            Ok(Some((fields::vet(head, fields)?, length)))
        }
    }
}

fn bad_field(error: httparse::Error) -> Refusal {
    match error {
        httparse::Error::TooManyHeaders => Refusal::HeadTooLarge,
        httparse::Error::HeaderName => {
            Refusal::BadHeader("a field has no name, a blank in it, or no colon after it")
        }
        _ => Refusal::BadHeader("the value of a field has a control character"),
    }
}
