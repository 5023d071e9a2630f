//! What is sent to say who asks, and that nobody else ever sees it.

use std::process::Command;
use std::sync::Mutex;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::peer::{answer, header, list};
use crate::support::{Peer, Reply, Setup, Vigie, assert_says, only};

/// A server with the service `web` of these settings.
fn setup(peer: &Peer, keys: &str) -> Setup {
    Setup::services(&format!(
        "web: {{url: {{url: \"{}\", {keys}}}, cache_ttl: 0s}}",
        peer.url("/")
    ))
}

fn sent(peer: &Peer, vigie: &Vigie) -> Option<String> {
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    peer.last_header("authorization")
}

#[test]
fn a_token_is_read_at_each_request_without_its_line_end() {
    let peer = Peer::always(list("10.0.0.1"));
    let vigie = setup(&peer, "bearer_token_file: token")
        .file("token", "one\n")
        .start();
    assert_eq!(sent(&peer, &vigie).as_deref(), Some("Bearer one"));
    for (content, token) in [("two\r\n", "two"), ("three", "three"), ("4\n", "4")] {
        vigie.setup.write("token", content);
        assert_eq!(sent(&peer, &vigie), Some(format!("Bearer {token}")));
    }
}

#[test]
fn a_password_is_read_at_each_request_without_its_line_end() {
    let peer = Peer::always(list("10.0.0.1"));
    let keys = "basic_auth: {username: Aladdin, password_file: password}";
    let vigie = setup(&peer, keys).file("password", "open sesame\n").start();
    // The example of RFC 7617, section 2.
    assert_eq!(
        sent(&peer, &vigie).as_deref(),
        Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    );
    vigie.setup.write("password", "x");
    assert_eq!(sent(&peer, &vigie).as_deref(), Some("Basic QWxhZGRpbjp4"));
}

#[test]
fn a_user_and_password_of_the_url_are_sent_as_basic() {
    let peer = Peer::always(list("10.0.0.1"));
    let url = peer.url("/").replace("//", "//Aladdin:open%20sesame@");
    for service in [
        format!("web: {{url: \"{url}\", cache_ttl: 0s}}"),
        format!("web: {{url: {{url: \"{url}\"}}, cache_ttl: 0s}}"),
    ] {
        let vigie = Setup::services(&service).start();
        assert_eq!(
            sent(&peer, &vigie).as_deref(),
            Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        );
    }
}

#[test]
fn configured_headers_are_sent() {
    let peer = Peer::always(list("10.0.0.1"));
    let keys = "headers: {X-Key: \"a b\", authorization: Custom c, User-Agent: mine, Host: other.example, Accept: text/plain}";
    let vigie = setup(&peer, keys).start();
    assert_eq!(sent(&peer, &vigie).as_deref(), Some("Custom c"));
    let head = peer.requests().concat();
    let sent = ["x-key", "user-agent", "host", "accept"].map(|name| header(&head, name).unwrap());
    assert_eq!(sent, ["a b", "mine", "other.example", "text/plain"]);
}

#[test]
fn a_secret_that_cannot_be_read_fails_its_service_alone() {
    let peer = Peer::always(list("10.0.0.1"));
    let token = "bearer_token_file: secret";
    let basic = "basic_auth: {username: me, password_file: secret}";
    for (keys, key, wrong) in [
        (token, "bearer_token_file", "it is no line of visible ASCII"),
        (
            basic,
            "password_file",
            "it has control characters, which no password has",
        ),
    ] {
        let vigie = setup(&peer, keys).start();
        let path = vigie.setup.path("secret").display().to_string();
        let missing = vigie.list("web");
        assert_eq!(missing.status, 502);
        let want = format!(
            "service web: url {}: {key} {path}: opening: No such file or directory; create it, or correct its path",
            peer.url("/")
        );
        assert_eq!(missing.error(), want);
        for (content, words) in [
            (&b""[..], "it is empty"),
            (b"\n", "it is empty"),
            (b"\xffhunter2", "it is not UTF-8"),
            (b"hunter2\nhunter3\n", "it has several lines"),
            (b"hunter2\n\n", "it has several lines"),
            (b"hunter2\0", wrong),
            (b"hun\tter2\x7f", wrong),
            (&[b'x'; (64 << 10) + 1], "the limit is 64 KiB: shorten it"),
        ] {
            vigie.setup.write("secret", content);
            let answer = vigie.list("web");
            assert_eq!(answer.status, 502);
            assert_says(&answer.error(), &[key, words]);
        }
        vigie.setup.write("secret", "good");
        assert_eq!(vigie.list("web").status, 200);
    }
    let vigie = setup(&peer, token).file("secret", "hunt\u{e9}r2").start();
    let path = vigie.setup.path("secret").display().to_string();
    let want = format!("bearer_token_file {path}: it is no line of visible ASCII");
    assert_says(&vigie.list("web").error(), &[&want]);
}

#[test]
fn a_byte_order_mark_before_a_secret_is_not_part_of_it() {
    let peer = Peer::always(list("10.0.0.1"));
    let vigie = setup(&peer, "bearer_token_file: secret")
        .file("secret", "\u{feff}one\r\n")
        .start();
    assert_eq!(sent(&peer, &vigie).as_deref(), Some("Bearer one"));
    let keys = "basic_auth: {username: Aladdin, password_file: secret}";
    let vigie = setup(&peer, keys).file("secret", "\u{feff}x").start();
    assert_eq!(sent(&peer, &vigie).as_deref(), Some("Basic QWxhZGRpbjp4"));
}

/// What check-config says of `keys` beside a URL, in line 3.
fn check(keys: &str) -> String {
    check_text(&format!(
        "services:\n web: {{url: {{url: http://h/,\n  {keys}}}}}\n"
    ))
}

fn check_text(text: &str) -> String {
    let setup = Setup::services("").file("config.yml", text);
    let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["check-config", "-c"])
        .arg(setup.path("config.yml"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let file = setup.path("config.yml").display().to_string();
    String::from_utf8(said).unwrap().replace(&file, "FILE")
}

#[test]
fn a_header_that_cannot_be_sent_is_refused_at_its_place() {
    let text = "write text of visible ASCII";
    let host = "write HOST or HOST:PORT, as it stands in a URL";
    for (name, value, right) in [
        ("Authorization", "Bearer \u{e9}", text),
        ("X-Key", "\u{e9}", text),
        ("X-Key", "a\\nb", text),
        ("Host", "\u{e9}", host),
        ("Host", "a b", host),
        ("Host", "", host),
        ("Host", "me@h", host),
        ("host", "h:x", host),
        ("Host", "h/", host),
    ] {
        let said = check(&format!("headers: {{{name}: \"{value}\"}}"));
        let column = "  headers: {".len() + name.len() + 3;
        let want = format!(
            "FILE:3:{column}: {}: this value is wrong here: {right}\n",
            name.to_lowercase(),
        );
        assert_eq!(said, want, "{name}: {value}");
    }
    for value in ["h", "h.example:80", "[::1]", "[::1]:80", "10.0.0.1"] {
        let said = check(&format!("headers: {{Host: \"{value}\"}}"));
        assert_eq!(said, "FILE: good, 1 service\n", "{value}");
    }
}

#[test]
fn a_slip_in_a_url_is_refused_with_what_would_be_right() {
    let no_host = "it has no host: write http://HOST/PATH or https://HOST/PATH";
    let around = "write it without tabs, line ends and blanks around it";
    let number = "write an IPv4 address as four numbers from 0 to 255 with dots between them";
    let labels = "its host is no name: write labels of 1 to 63 characters with one dot between them, 253 in all";
    for (url, right) in [
        ("http:///x", no_host),
        ("http:////h", no_host),
        ("http://h\\\\x", "write / instead of a backslash"),
        ("http://h/a\\tb", around),
        ("http://h/\\n", around),
        ("http://1", number),
        ("http://0x7f.1/", number),
        ("http://a..b/", labels),
        ("http://./", labels),
    ] {
        let text = format!("services: {{web: {{url: \"{url}\"}}}}\n");
        let want = format!("FILE:1:23: url: this value is wrong here: {right}\n");
        assert_eq!(check_text(&text), want, "{url}");
    }
}

#[test]
fn what_a_server_repeats_of_a_request_is_struck_out() {
    let long = "hunter9".repeat(20);
    let peer = Peer::start(|head| {
        let field = |name: &str| header(head, name).unwrap_or_default();
        let query = head.split(' ').nth(1).unwrap();
        let basic = field("authorization").replace(
            "Basic aHVudGVyMjpodW50ZXIz",
            "Basic hunter2 or hunter3 aHVudGVyMjpodW50ZXIz",
        );
        let line = format!(
            "bad x-key: {} authorization: {basic} {query}",
            field("x-key")
        );
        match query.starts_with("/json") {
            _ if query == "/led" => {
                Reply::Keep(answer("302 x", "Location: /there?k=hunter8\r\n", ""))
            }
            true => Reply::Keep(answer(
                "200 OK",
                "Content-Type: application/json\r\n",
                format!(
                    r#"[{{"ip":"{}","port":1,"load_balancing_weight":1}}]"#,
                    field("x-key")
                ),
            )),
            false => Reply::Keep(list(line)),
        }
    });
    let (url, plain) = (peer.url("/a?t=hunter4"), peer.url("/"));
    let user = plain.replace("//", "//hunter2:hunter3@");
    let services = [
        format!(
            "token: {{url: {{url: \"{url}\", headers: {{X-Key: hunter5}}, bearer_token_file: token}}}}\n"
        ),
        format!("long: {{url: {{url: \"{plain}\", bearer_token_file: long}}}}\n"),
        format!("user: {{url: \"{user}\"}}\n"),
        format!(
            "json: {{url: {{url: \"{}\", headers: {{X-Key: \"hunter5 !\"}}}}}}\n",
            peer.url("/json")
        ),
        format!("led: {{url: {}}}\n", peer.url("/led")),
    ];
    let vigie = Setup::services(&services.concat())
        .top("log: {level: trace}")
        .file("token", "hunter6\n")
        .file("long", &long)
        .start();
    for (name, quoted) in [
        (
            "token",
            "\"bad x-key: [secret] authorization: [secret] /a?[secret]\"",
        ),
        ("long", "\"bad x-key:  authorization: [secret]…\""),
        (
            "user",
            "\"bad x-key:  authorization: Basic [secret] or [secret] [secret] /\"",
        ),
        ("json", "\"[secret]\""),
        ("led", "\"bad x-key:  authorization:  /there?[secret]\""),
    ] {
        let answer = vigie.list(name);
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &[quoted]);
        assert!(!answer.text().contains("hunter"), "{}", answer.text());
    }
    assert!(!vigie.log.text().contains("hunter"), "{}", vigie.log.text());
}

/// The lines of a long word, and a piece from its middle.
fn pieces(word: &str) -> Vec<String> {
    let lines = word.as_bytes().chunks(64).map(<[u8]>::to_vec);
    let middle = word.as_bytes()[40..130].to_vec();
    let pieces = lines.chain([middle]).map(String::from_utf8);
    pieces.map(Result::unwrap).collect()
}

#[test]
fn a_piece_of_what_a_server_repeats_is_struck_out() {
    let secret: String = (0..40).map(|n| format!("hunter{n}_{}", n * n)).collect();
    let login = "me:".to_owned() + &secret;
    let basic = STANDARD.encode(&login);
    for (keys, sent) in [
        ("bearer_token_file: secret".to_owned(), &secret),
        (format!("headers: {{Authorization: {secret}}}"), &secret),
        (format!("headers: {{X-Key: \"Key {secret}\"}}"), &secret),
        (
            "basic_auth: {username: me, password_file: secret}".into(),
            &basic,
        ),
        (
            "basic_auth: {username: me, password_file: secret}".into(),
            &secret,
        ),
    ] {
        let lines = pieces(sent);
        let count = lines.len();
        let replies = Mutex::new(lines.into_iter());
        let peer = Peer::start(move |_| {
            let piece = replies.lock().unwrap().next().unwrap();
            Reply::Keep(list(format!("it is {piece}\nnot good")))
        });
        let vigie = setup(&peer, &keys)
            .top("log: {level: trace}")
            .file("secret", &secret)
            .start();
        for _ in 0..count {
            let answer = vigie.list("web");
            assert_eq!(answer.status, 502);
            assert_says(&answer.error(), &["\"it is [secret]"]);
        }
        let said = vigie.log.text();
        let telling = sent.as_bytes().windows(8).map(String::from_utf8_lossy);
        telling.for_each(|piece| assert!(!said.contains(&*piece), "{piece} in {said}"));
    }
}

#[test]
fn a_word_that_a_server_shares_with_what_is_no_secret_stays() {
    let agent = "an-agent-of-the-edge";
    let keys =
        format!("headers: {{Accept: text/plain;q=0.5, User-Agent: {agent}, X-Key: text/plain}}");
    let peer = Peer::always(list("text/pla an-agent-of-the"));
    let answer = setup(&peer, &keys).start().list("web");
    assert_says(&answer.error(), &["\"text/pla an-agent-of-the\""]);
}

/// Names and passwords as they are sent.
const LOGINS: [&str; 2] = ["aHVudGVyMjpodW50ZXIy", "aHVudGVyNzpodW50ZXI2"];

/// All secrets there are in one service: in the URL, its query, its fragment, headers and files.
const SECRETS: [&str; 9] = [
    "hunter2", LOGINS[0], LOGINS[1], "hunter3", "hunter4", "hunter5", "hunter6", "hunter7",
    "hunter8",
];

#[test]
fn no_secret_reaches_a_log_an_error_or_an_answer() {
    let refuses = Peer::start(|head| match head.as_bytes()[5] {
        b'l' => Reply::Keep(answer(
            "302 x",
            "Location: /z?k=hunter8\r\nSet-Cookie: hunter8\r\n",
            "",
        )),
        b'c' => Reply::End(b"HTTP/1.1 200 OK\r\nX: hunter8\r\nContent-Length: 9\r\n\r\nx".to_vec()),
        b'h' => Reply::End(b"hunter8 hunter8\r\n\r\n".to_vec()),
        _ => Reply::Keep(answer("401 hunter8", "", "hunter8")),
    });
    let url = |path: &str| {
        refuses.url(path).replace("//", "//hunter2:hunter2@") + "?token=hunter3#hunter4"
    };
    let mut services = String::new();
    for (name, url) in [
        ("status", url("/status")),
        ("loop", url("/loop")),
        ("cut", url("/cut")),
        ("head", url("/head")),
        (
            "down",
            "http://hunter2:hunter2@127.0.0.1:1/?hunter3#hunter4".into(),
        ),
        ("tls", url("/tls").replace("http:", "https:")),
        (
            "name",
            "http://hunter2:hunter2@nowhere.invalid:1/?hunter3".into(),
        ),
    ] {
        services.push_str(&format!("{name}: {{url: {{url: \"{url}\", headers: {{X-Key: hunter5}}, timeout: 2s}}, max_stale: 1h}}\n"));
    }
    services.push_str(&format!(
        "token: {{url: {{url: \"{}\", bearer_token_file: token}}}}\n",
        refuses.url("/")
    ));
    services.push_str(&format!("basic: {{url: {{url: \"{}\", basic_auth: {{username: hunter7, password_file: token}}}}}}\n", refuses.url("/")));
    let vigie = Setup::services(&services)
        .top("log: {level: trace}")
        .file("token", "hunter6\n")
        .start();
    let mut seen = String::new();
    for name in [
        "status", "loop", "cut", "head", "down", "tls", "name", "token", "basic",
    ] {
        let answer = vigie.list(name);
        assert!(answer.status >= 502, "{name}");
        seen += &format!("{answer:?}{}", answer.text());
        let get = Command::new(env!("CARGO_BIN_EXE_vigie"))
            .args(["get", name, "-c"])
            .arg(vigie.setup.path("config.yml"))
            .output()
            .unwrap();
        seen += &String::from_utf8_lossy(&[get.stdout, get.stderr].concat());
    }
    assert_eq!(vigie.reload().status, 200);
    for name in ["status", "token"] {
        let answer = vigie.list(name);
        seen += &format!("{answer:?}");
    }
    seen += vigie.get("/").text();
    seen += vigie.get("/metrics").text();
    seen += &vigie.log.text();
    for secret in SECRETS {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
    let sent = refuses.requests().concat();
    for secret in [LOGINS[0], LOGINS[1], "hunter3", "hunter5", "hunter6"] {
        assert!(sent.contains(secret), "{secret} should have been sent");
    }
}

#[test]
fn no_error_of_the_configuration_quotes_a_value() {
    let wrong = [
        "url: \"gopher://me:hunter2@h/?hunter2\"",
        "url: {hunter2!: x}",
        "url: [hunter2]",
        "url: {url: [hunter2], timeout: hunter2, max_size: hunter2, max_redirects: hunter2, server_name: [hunter2], insecure_skip_verify: hunter2}",
        "url: {url: \"http://me:hunter2@h:0/\", headers: {X: [hunter2], Range: hunter2, X-1: \"hunter2\\x01\", X-ü: hunter2}}",
        "url: {url: \"http://h/\", headers: hunter2}",
        "url: {url: \"http://h/\", basic_auth: {username: \"hunter2:x\", pasword_file: hunter2}}",
        "url: {url: \"http://h/\", basic_auth: hunter2, bearer_token_file: [hunter2]}",
        "url: {\"https://me:hunter2@h/\": x, \"https://me:hunter2@h/\": y}",
        "url: {url: \"http://me:hunter2@h/\", headers: {Authorization: hunter2}}",
        "url: {url: \"http://h/\", server_name: \"hunter2 hunter2\"}",
    ];
    for service in wrong {
        let (code, said) = Setup::services(&format!("web: {{{service}}}")).refuse_to_start();
        assert_eq!(code, Some(1), "{service}");
        assert!(!said.contains("hunter2"), "{service}: {said}");
    }
}
