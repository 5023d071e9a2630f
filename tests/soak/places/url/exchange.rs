//! One answer: in one of its good forms, or cut, late or wrong.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::net::sockopt;

use super::{Fault, Host, LARGEST};
use crate::chance::Chance;
use crate::lists::{self, Endpoint};
use crate::stage::Stage;
use crate::support::Reply;
use crate::support::peer::{Wire, answer};
use crate::truth::{Excuse, Give};
use crate::turns::Turn;

/// One request under way.
pub(super) struct Exchange {
    pub(super) host: Arc<Host>,
    pub(super) stage: Arc<Stage>,
    pub(super) version: u64,
    pub(super) arrived: Instant,
    pub(super) chance: Chance,
}

pub(super) fn converse(
    turn: Turn,
    act: impl FnOnce(&mut dyn Wire) -> io::Result<bool> + Send + 'static,
) -> Reply {
    Reply::Converse(Box::new(move |wire| {
        let done = act(wire);
        drop(turn);
        done
    }))
}

pub(super) fn send(wire: &mut dyn Wire, bytes: &[u8], keeps: bool) -> io::Result<bool> {
    wire.write_all(bytes)?;
    wire.flush()?;
    Ok(keeps)
}

impl Exchange {
    /// From now on a read may have it whole.
    fn is_whole(&self, list: &[Endpoint]) {
        self.host
            .place
            .whole(self.version, list, Give::exchanged(self.arrived));
    }

    pub(super) fn good(mut self, wire: &mut dyn Wire) -> io::Result<bool> {
        let list = self.host.style.list(self.version, &mut self.chance);
        let (form, bytes, keeps) = self.form(&list);
        self.stage.tally.count("peers: url", form);
        self.is_whole(&list);
        send(wire, &bytes, keeps)?;
        if !keeps {
            wire.end();
        }
        Ok(keeps)
    }

    /// The list in one of the forms of an answer, and whether the connection is kept.
    fn form(&mut self, list: &[Endpoint]) -> (&'static str, Vec<u8>, bool) {
        let tag = format!("ETag: \"{}\"\r\n", self.version);
        let text = lists::lines(list, &mut self.chance);
        match self.chance.number(0..7) {
            0 => (
                "json",
                answer(
                    "200 OK",
                    &format!("{tag}Content-Type: application/json\r\n"),
                    lists::body(list),
                ),
                true,
            ),
            1 => (
                "chunked",
                [
                    format!("HTTP/1.1 200 OK\r\n{tag}Transfer-Encoding: chunked\r\n\r\n")
                        .as_bytes(),
                    &self.chunks(text.as_bytes()),
                ]
                .concat(),
                true,
            ),
            2 => (
                "until the end",
                format!("HTTP/1.1 200 OK\r\n{tag}Connection: close\r\n\r\n{text}").into_bytes(),
                false,
            ),
            3 => (
                "gzip",
                answer(
                    "200 OK",
                    &format!("{tag}Content-Encoding: gzip\r\n"),
                    gzip(&text),
                ),
                true,
            ),
            4 => (
                "HTTP/1.0",
                format!(
                    "HTTP/1.0 200 OK\r\n{tag}Content-Length: {}\r\n\r\n{text}",
                    text.len()
                )
                .into_bytes(),
                false,
            ),
            5 => (
                "after a 103",
                [
                    b"HTTP/1.1 103 Early Hints\r\n\r\n",
                    &answer("200 OK", &tag, text)[..],
                ]
                .concat(),
                true,
            ),
            _ => ("plain", answer("200 OK", &tag, text), true),
        }
    }

    fn chunks(&mut self, text: &[u8]) -> Vec<u8> {
        let (mut chunks, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(self.chance.number(1..rest.len() + 1));
            chunks.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            chunks.extend_from_slice(&[chunk, b"\r\n"].concat());
            rest = after;
        }
        chunks.extend_from_slice(b"0\r\n\r\n");
        chunks
    }

    pub(super) fn bad(mut self, wire: &mut dyn Wire, fault: Fault) -> io::Result<bool> {
        let excuse = match fault {
            Fault::Slow => Excuse::Slow,
            Fault::Silent | Fault::Drip => Excuse::Silent,
            _ => Excuse::Failing,
        };
        let place = self.host.place.clone();
        let span = place.begin_at(excuse, self.arrived);
        let done = self.play(wire, fault);
        place.end(span);
        done
    }

    fn play(&mut self, wire: &mut dyn Wire, fault: Fault) -> io::Result<bool> {
        let count = self.chance.number(2..80);
        let list = self
            .host
            .style
            .exactly(count, self.version, &mut self.chance);
        let text = lists::lines(&list, &mut self.chance);
        let whole = answer("200 OK", &format!("ETag: \"{}\"\r\n", self.version), &text);
        let body = whole.len() - text.len();
        let cut = self.chance.number(body + 1..whole.len());
        match fault {
            Fault::Slow => {
                send(wire, &whole[..cut], true)?;
                self.stage.pause(self.chance.ms(1100..1600));
                self.is_whole(&list);
                send(wire, &whole[cut..], true)
            }
            Fault::Silent => wait_for_end(wire),
            Fault::Drip => self.drip(wire),
            Fault::Reset => {
                wire.write_all(&whole[..cut])?;
                sockopt::set_socket_linger(wire.socket(), Some(Duration::ZERO))?;
                Ok(false)
            }
            Fault::Refuse => Ok(false),
            Fault::CutHead => send(wire, &whole[..self.chance.number(1..body)], false),
            Fault::CutBody => send(wire, &whole[..cut], false),
            Fault::CutChunk => {
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                let chunks = self.chunks(text.as_bytes());
                // The last chunk may have come, but not what ends the body.
                send(
                    wire,
                    &[
                        &head[..],
                        &chunks[..self.chance.number(1..chunks.len() - 4)],
                    ]
                    .concat(),
                    false,
                )
            }
            Fault::CutGzip => {
                let packed = gzip(&text);
                let part = &packed[..self.chance.number(1..packed.len())];
                send(
                    wire,
                    &answer("200 OK", "Content-Encoding: gzip\r\n", part),
                    true,
                )
            }
            // Whoever cuts a connection without TLS cannot be told from who ends it.
            Fault::CutTls if self.host.place_is_its_own() => send(wire, &whole[..cut], false),
            Fault::CutTls => send(
                wire,
                &[b"HTTP/1.1 200 OK\r\n\r\n", &text.as_bytes()[..cut - body]].concat(),
                false,
            ),
            Fault::Status => {
                let status = self.chance.of_these(&[
                    "500 Oh",
                    "503 No",
                    "404 Not Found",
                    "403 Forbidden",
                    "206 Partial Content",
                    "203 Other",
                ]);
                send(wire, &answer(status, "", &text), true)
            }
            Fault::RedirectLoop => {
                send(wire, &answer("302 Found", "Location: /moved\r\n", ""), true)
            }
            Fault::BadLine => send(
                wire,
                &answer("200 OK", "", format!("{text}\n10.0.0.1:80 lots\n")),
                true,
            ),
            Fault::TooLarge => send(
                wire,
                &answer("200 OK", "", format!("{text}#{}", "x".repeat(LARGEST))),
                false,
            ),
            Fault::WrongJson => {
                let json = lists::body(&list);
                let cut = self.chance.number(1..json.len() - 2);
                send(
                    wire,
                    &answer("200 OK", "Content-Type: application/json\r\n", &json[..cut]),
                    true,
                )
            }
            Fault::NotUtf8 => send(
                wire,
                &answer("200 OK", "", [text.as_bytes(), b"# \xff\n"].concat()),
                true,
            ),
        }
    }

    /// A byte now and then, longer than any timeout.
    fn drip(&self, wire: &mut dyn Wire) -> io::Result<bool> {
        send(
            wire,
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
            true,
        )?;
        for _ in 0..100 {
            send(wire, b"#", true)?;
            self.stage.pause(Duration::from_millis(50));
        }
        wait_for_end(wire)
    }
}

fn wait_for_end(wire: &mut dyn Wire) -> io::Result<bool> {
    while wire.read(&mut [0; 64])? > 0 {}
    Ok(false)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}
