//! Redirects: followed so far, never to less safety, and the credentials stay where they belong.

use crate::support::peer::{answer, header, list};
use crate::support::{Authority, Peer, Reply, Setup, assert_says, only};

fn redirect(status: u16, location: &str) -> Reply {
    Reply::Keep(answer(
        &format!("{status} x"),
        &format!("Location: {location}\r\n"),
        "elsewhere",
    ))
}

/// Redirects `/a` to `/b` and so on, and gives the list at `/f`.
fn chain() -> Peer {
    Peer::start(|head| match head.as_bytes()[5] {
        b'f' => Reply::Keep(list("10.0.0.1")),
        letter => redirect(
            302,
            &format!("{}?from={}", char::from(letter + 1), char::from(letter)),
        ),
    })
}

#[test]
fn redirects_are_followed_on_one_connection() {
    for status in [301, 302, 303, 307, 308] {
        let peer = Peer::start(move |head| match head.starts_with("GET /new/list?x ") {
            true => Reply::Keep(list("10.0.0.1")),
            false => redirect(status, "../new/list?x#fragment"),
        });
        let vigie = Setup::services(&format!("web: {{url: {}}}", peer.url("/old/list"))).start();
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str()),
            "{status}"
        );
        assert_eq!((peer.requests().len(), peer.connections()), (2, 1));
    }
}

#[test]
fn no_more_redirects_are_followed_than_are_allowed() {
    let peer = chain();
    let service = |name: &str, keys: &str| {
        format!("{name}: {{url: {{url: \"{}\"{keys}}}}}\n", peer.url("/a"))
    };
    let services = [
        service("default5", ""),
        service("four", ", max_redirects: 4"),
        service("none", ", max_redirects: 0"),
    ];
    let vigie = Setup::services(&services.concat()).start();
    assert_eq!(
        vigie.list("default5").summary(),
        (200, only("10.0.0.1").as_str())
    );
    let four = vigie.list("four");
    assert_eq!(four.status, 502);
    assert_eq!(
        four.error(),
        format!(
            "service four: url {}: more than 4 redirects, the last to {}: name the URL where they end, or raise max_redirects",
            peer.url("/a"),
            peer.url("/f")
        )
    );
    assert_says(
        &vigie.list("none").error(),
        &[&format!("302 Found to {}: name that URL", peer.url("/b"))],
    );
}

#[test]
fn a_redirect_loop_ends() {
    let peer = Peer::start(|_| redirect(301, "/loop"));
    let vigie = Setup::services(&format!("web: {{url: {}}}", peer.url("/loop"))).start();
    assert_says(&vigie.list("web").error(), &["more than 5 redirects"]);
    assert_eq!(peer.requests().len(), 6);
}

#[test]
fn a_redirect_that_leads_nowhere_is_a_failure() {
    for (headers, words) in [
        ("", "302 Found without a Location"),
        (
            "Location: /a\r\nLocation: /b\r\n",
            "302 Found with several Locations",
        ),
        (
            "Location: gopher://h/\r\n",
            "redirected to what is no http or https URL",
        ),
        (
            "Location: http://\r\n",
            "redirected to what is no http or https URL",
        ),
        (
            "Location: http://127.0.0.1:1/\r\n",
            "redirected to http://127.0.0.1:1/: connecting to 127.0.0.1:1: Connection refused",
        ),
    ] {
        let peer = Peer::always(answer("302 x", headers, ""));
        let vigie = Setup::services(&format!("web: {{url: {}}}", peer.url("/"))).start();
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &[words]);
    }
}

#[test]
fn credentials_and_headers_stay_with_the_first_origin() {
    let other = Peer::always(list("10.0.0.1"));
    let there = other.url("/list");
    let peer = Peer::start(move |head| match head.starts_with("GET /here") {
        true => redirect(307, &there),
        false => redirect(307, "/here"),
    });
    let keys = "bearer_token_file: token, headers: {X-Key: hunter2, User-Agent: mine}";
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", {keys}}}}}",
        peer.url("/")
    ))
    .file("token", "hunter3\n")
    .start();
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    for head in peer.requests() {
        let sent =
            ["authorization", "x-key", "user-agent"].map(|name| header(&head, name).unwrap());
        assert_eq!(sent, ["Bearer hunter3", "hunter2", "mine"]);
    }
    assert_eq!(peer.requests().len(), 2);
    let head = other.requests().concat();
    let sent = ["authorization", "x-key", "user-agent"].map(|name| header(&head, name));
    assert_eq!(
        sent,
        [
            None,
            None,
            Some(concat!("vigie/", env!("CARGO_PKG_VERSION")).into())
        ]
    );
}

#[test]
fn a_redirect_counts_though_its_body_hangs() {
    let peer = Peer::start(|head| {
        let letter = head.as_bytes()[5];
        if letter == b'f' {
            return Reply::Keep(list("10.0.0.1"));
        }
        let next = char::from(letter + 1);
        Reply::Act(Box::new(move |wire| {
            let head = format!("HTTP/1.1 302 x\r\nLocation: /{next}\r\nContent-Length: 9\r\n\r\n");
            wire.write_all(head.as_bytes()).unwrap();
            wire.flush().unwrap();
            std::thread::park();
        }))
    });
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", timeout: 3s}}}}",
        peer.url("/a")
    ))
    .start();
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
}

#[test]
fn a_failure_after_a_redirect_says_where_it_comes_from() {
    let other = Peer::start(|head| match &head[5..8] {
        "bad" => Reply::Keep(list("10.0.0.999")),
        status => Reply::Keep(answer(&format!("{status} x"), "", "")),
    });
    let there = other.url("");
    let peer = Peer::start(move |head| match head.split([' ', '/']).nth(2) {
        Some("near") => redirect(302, "/401"),
        Some("401") => Reply::Keep(answer("401 x", "", "")),
        path => redirect(302, &format!("{there}/{}?k=v", path.unwrap())),
    });
    let service = |name: &str, path: &str, keys: &str| {
        let url = peer.url(path);
        format!("{name}: {{url: {{url: \"{url}\"{keys}}}}}\n")
    };
    let key = ", headers: {X-Key: hunter2}";
    let services = [
        service("gone", "/404", key),
        service("secret", "/403", key),
        service("open", "/403", ""),
        service("near", "/near", key),
        service("bad", "/bad", ""),
    ];
    let vigie = Setup::services(&services.concat()).start();
    for (name, path, peer_there, words) in [
        (
            "gone",
            "/404",
            (&other, "/404"),
            "the server answered 404 Not Found; correct the url, or put the list there",
        ),
        (
            "secret",
            "/403",
            (&other, "/403"),
            "the server answered 403 Forbidden; credentials were left out, because the origin changed: name that url if they are for it",
        ),
        (
            "open",
            "/403",
            (&other, "/403"),
            "the server answered 403 Forbidden; let who asks read the list",
        ),
        (
            "near",
            "/near",
            (&peer, "/401"),
            "the server answered 401 Unauthorized; correct the user, the password or the token",
        ),
        (
            "bad",
            "/bad",
            (&other, "/bad"),
            "line 1: not an IP address and not a host name (letters, digits, - _ . and a last label that is not all digits): \"10.0.0.999\"",
        ),
    ] {
        let answer = vigie.list(name);
        let (there, path_there) = peer_there;
        let want = format!(
            "service {name}: url {}: redirected to {}: {words}",
            peer.url(path),
            there.url(path_there)
        );
        assert_eq!((answer.status, answer.error()), (502, want));
    }
}

#[test]
fn a_redirect_never_leads_from_https_to_http() {
    let authority = Authority::new();
    let plain = Peer::always(list("10.0.0.1"));
    let there = plain.url("/list");
    let signed = authority.sign(&["127.0.0.1"]);
    let safe = Peer::tls(signed.server(None), move |_| redirect(302, &there));
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", ca_file: ca.pem}}}}",
        safe.url("/")
    ))
    .file("ca.pem", authority.pem())
    .start();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &[&format!("redirected from https to {}", plain.url("/list"))],
    );
    assert_eq!(plain.connections(), 0);
}

#[test]
fn a_redirect_leads_from_http_to_https() {
    let authority = Authority::new();
    let safe = Peer::tls(authority.sign(&["127.0.0.1"]).server(None), |_| {
        Reply::Keep(list("10.0.0.1"))
    });
    let there = safe.url("/list");
    let plain = Peer::start(move |_| redirect(308, &there));
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", ca_file: ca.pem}}}}",
        plain.url("/")
    ))
    .file("ca.pem", authority.pem())
    .start();
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
}

#[test]
fn a_tag_means_nothing_elsewhere() {
    let moved = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let has_moved = moved.clone();
    let peer = Peer::start(move |head| {
        let known = header(head, "if-none-match").is_some();
        match (
            &head[5..6],
            has_moved.load(std::sync::atomic::Ordering::Relaxed),
        ) {
            ("o", false) => redirect(302, "/a"),
            ("o", true) => redirect(302, "/b"),
            _ if known => Reply::Keep(b"HTTP/1.1 304 x\r\n\r\n".to_vec()),
            ("a", _) => Reply::Keep(answer("200 OK", "ETag: \"1\"\r\n", "10.0.0.1")),
            _ => Reply::Keep(answer("200 OK", "ETag: \"1\"\r\n", "10.0.0.2")),
        }
    });
    let vigie =
        Setup::services(&format!("web: {{url: {}, cache_ttl: 0s}}", peer.url("/o"))).start();
    for _ in 0..2 {
        assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    }
    assert_eq!(peer.last_header("if-none-match").as_deref(), Some("\"1\""));
    moved.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(vigie.list("web").text(), only("10.0.0.2"));
}

#[test]
fn a_304_from_elsewhere_is_not_about_the_list_at_hand() {
    let moved = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let has_moved = moved.clone();
    let peer = Peer::start(move |head| {
        let moved = has_moved.load(std::sync::atomic::Ordering::Relaxed);
        match &head[5..6] {
            "o" => redirect(302, if moved { "/b" } else { "/a" }),
            "a" => Reply::Keep(answer("200 OK", "ETag: \"1\"\r\n", "10.0.0.1")),
            _ => Reply::Keep(b"HTTP/1.1 304 x\r\n\r\n".to_vec()),
        }
    });
    let service = format!("web: {{url: {}, cache_ttl: 0s}}", peer.url("/o"));
    let vigie = Setup::services(&service).start();
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    moved.store(true, std::sync::atomic::Ordering::Relaxed);
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502, "{:?}", answer.text());
    assert_says(&answer.error(), &["304 Not Modified"]);
}
