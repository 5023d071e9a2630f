//! Where a body goes: into memory, decoded, and never more of it than is allowed.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use smol::future::yield_now;
use ureq_proto::http::{HeaderMap, header};

use super::{Failure, Kind};

/// So many bytes of gzip give at most about a thousand times as many at once; then others have their turn.
const MOST_AT_ONCE: usize = 1 << 10;

/// For what is announced, but has not come, so much room is made at most.
const AHEAD: usize = 4 << 20;

/// Takes a body.
pub(super) enum Sink {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
    /// Before its first byte, without which it is empty.
    NoGzipYet(Bounded),
}

/// Bytes, at most so many.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    most: u64,
    is_full: bool,
    lacks_memory: bool,
}

impl Sink {
    /// For a body as it comes.
    pub(super) fn plain(most: u64) -> Self {
        Self::Plain(Bounded::new(most))
    }

    /// For the body of an answer with these header fields.
    pub(super) fn decoding(headers: &HeaderMap, most: u64) -> Result<Self, Failure> {
        let fields = headers.get_all(header::CONTENT_ENCODING).iter();
        let codings = fields.flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
        let is = |coding: &[u8], names: &[&str]| {
            let mut names = names.iter();
            names.any(|name| coding.eq_ignore_ascii_case(name.as_bytes()))
        };
        let mut codings = codings
            .map(<[u8]>::trim_ascii)
            .filter(|coding| !is(coding, &["", "identity"]));
        match (codings.next(), codings.next()) {
            (None, _) => Ok(Self::plain(most)),
            (Some(coding), None) if is(coding, &["gzip", "x-gzip"]) => {
                Ok(Self::NoGzipYet(Bounded::new(most)))
            }
            _ => Err(Failure::protocol(
                "its Content-Encoding is not gzip, the only one that was asked for",
            )),
        }
    }

    /// Makes room for a body of this length, or says that it is too long.
    pub(super) fn expect(&mut self, length: u64) -> Result<(), Failure> {
        let Self::Plain(bounded) = self else {
            return Ok(());
        };
        if length > bounded.most {
            return Err(bounded.too_large());
        }
        bounded.make_room(usize::try_from(length).unwrap_or(usize::MAX).min(AHEAD))
    }

    /// Takes the next bytes.
    pub(super) async fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if let Self::NoGzipYet(bounded) = self
            && !bytes.is_empty()
        {
            let bounded = Bounded::new(bounded.most);
            *self = Self::Gzip(Box::new(MultiGzDecoder::new(bounded)));
        }
        match self {
            Self::NoGzipYet(_) => Ok(()),
            Self::Plain(bounded) => bounded.write_all(bytes).map_err(|_| bounded.refusal()),
            Self::Gzip(decoder) => {
                for piece in bytes.chunks(MOST_AT_ONCE) {
                    let written = decoder.write_all(piece);
                    written.map_err(|_| wrong(decoder.get_ref()))?;
                    yield_now().await;
                }
                Ok(())
            }
        }
    }

    /// What came so far.
    pub(super) fn so_far(self) -> Vec<u8> {
        match self {
            Self::Plain(bounded) => bounded.bytes,
            Self::Gzip(_) | Self::NoGzipYet(_) => Vec::new(),
        }
    }

    /// The whole body, when its last byte has come. Where nothing but the end of the connection says that,
    /// a gzip of no byte is one that was cut short.
    pub(super) fn finish(self, says_its_end: bool) -> Result<Vec<u8>, Failure> {
        match self {
            Self::NoGzipYet(bounded) if !says_its_end => Err(wrong(&bounded)),
            Self::Plain(bounded) | Self::NoGzipYet(bounded) => Ok(bounded.bytes),
            Self::Gzip(mut decoder) => {
                let finished = decoder.try_finish();
                finished.map_err(|_| wrong(decoder.get_ref()))?;
                Ok(std::mem::take(&mut decoder.get_mut().bytes))
            }
        }
    }
}

fn wrong(bounded: &Bounded) -> Failure {
    match bounded.is_full {
        _ if bounded.lacks_memory => bounded.no_memory(),
        true => bounded.too_large(),
        false => Failure::protocol("its gzip is damaged or cut short"),
    }
}

impl Bounded {
    fn new(most: u64) -> Self {
        Self {
            bytes: Vec::new(),
            most,
            is_full: false,
            lacks_memory: false,
        }
    }

    /// Room for so many bytes that have not come yet.
    fn make_room(&mut self, length: usize) -> Result<(), Failure> {
        let made = self.bytes.try_reserve_exact(length);
        made.map_err(|_| self.no_memory())
    }

    fn refusal(&self) -> Failure {
        match self.lacks_memory {
            true => self.no_memory(),
            false => self.too_large(),
        }
    }

    fn no_memory(&self) -> Failure {
        let reason = "there is no memory for the body; let Vigie have more";
        Failure::new(Kind::Protocol, reason)
    }

    fn too_large(&self) -> Failure {
        let reason = format!(
            "the body has more than {} bytes: shorten the list, or raise max_size",
            self.most
        );
        Failure::new(Kind::TooLarge, reason)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + bytes.len()) as u64 > self.most {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if self.bytes.try_reserve(bytes.len()).is_err() {
            self.lacks_memory = true;
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use smol::block_on;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(bytes: &[u8], most: u64) -> Result<Vec<u8>, Kind> {
        let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, "GZip".parse().unwrap())]);
        let mut sink = Sink::decoding(&headers, most).unwrap();
        let decoded = block_on(async {
            for piece in bytes.chunks(7) {
                sink.take(piece).await?;
            }
            sink.finish(false)
        });
        decoded.map_err(|failure| failure.kind)
    }

    #[test]
    fn gzip_is_decoded_whole_or_not_at_all() {
        let text = b"10.0.0.1\n".repeat(500);
        let whole = gzip(&text);
        assert_eq!(decode(&whole, 4500), Ok(text.clone()));
        assert_eq!(
            decode(&[gzip(b"a"), gzip(b"b")].concat(), 2),
            Ok(b"ab".to_vec())
        );
        for cut in 0..whole.len() {
            assert_eq!(
                decode(&whole[..cut], 4500),
                Err(Kind::Protocol),
                "cut at {cut}"
            );
        }
        for at in whole.len() - 8..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert_eq!(
                decode(&damaged, 4500),
                Err(Kind::Protocol),
                "damaged at {at}"
            );
        }
        assert_eq!(
            decode(&[&whole[..], b"x"].concat(), 4500),
            Err(Kind::Protocol)
        );
    }

    #[test]
    fn no_more_is_decoded_than_is_allowed() {
        let bomb = gzip(&vec![0; 10 << 20]);
        assert!(bomb.len() < 20 << 10);
        assert_eq!(decode(&bomb, 1 << 20), Err(Kind::TooLarge));
        assert_eq!(decode(&gzip(b"abc"), 2), Err(Kind::TooLarge));
        assert_eq!(decode(&gzip(b"abc"), 3), Ok(b"abc".to_vec()));
    }

    #[test]
    fn a_coding_that_nobody_asked_for_is_refused() {
        for codings in [
            &["br"][..],
            &["gzip, gzip"],
            &["gzip", "gzip"],
            &["deflate"],
        ] {
            let mut map = HeaderMap::new();
            for coding in codings {
                map.append(header::CONTENT_ENCODING, coding.parse().unwrap());
            }
            assert!(Sink::decoding(&map, 1).is_err(), "{codings:?}");
        }
    }
}
