//! Bytes on their way to a client.

use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::Arc;

use rustix::net::SendFlags;

use crate::service::Listing;

/// Up to here head and body are sent from one buffer; copying more costs more than two buffers.
const COPIED: usize = 16 * 1024;

/// An answer on its way: a head of its own, and the body that all answers share.
#[derive(Debug, Default)]
pub struct Outgoing {
    head: Vec<u8>,
    body: Option<Arc<Listing>>,
    sent: usize,
}

impl Outgoing {
    /// A whole answer in one piece.
    pub fn whole(bytes: Vec<u8>) -> Self {
        Self {
            head: bytes,
            body: None,
            sent: 0,
        }
    }

    /// The head of an answer and the list that follows.
    pub fn list(head: Vec<u8>, body: Option<Arc<Listing>>) -> Self {
        Self {
            head,
            body,
            sent: 0,
        }
    }

    /// Sends as much as the socket takes, in one call; whether that was all.
    pub fn send(&mut self, socket: impl AsFd) -> io::Result<bool> {
        let body = self.body.as_ref().map_or(&[][..], |listing| &listing.body);
        let head = self.head.get(self.sent..).unwrap_or_default();
        let body_rest = &body[self.sent.saturating_sub(self.head.len()).min(body.len())..];
        self.sent += send(socket, head, body_rest)?;
        Ok(self.sent >= self.head.len() + body.len())
    }
}

/// Sends a fresh list from `buffer`, which holds its head, in one call; what is left when the client
/// does not take it all.
pub fn send_at_once(
    socket: impl AsFd,
    buffer: &mut Vec<u8>,
    listing: Option<&Arc<Listing>>,
) -> io::Result<Option<Outgoing>> {
    let head = buffer.len();
    let body = listing.map_or(&[][..], |listing| &listing.body);
    let result = if head + body.len() <= COPIED {
        buffer.extend_from_slice(body);
        send(socket, buffer, &[])
    } else {
        send(socket, buffer, body)
    };
    let sent = match result {
        Ok(sent) => sent,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
        Err(error) => return Err(error),
    };
    let left = sent < head + body.len();
    Ok(left.then(|| Outgoing {
        head: buffer[..head].to_vec(),
        body: listing.cloned(),
        sent,
    }))
}

fn send(socket: impl AsFd, first: &[u8], second: &[u8]) -> io::Result<usize> {
    let sent = if second.is_empty() {
        rustix::net::send(socket, first, SendFlags::NOSIGNAL)?
    } else {
        // Rust's runtime ignores SIGPIPE, so this cannot end the process.
        rustix::io::writev(socket, &[IoSlice::new(first), IoSlice::new(second)])?
    };
    Ok(sent)
}
