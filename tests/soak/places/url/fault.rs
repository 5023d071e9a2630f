//! Every way in which an answer is no list.

use std::io;
use std::time::Duration;

use rustix::net::sockopt;

use super::LARGEST;
use super::ending::Ending;
use super::exchange::{Exchange, send, wait_for_end};
use super::form::{chunks, gzip};
use super::words;
use crate::chance::Chance;
use crate::holds::Part;
use crate::lists;
use crate::support::peer::{Wire, answer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Slow,
    Silent,
    Drip,
    Reset,
    Refuse,
    CutHead,
    CutBody,
    CutChunk,
    CutGzip,
    DamagedGzip,
    CutTls,
    Status,
    /// To who did not say what is at hand.
    NotModified,
    RedirectLoop,
    TooManyRedirects,
    WrongRedirect,
    /// What could be read in two ways.
    Ambiguous,
    /// A coding that nobody asked for.
    Coded,
    LargeHead,
    BadLine,
    TooLarge,
    WrongJson,
    NotUtf8,
}

pub(super) const FAULTS: [Fault; 23] = [
    Fault::Slow,
    Fault::Silent,
    Fault::Drip,
    Fault::Reset,
    Fault::Refuse,
    Fault::CutHead,
    Fault::CutBody,
    Fault::CutChunk,
    Fault::CutGzip,
    Fault::DamagedGzip,
    Fault::CutTls,
    Fault::Status,
    Fault::NotModified,
    Fault::RedirectLoop,
    Fault::TooManyRedirects,
    Fault::WrongRedirect,
    Fault::Ambiguous,
    Fault::Coded,
    Fault::LargeHead,
    Fault::BadLine,
    Fault::TooLarge,
    Fault::WrongJson,
    Fault::NotUtf8,
];

/// Those that are others over TLS come more often there.
pub(super) const FAULTS_OVER_TLS: [Fault; 10] = [
    Fault::CutTls,
    Fault::CutTls,
    Fault::WrongRedirect,
    Fault::CutHead,
    Fault::CutBody,
    Fault::CutChunk,
    Fault::Reset,
    Fault::Slow,
    Fault::Silent,
    Fault::Drip,
];

/// Those of a place that is to fail at once.
const FAILING: [Fault; 4] = [Fault::Status, Fault::Reset, Fault::CutBody, Fault::NotUtf8];

impl Fault {
    /// What an exchange plays that has a part beside a reload.
    pub(super) fn of(part: &Part, chance: &mut Chance) -> Option<Self> {
        match part {
            Part::Held(_) => Some(Self::Slow),
            Part::Good => None,
            Part::Failing => Some(chance.of_these(&FAILING)),
        }
    }
}

impl Exchange {
    pub(super) fn play(&mut self, wire: &mut dyn Wire, fault: Fault) -> io::Result<Ending> {
        let count = self.chance.number(2..80);
        let style = self.host.style;
        let list = style.exactly(count, self.version, &mut self.chance);
        let text = lists::lines(&list, &mut self.chance);
        // What is no list must not be remembered by its entity tag.
        let tag = match fault {
            Fault::Slow => self
                .tag
                .iter()
                .map(|tag| format!("ETag: {tag}\r\n"))
                .collect(),
            _ => "ETag: \"bad\"\r\n".to_owned(),
        };
        let whole = answer("200 OK", &tag, &text);
        let body = whole.len() - text.len();
        let cut = self.chance.number(body + 1..whole.len());
        let kept = |bytes: &[u8], wire: &mut dyn Wire| send(wire, bytes).map(|()| Ending::Kept);
        let ended = |bytes: &[u8], wire: &mut dyn Wire| send(wire, bytes).map(|()| Ending::Now);
        match fault {
            Fault::Slow => {
                send(wire, &whole[..cut])?;
                match &self.hold {
                    Some(hold) => hold.wait(),
                    None => self.stage.pause(self.chance.ms(1100..1600)),
                }
                self.is_whole(&list);
                let sent = kept(&whole[cut..], wire);
                self.hold.iter().for_each(|hold| hold.ended());
                sent
            }
            Fault::Silent => wait_for_end(wire),
            Fault::Drip => self.drip(wire),
            Fault::Reset => {
                wire.write_all(&whole[..cut])?;
                sockopt::set_socket_linger(wire.socket(), Some(Duration::ZERO))?;
                Ok(Ending::Now)
            }
            Fault::Refuse => Ok(Ending::Now),
            Fault::CutHead => ended(&whole[..self.chance.number(1..body)], wire),
            Fault::CutBody => ended(&whole[..cut], wire),
            Fault::CutChunk => {
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                let chunks = chunks(text.as_bytes(), &mut self.chance);
                // The last chunk may have come, but not what ends the body.
                let part = &chunks[..self.chance.number(1..chunks.len() - 1)];
                ended(&[&head[..], part].concat(), wire)
            }
            Fault::CutGzip => {
                let packed = gzip(text.as_bytes());
                let part = &packed[..self.chance.number(1..packed.len())];
                let fields = format!("{tag}Content-Encoding: gzip\r\n");
                kept(&answer("200 OK", &fields, part), wire)
            }
            Fault::DamagedGzip => {
                let mut packed = gzip(text.as_bytes());
                // Its last bytes are a sum and a length.
                let at = packed.len() - self.chance.number(1..9);
                packed[at] ^= 1;
                let fields = format!("{tag}Content-Encoding: gzip\r\n");
                kept(&answer("200 OK", &fields, packed), wire)
            }
            // Whoever cuts a connection without TLS cannot be told from who ends it.
            Fault::CutTls if self.host.servers().is_plain() => ended(&whole[..cut], wire),
            Fault::CutTls => {
                let part = &text.as_bytes()[..cut - body];
                ended(&[b"HTTP/1.1 200 OK\r\n\r\n", part].concat(), wire)
            }
            Fault::Status => {
                let (status, _) = words::status(self.version);
                let text = match *status {
                    "204 No Content" | "101 Switching Protocols" => "",
                    _ => &text,
                };
                kept(&answer(status, &tag, text), wire)
            }
            // What is at hand from here means nothing there.
            Fault::NotModified if self.is_conditional => {
                let fields = format!("Location: {}-\r\n", self.path);
                kept(&answer("302 Found", &fields, ""), wire)
            }
            Fault::NotModified => kept(&answer("304 Not Modified", "", ""), wire),
            Fault::RedirectLoop => kept(&answer("302 Found", "Location: /moved-0\r\n", ""), wire),
            Fault::TooManyRedirects => kept(&self.host.too_far(&self.path, &mut self.chance), wire),
            Fault::WrongRedirect => kept(&self.host.wrong_redirect(&mut self.chance), wire),
            Fault::Ambiguous => ended(&self.ambiguous(&tag, &text), wire),
            Fault::Coded => {
                let coding = self
                    .chance
                    .of_these(&["br", "deflate", "gzip, gzip", "zstd"]);
                let fields = format!("{tag}Content-Encoding: {coding}\r\n");
                kept(&answer("200 OK", &fields, &text), wire)
            }
            Fault::LargeHead => ended(&self.large_head(&tag, &text), wire),
            Fault::BadLine => {
                let line = match self.chance.number(0..8) {
                    0 => "<html>".into(),
                    // A server may say again what was sent to it.
                    1..5 => format!("10.0.0.1:80 {}", self.secret),
                    _ => lists::bad_line(&mut self.chance).to_owned(),
                };
                kept(&answer("200 OK", &tag, format!("{text}\n{line}\n")), wire)
            }
            Fault::TooLarge => {
                let more = self.chance.of_these(&[1, 2, 1000, LARGEST]);
                let filler = "x".repeat(LARGEST + more - text.len() - 1);
                let form = self.wrap(&tag, format!("{text}#{filler}").as_bytes());
                ended(&form.bytes, wire)
            }
            Fault::WrongJson => {
                let fields = format!("{tag}Content-Type: application/json\r\n");
                let json = self.wrong_json(&lists::body(&list));
                kept(&answer("200 OK", &fields, json), wire)
            }
            Fault::NotUtf8 => {
                let bytes = [text.as_bytes(), b"# \xff\n"].concat();
                kept(&answer("200 OK", &tag, bytes), wire)
            }
        }
    }
}
