//! The body of an answer: whole, or a failure.

use smol::future::yield_now;
use ureq_proto::BodyMode;

use super::chunked::Chunked;
use super::connect::failed;
use super::gzip::Sink;
use super::input::Input;
use super::{Failure, Kind};

/// After so many bytes others have their turn: a server nearby sends faster than its bytes are read.
const TURN: usize = 256 << 10;
const STEP: &str = "reading the body";

/// Waits for the first bytes of a body, and takes none; at once where there are none to come.
pub(super) async fn begin(input: &mut Input, mode: BodyMode) -> Result<(), Failure> {
    let is_empty = matches!(mode, BodyMode::NoBody | BodyMode::LengthDelimited(0));
    if !is_empty && input.bytes().is_empty() {
        let more = input.more().await;
        more.map_err(|error| failed(STEP, Kind::Cut, &error))?;
    }
    Ok(())
}

/// Takes a whole body.
pub(super) async fn receive(
    input: &mut Input,
    mode: BodyMode,
    sink: &mut Sink,
) -> Result<(), Failure> {
    match mode {
        BodyMode::NoBody => Ok(()),
        BodyMode::LengthDelimited(length) => counted(input, length, sink).await,
        BodyMode::Chunked => chunked(input, sink).await,
        BodyMode::CloseDelimited => until_the_end(input, sink).await,
    }
}

async fn counted(input: &mut Input, length: u64, sink: &mut Sink) -> Result<(), Failure> {
    sink.expect(length)?;
    let (mut left, mut turn) = (length, Turn::default());
    while left > 0 {
        let count = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(input.bytes().len());
        sink.take(input.bytes().get(..count).unwrap_or_default())
            .await?;
        input.take(count);
        left -= count as u64;
        if left > 0 {
            more(input, &mut turn).await?;
        }
    }
    Ok(())
}

async fn chunked(input: &mut Input, sink: &mut Sink) -> Result<(), Failure> {
    let (mut chunked, mut turn) = (Chunked::default(), Turn::default());
    loop {
        let read = chunked.read(input.bytes()).map_err(Failure::protocol)?;
        let body = input.bytes().get(read.taken - read.body..read.taken);
        sink.take(body.unwrap_or_default()).await?;
        input.take(read.taken);
        if chunked.is_done() {
            return Ok(());
        }
        if read.taken == 0 || input.bytes().is_empty() {
            more(input, &mut turn).await?;
        }
    }
}

/// A body that ends with the connection. With TLS the end must be said (RFC 8446, section 6.1), or
/// anybody on the way could shorten a list.
async fn until_the_end(input: &mut Input, sink: &mut Sink) -> Result<(), Failure> {
    let mut turn = Turn::default();
    loop {
        let count = input.bytes().len();
        sink.take(input.bytes()).await?;
        input.take(count);
        turn.count(count).await;
        match input.more().await {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(failed(STEP, Kind::Cut, &error)),
        }
    }
}

async fn more(input: &mut Input, turn: &mut Turn) -> Result<(), Failure> {
    match input.more().await {
        Ok(0) => Err(Failure::new(Kind::Cut, format!("{STEP}: it was cut short"))),
        Ok(count) => {
            turn.count(count).await;
            Ok(())
        }
        Err(error) => Err(failed(STEP, Kind::Cut, &error)),
    }
}

/// How much came since others had their turn.
#[derive(Default)]
struct Turn(usize);

impl Turn {
    async fn count(&mut self, bytes: usize) {
        self.0 += bytes;
        if self.0 >= TURN {
            self.0 = 0;
            yield_now().await;
        }
    }
}
