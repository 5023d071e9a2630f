//! Lists that a server gives: what is read, when it is read again, and what is no list.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::peer::{answer, header, list, reserve};
use crate::support::{Peer, Reply, Setup, Vigie, assert_says, only};

/// A server with the service `web`, which reads this URL each time.
fn serve(url: &str) -> Vigie {
    serve_with(url, "")
}

/// The same with more keys under `url`.
fn serve_with(url: &str, keys: &str) -> Vigie {
    Setup::services(&format!(
        "web: {{url: {{url: \"{url}\", {keys}}}, cache_ttl: 0s}}"
    ))
    .start()
}

#[test]
fn a_list_is_read_as_lines() {
    let peer = Peer::always(list("\u{feff}# mine\r\n10.0.0.2:8080 3\r\n\r\n10.0.0.1\n"));
    let vigie = Setup::services(&format!(
        "web: {{url: {}, default_port: 9}}",
        peer.url("/list")
    ))
    .start();
    let item = |ip, port, weight| {
        format!(
            "  {{\n    \"ip\": \"{ip}\",\n    \"port\": {port},\n    \"load_balancing_weight\": {weight}\n  }}"
        )
    };
    let want = format!(
        "[\n{},\n{}\n]\n",
        item("10.0.0.2", 8080, 3),
        item("10.0.0.1", 9, 0)
    );
    assert_eq!(vigie.list("web").summary(), (200, want.as_str()));
}

#[test]
fn a_request_says_who_asks_for_what() {
    let peer = Peer::always(list("10.0.0.1"));
    assert_eq!(serve(&peer.url("/a%20b?c=d#e")).list("web").status, 200);
    let requests = peer.requests();
    let [head] = &*requests else {
        panic!("{requests:?}")
    };
    let mut lines: Vec<_> = head.trim_end().split("\r\n").collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "GET /a%20b?c=d HTTP/1.1",
            "accept-encoding: gzip",
            "accept: */*",
            &format!("host: {}", peer.address),
            concat!("user-agent: vigie/", env!("CARGO_PKG_VERSION")),
        ]
    );
}

#[test]
fn an_empty_body_is_an_empty_list() {
    for body in ["", "\n", "# nobody\n"] {
        let peer = Peer::always(list(body));
        assert_eq!(serve(&peer.url("/")).list("web").summary(), (200, "[]\n"));
    }
}

#[test]
fn one_bad_line_is_no_list() {
    let peer = Peer::always(list("10.0.0.1\n10.0.0.999\n"));
    let answer = serve(&peer.url("/l?k=v")).list("web");
    assert_eq!(answer.status, 502);
    let want = format!(
        "service web: url {}: line 2: not an IP address and not a host name (letters, digits, - _ . and a last label that is not all digits): \"10.0.0.999\"",
        peer.url("/l")
    );
    assert_eq!(answer.error(), want);
    let peer = Peer::always(list(b"10.0.0.1\n\xff\n"));
    assert_says(
        &serve(&peer.url("/")).list("web").error(),
        &["line 2", "UTF-8"],
    );
}

#[test]
fn json_is_read_whatever_the_parameters_of_its_type() {
    let body = r#"[{"ip":"10.0.0.1","port":80,"load_balancing_weight":0,"zone":"a"}]"#;
    for media_type in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;x",
    ] {
        let peer = Peer::always(answer(
            "200 OK",
            &format!("Content-Type: {media_type}\r\n"),
            body,
        ));
        assert_eq!(
            serve(&peer.url("/")).list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
    let peer = Peer::always(answer(
        "200 OK",
        "Content-Type: application/jsonl\r\n",
        "10.0.0.1",
    ));
    assert_eq!(
        serve(&peer.url("/")).list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
}

#[test]
fn json_that_is_no_list_says_what_is_wrong() {
    let read = |body: &str| {
        let peer = Peer::always(answer("200 OK", "Content-Type: application/json\r\n", body));
        let answer = serve(&peer.url("/")).list("web");
        assert_eq!(answer.status, 502);
        answer.error().split_once("/: ").unwrap().1.to_owned()
    };
    assert_eq!(read(""), "the list is no JSON: line 1: a value is expected");
    assert_eq!(
        read("[\n  {\"ip\" \"10.0.0.1\"}\n]"),
        "the list is no JSON: line 2: a colon is missing"
    );
    assert_eq!(
        read("{\"error\":\"x\"}"),
        "the JSON is not a list of endpoints"
    );
    assert_eq!(
        read(r#"[{"ip":"10.0.0.1","port":80}]"#),
        "endpoint 1 of the list: it has no load_balancing_weight"
    );
}

#[test]
fn a_vigie_reads_a_vigie() {
    let behind = Setup::services("web: {file: web.txt, cache_ttl: 0s}")
        .file(
            "web.txt",
            "10.0.0.1:8080 3\n[2001:db8::7]:1 4294967295\nweb.example\n",
        )
        .start();
    let target = format!(
        "http://127.0.0.1:{}/services?service_name=web",
        behind.port()
    );
    let before = serve(&target);
    let (first, second) = (behind.list("web"), before.list("web"));
    assert_eq!(
        (second.summary(), second.header("etag")),
        (first.summary(), first.header("etag"))
    );
    behind.setup.write("web.txt", "# nobody\n");
    assert_eq!(before.list("web").summary(), (200, "[]\n"));
    behind.setup.write("web.txt", "");
    let failed = before.list("web");
    assert_eq!(failed.status, 502);
    assert_says(&failed.error(), &["the server answered 502 Bad Gateway"]);
}

/// Answers 304 to who has the tag.
fn with_etag(etag: &'static str, body: &'static str) -> Peer {
    Peer::start(move |head| match header(head, "if-none-match") {
        Some(known) if known == etag => {
            Reply::Keep(format!("HTTP/1.1 304 Not Modified\r\nETag: {etag}\r\n\r\n").into())
        }
        _ => Reply::Keep(answer("200 OK", &format!("ETag: {etag}\r\n"), body)),
    })
}

#[test]
fn a_list_that_did_not_change_need_not_come_again() {
    let peer = with_etag("W/\"a, b\"", "10.0.0.1");
    let vigie = serve(&peer.url("/"));
    for known in [None, Some("W/\"a, b\""), Some("W/\"a, b\"")] {
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
        assert_eq!(peer.last_header("if-none-match").as_deref(), known);
    }
}

#[test]
fn a_list_of_another_default_port_is_read_anew() {
    let peer = with_etag("\"a\"", "10.0.0.1");
    let service = |port| {
        format!(
            "web: {{url: {}, cache_ttl: 0s, default_port: {port}}}",
            peer.url("/")
        )
    };
    let vigie = Setup::services(&service(80)).start();
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    vigie.setup.write_services(&service(81));
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(
        vigie.list("web").text(),
        only("10.0.0.1").replace("80", "81")
    );
    assert_eq!(peer.last_header("if-none-match"), None);
}

#[test]
fn an_unchanged_list_that_nobody_has_is_a_failure() {
    let peer = Peer::always("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n");
    let answer = serve(&peer.url("/")).list("web");
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["304 Not Modified", "there is no list"]);
}

#[test]
fn a_tag_lasts_as_long_as_its_list_is_the_last_good_one() {
    let answers = [
        answer("200 OK", "ETag: \"a\"\r\n", "10.0.0.1"),
        answer("200 OK", "ETag: \"b\"\r\n", "10.0.0.999"),
        b"HTTP/1.1 304 x\r\n\r\n".to_vec(),
        answer("200 OK", "", "10.0.0.2"),
        answer("200 OK", "", "10.0.0.3"),
    ];
    let next = AtomicUsize::new(0);
    let peer =
        Peer::start(move |_| Reply::Keep(answers[next.fetch_add(1, Ordering::Relaxed)].clone()));
    let vigie = serve(&peer.url("/"));
    let statuses = [(); 5].map(|()| vigie.list("web").status);
    assert_eq!(statuses, [200, 502, 200, 200, 200]);
    let tags: Vec<_> = peer
        .requests()
        .iter()
        .map(|head| header(head, "if-none-match"))
        .collect();
    let first = || Some("\"a\"".into());
    assert_eq!(tags, [None, first(), first(), first(), None]);
}

#[test]
fn every_status_but_200_is_a_failure_that_names_it() {
    let status = std::sync::Arc::new(Mutex::new(""));
    let shown = status.clone();
    let peer = Peer::start(move |_| {
        let status = *shown.lock().unwrap();
        Reply::End(match &status[..3] {
            "204" => format!("HTTP/1.1 {status}\r\n\r\n").into(),
            _ => answer(status, "", "10.0.0.1"),
        })
    });
    let vigie = serve(&peer.url("/"));
    for (line, words) in [
        ("201 x", "the server answered 201 Created"),
        (
            "204 x",
            "the server answered 204 No Content; an empty list is a 200 with an empty body",
        ),
        (
            "206 x",
            "the server answered 206 Partial Content; a part of a list is no list",
        ),
        (
            "300 x",
            "the server answered 300 Multiple Choices; name the url where the list is",
        ),
        ("400 x", "the server answered 400 Bad Request"),
        (
            "401 x",
            "the server answered 401 Unauthorized; correct the user, the password or the token",
        ),
        (
            "403 x",
            "the server answered 403 Forbidden; let who asks read the list",
        ),
        (
            "404 x",
            "the server answered 404 Not Found; correct the url, or put the list there",
        ),
        (
            "429 x",
            "the server answered 429 Too Many Requests; raise cache_ttl, so that Vigie asks less often",
        ),
        (
            "500 x",
            "the server answered 500 Internal Server Error; see what is wrong with that server",
        ),
        (
            "503 <b>",
            "the server answered 503 Service Unavailable; see what is wrong with that server",
        ),
        (
            "599 x",
            "the server answered 599 a status that is not known; see what is wrong with that server",
        ),
        (
            "999 x",
            "the server answered 999 a status that is not known",
        ),
    ] {
        *status.lock().unwrap() = line;
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502, "{line}");
        assert_eq!(
            answer.error(),
            format!("service web: url {}: {words}", peer.url("/"))
        );
    }
    *status.lock().unwrap() = "200 OK";
    assert_eq!(vigie.list("web").status, 200);
}

#[test]
fn a_status_counts_though_its_body_hangs() {
    for timeout in ["5s", "150ms"] {
        let peer = Peer::start(|_| {
            Reply::Act(Box::new(|wire| {
                let head = b"HTTP/1.1 503 x\r\nContent-Length: 9\r\n\r\nx";
                wire.write_all(head).unwrap();
                wire.flush().unwrap();
                std::thread::park();
            }))
        });
        let vigie = serve_with(&peer.url("/"), &format!("timeout: {timeout}"));
        let begin = std::time::Instant::now();
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502, "{timeout}: {:?}", answer.text());
        assert_says(
            &answer.error(),
            &["the server answered 503 Service Unavailable"],
        );
        let took = begin.elapsed().as_millis();
        assert!(took < 900, "{took} ms");
    }
}

#[test]
fn a_server_that_is_down_is_named_with_its_address() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let answer = serve(&format!("http://{address}/list")).list("web");
    assert_eq!(answer.status, 502);
    assert_eq!(
        answer.error(),
        format!(
            "service web: url http://{address}/list: connecting to {address}: Connection refused; see whether the server runs and listens there"
        )
    );
}

#[test]
fn every_address_of_a_host_is_tried() {
    let reply = |_: &str| Reply::Keep(list("10.0.0.1"));
    // Somebody else may listen at the same port of the other family.
    let (_held, port) = reserve();
    let v6 = Peer::at(&format!("[::1]:{port}"), None, reply);
    let v4 = Peer::at("127.0.0.1:0", None, reply);
    for (peer, host) in [
        (&v6, "localhost"),
        (&v4, "localhost"),
        (&v6, "[::1]"),
        (&v4, "127.0.0.1"),
        (&v4, "LOCALHOST"),
    ] {
        let vigie = serve(&peer.url_as(host, "/"));
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str()),
            "{host}"
        );
        let named = format!("{}:{}", host.to_lowercase(), peer.port());
        assert_eq!(peer.last_header("host"), Some(named));
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let answer = serve(&format!("http://localhost:{port}/")).list("web");
    assert_says(
        &answer.error(),
        &[
            &format!("127.0.0.1:{port}: Connection refused"),
            &format!("[::1]:{port}: Connection refused"),
        ],
    );
}

#[test]
fn a_server_that_does_not_answer_is_504_in_time() {
    let peer = Peer::start(|_| Reply::Act(Box::new(|_| std::thread::park())));
    let vigie = serve_with(&peer.url("/list"), "timeout: 200ms");
    let begin = std::time::Instant::now();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 504);
    assert_eq!(
        answer.error(),
        format!(
            "service web: url {}: waiting for the answer: not done within 200ms; see whether the server and the network are well, or raise timeout",
            peer.url("/list")
        )
    );
    let took = begin.elapsed().as_millis();
    assert!((200..3000).contains(&took), "{took} ms");
}

#[test]
fn the_last_good_list_stands_in_while_the_server_fails() {
    let good = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_good = good.clone();
    let peer = Peer::start(move |_| {
        Reply::Keep(match is_good.load(Ordering::Relaxed) {
            true => list("10.0.0.1"),
            false => answer("503 x", "", ""),
        })
    });
    let services = format!(
        "web: {{url: {}, cache_ttl: 0s, max_stale: 1h}}",
        peer.url("/")
    );
    let vigie = Setup::services(&services).start();
    assert_eq!(vigie.list("web").status, 200);
    good.store(false, Ordering::Relaxed);
    for _ in 0..2 {
        let stale = vigie.list("web");
        assert_eq!(stale.summary(), (200, only("10.0.0.1").as_str()));
        assert_says(
            stale.header("vigie-error").unwrap(),
            &["503 Service Unavailable"],
        );
        // The last good list outlives a reload.
        assert_eq!(vigie.reload().status, 200);
    }
}

#[test]
fn a_url_wins_over_a_file_and_a_name_which_are_warned_of() {
    let peer = Peer::always(list("10.0.0.1"));
    let services = format!(
        "web: {{dns: web.example, file: {{path: none.txt}}, url: {}}}",
        peer.url("/")
    );
    let vigie = Setup::services(&services).start();
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    for other in ["file", "dns"] {
        let warning = format!("the service \"web\" has url, so its {other} is ignored");
        assert_says(&vigie.log.text(), &[&warning]);
    }
}

#[test]
fn what_is_ignored_beside_a_url_is_checked_for_spelling_only() {
    let check = |key: &str| {
        let services = format!("web: {{url: http://h/, dns: {{name: x, {key}: [1]}}}}");
        let setup = Setup::services("");
        setup.write_services(&services);
        let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_vigie"));
        check
            .args(["check-config", "-c"])
            .arg(setup.path("config.yml"));
        check.output().unwrap().status.code()
    };
    assert_eq!((check("timeout"), check("tiemout")), (Some(0), Some(1)));
}

#[test]
fn a_list_of_100_000_endpoints_takes_little_more_memory_than_it_and_its_answer() {
    let address = |i: usize| format!("10.{}.{}.{}", i >> 16, i >> 8 & 255, i & 255);
    let lines: String = (0..100_000).map(|i| address(i) + ":8080 7\n").collect();
    let peer = Peer::always(list(&lines));
    let vigie = Setup::services(&format!(
        "web: {{url: {}, cache_ttl: 1h}}\nnone: {{url: {}}}",
        peer.url("/"),
        Peer::always(list("")).url("/")
    ))
    .start();
    assert_eq!(vigie.list("none").status, 200);
    let peak = || {
        vigie
            .status("VmHWM")
            .trim_end_matches(" kB")
            .parse::<usize>()
            .unwrap()
            << 10
    };
    let before = peak();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 200);
    assert_eq!(
        answer
            .text()
            .matches("\"load_balancing_weight\": 7\n")
            .count(),
        100_000
    );
    let grown = peak() - before;
    let most = 3 * lines.len() + answer.body.len() + (1 << 20);
    assert!(grown <= most, "{grown} bytes, {most} at most");
}
