//! Bytes of a connection that have come and are not taken yet.

use std::io;

use smol::io::AsyncReadExt;

use super::connect::Stream;

/// So much is read at once.
const PIECE: usize = 32 << 10;

pub(super) struct Input {
    pub(super) stream: Stream,
    buffer: Vec<u8>,
    /// What has come and is not taken stands from here.
    from: usize,
    /// It stands to here.
    to: usize,
}

impl Input {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            buffer: vec![0; PIECE],
            from: 0,
            to: 0,
        }
    }

    /// What has come and is not taken.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.from..self.to).unwrap_or_default()
    }

    /// Takes so many bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
    }

    /// Waits for more, and says how much came: 0 at the end.
    pub(super) async fn more(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        if self.to == self.buffer.len() {
            self.buffer.resize(self.to + PIECE, 0);
        }
        let room = self.buffer.get_mut(self.to..).unwrap_or_default();
        let count = self.stream.read(room).await?;
        self.to += count;
        Ok(count)
    }

    /// The connection, if nothing has come that nobody asked for.
    pub(super) fn into_idle(self) -> Option<Stream> {
        self.bytes().is_empty().then_some(self.stream)
    }
}
