//! The body of a request: where it ends. No path takes one, so it is read, bounded, and dropped.

use super::limits::{MAX_BODY, MAX_FIELDS, MAX_HEAD};
use super::refusal::Refusal;
use super::syntax::is_token;

/// More digits than any size within [`MAX_BODY`] needs, leading zeros included.
const MAX_DIGITS: u8 = 16;

/// How a body is framed (RFC 9112, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    None,
    /// So many bytes.
    Length(u64),
    /// Chunks (RFC 9112, section 7.1).
    Chunked,
}

/// Follows a body to its end.
#[derive(Clone, Debug)]
pub struct Body {
    state: State,
    /// Bytes of the body so far, those of the present chunk included.
    size: u64,
    /// Bytes of extensions so far.
    extensions: usize,
    /// Bytes and lines of trailer fields so far.
    trailers: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes to the end of a body framed by length.
    Counted(u64),
    Size {
        digits: u8,
        size: u64,
    },
    /// Blanks between a size and its extension.
    Blank {
        size: u64,
    },
    Extension {
        size: u64,
    },
    SizeLf {
        size: u64,
    },
    Data(u64),
    DataLf,
    TrailerBegin,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Done,
}

impl Body {
    /// The body that a head announces.
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::None => State::Done,
            Framing::Length(length) => State::Counted(length),
            Framing::Chunked => State::Size { digits: 0, size: 0 },
        };
        Self {
            state,
            size: 0,
            extensions: 0,
            trailers: (0, 0),
        }
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done | State::Counted(0))
    }

    /// Takes bytes up to the end of the body and says how many; what is left belongs to the next request.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        let mut taken = 0;
        while !self.is_done() && taken < bytes.len() {
            let rest = &bytes[taken..];
            if let State::Counted(left) | State::Data(left) = &mut self.state
                && *left > 0
            {
                let bulk = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                *left -= bulk as u64;
                taken += bulk;
            } else {
                self.state = self.step(rest[0])?;
                taken += 1;
            }
        }
        Ok(taken)
    }

    /// One byte of the framing. Lines end with CR LF only: a lone LF is how requests are smuggled.
    fn step(&mut self, byte: u8) -> Result<State, Refusal> {
        let next = match (self.state, byte) {
            (State::Size { digits, size }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                if digits == MAX_DIGITS {
                    return Err(Refusal::BodyTooLarge);
                }
                State::Size {
                    digits: digits + 1,
                    size: size.saturating_mul(16).saturating_add(digit.into()),
                }
            }
            (State::Size { digits: 0, .. }, _) => {
                return Err(bad("a chunk does not begin with its size in hex"));
            }
            (State::Size { size, .. } | State::Blank { size }, b' ' | b'\t') => {
                self.extend(State::Blank { size })?
            }
            (State::Size { size, .. } | State::Blank { size }, b';') => {
                self.extend(State::Extension { size })?
            }
            (State::Size { size, .. } | State::Extension { size }, b'\r') => State::SizeLf { size },
            (State::Extension { size }, _) if is_text(byte) => {
                self.extend(State::Extension { size })?
            }
            (State::SizeLf { size: 0 }, b'\n') => State::TrailerBegin,
            (State::SizeLf { size }, b'\n') => self.begin_chunk(size)?,
            (State::Data(_), b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { digits: 0, size: 0 },
            (State::TrailerBegin, b'\r') => State::EndLf,
            (State::EndLf, b'\n') => State::Done,
            (State::TrailerBegin | State::TrailerName, _) if is_token(byte) => {
                self.trail(State::TrailerName)?
            }
            (State::TrailerName, b':') => self.trail(State::TrailerValue)?,
            (State::TrailerValue, b'\r') => State::TrailerLf,
            (State::TrailerValue, _) if is_text(byte) => self.trail(State::TrailerValue)?,
            (State::TrailerLf, b'\n') => State::TrailerBegin,
            (
                State::TrailerBegin
                | State::TrailerName
                | State::TrailerValue
                | State::TrailerLf
                | State::EndLf,
                _,
            ) => {
                return Err(bad("a trailer field is not NAME: VALUE"));
            }
            _ => {
                return Err(bad(
                    "a chunk is not framed by its size and line ends of CR LF",
                ));
            }
        };
        Ok(next)
    }

    fn begin_chunk(&mut self, size: u64) -> Result<State, Refusal> {
        self.size = self.size.saturating_add(size);
        if self.size > MAX_BODY {
            Err(Refusal::BodyTooLarge)
        } else {
            Ok(State::Data(size))
        }
    }

    fn extend(&mut self, next: State) -> Result<State, Refusal> {
        self.extensions += 1;
        if self.extensions > MAX_HEAD {
            Err(Refusal::BodyTooLarge)
        } else {
            Ok(next)
        }
    }

    fn trail(&mut self, next: State) -> Result<State, Refusal> {
        self.trailers.0 += 1;
        self.trailers.1 +=
            usize::from(next == State::TrailerValue && self.state == State::TrailerName);
        let over = self.trailers.0 > MAX_HEAD || self.trailers.1 > MAX_FIELDS;
        if over {
            Err(Refusal::HeadTooLarge)
        } else {
            Ok(next)
        }
    }
}

fn bad(reason: &'static str) -> Refusal {
    Refusal::BadBody(reason)
}

/// What may stand in an extension or the value of a field.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)
}
