//! A server that was stopped for a while, with its machine or by SIGSTOP, and goes on: what came meanwhile is read
//! before anybody is told to be late, what has grown old is not served, and nothing is left over.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::limits::{allow_many_files, serve_large};
use crate::support::dns::DnsServer;
use crate::support::peer::list;
use crate::support::{
    Connection, PATIENCE, Peer, Reply, Setup, Vigie, assert_says, only, wait_until,
};

const REQUEST: &[u8] = b"GET /services?service_name=one HTTP/1.1\r\nHost: x\r\n\r\n";

/// Stops the server, lets `meanwhile` happen and this time pass, and has the server go on.
fn pause(vigie: &Vigie, time: Duration, meanwhile: impl FnOnce()) {
    vigie.signal(Signal::STOP);
    wait_until("it is stopped", || vigie.status("State").starts_with('T'));
    let begin = Instant::now();
    meanwhile();
    wait_until("the pause is over", || begin.elapsed() > time);
    vigie.signal(Signal::CONT);
}

fn serve(keys: &str) -> Vigie {
    Setup::services(&format!("one: {{file: one.txt, {keys}}}"))
        .file("one.txt", "10.0.0.1\n")
        .start()
}

/// A connection with a request, or the begin of one.
fn begin(vigie: &Vigie, request: &[u8]) -> Connection {
    let mut connection = vigie.connect();
    connection.send(request);
    connection
}

/// A connection with a request for a list.
fn ask(vigie: &Vigie, service: &str) -> Connection {
    let request = format!("GET /services?service_name={service} HTTP/1.1\r\nHost: x\r\n\r\n");
    begin(vigie, request.as_bytes())
}

#[test]
fn whose_request_came_while_the_server_was_stopped_is_answered_and_not_late() {
    // More than the system tells of at once.
    const EACH: usize = 600;
    allow_many_files();
    let vigie = Setup::services("one: {file: one.txt, cache_ttl: 1h}")
        .file("one.txt", "10.0.0.1\n")
        .server("request_timeout: 5s\nidle_timeout: 5s\nmax_connections: 10000")
        .start();
    let rest = vigie.count("fd");
    let mut kept: Vec<_> = (0..EACH).map(|_| begin(&vigie, REQUEST)).collect();
    for connection in &mut kept {
        assert_eq!(connection.receive().status, 200);
    }
    let begun = (0..EACH).map(|_| begin(&vigie, &REQUEST[..20]));
    let silent = (0..EACH).map(|_| begin(&vigie, b""));
    let (mut begun, mut silent): (Vec<_>, Vec<_>) = (begun.collect(), silent.collect());
    wait_until("all are let in", || vigie.count("fd") == rest + 3 * EACH);
    let mut new = Vec::new();
    pause(&vigie, Duration::from_millis(5100), || {
        for connection in &mut begun {
            connection.send(&REQUEST[20..]);
        }
        new.extend((0..100).map(|_| begin(&vigie, REQUEST)));
        for (one, other) in kept.iter_mut().zip(&mut silent) {
            one.send(REQUEST);
            other.send(REQUEST);
        }
    });
    for (who, connections) in [
        ("kept", kept),
        ("begun", begun),
        ("silent", silent),
        ("new", new),
    ] {
        for mut connection in connections {
            let answer = connection.receive();
            assert_eq!(answer.summary(), (200, &*only("10.0.0.1")), "{who}");
        }
    }
    wait_until("nothing is left over", || vigie.count("fd") == rest);
}

#[test]
fn a_request_with_a_large_body_that_came_while_the_server_was_stopped_is_answered() {
    let vigie = Setup::services("").server("request_timeout: 3s").start();
    let body = "x".repeat(60_000);
    let head = "POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n";
    let mut connections: Vec<_> = (0..20).map(|_| begin(&vigie, head.as_bytes())).collect();
    assert_eq!(vigie.get("/livez").status, 200);
    pause(&vigie, Duration::from_millis(3100), || {
        for connection in &mut connections {
            connection.send(body.as_bytes());
        }
    });
    for mut connection in connections {
        assert_eq!(connection.receive().summary(), (200, "{\"services\":0}\n"));
    }
}

#[test]
fn who_was_sent_a_long_list_takes_it_while_the_server_is_stopped_and_gets_the_rest() {
    let vigie = serve_large("write_timeout: 2s");
    let size = vigie.list("large").body.len();
    let mut connection = ask(&vigie, "large");
    connection.wait_for_bytes();
    pause(&vigie, Duration::from_millis(2100), || {
        assert_eq!(connection.count_answers(), 1);
    });
    assert_eq!(connection.receive().body.len(), size);
}

#[test]
fn a_list_that_grew_older_than_its_ttl_meanwhile_is_read_again() {
    let time = Duration::from_millis(2100);
    let vigie = serve("cache_ttl: 2s, max_stale: 1h");
    assert_eq!(vigie.list("one").summary(), (200, &*only("10.0.0.1")));
    pause(&vigie, time, || vigie.setup.write("one.txt", "10.0.0.2\n"));
    let fresh = vigie.list("one");
    assert_eq!(fresh.summary(), (200, &*only("10.0.0.2")));
    assert_eq!(fresh.header("vigie-stale"), None);

    fs::remove_file(vigie.setup.path("one.txt")).unwrap();
    pause(&vigie, time, || {});
    let stale = vigie.list("one");
    assert_eq!(stale.summary(), (200, &*only("10.0.0.2")));
    let past: u32 = stale.header("vigie-stale").unwrap().parse().unwrap();
    let age: u32 = stale.header("age").unwrap().parse().unwrap();
    assert!(age >= 2 && past <= age - 2, "{age} {past}");
}

/// Where a server waits for the test.
#[derive(Default)]
struct Gate {
    step: Mutex<u8>,
    moved: Condvar,
}

impl Gate {
    fn pass(&self) {
        self.reach(1);
        self.wait_for(2);
    }

    fn reach(&self, step: u8) {
        *self.step.lock().unwrap() = step;
        self.moved.notify_all();
    }

    fn wait_for(&self, step: u8) {
        let now = self.step.lock().unwrap();
        let waited = self
            .moved
            .wait_timeout_while(now, PATIENCE, |now| *now < step);
        assert!(!waited.unwrap().1.timed_out());
    }
}

#[test]
fn an_answer_of_a_source_that_came_meanwhile_counts_though_its_time_is_over() {
    let gates: [Arc<Gate>; 2] = Default::default();
    let [at_peer, at_server] = gates.clone();
    let peer = Peer::start(move |_| {
        at_peer.pass();
        Reply::Keep(list("10.0.0.1"))
    });
    let server = DnsServer::start(move |asked| {
        if asked.before == 0 {
            at_server.pass();
        }
        asked.only("10.0.0.1")
    });
    let services = format!(
        "url: {{url: {{url: \"{}\", timeout: 3s}}, cache_ttl: 0s}}\n\
         dns: {{dns: {{name: web.test, family: ipv4, servers: '{}', timeout: 3s}}, cache_ttl: 0s}}",
        peer.url("/"),
        server.address()
    );
    let vigie = Setup::services(&services).start();
    let waiting = ["url", "dns"].map(|service| ask(&vigie, service));
    gates.iter().for_each(|gate| gate.wait_for(1));
    pause(&vigie, Duration::from_millis(3100), || {
        gates.iter().for_each(|gate| gate.reach(2));
    });
    for mut connection in waiting {
        assert_eq!(connection.receive().summary(), (200, &*only("10.0.0.1")));
    }
}

#[test]
fn a_read_whose_time_ended_meanwhile_fails_in_words_and_the_next_succeeds() {
    let silent = DnsServer::silent();
    let is_first = AtomicBool::new(true);
    let peer = Peer::start(move |_| match is_first.swap(false, Ordering::SeqCst) {
        true => Reply::Act(Box::new(|_| thread::park_timeout(PATIENCE))),
        false => Reply::Keep(list("10.0.0.1")),
    });
    let services = format!(
        "url: {{url: {{url: \"{}\", timeout: 1s}}, cache_ttl: 0s}}\n\
         dns: {{dns: {{name: web.test, servers: '{}', timeout: 1s}}, cache_ttl: 0s}}",
        peer.url("/"),
        silent.address()
    );
    let vigie = Setup::services(&services).start();
    let waiting = ["url", "dns"].map(|service| ask(&vigie, service));
    wait_until("both are asked", || {
        !peer.requests().is_empty() && !silent.asked().is_empty()
    });
    pause(&vigie, Duration::from_millis(1100), || {});
    for (mut connection, words) in waiting
        .into_iter()
        .zip(["waiting for the answer", "did not answer in time"])
    {
        let answer = connection.receive();
        assert_eq!(answer.status, 504);
        assert_says(&answer.error(), &[words]);
    }
    assert_eq!(vigie.list("url").summary(), (200, &*only("10.0.0.1")));
}

#[test]
fn the_watchdog_hears_of_the_server_as_soon_as_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let shell = format!(
        "export NOTIFY_SOCKET={} WATCHDOG_USEC=2000000 WATCHDOG_PID=$$",
        path.display()
    );
    let vigie = Setup::services("").after(&shell).start();
    let mut buffer = [0; 100];
    let mut next = || {
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    };
    assert_eq!(next(), "READY=1\nSTATUS=0 services\n");
    assert_eq!(next(), "WATCHDOG=1\n");
    // What is answered after it on the same loop shows that the next is planned.
    assert_eq!(vigie.get("/livez").status, 200);
    pause(&vigie, Duration::from_millis(1200), || {});
    let begin = Instant::now();
    assert_eq!(next(), "WATCHDOG=1\n");
    assert!(
        begin.elapsed() < Duration::from_millis(800),
        "{:?}",
        begin.elapsed()
    );
}
