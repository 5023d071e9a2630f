//! What `/services` and its neighbours answer, byte for byte.

use std::time::{Duration, SystemTime};

use crate::support::{Setup, Vigie};

const ONE: &str = r#"[
  {
    "ip": "10.0.0.1",
    "port": 80,
    "load_balancing_weight": 1
  }
]
"#;

const TWO: &str = r#"[
  {
    "ip": "10.0.0.7",
    "port": 8080,
    "load_balancing_weight": 3
  },
  {
    "ip": "2001:db8::8",
    "port": 80,
    "load_balancing_weight": 4294967295
  }
]
"#;

fn serve(services: &str) -> Vigie {
    Setup::services(services)
        .file("one.txt", "10.0.0.1:80 1\n")
        .file("two.txt", "10.0.0.7:8080 3\n2001:db8::8 4294967295\n")
        .file("none.txt", "# nobody\n\n")
        .start()
}

#[test]
fn a_list_is_answered_byte_for_byte() {
    let vigie = serve("one: {file: one.txt}\ntwo: {file: two.txt}\nnone: {file: none.txt}");
    assert_eq!(vigie.list("one").summary(), (200, ONE));
    assert_eq!(vigie.list("two").summary(), (200, TWO));
    assert_eq!(vigie.list("none").summary(), (200, "[]\n"));
}

#[test]
fn a_list_comes_with_the_headers_that_caches_need() {
    let answer = serve("one: {file: one.txt}").list("one");
    let mut names: Vec<_> = answer
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "age",
            "cache-control",
            "content-length",
            "content-type",
            "date",
            "etag"
        ]
    );
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.header("content-length"),
        Some(ONE.len().to_string().as_str())
    );
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    assert_eq!(answer.header("age"), Some("0"));
    let tag = answer.header("etag").unwrap();
    let strong = tag
        .strip_prefix('"')
        .and_then(|tag| tag.strip_suffix('"'))
        .unwrap();
    assert!(
        !strong.is_empty()
            && strong
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"'),
        "{tag}"
    );
}

#[test]
fn the_date_of_an_answer_is_now() {
    let answer = serve("one: {file: one.txt}").list("one");
    let date = httpdate::parse_http_date(answer.header("date").unwrap()).unwrap();
    // The header knows whole seconds only, and a busy machine may take a few.
    let age = SystemTime::now().duration_since(date).unwrap();
    assert!(age < Duration::from_secs(5), "{age:?}");
}

#[test]
fn the_tag_is_that_of_the_body() {
    let vigie = serve("one: {file: one.txt}\nsame: {file: one.txt}\ntwo: {file: two.txt}");
    let [one, same, two] =
        ["one", "same", "two"].map(|name| vigie.list(name).header("etag").unwrap().to_owned());
    assert_eq!(one, same);
    assert_ne!(one, two);
}

#[test]
fn a_client_that_has_the_list_gets_304_without_a_body() {
    let vigie = serve("one: {file: one.txt}");
    let tag = vigie.list("one").header("etag").unwrap().to_owned();
    let status = |tags: &str| {
        vigie
            .ask(
                "GET",
                "/services?service_name=one",
                &[("If-None-Match", tags)],
            )
            .status
    };
    for tags in [
        &tag,
        &format!("W/{tag}"),
        "*",
        &format!("\"x\", {tag}"),
        &format!("W/\"a,b\" ,,{tag},\"y\""),
    ] {
        assert_eq!(status(tags), 304, "{tags}");
    }
    for tags in [
        "\"x\"",
        "W/\"x\"",
        "",
        &tag.replace('"', ""),
        &format!("\"{}\"", tag.replace('"', "x")),
    ] {
        assert_eq!(status(tags), 200, "{tags}");
    }
}

#[test]
fn a_304_has_the_headers_of_the_200_but_no_length_of_a_body() {
    let vigie = serve("one: {file: one.txt}");
    let full = vigie.list("one");
    let tag = full.header("etag").unwrap();
    let short = vigie.ask(
        "GET",
        "/services?service_name=one",
        &[("If-None-Match", tag)],
    );
    assert_eq!((short.status, short.body.as_slice()), (304, &b""[..]));
    for name in ["etag", "cache-control"] {
        assert_eq!(short.header(name), full.header(name), "{name}");
    }
    assert!(short.header("date").is_some());
    // RFC 9110, 8.6: the length of the body that a 200 would have had, or none.
    assert!([None, full.header("content-length")].contains(&short.header("content-length")));
}

#[test]
fn head_is_get_without_the_body() {
    let vigie = serve("one: {file: one.txt}\nbroken: {file: missing.txt}");
    for target in [
        "/services?service_name=one",
        "/services?service_name=broken",
        "/services?service_name=nobody",
    ] {
        let [mut get, mut head] = ["GET", "HEAD"].map(|method| vigie.ask(method, target, &[]));
        for answer in [&mut get, &mut head] {
            answer
                .headers
                .retain(|(name, _)| name != "date" && name != "age");
        }
        assert_eq!(
            (get.status, &get.headers),
            (head.status, &head.headers),
            "{target}"
        );
        assert_eq!(head.body, b"", "{target}");
    }
    let tag = vigie.list("one").header("etag").unwrap().to_owned();
    assert_eq!(
        vigie
            .ask(
                "HEAD",
                "/services?service_name=one",
                &[("If-None-Match", &tag)]
            )
            .status,
        304
    );
}

#[test]
fn a_refusal_of_head_has_no_body() {
    let vigie = Setup::services("").server("request_timeout: 300ms").start();
    let long = format!("/livez HTTP/1.1\r\nHost: x\r\nX: {}", "x".repeat(20_000));
    let refuse = |request: &str, status: u16| {
        let mut connection = vigie.connect();
        let answer = connection
            .send(format!("HEAD {request}").as_bytes())
            .receive_to("HEAD");
        assert_eq!(answer.status, status, "{request:.80}");
        (answer, connection)
    };
    for (request, status) in [
        ("/nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("/services?service_name=x HTTP/1.1\r\nHost: x\r\n\r\n", 404),
        ("/services HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("/reload HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    ] {
        let (answer, mut connection) = refuse(request, status);
        assert_eq!(answer.header("connection"), None, "{request}");
        // A body would stand before the next answer.
        assert_eq!(connection.ask("GET", "/livez", &[]).status, 200);
    }
    for (request, status) in [
        ("/livez HTTP/1.1\r\n\r\n", 400),
        ("livez HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("/livez HTTP/1.1\r\nHost: x\r\n", 408),
        (
            "/livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n",
            408,
        ),
        (
            "/livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n",
            400,
        ),
        (
            "/livez HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n",
            413,
        ),
        (&format!("/{}", "x".repeat(20_000)), 414),
        (&long, 431),
        (
            "/livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
            501,
        ),
        ("/livez HTTP/2.0\r\nHost: x\r\n\r\n", 505),
    ] {
        let (answer, mut connection) = refuse(request, status);
        assert_eq!(answer.header("connection"), Some("close"), "{request:.80}");
        connection.half_close().wait_for_close();
    }
    let (_, mut connection) = refuse("/livez HTTP/1.1\r\nHost: x\r\n", 408);
    connection.wait_for_close();
}
