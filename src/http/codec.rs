//! async-h1 behind the guard: one complete, vetted request in memory becomes a value, and a response
//! becomes bytes.
//!
//! Nothing reaches the decoder but what the guard wrote itself: no body, no framing, no `Expect`, and
//! only the fields that handlers read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_h1::server::{Encoder, decode};
use http_types::{Method, Request, Response};
use smol::io::{AsyncRead, AsyncReadExt, AsyncWrite, Cursor};

use super::answer::Fate;
use super::head::{self, Head};
use super::refusal::Refusal;

/// The bytes of a vetted request that asks for more than a list.
pub(super) fn vetted_bytes(head: &Head<'_>) -> Vec<u8> {
    let method = match head.method {
        head::Method::Post => "POST",
        head::Method::Head => "HEAD",
        _ => "GET",
    };
    let host = if head.host.is_empty() {
        "localhost"
    } else {
        head.host
    };
    let mut bytes = format!("{method} {} HTTP/1.1\r\nHost: {host}\r\n", head.path).into_bytes();
    for (name, value) in [
        ("Origin", head.origin),
        ("Sec-Fetch-Site", head.sec_fetch_site),
    ] {
        if let Some(value) = value {
            // http-types panics on a value that is not ASCII.
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend(
                value
                    .iter()
                    .map(|byte| if byte.is_ascii() { *byte } else { b'?' }),
            );
            bytes.extend_from_slice(b"\r\n");
        }
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// The request that those bytes hold.
pub(super) async fn request(bytes: Vec<u8>) -> Result<Request, Refusal> {
    match decode(Memory(Cursor::new(bytes))).await {
        Ok(Some((request, _))) => Ok(request),
        // The guard lets through names that a URL does not, such as xn--a.
        Ok(None) | Err(_) => Err(Refusal::BadHost("its Host field is no host of a URL")),
    }
}

/// The bytes of a response, in one piece.
pub(super) async fn bytes(mut response: Response, head_only: bool, fate: Fate) -> Vec<u8> {
    if let Some(value) = fate.value() {
        response.insert_header("Connection", value);
    }
    let method = if head_only { Method::Head } else { Method::Get };
    let mut bytes = Vec::new();
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
