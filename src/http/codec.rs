//! async-h1 behind the guard: one complete, vetted request in memory becomes a value, and a response
//! becomes bytes.
//!
//! Nothing reaches the decoder but what the guard wrote itself: no body, no framing, no `Expect`, no
//! field as the client sent it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_h1::server::{Encoder, decode};
use http_types::{Method, Request, Response};
use smol::io::{AsyncRead, AsyncReadExt, AsyncWrite, Cursor};

use super::answer::Fate;
use super::head::Head;
use super::host;
use super::refusal::Refusal;
use crate::clock;

/// The field in which the guard says from where a browser sent a request, whatever the client wrote.
pub(super) const SITE: &str = "Sec-Fetch-Site";
/// From Vigie's own page, or by no browser.
pub(super) const OWN_SITE: &str = "same-origin";
const OTHER_SITE: &str = "cross-site";
/// About what the head of a response takes, in bytes.
const HEAD: usize = 512;

/// The bytes of a vetted request that asks for more than a list.
pub(super) fn vetted_bytes(head: &Head<'_>) -> Vec<u8> {
    let (method, path) = (head.method, head.path);
    let site = if host::is_from_here(head) {
        OWN_SITE
    } else {
        OTHER_SITE
    };
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{SITE}: {site}\r\n\r\n").into_bytes()
}

/// The request that those bytes hold.
pub(super) async fn request(bytes: Vec<u8>) -> Result<Request, Refusal> {
    match decode(Memory(Cursor::new(bytes))).await {
        Ok(Some((request, _))) => Ok(request),
        Ok(None) | Err(_) => Err(Refusal::BadRequestLine(
            "its method or path is none of Vigie's",
        )),
    }
}

/// The bytes of a response, in one piece.
pub(super) async fn bytes(mut response: Response, head_only: bool, fate: Fate) -> Vec<u8> {
    // The codec would read the clock itself, and panic at a date that HTTP cannot write.
    response.insert_header("Date", httpdate::fmt_http_date(clock::date()));
    if let Some(value) = fate.value() {
        response.insert_header("Connection", value);
    }
    let method = if head_only { Method::Head } else { Method::Get };
    let mut bytes = Vec::with_capacity(response.len().unwrap_or(0) + HEAD);
    let mut encoder = Encoder::new(response, method);
    // Both sides are memory, so this neither waits nor fails.
    let _ = encoder.read_to_end(&mut bytes).await;
    bytes
}

/// A connection of a single request, in memory.
#[derive(Clone)]
struct Memory(Cursor<Vec<u8>>);

impl AsyncRead for Memory {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

/// async-h1 asks for a writer, to send a 100; the guard does that itself.
impl AsyncWrite for Memory {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
