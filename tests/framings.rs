//! Where the answer of a server ends: a part of a list is never taken for the whole.

use crate::support::peer::list;
use crate::support::{Answer, Authority, Peer, Reply, Setup, Vigie, assert_says, only};

fn serve(peer: &Peer) -> Vigie {
    Setup::services(&format!("web: {{url: {}, cache_ttl: 0s}}", peer.url("/"))).start()
}

/// What comes of these bytes, whether the connection ends behind them or not.
#[track_caller]
fn reads(bytes: &[u8]) {
    for peer in [Peer::ending(bytes), Peer::always(bytes)] {
        let answer = serve(&peer).list("web");
        let want = only("10.0.0.1");
        assert_eq!(
            answer.summary(),
            (200, want.as_str()),
            "{}",
            bytes.escape_ascii()
        );
    }
}

/// What a list is that ends with these bytes.
fn ends_with(bytes: impl Into<Vec<u8>>) -> Answer {
    serve(&Peer::ending(bytes)).list("web")
}

/// These bytes, behind which the connection ends, are a failure with these words.
#[track_caller]
fn refuses(bytes: impl Into<Vec<u8>>, words: &str) {
    let bytes = bytes.into();
    let answer = ends_with(bytes.clone());
    let shown = bytes[..bytes.len().min(300)].escape_ascii().to_string();
    assert_eq!(answer.status, 502, "{shown}: {:?}", answer.text());
    assert_says(&answer.error(), &[words]);
}

#[test]
fn a_body_has_the_length_that_its_head_says() {
    reads(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n10.0.0.1");
    reads(b"HTTP/1.1 200\r\ncontent-length: 8\r\n\r\n10.0.0.1");
    reads(b"HTTP/1.1 200 OK\nContent-Length: 008\n\n10.0.0.1");
    // A list of the same number is that number (RFC 9110, section 8.6).
    reads(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Length: 8, 8\r\n\r\n10.0.0.1");
    reads(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 8\r\n\r\n10.0.0.1");
}

#[test]
fn a_chunked_body_has_extensions_and_trailers() {
    reads(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n10.0.0.1\r\n0\r\n\r\n");
    reads(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
          5;ext=\"a value that is longer than twenty bytes\"\r\n10.0.\r\n0003 ;x\r\n0.1\r\n0;y\r\nX-Sum: 5\r\nZ:\r\n\r\n");
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let body = |version: &str| format!("HTTP/{version} 200 OK\r\n\r\n10.0.0.1");
    for version in ["1.0", "1.1"] {
        assert_eq!(
            ends_with(body(version)).summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
    assert_eq!(
        ends_with("HTTP/1.0 200 OK\r\n\r\n").summary(),
        (200, "[]\n")
    );
}

#[test]
fn interim_answers_are_not_the_answer() {
    reads(
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Length: 3\r\n\r\n\
          HTTP/1.1 100 Continue\r\nX: y\r\n\r\n\
          HTTP/1.1 102 Processing\r\n\r\n\
          HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n10.0.0.1",
    );
    let many = |count| {
        [
            b"HTTP/1.1 100 Continue\r\n\r\n".repeat(count),
            list("10.0.0.1"),
        ]
        .concat()
    };
    reads(&many(16));
    refuses(many(17), "more than 16 interim answers");
    refuses(
        "HTTP/1.1 101 Switching Protocols\r\n\r\n10.0.0.1",
        "101 Switching Protocols",
    );
}

#[test]
fn what_is_cut_short_is_a_failure() {
    for whole in [
        &b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n10.0.0.1\n10.0.0.2"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n10.0.0.1\n\r\n8\r\n10.0.0.2\r\n0\r\nX: y\r\n\r\n",
    ] {
        let cuts = std::sync::Mutex::new(0..whole.len());
        let peer = Peer::start(move |_| Reply::End(whole[..cuts.lock().unwrap().next().unwrap()].into()));
        let vigie = serve(&peer);
        for cut in 0..whole.len() {
            let answer = vigie.list("web");
            assert_eq!(answer.status, 502, "cut at {cut}: {:?}", answer.text());
        }
    }
    refuses("", "the server ended the connection");
    refuses(
        "HTTP/1.1 200 OK\r\nContent-Le",
        "reading the head of the answer: it was cut short",
    );
    refuses(
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n10.0.0.1",
        "reading the body: it was cut short",
    );
}

#[test]
fn a_connection_that_is_reset_is_a_failure() {
    let peer = Peer::start(|_| Reply::Reset(b"HTTP/1.1 200 OK\r\n\r\n10.0.0.1\n".to_vec()));
    let answer = serve(&peer).list("web");
    assert_eq!(answer.status, 502, "{:?}", answer.text());
    assert_says(&answer.error(), &["reading the body: Connection reset"]);
}

#[test]
fn a_doubt_where_the_body_ends_is_a_failure() {
    let with =
        |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n8\r\n10.0.0.1\r\n0\r\n\r\n");
    for fields in [
        "Content-Length: 8\r\nContent-Length: 9",
        "Content-Length: 8, 9",
        "Content-Length: +8",
        "Content-Length: -8",
        "Content-Length: 8 8",
        "Content-Length: 0x8",
        "Content-Length:",
        "Content-Length: 8,",
        "Content-Length: 18446744073709551616",
        "Content-Length: 8\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:",
        "Content-Length : 8",
        "Content-Length: 8\r\n 0",
        "X: y\r\n\tz",
        "Content-Encoding: br",
        "X\u{0}: y",
        "X: y\u{0}",
        "no colon",
        ": no name",
    ] {
        refuses(with(fields), "not good HTTP");
    }
    refuses(
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0",
    );
    refuses(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\n10.0.0.1\n0\n\n",
        "CR LF",
    );
    refuses(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+8\r\n10.0.0.1\r\n0\r\n\r\n",
        "the size of a chunk",
    );
}

#[test]
fn what_is_no_http_1_is_a_failure() {
    for bytes in [
        "HTTP/1.2 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 099 OK\r\n\r\n",
        "HTTP/1.1  200 OK\r\n\r\n",
    ] {
        refuses(bytes, "not good HTTP");
    }
}

#[test]
fn what_cannot_become_http_1_is_told_by_its_first_bytes() {
    let other = "the answer is not HTTP: it does not begin with HTTP/1.; see what listens there";
    for (bytes, words) in [
        (&b"10.0.0.1\n"[..], other),
        (b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", other),
        (b"HTTP/2 200 OK\r\n\r\n", other),
        (b"http/1.1 200 OK\r\n\r\n", other),
        (b"SSH-2.0-OpenSSH\r\n", other),
        (b"2", other),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", other),
        (b"\0\0\x06\x04\0\0\0\0\0", other),
        (
            b"\x15\x03\x01\0\x02\x02\x28",
            "the answer is not HTTP: it is TLS; write https://",
        ),
    ] {
        let hanging = move |_: &str| {
            Reply::Act(Box::new(move |wire| {
                wire.write_all(bytes).unwrap();
                wire.flush().unwrap();
                std::thread::park();
            }))
        };
        for peer in [Peer::ending(bytes), Peer::start(hanging)] {
            let answer = serve(&peer).list("web");
            let want = format!("service web: url {}: {words}", peer.url("/"));
            assert_eq!((answer.status, answer.error()), (502, want));
        }
    }
}

#[test]
fn a_head_has_its_bounds() {
    let fields = |count: usize| {
        [
            b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n".to_vec(),
            b"X: y\r\n".repeat(count),
            b"\r\n10.0.0.1".to_vec(),
        ]
        .concat()
    };
    reads(&fields(99));
    refuses(fields(100), "more than 100 header fields");
    refuses(fields(1000), "not good HTTP");
    let long = |count: usize| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nX: {}\r\n\r\n10.0.0.1",
            "y".repeat(count)
        )
    };
    let most = (64 << 10) - (long(0).len() - "10.0.0.1".len());
    reads(long(most).as_bytes());
    for count in [most + 1, 70_000, 100_000] {
        refuses(long(count), "the head of the answer has more than 64 KiB");
    }
}

#[test]
fn gzip_is_decoded() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"10.0.0.1").unwrap();
    let body = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    reads(&[head.as_bytes(), &body].concat());
    for coding in [
        "gzip, identity",
        "identity,GZIP ,",
        "identity\r\nContent-Encoding: x-gzip",
    ] {
        let head = head.replace("gzip", coding);
        reads(&[head.as_bytes(), &body].concat());
    }
    for coding in ["gzip, gzip", "br", "gzip, br"] {
        let head = head.replace("gzip", coding);
        refuses(
            [head.as_bytes(), &body].concat(),
            "its Content-Encoding is not gzip",
        );
    }
    let empty = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(ends_with(empty).summary(), (200, "[]\n"));
    let endless = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    refuses(endless, "its gzip is damaged or cut short");
    refuses(
        [
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
            &body[..body.len() - 1],
        ]
        .concat(),
        "its gzip is damaged or cut short",
    );
}

#[test]
fn with_tls_the_end_of_a_body_must_be_said() {
    let authority = Authority::new();
    let signed = authority.sign(&["127.0.0.1"]);
    let reply = |end: fn(Vec<u8>) -> Reply| {
        let bytes = b"HTTP/1.1 200 OK\r\n\r\n10.0.0.1\n";
        Peer::tls(signed.server(None), move |_| end(bytes.to_vec()))
    };
    let read = |peer: &Peer| {
        Setup::services(&format!(
            "web: {{url: {{url: \"{}\", ca_file: ca.pem}}}}",
            peer.url("/")
        ))
        .file("ca.pem", authority.pem())
        .start()
        .list("web")
    };
    assert_eq!(
        read(&reply(Reply::End)).summary(),
        (200, only("10.0.0.1").as_str())
    );
    let cut = read(&reply(Reply::Cut));
    assert_eq!(cut.status, 502, "{:?}", cut.text());
    assert_says(
        &cut.error(),
        &["the connection ended without the end of TLS"],
    );
}
