//! The chunked transfer coding (RFC 9112, section 7.1), read strictly.
//!
//! Not that of ureq-proto, which refuses a line with more than 20 bytes of size and extensions, takes a
//! sign before a size, and waits without end for a line that has a carriage return in it.

/// The line of a size or of a trailer field has at most this many bytes.
const LONGEST_LINE: usize = 4 << 10;
/// All trailer fields together have at most this many bytes.
const LONGEST_TRAILERS: usize = 16 << 10;

/// Tells what of the bytes that come is body.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
    trailers: usize,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Data(u64),
    EndOfData,
    Trailers,
    Done,
}

/// How many bytes to take, and how many of them, at the end, are body.
pub(super) struct Taken {
    pub(super) taken: usize,
    pub(super) body: usize,
}

impl Chunked {
    /// Whether the body is whole.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads on; when nothing is taken, more bytes are needed.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Taken, &'static str> {
        let mut taken = 0;
        loop {
            let rest = bytes.get(taken..).unwrap_or_default();
            if let State::Data(left) = &mut self.state {
                let body = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= body as u64;
                if *left == 0 {
                    self.state = State::EndOfData;
                }
                return Ok(Taken {
                    taken: taken + body,
                    body,
                });
            }
            if self.is_done() {
                return Ok(Taken { taken, body: 0 });
            }
            let Some(line) = line(rest)? else {
                return Ok(Taken { taken, body: 0 });
            };
            taken += line.len() + 2;
            self.step(line)?;
        }
    }

    fn step(&mut self, line: &[u8]) -> Result<(), &'static str> {
        self.state = match self.state {
            State::Size => match size(line)? {
                0 => State::Trailers,
                size => State::Data(size),
            },
            State::EndOfData if line.is_empty() => State::Size,
            State::EndOfData => return Err("a chunk is longer than its size says"),
            State::Trailers if line.is_empty() => State::Done,
            State::Trailers => {
                self.trailers += line.len();
                if self.trailers > LONGEST_TRAILERS {
                    return Err("its trailer fields are too long");
                }
                State::Trailers
            }
            State::Data(_) | State::Done => return Ok(()),
        };
        Ok(())
    }
}

/// The line that begins here, without its line end; `None` when more bytes are needed.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    let shown = bytes.get(..LONGEST_LINE).unwrap_or(bytes);
    let Some(end) = shown.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
        return match bytes.len() < LONGEST_LINE {
            true => Ok(None),
            false => Err("a line between its chunks is too long"),
        };
    };
    match bytes.get(end..) {
        Some([b'\r', b'\n', ..]) => Ok(bytes.get(..end)),
        Some([b'\r']) => Ok(None),
        _ => Err("a line between its chunks does not end with CR LF"),
    }
}

/// Hexadecimal digits, and extensions, which mean nothing here.
fn size(line: &[u8]) -> Result<u64, &'static str> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = digits.trim_ascii_end();
    let text = std::str::from_utf8(digits).unwrap_or_default();
    let hexadecimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let size = u64::from_str_radix(text, 16).ok().filter(|_| hexadecimal);
    size.ok_or("the size of a chunk cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body, whether it is whole, and how many bytes it took.
    fn read(bytes: &[u8], piece: usize) -> Result<(Vec<u8>, bool, usize), &'static str> {
        let (mut chunked, mut body, mut at) = (Chunked::default(), Vec::new(), 0);
        for end in (0..=bytes.len()).step_by(piece).chain([bytes.len()]) {
            loop {
                let taken = chunked.read(&bytes[at..end])?;
                at += taken.taken;
                body.extend_from_slice(&bytes[at - taken.body..at]);
                if taken.taken == 0 {
                    break;
                }
            }
        }
        Ok((body, chunked.is_done(), at))
    }

    #[test]
    fn chunks_are_read_however_they_arrive() {
        let long = format!("5;{}\r\nhello\r\n0\r\n\r\n", "e=x;".repeat(900));
        for bytes in [
            "5\r\nhello\r\n0\r\n\r\n",
            "0005\r\nhello\r\n000\r\n\r\n",
            "2 ;a=\"b\"\r\nhe\r\n3\r\nllo\r\n0;last\r\nX-Sum: 5\r\nY:\r\n\r\n",
            &long,
        ] {
            for piece in 1..=20 {
                assert_eq!(
                    read(bytes.as_bytes(), piece),
                    Ok((b"hello".to_vec(), true, bytes.len())),
                    "{bytes}"
                );
            }
            for cut in 0..bytes.len() {
                assert!(
                    !read(&bytes.as_bytes()[..cut], cut.max(1)).unwrap().1,
                    "cut at {cut}"
                );
            }
        }
        assert_eq!(read(b"0\r\n\r\nHTTP/1.1\n", 20), Ok((Vec::new(), true, 5)));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for bytes in [
            &b"+5\r\nhello\r\n0\r\n\r\n"[..],
            b"-1\r\n",
            b" 5\r\nhello\r\n",
            b"0x5\r\nhello\r\n",
            b"5\nhello\r\n",
            b"5\rx\r\n",
            b"\r\n",
            b";x\r\n",
            b"g\r\n",
            b"\xff\r\n",
            b"5\r\nhello!\r\n",
            b"5\r\nhello\n0\r\n",
            b"10000000000000000\r\n",
            b"0\r\nX: y\n\r\n",
        ] {
            assert!(read(bytes, 100).is_err(), "{}", bytes.escape_ascii());
        }
        let endless = [&b"5;"[..], &[b'x'; 2 * LONGEST_LINE]].concat();
        assert!(read(&endless, 1000).is_err());
        let trailers = [
            &b"0\r\n"[..],
            &b"X: yyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(1000),
        ]
        .concat();
        assert!(read(&trailers, 1000).is_err());
    }
}
