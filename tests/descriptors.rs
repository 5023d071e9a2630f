//! No file can be opened any more: nothing spins, nothing dies, each failure says which limit to raise, and all is
//! well as soon as the limit is.

use std::time::{Duration, Instant};

use rustix::process::Rlimit;

use crate::support::dns::DnsServer;
use crate::support::peer::answer;
use crate::support::{
    Answer, Connection, Peer, Reply, Setup, Vigie, assert_says, only, wait_until,
};

/// What a request gets that needs a file more.
const WANTING: &str = "Too many open files; raise the limit of open files";

struct Host {
    vigie: Vigie,
    _peer: Peer,
    _server: DnsServer,
}

/// A server with a service of each kind that is read each time, and one whose list is kept.
fn serve() -> Host {
    let peer = Peer::start(|_| Reply::Cut(answer("200 OK", "Connection: close\r\n", "10.0.0.2")));
    let server = DnsServer::start(|asked| asked.only("10.0.0.3"));
    let services = format!(
        "kept: {{file: one.txt, cache_ttl: 1h}}\nfile: {{file: one.txt, cache_ttl: 0s}}\n\
         url: {{url: \"{}\", cache_ttl: 0s}}\ntoken: {{url: {{url: \"{0}\", bearer_token_file: one.txt}}, cache_ttl: 0s}}\n\
         dns: {{dns: {{name: web.test, servers: '{}'}}, cache_ttl: 0s}}\n\
         name: {{url: {{url: \"http://web.test/\"}}, cache_ttl: 0s}}",
        peer.url("/"),
        server.address()
    );
    let vigie = Setup::services(&services)
        .file("one.txt", "10.0.0.1\n")
        .start();
    Host {
        vigie,
        _peer: peer,
        _server: server,
    }
}

impl Host {
    /// A connection that was let in, and from now on nothing more can be opened; gives the limit before.
    fn run_out(&self) -> (Connection, Rlimit) {
        let vigie = &self.vigie;
        let rest = vigie.count("fd");
        self.all_is_well(&mut vigie.connect());
        wait_until("its clients and servers are gone", || {
            vigie.count("fd") == rest
        });
        let mut inside = vigie.connect();
        assert_eq!(ask(&mut inside, "kept").status, 200);
        (inside, vigie.allow_no_more_files())
    }

    fn all_is_well(&self, connection: &mut Connection) {
        for (service, address) in [
            ("kept", "10.0.0.1"),
            ("file", "10.0.0.1"),
            ("url", "10.0.0.2"),
            ("token", "10.0.0.2"),
            ("dns", "10.0.0.3"),
        ] {
            let answer = ask(connection, service);
            assert_eq!(answer.summary(), (200, &*only(address)), "{service}");
        }
    }
}

fn ask(connection: &mut Connection, service: &str) -> Answer {
    connection.ask("GET", &format!("/services?service_name={service}"), &[])
}

#[test]
fn who_finds_no_descriptor_left_waits_costs_no_time_and_comes_in_when_there_is_one() {
    let host = serve();
    let vigie = &host.vigie;
    let (mut inside, limit) = host.run_out();
    let mut waiting: Vec<_> = (0..50).map(|_| vigie.connect()).collect();
    for connection in &mut waiting {
        connection.send(b"GET /services?service_name=kept HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    assert_says(
        &vigie.log.wait_for("accepting"),
        &[
            "WARN",
            "127.0.0.1:",
            "Too many open files; new connections wait",
        ],
    );
    let (busy, begin) = (vigie.busy(), Instant::now());
    wait_until("a span is over", || {
        begin.elapsed() > Duration::from_secs(2)
    });
    let busy = vigie.busy() - busy;
    assert!(busy < Duration::from_millis(300), "{busy:?}");
    assert!(waiting.iter_mut().all(Connection::is_silent));
    assert_eq!(
        ask(&mut inside, "kept").summary(),
        (200, &*only("10.0.0.1"))
    );

    vigie.limit_files(limit);
    for connection in &mut waiting {
        assert_eq!(connection.receive().summary(), (200, &*only("10.0.0.1")));
    }
    assert_eq!(vigie.log.text().matches("accepting").count(), 1);
}

#[test]
fn without_descriptors_what_needs_one_fails_in_words_and_the_next_request_is_answered() {
    let host = serve();
    let vigie = &host.vigie;
    let (mut inside, limit) = host.run_out();
    for service in ["file", "url", "token", "dns", "name"] {
        let answer = ask(&mut inside, service);
        assert_eq!(answer.status, 502, "{service}");
        assert_says(&answer.error(), &[&format!("service {service}: "), WANTING]);
    }
    let reload = inside.ask("POST", "/reload", &[]);
    assert_eq!(reload.status, 500);
    assert_says(&reload.error(), &["config.yml", WANTING]);
    for target in [
        "/livez",
        "/readyz",
        "/metrics",
        "/",
        "/services?service_name=kept",
    ] {
        assert_eq!(inside.ask("GET", target, &[]).status, 200, "{target}");
    }
    vigie.limit_files(limit);
    host.all_is_well(&mut inside);
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":6}\n"));
}

#[test]
fn a_server_without_descriptors_ends_when_it_is_told_to() {
    let mut host = serve();
    let (mut inside, _) = host.run_out();
    assert_eq!(host.vigie.stop(), Some(0));
    inside.wait_for_close();
}

#[test]
fn where_there_are_too_few_descriptors_to_start_that_is_said() {
    let mut started = 0;
    // With fewer the system itself could not load it.
    for most in 4..16 {
        let setup = Setup::services("").after(&format!("ulimit -n {most}"));
        let (code, said) = setup.try_to_start();
        match code {
            None => started += 1,
            Some(code) => {
                assert_eq!(code, 1, "{most}: {said}");
                assert_says(
                    &said,
                    &["Too many open files; raise the limit of open files"],
                );
                assert_eq!(said.lines().count(), 1, "{most}: {said}");
            }
        }
    }
    assert!(started > 0);
}
