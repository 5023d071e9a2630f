//! Who may make a server reload by a request, and who may not.

use rustix::process::Signal;

use crate::support::framing::statuses;
use crate::support::{Setup, Vigie, assert_says, wait_until};

fn serve() -> Vigie {
    Setup::services("web: {file: a.txt}")
        .file("a.txt", "10.0.0.1\n")
        .start()
}

#[test]
fn another_site_cannot_make_a_browser_reload() {
    let vigie = serve();
    let own = format!("127.0.0.1:{}", vigie.port());
    let origin = |authority: &str| format!("http://{authority}");
    let status = |host: &str, headers: &[(&str, &str)]| {
        vigie
            .ask("POST", "/reload", &[&[("Host", host)], headers].concat())
            .status
    };
    for site in [
        "cross-site",
        "same-site",
        "",
        "Same-Origin",
        "none, cross-site",
    ] {
        assert_eq!(status(&own, &[("Sec-Fetch-Site", site)]), 403, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(status(&own, &[("Sec-Fetch-Site", site)]), 200, "{site}");
    }
    for other in [
        "http://evil.test",
        "null",
        "http://127.0.0.1:1",
        "http://127.0.0.1",
        "",
        "127.0.0.1",
        "http://",
    ] {
        assert_eq!(status(&own, &[("Origin", other)]), 403, "{other}");
    }
    for host in [
        own.as_str(),
        "localhost:8080",
        "[::1]:8080",
        "10.0.0.1",
        "localhost",
    ] {
        assert_eq!(status(host, &[("Origin", &origin(host))]), 200, "{host}");
        assert_eq!(
            status(
                host,
                &[("Origin", &origin(host)), ("Sec-Fetch-Site", "same-origin")]
            ),
            200,
            "{host}"
        );
        assert_eq!(
            status(
                host,
                &[("Origin", &origin(host)), ("Sec-Fetch-Site", "cross-site")]
            ),
            403,
            "{host}"
        );
    }
    // A name that was rebound to this server: the browser takes both for one site.
    for host in [
        "evil.test:8080",
        "evil.test",
        "localhost.evil.test",
        "127.0.0.1.evil.test:80",
    ] {
        assert_eq!(status(host, &[("Origin", &origin(host))]), 403, "{host}");
    }
    for twice in [
        [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
        [("Origin", &origin(&own)), ("Origin", "http://evil.test")],
    ] {
        assert_eq!(status(&own, &twice), 400, "{twice:?}");
    }
}

#[test]
fn a_refused_reload_reloads_nothing_and_keeps_the_connection() {
    let vigie = serve();
    vigie.setup.write_services("");
    let mut connection = vigie.connect();
    let answer = connection.ask("POST", "/reload", &[("Sec-Fetch-Site", "cross-site")]);
    assert_eq!(answer.status, 403);
    assert!(!answer.error().is_empty());
    assert_eq!(
        connection
            .ask("GET", "/services?service_name=web", &[])
            .status,
        200
    );
}

#[test]
fn reloading_by_request_can_be_forbidden_and_sighup_still_works() {
    let setup = Setup::services("web: {file: a.txt}").top("disable_reload_by_request: true");
    let vigie = setup.file("a.txt", "10.0.0.1\n").start();
    vigie.setup.write_services("new: {file: a.txt}");
    let answer = vigie.reload();
    assert_eq!(answer.status, 403);
    assert_says(&answer.error(), &["disable_reload_by_request"]);
    assert_eq!(
        (vigie.list("web").status, vigie.list("new").status),
        (200, 404)
    );
    vigie.signal(Signal::HUP);
    wait_until("the new service is there", || {
        vigie.list("new").status == 200
    });
}

#[test]
fn a_request_without_a_host_has_no_site_of_its_own() {
    let vigie = serve();
    for begin in [
        "POST /reload HTTP/1.1\r\nHost:\r\nConnection: close",
        "POST /reload HTTP/1.1\r\nHost: \r\nConnection: close",
        "POST /reload HTTP/1.0",
        "POST /reload HTTP/1.0\r\nHost:",
    ] {
        for origin in [
            "http://localhost",
            "http://127.0.0.1",
            "http://",
            "http://:80",
        ] {
            let request = format!("{begin}\r\nOrigin: {origin}\r\n\r\n");
            assert_eq!(
                statuses(&vigie.tell(request.as_bytes())),
                [403],
                "{request}"
            );
        }
        let request = format!("{begin}\r\n\r\n");
        assert_eq!(
            statuses(&vigie.tell(request.as_bytes())),
            [200],
            "{request}"
        );
    }
}

#[test]
fn what_is_no_site_of_the_web_is_another_site() {
    let vigie = serve();
    for scheme in ["chrome-extension", "moz-extension", "file", "ftp", ""] {
        for host in ["127.0.0.1", "localhost"] {
            let origin = format!("{scheme}://{host}");
            let answer = vigie.ask("POST", "/reload", &[("Host", host), ("Origin", &origin)]);
            assert_eq!(answer.status, 403, "{origin}");
        }
    }
}
