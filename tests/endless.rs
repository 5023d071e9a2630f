//! Servers that never end, or send much of nothing: each fails within its bounds, and memory stays flat.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::peer::{answer, list};
use crate::support::{Answer, PATIENCE, Peer, Reply, Setup, assert_says, only};

/// Sends the same again and again until nobody takes it any more.
fn endless(head: &'static str, again: &'static [u8]) -> Peer {
    let again = again.repeat(1 + 4096 / again.len());
    Peer::start(move |_| {
        let again = again.clone();
        Reply::Act(Box::new(move |wire| {
            let _ = wire.write_all(head.as_bytes());
            while wire.write_all(&again).is_ok() {}
        }))
    })
}

/// Sends a byte now and then until nobody takes it any more.
fn dripping(head: &'static str, drop: u8) -> Peer {
    Peer::start(move |_| {
        Reply::Act(Box::new(move |wire| {
            let _ = wire.write_all(head.as_bytes());
            while wire.write_all(&[drop]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        }))
    })
}

/// What a read gives, how long it took, and by how many KiB it raised the peak of the memory.
fn read(peer: &Peer, keys: &str) -> (Answer, Duration, u64) {
    let good = Peer::always(list("10.0.0.1"));
    let services = format!(
        "web: {{url: {{url: \"{}\", {keys}}}}}\ngood: {{url: {}}}",
        peer.url("/"),
        good.url("/")
    );
    let vigie = Setup::services(&services).start();
    assert_eq!(
        vigie.list("good").summary(),
        (200, only("10.0.0.1").as_str())
    );
    let peak = || -> u64 {
        let status = vigie.status("VmHWM");
        status.trim_end_matches(" kB").parse().unwrap()
    };
    let (before, begin) = (peak(), Instant::now());
    let answer = vigie.list("web");
    (answer, begin.elapsed(), peak() - before)
}

/// A failure with these words, in less time than a read may take, and in so little memory.
#[track_caller]
fn refuses(peer: &Peer, keys: &str, words: &str, most: u64) {
    let (answer, took, grown) = read(peer, &format!("timeout: 1m{keys}"));
    assert_eq!(answer.status, 502, "{:?}", answer.text());
    assert_says(&answer.error(), &[words]);
    assert!(took < PATIENCE, "{took:?}");
    assert!(grown <= most, "{grown} KiB");
}

#[test]
fn an_endless_head_is_refused_at_64_kib() {
    let words = "the head of the answer has more than 64 KiB";
    for again in [&b"x"[..], b"X: y\r\n", b"\0", b"\r", b" "] {
        refuses(&endless("HTTP/1.1 200 OK\r\nX: ", again), "", words, 1024);
    }
    refuses(&endless("", b"x"), "", "not HTTP", 1024);
    refuses(&endless("", b"\r\n"), "", "not HTTP", 1024);
    refuses(
        &endless("", b"HTTP/1.1 100 Continue\r\n\r\n"),
        "",
        "more than 16 interim answers",
        1024,
    );
}

#[test]
fn an_endless_body_is_refused_at_max_size() {
    let words = "the body has more than 1048576 bytes: shorten the list, or raise max_size";
    let keys = ", max_size: 1MiB";
    refuses(
        &endless("HTTP/1.1 200 OK\r\n\r\n", b"10.0.0.1\n"),
        keys,
        words,
        4096,
    );
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    refuses(
        &endless(chunked, b"9;x=y\r\n10.0.0.1\n\r\n"),
        keys,
        words,
        4096,
    );
    let long = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n";
    refuses(&endless(long, b"10.0.0.1\n"), keys, words, 1024);
    let end = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
    refuses(
        &endless(end, b"X: y\r\n"),
        keys,
        "trailer fields are too long",
        1024,
    );
    let line = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;";
    refuses(
        &endless(line, b"x"),
        keys,
        "a line between its chunks is too long",
        1024,
    );
}

#[test]
fn a_body_of_an_error_is_not_waited_for() {
    for head in [
        "HTTP/1.1 503 x\r\n\r\n",
        "HTTP/1.1 503 x\r\nContent-Length: 1000000\r\n\r\n",
    ] {
        refuses(&endless(head, b"x"), "", "503 Service Unavailable", 1024);
        let (answer, took, _) = read(&dripping(head, b'x'), "timeout: 1m");
        assert_says(&answer.error(), &["503 Service Unavailable"]);
        assert!(took < PATIENCE, "{took:?}");
    }
}

#[test]
fn what_drips_is_given_up_in_time() {
    for head in [
        "HTTP/1.",
        "HTTP/1.1 200 OK\r\nX: ",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n",
    ] {
        let (answer, took, grown) = read(&dripping(head, b'1'), "timeout: 300ms");
        assert_eq!(answer.status, 504, "{head:?}: {:?}", answer.text());
        assert_says(&answer.error(), &["not done within 300ms"]);
        assert!(
            (Duration::from_millis(300)..PATIENCE).contains(&took),
            "{took:?}"
        );
        assert!(grown <= 2048, "{grown} KiB");
    }
}

#[test]
fn a_gzip_bomb_is_refused_at_max_size() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 300 << 10);
    let peer = Peer::always(answer("200 OK", "Content-Encoding: gzip\r\n", bomb));
    refuses(&peer, "", "the body has more than 4194304 bytes", 12 << 10);
}

#[test]
fn json_that_is_nested_without_end_is_refused() {
    let json =
        |body: String| Peer::always(answer("200 OK", "Content-Type: application/json\r\n", body));
    for again in ["[", "{\"a\":", "[{\"a\":"] {
        let body = again.repeat((4 << 20) / again.len());
        refuses(&json(body), "", "nested more than 64 deep", 10 << 10);
        let within = format!("[{{\"x\":{}", again.repeat((4 << 20) / again.len() - 7));
        refuses(&json(within), "", "nested more than 64 deep", 10 << 10);
    }
}

/// The shortest line that there is.
const SHORTEST: &[u8] = b"a\n";
const TOO_MANY: &str = "the list has more than 250000 endpoints; split it over several services";

#[test]
fn more_endpoints_than_a_list_may_have_are_refused_before_they_take_memory() {
    // As much as max_size allows when it is not set.
    let most = 4 << 20;
    let lines = Peer::always(list(SHORTEST.repeat(most / SHORTEST.len())));
    let words = format!("line 250001: {TOO_MANY}: \"a\"");
    refuses(&lines, "", &words, 12 << 10);
    let item = r#"{"ip":"a","port":1,"load_balancing_weight":0}"#;
    let json = format!("[{item}{}]", format!(",{item}").repeat(300_000));
    let json = Peer::always(answer("200 OK", "Content-Type: application/json\r\n", json));
    refuses(&json, ", max_size: 16MiB", TOO_MANY, 48 << 10);
}

#[test]
fn others_are_answered_meanwhile() {
    let peer = endless("HTTP/1.1 200 OK\r\n\r\n", b"10.0.0.1\n");
    let good = Peer::always(list("10.0.0.1"));
    let services = format!(
        "web: {{url: {{url: \"{}\", max_size: 1GiB}}}}\ngood: {{url: {}, cache_ttl: 0s}}",
        peer.url("/"),
        good.url("/")
    );
    let vigie = Setup::services(&services).start();
    let mut waiting = vigie.connect();
    waiting.send(b"GET /services?service_name=web HTTP/1.1\r\nHost: x\r\n\r\n");
    for _ in 0..50 {
        let begin = Instant::now();
        assert_eq!(vigie.list("good").status, 200);
        assert!(
            begin.elapsed() < Duration::from_secs(2),
            "{:?}",
            begin.elapsed()
        );
    }
}

#[test]
fn what_is_only_announced_takes_no_memory() {
    let most: u64 = 1 << 30;
    let announced = format!("HTTP/1.1 200 OK\r\nContent-Length: {most}\r\n\r\n10.0.0.1\n");
    let peer = Peer::ending(announced);
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", max_size: 1GiB}}, cache_ttl: 0s}}\none: {{file: one.txt}}",
        peer.url("/")
    ))
    .file("one.txt", "10.0.0.1\n")
    // In KiB: less than what is announced.
    .after("ulimit -v 900000")
    .start();
    for _ in 0..2 {
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["it was cut short"]);
        assert_eq!(vigie.list("one").summary(), (200, &*only("10.0.0.1")));
    }
}
