//! Headers as RFC 9112 has them: what is refused, how, and that nothing is smuggled behind it.

use crate::support::framing::headers;
use crate::support::{Setup, Vigie};

fn serve() -> Vigie {
    Setup::services("s1: {file: s1.txt}")
        .file("s1.txt", "10.0.0.1:80\n")
        .start()
}

#[test]
fn a_host_comes_once_and_is_valid() {
    let bad = [
        "",
        "Host: x\r\nHost: x\r\n",
        "Host: x\r\nhost: y\r\n",
        "Host: a b\r\n",
        "Host: a/b\r\n",
        "Host: a?b\r\n",
        "Host: a@b\r\n",
        "Host: a:b\r\n",
        "Host: a:1:2\r\n",
        "Host: [::1\r\n",
        "Host: [::1]x\r\n",
        "Host: http://x\r\n",
        "Host: <x>\r\n",
        "Host: x\\y\r\n",
        "Host: x%\r\n",
        "Host: %zz:80\r\n",
    ];
    let good = [
        "",
        " ",
        " x",
        " x:80",
        " x:",
        " [::1]:8080",
        " 10.0.0.1",
        " a_b-c.example.test.",
        " \tx\t ",
    ];
    let vigie = serve();
    vigie.closes(
        400,
        &bad.map(|host| format!("GET /livez HTTP/1.1\r\n{host}\r\n")),
    );
    vigie.keeps(
        200,
        &good.map(|host| format!("GET /livez HTTP/1.1\r\nHost:{host}\r\n\r\n")),
    );
}

#[test]
fn a_malformed_header_is_400_and_closes() {
    let malformed: &[&[u8]] = &[
        b"no colon",
        b"X",
        b": no name",
        b"X : blank before the colon",
        b"X\t: tab before the colon",
        b"X y: blank in the name",
        b"X(y): bracket in the name",
        b"X\xc3\xbc: name that is not ASCII",
        b"X\x01: control byte in the name",
        b"X: folded\r\n line",
        b"X: folded\r\n\tline",
        b"X: nul \0",
        b"X: control byte \x01",
        b"X: control byte \x7f",
        b"X: bare \r in the value",
        b"X: y\r",
        b"X\r: y",
    ];
    let vigie = serve();
    vigie.closes(400, &headers(malformed));
    vigie.closes(
        400,
        &[
            "GET /livez HTTP/1.1\r\n Host: x\r\n\r\n",
            "GET /livez HTTP/1.1\r\n\r\nHost: x\r\n\r\n",
        ],
    );
}

#[test]
fn header_values_of_any_visible_kind_are_taken() {
    let fine: &[&[u8]] = &[
        b"X:",
        b"X:y",
        b"X:  y  ",
        b"X: \ty\t",
        b"X: \xfc\xff",
        b"X: y: z",
        b"!#$%&'*+-.^_`|~09: y",
    ];
    let vigie = serve();
    vigie.keeps(200, &headers(fine));
    vigie.keeps(
        200,
        &[b"POST /reload HTTP/1.1\r\nHost: x\r\nX: \xc3\xbc\xff\r\n\r\n"],
    );
    vigie.keeps(
        200,
        &[b"GET /services?service_name=s1 HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"\xfc\"\r\n\r\n"],
    );
}

#[test]
fn a_bare_line_feed_ends_a_line_of_the_head() {
    let heads = [
        "GET /livez HTTP/1.1\nHost: x\n\n",
        "GET /livez HTTP/1.1\r\nHost: x\n\r\n",
        "GET /livez HTTP/1.1\nHost: x\r\nX: y\n\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\n\n",
    ];
    serve().keeps(200, &heads);
}

#[test]
fn a_hundred_headers_are_taken_and_one_more_is_431() {
    let vigie = serve();
    let head = |count: usize| {
        format!(
            "GET /livez HTTP/1.1\r\nHost: x\r\n{}\r\n",
            "X: y\r\n".repeat(count - 1)
        )
    };
    vigie.keeps(200, &[head(100)]);
    vigie.closes(431, &[head(101), head(2_000)]);
}

#[test]
fn a_head_of_16_kib_is_taken_and_one_more_byte_is_431() {
    let vigie = serve();
    let around = "GET /livez HTTP/1.1\r\nHost: x\r\nX: \r\n\r\n".len();
    let head = |length: usize| {
        format!(
            "GET /livez HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n",
            "y".repeat(length - around)
        )
    };
    vigie.keeps(200, &[head(16_383), head(16_384)]);
    vigie.closes(431, &[head(16_385), head(200_000)]);
    vigie.closes(
        431,
        &[format!(
            "GET /livez HTTP/1.1\r\nHost: x\r\nX: {}",
            "y".repeat(20_000)
        )],
    );
}

#[test]
fn http_1_0_closes_unless_it_asks_to_be_kept() {
    let vigie = serve();
    vigie.closes(
        200,
        &[
            "GET /livez HTTP/1.0\r\n\r\n",
            "GET /livez HTTP/1.0\r\nHost: x\r\n\r\n",
        ],
    );
    vigie.closes(200, &["GET /livez HTTP/1.0\r\nConnection: close\r\n\r\n"]);
    let kept = "GET /livez HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
    vigie.keeps(200, &[kept]);
    assert_eq!(
        vigie
            .connect()
            .send(kept.as_bytes())
            .receive()
            .header("connection"),
        Some("keep-alive")
    );
}

#[test]
fn a_client_that_wants_to_close_is_closed() {
    let options = [
        "close",
        "Close",
        "keep-alive, close",
        "close , x",
        "x,close",
    ];
    let vigie = serve();
    vigie.closes(
        200,
        &headers(&options.map(|option| format!("Connection: {option}"))),
    );
    vigie.closes(200, &headers(&["Connection: x\r\nConnection: close"]));
    vigie.closes(
        404,
        &["GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    );
    vigie.keeps(
        200,
        &headers(&[
            "Connection: x-close",
            "Connection: keep-alive",
            "Connection:",
            "Connection: closed",
        ]),
    );
}

#[test]
fn a_host_may_be_odd() {
    let vigie = Setup::services("default: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    let long = "x".repeat(9_000);
    for host in [
        "1.2.3.4.5",
        "web.123",
        "a%20b",
        "xn--a",
        "256.1.1.1",
        "0x7f.1",
        "a..b",
        ".",
        "-",
        "a_b:",
        "(!)",
        &long,
    ] {
        for path in ["/livez", "/services", "/readyz"] {
            assert_eq!(
                vigie.ask("GET", path, &[("Host", host)]).status,
                200,
                "{path} of {host}"
            );
            let absolute = format!("http://{host}{path}");
            assert_eq!(vigie.get(&absolute).status, 200, "{absolute}");
        }
        assert_eq!(
            vigie.ask("POST", "/reload", &[("Host", host)]).status,
            200,
            "{host}"
        );
    }
}
