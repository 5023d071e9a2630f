//! Request lines as RFC 9112 has them: what is refused, how, and that nothing is smuggled behind it.

use crate::support::framing::{lines, statuses};
use crate::support::{Setup, Vigie};

fn serve() -> Vigie {
    let services = (0..10).map(|i| format!("s{i}: {{file: s{i}.txt}}\n"));
    let setup = Setup::services(&services.collect::<String>());
    (0..10)
        .fold(setup, |setup, i| {
            setup.file(&format!("s{i}.txt"), format!("10.0.0.{i}:80\n"))
        })
        .start()
}

#[test]
fn a_malformed_request_line_is_400_and_closes() {
    let malformed: &[&[u8]] = &[
        b"GET",
        b"GET /livez",
        b"GET HTTP/1.1",
        b"GET  HTTP/1.1",
        b"/livez HTTP/1.1",
        b" GET /livez HTTP/1.1",
        b"\tGET /livez HTTP/1.1",
        b"GET  /livez HTTP/1.1",
        b"GET /livez  HTTP/1.1",
        b"GET\t/livez HTTP/1.1",
        b"GET /livez\tHTTP/1.1",
        b"GET /livez HTTP/1.1 ",
        b"GET /livez HTTP/1.1 x",
        b"GET /liv ez HTTP/1.1",
        b"GET /liv\0ez HTTP/1.1",
        b"GET /liv\x01ez HTTP/1.1",
        b"GET /liv\x7fez HTTP/1.1",
        b"GET /livez\rHTTP/1.1",
        b"GET /livez\r HTTP/1.1",
        b"GET /l\xc3\xafvez HTTP/1.1",
        b"GET /services?service_name=\xff HTTP/1.1",
        b"GET /livez#top HTTP/1.1",
        b"GET livez HTTP/1.1",
        b"GET * HTTP/1.1",
        b"GET /livez http/1.1",
        b"GET /livez HTTP/1.",
        b"GET /livez HTTP/1",
        b"GET /livez HTTP/11",
        b"GET /livez HTTP/1.10",
        b"GET /livez HTTP/01.1",
        b"GET /livez HTTP/1.1.1",
        b"GET /livez HTTP/x.y",
        b"GET /livez HTTP 1.1",
        b"GET /livez ICY/1.1",
        b"G(T /livez HTTP/1.1",
        b"G\0T /livez HTTP/1.1",
        b"G\xc3\x8bT /livez HTTP/1.1",
    ];
    serve().closes(400, &lines(malformed));
}

#[test]
fn another_version_of_http_is_505_and_closes() {
    let vigie = serve();
    vigie.closes(
        505,
        &lines(&[
            "GET /livez HTTP/2.0",
            "GET /livez HTTP/3.0",
            "GET /livez HTTP/9.9",
            "GET /livez HTTP/0.9",
        ]),
    );
    vigie.closes(505, &["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]);
}

#[test]
fn a_later_minor_version_is_answered_as_the_latest_that_is_known() {
    serve().keeps(200, &lines(&["GET /livez HTTP/1.2", "GET /livez HTTP/1.9"]));
}

#[test]
fn a_tls_client_is_told_at_once() {
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x5a\xa5\x00\x20";
    assert_eq!(statuses(&serve().tell(hello)), [400]);
}

#[test]
fn bytes_that_no_request_begins_with_are_refused_before_a_line_is_complete() {
    let vigie = serve();
    let starts: [&[u8]; 3] = [b"\x00", b"\x80\x80", b"{\"jsonrpc\": "];
    for bytes in starts {
        assert_eq!(
            statuses(&vigie.tell(bytes)),
            [400],
            "{}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn an_unknown_method_is_501_and_kept() {
    let unknown = [
        "BREW /livez HTTP/1.1",
        "get /livez HTTP/1.1",
        "GE /livez HTTP/1.1",
        "PROPFIND /services HTTP/1.1",
    ];
    serve().keeps(501, &lines(&unknown));
}

#[test]
fn a_proxy_is_not_what_this_is() {
    let vigie = serve();
    let answers = vigie.tell(b"CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(
        statuses(&answers),
        [501],
        "and what follows a CONNECT is not taken for a request"
    );
}

#[test]
fn a_target_that_is_too_long_is_414_and_closes() {
    let vigie = serve();
    let line = |length: usize| format!("GET /livez?{} HTTP/1.1", "x".repeat(length));
    vigie.keeps(200, &lines(&[line(8_000), line(15_000)]));
    vigie.closes(414, &lines(&[line(17_000), line(100_000)]));
    vigie.closes(414, &[format!("GET /{}", "x".repeat(20_000))]);
}

#[test]
fn the_absolute_form_is_taken() {
    let targets = [
        "http://vigie.test/livez",
        "http://vigie.test:80/livez",
        "HTTP://[::1]:80/livez?x",
        "https://10.0.0.1/livez",
    ];
    serve().keeps(
        200,
        &lines(&targets.map(|target| format!("GET {target} HTTP/1.1"))),
    );
}

#[test]
fn the_authority_of_the_absolute_form_replaces_the_host() {
    let vigie = serve();
    let status = |target, host, origin| {
        vigie
            .ask("POST", target, &[("Host", host), ("Origin", origin)])
            .status
    };
    assert_eq!(
        status(
            "http://127.0.0.1:1/reload",
            "evil.test",
            "http://127.0.0.1:1"
        ),
        200
    );
    assert_eq!(
        status(
            "http://evil.test/reload",
            "127.0.0.1:1",
            "http://127.0.0.1:1"
        ),
        403
    );
}

#[test]
fn an_absolute_form_without_an_honest_authority_is_400_and_closes() {
    let targets = [
        "http:///livez",
        "http://",
        "http://user@vigie.test/livez",
        "http://a:b/livez",
        "http://[::1/livez",
    ];
    serve().closes(
        400,
        &lines(&targets.map(|target| format!("GET {target} HTTP/1.1"))),
    );
}

#[test]
fn options_of_the_whole_server_is_answered() {
    let vigie = serve();
    let answer = vigie.ask("OPTIONS", "*", &[]);
    assert_eq!(
        (answer.status, answer.header("allow")),
        (405, Some("GET, HEAD, POST"))
    );
    vigie.keeps(405, &lines(&["OPTIONS * HTTP/1.1"]));
}

#[test]
fn an_empty_line_before_a_request_is_ignored() {
    let request = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    serve().keeps(
        200,
        &[
            format!("\r\n{request}"),
            format!("\n{request}"),
            format!("\r\n\r\n{request}"),
        ],
    );
}

#[test]
fn many_requests_at_once_are_answered_in_their_order() {
    let request = |i: usize| {
        match i % 4 {
        0 => format!("GET /services?service_name=s{} HTTP/1.1\r\nHost: x\r\n\r\n", i % 10),
        1 => "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\n\r\nGET /nothing HTTP/1.1\r\nHost: x\r\n\r\n".into(),
        2 => "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n".into(),
        _ => format!("HEAD /services?service_name=s{} HTTP/1.1\r\nHost: x\r\n\r\n", i % 10),
    }
    };
    let vigie = serve();
    let mut connection = vigie.connect();
    connection.send((0..400).map(request).collect::<String>().as_bytes());
    for i in 0..400 {
        let answer = connection.receive_to(if i % 4 == 3 { "HEAD" } else { "GET" });
        let expected = [200, 405, 405, 200][i % 4];
        assert_eq!(answer.status, expected, "request {i}");
        assert!(
            i % 4 > 0 || answer.text().contains(&format!("\"10.0.0.{}\"", i % 10)),
            "request {i}"
        );
    }
    assert_eq!(connection.ask("GET", "/livez", &[]).status, 200);
}
