//! A file system that hangs under something else than a list: the configuration at a reload, certificates, secrets.
//! And the end of a server that waits for one.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::peer::list;
use crate::support::{
    Authority, Connection, Hanging, Peer, Reply, Setup, Vigie, assert_says, only, wait_until,
};

/// The configuration that hangs: one service at a unix socket, which reads each time.
fn config(services: &str) -> String {
    let server = "server: {address: \"unix:vigie.sock\", shutdown_timeout: 300ms}";
    format!("{server}\nservices: {{{services}}}\n")
}

const ONE: &str = "one: {file: one.txt, cache_ttl: 0s}";

/// A server whose configuration lies on a file system that can hang.
fn serve(promise: &str) -> Option<(Hanging, Vigie)> {
    let mount = Hanging::mount(promise, "config.yml", &config(ONE))?;
    let vigie = Setup::services("")
        .addresses(&["unix:vigie.sock"])
        .file("one.txt", "10.0.0.1\n")
        .start_later(&mount.path("config.yml"));
    vigie.log.wait_for("started: 1 service");
    Some((mount, vigie))
}

fn is_served(vigie: &Vigie, service: &str) {
    assert_eq!(vigie.list(service).summary(), (200, &*only("10.0.0.1")));
}

fn begin(vigie: &Vigie, request: &str) -> Connection {
    let mut connection = vigie.connect();
    connection.send(format!("{request} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
    // What is answered after it on the same loop shows that it has begun.
    assert_eq!(vigie.get("/livez").status, 200);
    connection
}

#[test]
fn while_a_reload_waits_for_its_file_all_is_served_and_then_it_is_done_at_once() {
    let Some((mount, vigie)) = serve("a reload whose file hangs") else {
        return;
    };
    mount.hang();
    let mut first = begin(&vigie, "POST /reload");
    vigie.signal(Signal::HUP);
    let mut second = begin(&vigie, "POST /reload");
    for _ in 0..50 {
        is_served(&vigie, "one");
    }
    assert!(first.is_silent() && second.is_silent());
    assert_eq!(vigie.threads("blocking"), 1);
    mount.write(
        "config.yml",
        &config(&format!("{ONE}, two: {{file: one.txt}}")),
    );
    mount.go_on();
    // The first may have opened what was there before.
    assert_eq!(first.receive().status, 200);
    assert_eq!(second.receive().summary(), (200, "{\"services\":2}\n"));
    is_served(&vigie, "two");
}

#[test]
fn a_reload_whose_file_hangs_fails_after_30_seconds_and_nothing_has_changed() {
    let Some((mount, vigie)) = serve("a reload gives up") else {
        return;
    };
    mount.hang();
    vigie.signal(Signal::HUP);
    let begun = Instant::now();
    wait_until("the reload hangs", || vigie.threads("blocking") == 1);
    wait_until("half of the time is over", || {
        begun.elapsed() > Duration::from_secs(15)
    });
    is_served(&vigie, "one");
    let line = vigie.log.wait_for("loading");
    assert_says(
        &line,
        &[
            "ERROR",
            "config.yml: loading: not done in time; see whether its file system hangs",
        ],
    );
    assert!(begun.elapsed() > Duration::from_secs(29));
    vigie
        .log
        .wait_for("not reloaded: every service stays as it was");
    is_served(&vigie, "one");
    // The next one reads the same file, and so hangs until the file system goes on.
    let mut next = begin(&vigie, "POST /reload");
    mount.go_on();
    assert_eq!(next.receive().summary(), (200, "{\"services\":1}\n"));
}

#[test]
fn signals_without_end_while_a_reload_hangs_take_no_memory_and_are_one_reload() {
    let Some((mount, vigie)) = serve("signals while a reload hangs") else {
        return;
    };
    mount.hang();
    vigie.signal(Signal::HUP);
    wait_until("the reload hangs", || vigie.threads("blocking") == 1);
    let mut connection = vigie.connect();
    let mut signal = |times| {
        for _ in 0..times {
            vigie.signal(Signal::HUP);
            // What is answered after it on the same loop shows that it has been taken.
            assert_eq!(connection.ask("GET", "/livez", &[]).status, 200);
        }
    };
    let held = || {
        let value = vigie.status("VmRSS");
        value.strip_suffix(" kB").unwrap().parse::<usize>().unwrap()
    };
    signal(500);
    let before = held();
    signal(5_000);
    let grown = held().saturating_sub(before);
    assert!(grown < 1_024, "{grown} KiB more");
    mount.write(
        "config.yml",
        &config(&format!("{ONE}, two: {{file: one.txt}}")),
    );
    mount.go_on();
    wait_until("what came meanwhile is done", || {
        vigie.list("two").status == 200
    });
    // One that began before the signals, and one for all of them; then that of the request, which would share a further one.
    let reloads = || vigie.log.text().matches("reloaded: ").count();
    wait_until("both are done", || reloads() == 2);
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":2}\n"));
    wait_until("the reload is logged", || reloads() > 2);
    assert_eq!(reloads(), 3);
}

#[test]
fn a_server_whose_reload_hangs_ends_in_time() {
    let Some((mount, mut vigie)) = serve("the end while a reload hangs") else {
        return;
    };
    mount.hang();
    let _waiting = begin(&vigie, "POST /reload");
    let begun = Instant::now();
    assert_eq!(vigie.stop(), Some(0));
    let took = begun.elapsed();
    assert!(
        (Duration::from_millis(300)..Duration::from_secs(5)).contains(&took),
        "{took:?}"
    );
}

#[test]
fn a_read_that_hangs_holds_up_the_end_for_shutdown_timeout_and_no_longer() {
    let Some(mount) = Hanging::mount("the end while a read hangs", "list.txt", "10.0.0.1\n") else {
        return;
    };
    let path = mount.path("list.txt");
    let services = format!("hung: {{file: {{path: {}, timeout: 1h}}}}", path.display());
    let mut vigie = Setup::services(&services)
        .server("shutdown_timeout: 500ms")
        .start();
    mount.hang();
    let mut waiting = begin(&vigie, "GET /services?service_name=hung");
    let begun = Instant::now();
    assert_eq!(vigie.stop(), Some(0));
    let took = begun.elapsed();
    assert!(
        (Duration::from_millis(500)..Duration::from_secs(5)).contains(&took),
        "{took:?}"
    );
    assert_says(
        &vigie.log.wait_for("stopped with"),
        &["WARN", "1 connection"],
    );
    waiting.wait_for_close();
}

#[test]
fn authorities_of_the_system_that_hang_are_504_in_time_and_read_once_at_a_time() {
    let authority = Authority::new();
    let peer = Peer::tls(authority.sign(&["127.0.0.1"]).server(None), |_| {
        Reply::End(list("10.0.0.1"))
    });
    let Some(mount) = Hanging::mount(
        "authorities of the system that hang",
        "system.pem",
        &authority.pem(),
    ) else {
        return;
    };
    let service = |name| {
        format!(
            "{name}: {{url: {{url: \"{}\", timeout: 300ms}}}}\n",
            peer.url("/")
        )
    };
    let vigie = Setup::services(&format!("{ONE}\n{}{}", service("a"), service("b")))
        .file("one.txt", "10.0.0.1\n")
        .after(&format!(
            "export SSL_CERT_FILE={}",
            mount.path("system.pem").display()
        ))
        .start();
    mount.hang();
    for _ in 0..3 {
        for service in ["a", "b"] {
            let answer = vigie.list(service);
            assert_eq!(answer.status, 504);
            assert_says(
                &answer.error(),
                &[
                    "TLS: reading the system's authorities: not done in time; see whether its file system hangs",
                ],
            );
            assert_eq!(vigie.threads("blocking"), 1);
        }
        assert_eq!(vigie.reload().status, 200);
    }
    mount.go_on();
    wait_until("both are read", || {
        ["a", "b"]
            .iter()
            .all(|service| vigie.list(service).status == 200)
    });
    is_served(&vigie, "one");
}

#[test]
fn a_certificate_file_that_hangs_holds_up_its_reload_and_nothing_else() {
    let authority = Authority::new();
    let Some(mount) = Hanging::mount("a certificate file hangs", "ca.pem", &authority.pem()) else {
        return;
    };
    let config = authority.sign(&["127.0.0.1"]).server(None);
    let peer = Peer::tls(config, |_| Reply::End(list("10.0.0.1")));
    let services = format!(
        "tls: {{url: {{url: \"{}\", ca_file: {}}}, cache_ttl: 0s}}\n{ONE}",
        peer.url("/"),
        mount.path("ca.pem").display()
    );
    let vigie = Setup::services(&services)
        .file("one.txt", "10.0.0.1\n")
        .start();
    is_served(&vigie, "tls");
    mount.hang();
    let mut reload = begin(&vigie, "POST /reload");
    for _ in 0..20 {
        is_served(&vigie, "one");
        is_served(&vigie, "tls");
    }
    assert!(reload.is_silent());
    mount.go_on();
    assert_eq!(reload.receive().summary(), (200, "{\"services\":2}\n"));
    is_served(&vigie, "tls");
}

#[test]
fn a_secret_that_hangs_is_504_in_time_for_its_service_alone_and_recovers_at_once() {
    let Some(mount) = Hanging::mount("a secret hangs", "secret", "hunter2\n") else {
        return;
    };
    let peer = Peer::always(list("10.0.0.1"));
    let (url, path) = (peer.url("/"), mount.path("secret"));
    let path = path.display();
    let services = format!(
        "bearer_token_file: {{url: {{url: \"{url}\", timeout: 500ms, bearer_token_file: {path}}}, cache_ttl: 0s}}\n\
         password_file: {{url: {{url: \"{url}\", timeout: 500ms, basic_auth: {{username: a, password_file: {path}}}}}, cache_ttl: 0s}}\n\
         one: {{url: \"{url}\", cache_ttl: 0s}}"
    );
    let vigie = Setup::services(&services).start();
    mount.hang();
    for key in ["bearer_token_file", "password_file"] {
        let mut waiting = begin(&vigie, &format!("GET /services?service_name={key}"));
        for _ in 0..20 {
            is_served(&vigie, "one");
        }
        let answer = waiting.receive();
        assert_eq!(answer.status, 504);
        let words =
            format!("{key} {path}: reading: not done in time; see whether its file system hangs");
        assert_says(&answer.error(), &[&words]);
    }
    let held = vigie.threads("blocking");
    assert_eq!((held, vigie.list("password_file").status), (2, 504));
    assert_eq!(vigie.threads("blocking"), held);
    let requests = peer.requests().len();
    mount.go_on();
    is_served(&vigie, "bearer_token_file");
    is_served(&vigie, "password_file");
    assert_eq!(peer.requests().len(), requests + 2);
}
