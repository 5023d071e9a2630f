//! Answers and lists of servers, broken in every way that a seeded generator comes up with.
//!
//! `VIGIE_MUTATIONS` says how many; a failure shows its input. The generator starts from the same seed each time.

use std::io;
use std::num::NonZeroU16;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use fastrand::Rng;
use smol::io::{AsyncRead, AsyncWrite};
use vigie::client::{self, Answer, HeaderMap, Kind, Request, Target};
use vigie::format::json;
use vigie::lines;

use crate::support::Shown;

/// What servers in the field answer.
const ANSWERS: [&str; 12] = [
    "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 30 Nov 2026 03:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 23\r\n\
     Last-Modified: Mon, 30 Nov 2026 02:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"6567f6d0-17\"\r\nAccept-Ranges: bytes\r\n\r\n10.0.0.1:80 3\n10.0.0.2\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json; charset=utf-8\r\n\r\n\
     2\r\n[\n\r\n41;x=\"y\"\r\n  {\n    \"ip\": \"10.0.0.7\",\n    \"port\": 8080,\n    \"load_balancing\r\n11\r\n_weight\": 3\n  }\n]\n\r\n0\r\nX-Sum: 5\r\n\r\n",
    "HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6 Python/3.11.2\r\nContent-type: text/plain\r\nContent-Length: 9\r\n\r\n10.0.0.1\n",
    "HTTP/1.0 200 OK\r\n\r\n10.0.0.1\n10.0.0.2\n",
    "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nETag: W/\"a\"\r\nContent-Length: 23\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: https://other.example/list?x\r\nContent-Length: 5\r\n\r\nmoved",
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"error\":\"x\"}\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 9\nConnection: close\n\n10.0.0.1\n",
    "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
];

/// What is put in, whole, between other bytes.
const WORDS: [&[u8]; 30] = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"0\r\n\r\n",
    b"ffffffffffffffff",
    b"+5",
    b"1;",
    b"Content-Length: 8\r\n",
    b"Content-Length: 18446744073709551615\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Connection: close\r\n",
    b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x33\x34\xd0\x33\0\x01\0\0\0\xff\xff",
    b"HTTP/1.1 100 x\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.0",
    b"200",
    b"\0",
    b"\xff",
    b"[",
    b"]",
    b"{\"ip\":",
    b"\"",
    b"\\u0000",
    b"-1e999",
    b"null",
    b",",
    b" ",
];

const JSON: [&str; 4] = [
    "[\n  {\n    \"ip\": \"10.0.0.7\",\n    \"port\": 8080,\n    \"load_balancing_weight\": 3\n  }\n]\n",
    "[]",
    r#"[{"zone":{"a":[1,2.5,-3,null,true]},"load_balancing_weight":0,"port":65535,"ip":"\u0031\ud83d\ude00"},{"ip":"::1","port":1,"load_balancing_weight":4294967295}]"#,
    r#"{"error":"there is no service web; add it to the configuration and reload"}"#,
];

fn mutations() -> usize {
    std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap())
}

fn mutate(random: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.choice(pool).unwrap().clone();
    for _ in 0..random.usize(1..=3) {
        let from = random.usize(..=bytes.len());
        let to = from + random.usize(..=(bytes.len() - from).min(30));
        let word = random.choice(WORDS).unwrap().iter().copied();
        match random.u8(..7) {
            0 => drop(bytes.splice(from..to, word)),
            1 | 2 => drop(bytes.splice(from..from, word)),
            3 => drop(bytes.drain(from..to)),
            4 => drop(bytes.splice(from..from, bytes[from..to].to_vec())),
            5 => bytes.extend_from_slice(random.choice(pool).unwrap()),
            _ if from < bytes.len() => bytes[from] ^= 1 << random.u8(..8),
            _ => bytes.push(random.u8(..)),
        }
    }
    bytes
}

/// A connection from which these bytes come in pieces, and then the end.
struct Pieces {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    at: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let at = self.at;
        let end = self
            .ends
            .iter()
            .copied()
            .find(|end| *end > at)
            .unwrap_or(at);
        let count = (end - at).min(room.len());
        room[..count].copy_from_slice(&self.bytes[at..at + count]);
        self.at += count;
        Poll::Ready(Ok(count))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

const MOST: u64 = 64;

/// What a client makes of the bytes of a connection.
fn read(bytes: &[u8], ends: &[usize]) -> Result<Answer, Kind> {
    let (target, _) = Target::parse("http://h/").unwrap();
    let request = Request {
        target: &target,
        credentials: HeaderMap::new(),
        at_hand: None,
        begun: Instant::now(),
        timeout: Duration::from_secs(5),
        max_size: MOST,
        max_redirects: 0,
        turns: None,
    };
    let pieces = Pieces {
        bytes: bytes.to_vec(),
        ends: ends.to_vec(),
        at: 0,
    };
    smol::block_on(client::over(pieces, &request)).map_err(|failure| failure.kind)
}

/// Whether the answer says itself where it ends.
fn has_an_end(answer: &Answer) -> bool {
    ["content-length", "transfer-encoding"]
        .iter()
        .any(|name| answer.headers.contains_key(*name))
}

#[test]
fn a_broken_answer_is_read_the_same_however_it_arrives_and_never_in_part() {
    let count = mutations();
    let mut random = Rng::with_seed(9112);
    let pool = ANSWERS.map(|answer| answer.as_bytes().to_vec());
    let (mut good, mut bad) = (0, 0);
    for _ in 0..count {
        let bytes = mutate(&mut random, &pool);
        let shown = Shown(&bytes);
        let mut ends = [(); 3].map(|()| random.usize(..=bytes.len()));
        ends.sort_unstable();
        let whole = read(&bytes, &[bytes.len()]);
        let in_pieces = read(&bytes, &[&ends[..], &[bytes.len()]].concat());
        let part = read(&bytes[..ends[0]], &[ends[0]]);
        match (&whole, &in_pieces) {
            (Ok(whole), Ok(in_pieces)) => {
                assert_eq!(
                    (whole.status, &whole.headers, &whole.body),
                    (in_pieces.status, &in_pieces.headers, &in_pieces.body)
                );
                assert!(whole.status != 200 || whole.body.len() as u64 <= MOST);
            }
            (whole, in_pieces) => assert_eq!(whole.as_ref().err(), in_pieces.as_ref().err()),
        }
        // What a part of the bytes gives as a whole list, all of them give too.
        if let Ok(part) = &part
            && part.status == 200
            && has_an_end(part)
        {
            let whole = whole.as_ref().unwrap();
            assert_eq!((part.status, &part.body), (whole.status, &whole.body));
        }
        good += usize::from(whole.is_ok());
        bad += usize::from(whole.is_err());
        shown.was_fine();
    }
    assert!(
        good > count / 20 && bad > count / 20,
        "{good} and {bad} of {count}"
    );
}

#[test]
fn a_broken_list_is_read_whole_or_not_at_all() {
    let count = mutations();
    let mut random = Rng::with_seed(8259);
    let pool = JSON.map(|list| list.as_bytes().to_vec());
    let (mut good, mut bad) = (0, 0);
    for _ in 0..count {
        let bytes = mutate(&mut random, &pool);
        let shown = Shown(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        match json::parse(&text) {
            Ok(list) => {
                good += 1;
                let again = String::from_utf8(json::render(&list)).unwrap();
                assert_eq!(json::parse(&again).as_ref(), Ok(&list));
                assert_eq!(
                    list.len(),
                    text.matches("\"ip\"").count().max(list.len()),
                    "every endpoint is there"
                );
            }
            Err(wrong) => {
                bad += 1;
                assert!(wrong.to_string().len() < 1000);
            }
        }
        let _ = lines::parse(&text, NonZeroU16::MIN);
        shown.was_fine();
    }
    assert!(
        good > count / 100 && bad > count / 20,
        "{good} and {bad} of {count}"
    );
}
