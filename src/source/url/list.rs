//! The body of an answer as a list.

use std::num::NonZeroU16;
use std::sync::Arc;

use crate::blocking;
use crate::client::{HeaderMap, header};
use crate::format::json;
use crate::lines;
use crate::source::{self, Failure, Found};

/// A body of so many bytes is read in less time than a thread takes to start.
const READ_AT_ONCE: usize = 32 << 10;

/// Reads the list, JSON or lines as its header fields say.
pub(super) async fn read(headers: &HeaderMap, body: Vec<u8>, default_port: NonZeroU16) -> Found {
    let is_json = is_json(headers);
    if body.len() <= READ_AT_ONCE {
        return parse(body, is_json, default_port);
    }
    let parsed = blocking::compute(move || parse(body, is_json, default_port)).await;
    parsed.unwrap_or_else(|stuck| {
        Err(Failure::Unreadable(
            format!("reading the list: {stuck}").into(),
        ))
    })
}

fn parse(body: Vec<u8>, is_json: bool, default_port: NonZeroU16) -> Found {
    let text = source::text(body)?;
    let list = match is_json {
        true => json::parse(&text).map_err(|bad| bad.to_string()),
        false => lines::parse(&text, default_port).map_err(|bad| bad.to_string()),
    };
    list.map(Arc::new)
        .map_err(|reason| Failure::Unreadable(reason.into()))
}

/// Whether the media type is `application/json`, whatever its parameters (RFC 9110, section 8.3.1).
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE);
    let mut parts = value
        .map_or(&b""[..], |value| value.as_bytes())
        .split(|byte| *byte == b';');
    let media_type = parts.next().unwrap_or_default().trim_ascii();
    media_type.eq_ignore_ascii_case(b"application/json")
}
