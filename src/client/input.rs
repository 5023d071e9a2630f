//! Bytes of a connection that have come and are not taken yet.

use std::io;

use smol::io::AsyncReadExt;

use super::connect::Stream;

/// So much is read at once.
const PIECE: usize = 32 << 10;

pub(super) struct Input {
    pub(super) stream: Stream,
    bytes: Vec<u8>,
    taken: usize,
}

impl Input {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            bytes: Vec::new(),
            taken: 0,
        }
    }

    /// What has come and is not taken.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.taken..).unwrap_or_default()
    }

    /// Takes so many bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.bytes.len());
    }

    /// Waits for more, and says how much came: 0 at the end.
    pub(super) async fn more(&mut self) -> io::Result<usize> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        let before = self.bytes.len();
        self.bytes.resize(before + PIECE, 0);
        let room = self.bytes.get_mut(before..).unwrap_or_default();
        let outcome = self.stream.read(room).await;
        let count = *outcome.as_ref().unwrap_or(&0);
        self.bytes.truncate(before + count);
        outcome
    }

    /// The connection, if nothing has come that nobody asked for.
    pub(super) fn into_idle(self) -> Option<Stream> {
        self.bytes().is_empty().then_some(self.stream)
    }
}
