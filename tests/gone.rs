//! Clients that hang up while they wait for a read, which may take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::support::peer::list;
use crate::support::{Connection, Hanging, Peer, Reply, Setup, Vigie, only, wait_until};

/// A server with four seats, and four services whose lists come when they are let go.
struct Host {
    vigie: Vigie,
    peer: Peer,
    go: Arc<AtomicBool>,
}

fn serve(setup: impl Fn(Setup) -> Setup) -> Host {
    let go = Arc::new(AtomicBool::new(false));
    let let_go = go.clone();
    let peer = Peer::start(move |_| {
        wait_until("the lists may go", || let_go.load(Ordering::Relaxed));
        Reply::Keep(list("10.0.0.2"))
    });
    let slow = |number| {
        let url = peer.url("/");
        format!("slow{number}: {{url: {{url: \"{url}\", timeout: 1m}}, cache_ttl: 0s}}\n")
    };
    let services: String = (0..4).map(slow).collect();
    let services = Setup::services(&(services + "one: {file: one.txt, cache_ttl: 0s}"));
    let services = services.file("one.txt", "10.0.0.1\n");
    let vigie = setup(services.server("max_connections: 4\nrequest_timeout: 1h")).start();
    Host { vigie, peer, go }
}

/// A request for the list of a slow service.
fn slow(number: usize) -> Vec<u8> {
    format!("GET /services?service_name=slow{number} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes()
}

impl Host {
    /// A client that waits for the list of each slow service, each for long enough to be asked whether it is there.
    fn fill(&self) -> [Connection; 4] {
        let waiting = [0, 1, 2, 3].map(|number| {
            let mut connection = self.vigie.connect();
            connection.send(&slow(number));
            connection
        });
        wait_until("all are read", || self.peer.requests().len() == 4);
        let begin = Instant::now();
        wait_until("a span is over", || {
            begin.elapsed() > Duration::from_millis(20)
        });
        waiting
    }

    #[track_caller]
    fn has_room(&self) -> Connection {
        let mut connection = self.vigie.connect();
        let answer = connection.ask("GET", "/services?service_name=one", &[]);
        assert_eq!(answer.summary(), (200, &*only("10.0.0.1")));
        connection
    }

    #[track_caller]
    fn gives(&self, waiting: &mut Connection) {
        self.go.store(true, Ordering::Relaxed);
        assert_eq!(waiting.receive().summary(), (200, &*only("10.0.0.2")));
    }

    fn says(&self, inside: &mut Connection, line: &str) -> bool {
        let metrics = inside.ask("GET", "/metrics", &[]);
        metrics.text().lines().any(|said| said == line)
    }
}

/// Hangs up so that the other end hears of it by a reset.
fn reset(connection: Connection) {
    sockopt::set_socket_linger(connection.into_socket(), Some(Duration::ZERO)).unwrap();
}

#[test]
fn who_has_hung_up_on_a_read_makes_room_and_who_waits_for_it_does_not() {
    for address in ["127.0.0.1:0", "unix:vigie.sock"] {
        let host = serve(|setup| setup.addresses(&[address]));
        let [closed, aborted, mut half_closed, mut waiting] = host.fill();
        drop(closed);
        reset(aborted);
        half_closed.half_close();
        let mut first = host.has_room();
        half_closed.wait_for_close();
        wait_until("who is gone is closed", || {
            host.says(&mut first, "vigie_http_connections 2")
        });
        let _others = [host.has_room(), host.has_room()];
        assert!(waiting.is_silent());
        host.gives(&mut waiting);
        assert_eq!(host.peer.requests().len(), 4, "each read went on");
    }
}

#[test]
fn who_waits_for_a_read_and_is_there_is_never_closed_to_make_room() {
    let host = serve(|setup| setup);
    let mut waiting = host.fill();
    for _ in 0..50 {
        assert_eq!(host.vigie.tell(b"")[0].status, 503);
    }
    for one in &mut waiting {
        host.gives(one);
    }
}

#[test]
fn who_has_closed_its_side_gets_its_list_as_long_as_there_is_room() {
    let host = serve(|setup| setup);
    let mut waiting = host.vigie.connect();
    waiting.send(&slow(0)).half_close();
    for _ in 0..10 {
        // The one before is idle, or has left.
        host.has_room();
    }
    assert!(waiting.is_silent());
    host.gives(&mut waiting);
}

#[test]
fn who_has_hung_up_on_a_reload_makes_room() {
    let config = "server: {address: \"unix:vigie.sock\", max_connections: 2}\nservices: {}\n";
    let Some(mount) = Hanging::mount("a reload hangs", "config.yml", config) else {
        return;
    };
    let vigie = Setup::services("")
        .addresses(&["unix:vigie.sock"])
        .start_later(&mount.path("config.yml"));
    vigie.log.wait_for("started");
    mount.hang();
    for _ in 0..2 {
        vigie
            .connect()
            .send(b"POST /reload HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    wait_until("the reload hangs", || vigie.threads("blocking") == 1);
    wait_until("there is room", || vigie.get("/livez").status == 200);
    assert_eq!(vigie.threads("blocking"), 1, "and it hangs still");
    mount.go_on();
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":0}\n"));
}
