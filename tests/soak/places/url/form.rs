//! The forms of an answer: lines or JSON, packed or not, and every way to say where a body ends.

use std::fmt::Write as _;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::LARGEST;
use super::exchange::Exchange;
use crate::chance::Chance;
use crate::lists::{self, Endpoint};
use crate::support::peer::answer;

/// The bytes of an answer.
pub(super) struct Form {
    pub(super) bytes: Vec<u8>,
    /// Whether the connection is kept then.
    pub(super) keeps: bool,
}

/// How a body is packed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    /// One behind the other, which are one body together (RFC 1952, section 2.2).
    GzipMembers,
}

/// How it is told where a body ends.
#[derive(Clone, Copy)]
enum Framing {
    Length,
    Chunked,
    UntilTheEnd,
    OldHttp,
    OldHttpKept,
}

const CODINGS: [Coding; 4] = [
    Coding::Plain,
    Coding::Plain,
    Coding::Gzip,
    Coding::GzipMembers,
];
const FRAMINGS: [Framing; 6] = [
    Framing::Length,
    Framing::Length,
    Framing::Chunked,
    Framing::UntilTheEnd,
    Framing::OldHttp,
    Framing::OldHttpKept,
];

const JSON: [&str; 3] = [
    "Content-Type: application/json\r\n",
    "Content-Type: Application/JSON; charset=utf-8\r\n",
    "content-type:application/json;x=\"y\"\r\n",
];
const LINES: [&str; 3] = [
    "",
    "Content-Type: text/plain\r\n",
    "Content-Type: application/json-lines\r\n",
];

impl Exchange {
    /// The list in one of the forms of an answer.
    pub(super) fn form(&mut self, list: &[Endpoint]) -> Form {
        let (types, text) = self.text(list);
        let kind = self.chance.of_these(types);
        let mut fields = match &self.tag {
            Some(tag) => format!("ETag: {tag}\r\n{kind}"),
            None => {
                self.count("no entity tag");
                kind.to_owned()
            }
        };
        if self.chance.one_in(12) {
            self.count("long head");
            // Together with the others at most as many as may be, and not so many bytes.
            for number in 0..90 {
                let _ = write!(fields, "X-Pad-{number}: {}\r\n", "x".repeat(600));
            }
        }
        let mut form = self.wrap(&fields, text.as_bytes());
        if self.chance.one_in(8) {
            self.count("after a 103");
            let interim = self.chance.of_these(&[
                "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
            ]);
            form.bytes.splice(..0, interim.bytes());
        }
        form
    }

    /// The list as a text, and the types that it may be called.
    fn text(&mut self, list: &[Endpoint]) -> (&'static [&'static str], String) {
        match self.chance.number(0..8) {
            0 => {
                self.count("json");
                (&JSON, lists::body(list))
            }
            1 => {
                self.count("json with more");
                (&JSON, more_json(list))
            }
            2..5 if list.is_empty() => {
                self.count("no byte");
                (&LINES, String::new())
            }
            5 if self.chance.one_in(4) => {
                self.count("as large as may be");
                let text = lists::lines(list, &mut self.chance);
                let filler = LARGEST - text.len();
                (&LINES, format!("{text}\n#{}", "x".repeat(filler - 2)))
            }
            _ => {
                self.count("plain");
                (&LINES, lists::lines(list, &mut self.chance))
            }
        }
    }

    /// A 200 with this body, packed and framed by chance.
    pub(super) fn wrap(&mut self, fields: &str, body: &[u8]) -> Form {
        let coding = self.chance.of_these(&CODINGS);
        let framing = self.chance.of_these(&FRAMINGS);
        let mut fields = fields.to_owned();
        let body = match coding {
            Coding::Plain => body.to_vec(),
            Coding::Gzip | Coding::GzipMembers => {
                let name = self.chance.of_these(&["gzip", "x-gzip", "GZip"]);
                let _ = write!(fields, "Content-Encoding: {name}\r\n");
                self.packed(coding, body)
            }
        };
        self.framed(framing, &fields, &body)
    }

    fn packed(&mut self, coding: Coding, body: &[u8]) -> Vec<u8> {
        if coding == Coding::Gzip {
            self.count("gzip");
            return gzip(body);
        }
        self.count("gzip of several members");
        let (first, second) = body.split_at(self.chance.number(0..body.len() + 1));
        [gzip(first), gzip(second)].concat()
    }

    fn framed(&mut self, framing: Framing, fields: &str, body: &[u8]) -> Form {
        let length = body.len();
        let behind = |head: String, body: &[u8]| [head.as_bytes(), body].concat();
        let (words, bytes, keeps) = match framing {
            Framing::Length => ("by length", answer("200 OK", fields, body), true),
            Framing::Chunked => {
                let head = format!("HTTP/1.1 200 OK\r\n{fields}Transfer-Encoding: chunked\r\n\r\n");
                let chunks = chunks(body, &mut self.chance);
                ("chunked", behind(head, &chunks), true)
            }
            Framing::UntilTheEnd => {
                let head = format!("HTTP/1.1 200 OK\r\n{fields}Connection: close\r\n\r\n");
                ("until the end", behind(head, body), false)
            }
            Framing::OldHttp => {
                let head = format!("HTTP/1.0 200 OK\r\n{fields}Content-Length: {length}\r\n\r\n");
                ("HTTP/1.0", behind(head, body), false)
            }
            Framing::OldHttpKept => {
                let head = format!(
                    "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n{fields}Content-Length: {length}\r\n\r\n"
                );
                ("HTTP/1.0, kept", behind(head, body), true)
            }
        };
        self.count(words);
        Form { bytes, keeps }
    }

    fn count(&self, form: &str) {
        self.stage.tally.count("peers: url", form);
    }
}

/// With fields that mean nothing, in another order.
fn more_json(list: &[Endpoint]) -> String {
    let one = |endpoint: &Endpoint| {
        let (ip, port, weight) = (endpoint.address(), endpoint.port, endpoint.weight);
        format!(
            r#"{{"zone":{{"ip":[1,{{}}]}},"load_balancing_weight":{weight}, "port" : {port},"ip":"{ip}","up":null}}"#
        )
    };
    let all: Vec<String> = list.iter().map(one).collect();
    format!("[{}]", all.join(",\n"))
}

/// A body in chunks, with all that may stand around them (RFC 9112, section 7.1).
pub(super) fn chunks(body: &[u8], chance: &mut Chance) -> Vec<u8> {
    let (mut chunks, mut rest) = (Vec::new(), body);
    let extension = chance.of_these(&["", "", ";x", " ;y=\"z\""]);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(chance.number(1..rest.len() + 1));
        let size = match chance.number(0..3) {
            0 => format!("{:X}", chunk.len()),
            1 => format!("00{:x}", chunk.len()),
            _ => format!("{:x}", chunk.len()),
        };
        chunks.extend_from_slice(format!("{size}{extension}\r\n").as_bytes());
        chunks.extend_from_slice(&[chunk, b"\r\n"].concat());
        rest = after;
    }
    let trailers = chance.of_these(&["", "", "X-Sum: 1\r\nETag: \"bad\"\r\n"]);
    chunks.extend_from_slice(format!("0{extension}\r\n{trailers}\r\n").as_bytes());
    chunks
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
