//! Real requests, broken in every way that a seeded generator comes up with, against the reader of requests.
//!
//! `VIGIE_MUTATIONS` says how many; a failure shows its input. The generator starts from the same seed each time.

use fastrand::Rng;
use vigie::http::body::Body;
use vigie::http::guard;
use vigie::http::head::Head;
use vigie::http::limits::{MAX_BODY, MAX_HEAD};
use vigie::http::refusal::Refusal;

use crate::support::Shown;

/// What clients in the field send.
const CORPUS: [&str; 14] = [
    "GET /services?service_name=web HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
    "GET /services HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
    "GET /services?service_name=a%2Fb HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:8080\r\n\
     User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n",
    "OPTIONS / HTTP/1.0\r\n\r\n",
    "GET /livez HTTP/1.0\r\nHost: vigie\r\nConnection: close\r\n\r\n",
    "GET /metrics HTTP/1.1\r\nHost: edge-7:8080\r\nUser-Agent: Prometheus/2.53.0\r\n\
     Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1\r\n\
     Accept-Encoding: gzip\r\nX-Prometheus-Scrape-Timeout-Seconds: 10\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"126\"\r\n\
     Upgrade-Insecure-Requests: 1\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0.0.0\r\n\
     Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nAccept-Language: de-DE,de;q=0.9\r\n\r\n",
    "POST /reload HTTP/1.1\r\nHost: [::1]:8080\r\nUser-Agent: Mozilla/5.0 Firefox/127.0\r\nOrigin: http://[::1]:8080\r\n\
     Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n",
    "POST /reload HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"now\": true}",
    "POST /reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n\
     6;a=\"b\"\r\n{\"now\"\r\n7\r\n: true}\r\n0\r\nX-Sum: 5\r\n\r\n",
    "GET http://vigie.test:8080/readyz HTTP/1.1\r\nHost: vigie.test\r\nProxy-Connection: Keep-Alive\r\n\r\n",
    "\r\nHEAD /-/healthy HTTP/1.1\nhost: x\nIf-None-Match: W/\"a\", \"b\"\n\n",
    "GET /healthz HTTP/1.1\r\nHost: 10.244.1.7:8080\r\nUser-Agent: kube-probe/1.30\r\nAccept: */*\r\nConnection: close\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

/// What is put in, whole, between other bytes.
const WORDS: [&[u8]; 30] = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b" ",
    b"\t",
    b":",
    b";",
    b",",
    b"\0",
    b"\xff",
    b"\x7f",
    b"#",
    b"?",
    b"0",
    b"00000000000000000",
    b"ffffffffffffffff",
    b"HTTP/1.0",
    b"HTTP/1.9",
    b"\r\n ",
    b"0\r\n\r\n",
    b"Host: y\r\n",
    b"Host:\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 65537\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Connection: close, keep-alive\r\n",
    b"Expect: 100-continue\r\n",
    b"GET /livez HTTP/1.1\r\nHost: z\r\n\r\n",
];

/// Some place in the bytes, the end included, and some length from there.
fn range(random: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let from = random.usize(..=bytes.len());
    from..from + random.usize(..=(bytes.len() - from).min(40))
}

fn mutate(random: &mut Rng, pool: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.choice(pool).unwrap().clone();
    for _ in 0..random.usize(1..=4) {
        let place = range(random, &bytes);
        match random.u8(..8) {
            0 | 1 => drop(bytes.splice(place, random.choice(WORDS).unwrap().iter().copied())),
            2 | 3 => drop(bytes.splice(
                place.start..place.start,
                random.choice(WORDS).unwrap().iter().copied(),
            )),
            4 => drop(bytes.drain(place)),
            5 => drop(bytes.splice(place.start..place.start, bytes[place].to_vec())),
            6 => bytes.extend_from_slice(random.choice(pool).unwrap()),
            _ if place.start < bytes.len() => bytes[place.start] ^= 1 << random.u8(..8),
            _ => bytes.push(random.u8(..)),
        }
    }
    bytes.truncate(2 * MAX_HEAD);
    bytes
}

/// What a server makes of the bytes of a connection: its requests, then why it stopped.
#[derive(Debug, PartialEq, Eq)]
struct Story {
    /// Each head as text, and where its request ends.
    requests: Vec<(String, usize)>,
    /// Where a request was refused; `None` when more bytes are needed.
    refusal: Option<Refusal>,
}

/// Reads bytes that arrive in pieces, which end at the given places.
fn read(bytes: &[u8], pieces: &[usize]) -> Story {
    let mut story = Story {
        requests: Vec::new(),
        refusal: None,
    };
    let mut at = 0;
    let mut begun: Option<(String, Body)> = None;
    for &end in pieces {
        loop {
            let arrived = &bytes[at..end];
            let step = match &mut begun {
                None => guard::parse(arrived).map(|parsed| {
                    let (head, length) = parsed?;
                    check(&head, &arrived[..length]);
                    begun = Some((format!("{head:?}"), Body::new(head.framing)));
                    Some(length)
                }),
                Some((_, body)) => body.take(arrived).map(|taken| {
                    body.is_done().then_some(taken).or_else(|| {
                        assert_eq!(taken, arrived.len(), "a body that goes on takes everything");
                        at += taken;
                        None
                    })
                }),
            };
            match step {
                Err(refusal) => {
                    return Story {
                        refusal: Some(refusal),
                        ..story
                    };
                }
                Ok(None) => break,
                Ok(Some(length)) => at += length,
            }
            assert!(at <= end, "more was taken than there is");
            if let Some((head, _)) = begun.take_if(|(_, body)| body.is_done()) {
                story.requests.push((head, at));
            }
        }
    }
    story
}

/// A head of as many bytes, or of as many fields, as there may be.
fn heads_at_their_limits(begin: &str, more: &str, times: usize) -> Vec<u8> {
    format!(
        "GET /livez HTTP/1.1\r\nHost: x\r\n{begin}{}\r\n\r\n",
        more.repeat(times)
    )
    .into_bytes()
}

/// What holds of every head that is let through.
fn check(head: &Head<'_>, bytes: &[u8]) {
    assert!((1..=MAX_HEAD).contains(&bytes.len()));
    assert_eq!(
        guard::parse(bytes),
        Ok(Some((head.clone(), bytes.len()))),
        "what follows a head does not change it"
    );
    let visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    assert!(visible(head.path) && visible(head.host) && head.query.is_none_or(visible));
    assert!(
        head.path.starts_with('/')
            || head.path == "*"
            || bytes.trim_ascii_start().starts_with(b"CONNECT")
    );
    if let vigie::http::body::Framing::Length(length) = head.framing {
        assert!(length <= MAX_BODY);
    }
}

#[test]
fn a_broken_request_is_read_the_same_however_it_arrives() {
    let count = std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap());
    let mut random = Rng::with_seed(9112);
    let mut pool: Vec<Vec<u8>> = CORPUS.map(|request| request.as_bytes().to_vec()).into();
    pool.extend([
        heads_at_their_limits("X: ", "y", MAX_HEAD - 37),
        heads_at_their_limits("", "X: y\r\n", 99),
    ]);
    let (mut read_whole, mut refused) = (0, 0);
    for _ in 0..count {
        let bytes = mutate(&mut random, &pool);
        let shown = Shown(&bytes);
        let whole = read(&bytes, &[bytes.len()]);
        let mut pieces = [(); 3].map(|()| random.usize(..=bytes.len()));
        pieces.sort_unstable();
        let in_pieces = read(&bytes, &[&pieces[..], &[bytes.len()]].concat());
        // A reason may be seen earlier in a piece than in the whole; what was read before it is the same.
        assert_eq!(in_pieces.requests, whole.requests);
        assert_eq!(in_pieces.refusal.is_some(), whole.refusal.is_some());
        check_prefix(&bytes[..pieces[0]], &whole);
        read_whole += usize::from(!whole.requests.is_empty());
        refused += usize::from(whole.refusal.is_some());
        // What is still read breaks in more interesting ways; what is refused teaches nothing new.
        if whole.refusal.is_none() && bytes.len() < 4_000 && random.u8(..50) == 0 {
            match pool.len() < 500 {
                true => pool.push(bytes.clone()),
                false => pool[random.usize(CORPUS.len()..500)] = bytes.clone(),
            }
        }
        shown.was_fine();
    }
    assert!(
        read_whole > count / 20 && refused > count / 20,
        "{read_whole} read and {refused} refused of {count}"
    );
}

/// A part of what was let through is let through as far as it goes.
fn check_prefix(prefix: &[u8], whole: &Story) {
    let part = read(prefix, &[prefix.len()]);
    assert!(whole.requests.starts_with(&part.requests));
    let read_to = whole.requests.last().map_or(0, |(_, end)| *end);
    assert!(
        part.refusal.is_none() || prefix.len() > read_to,
        "a part of a good request is refused: {part:?}"
    );
    assert!(
        part.refusal.is_none() || whole.refusal.is_some(),
        "what is refused stays refused: {part:?}"
    );
}
