//! How long a client may take, and what it is told when it takes longer.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::framing::statuses;
use crate::support::{Connection, Setup, Vigie, wait_until};

fn serve(server: &str) -> Vigie {
    Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1:80\n")
        .server(server)
        .start()
}

fn assert_timed_out(mut connection: Connection) {
    let answers = connection.receive_all();
    assert_eq!(statuses(&answers), [408]);
    assert_eq!(answers[0].header("connection"), Some("close"));
    assert!(!answers[0].error().is_empty());
}

#[test]
fn a_slow_head_is_408_and_closes() {
    let vigie = serve("request_timeout: 300ms");
    for part in [
        "G",
        "GET /livez HTTP/1.1\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\nX: ",
    ] {
        let mut connection = vigie.connect();
        connection.send(part.as_bytes());
        assert_timed_out(connection);
    }
}

#[test]
fn who_was_late_can_read_so_before_the_connection_is_closed() {
    let vigie = serve("request_timeout: 300ms");
    let mut late = vigie.connect();
    late.send(b"GET / HT");
    assert_eq!(statuses(&late.receive_all()), [408]);
    // By the time of another answer a connection that does not linger is closed.
    assert_eq!(vigie.get("/livez").status, 200);
    let open = vigie.count("fd");
    assert!(late.takes(b"T"));
    assert_eq!(vigie.get("/livez").status, 200);
    assert!(
        late.takes(b"P"),
        "a closed connection would answer with a reset"
    );
    wait_until("it is closed", || vigie.count("fd") < open);
}

#[test]
fn bytes_that_come_with_the_end_of_the_time_do_not_save_a_request() {
    let vigie = serve("request_timeout: 300ms");
    let begins = [
        "GET / HTTP/1.1\r\nA: ",
        "POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n",
    ];
    for begin in begins {
        let mut late: Vec<_> = (0..50).map(|_| vigie.connect()).collect();
        for connection in &mut late {
            connection.send(begin.as_bytes());
        }
        assert_eq!(vigie.get("/livez").status, 200);
        let begun = Instant::now();
        // So that it finds the bytes and the end of the time at once.
        vigie.signal(Signal::STOP);
        for connection in &mut late {
            connection.send(b"a");
        }
        wait_until("the time is up", || {
            begun.elapsed() > Duration::from_millis(400)
        });
        vigie.signal(Signal::CONT);
        for connection in late {
            assert_timed_out(connection);
        }
    }
}

#[test]
fn a_second_request_has_time_of_its_own_though_it_begins_with_the_first() {
    let vigie = serve("request_timeout: 600ms");
    assert_eq!(vigie.list("one").status, 200);
    let request = "GET /services?service_name=one HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut connection = vigie.connect();
    // The pace of the client, not a wait: from accept it takes longer than a request may.
    std::thread::sleep(Duration::from_millis(350));
    connection.send(format!("{request}GET").as_bytes());
    assert_eq!(connection.receive().status, 200);
    std::thread::sleep(Duration::from_millis(350));
    connection.send(&request.as_bytes()[3..]);
    assert_eq!(connection.receive().status, 200);
}

#[test]
fn after_a_long_answer_a_connection_is_idle_and_its_request_is_not_late() {
    let lines: String = (0..2000)
        .map(|n| format!("10.0.{}.{}\n", n >> 8, n & 255))
        .collect();
    let vigie = Setup::services("long: {file: long.txt, cache_ttl: 1h}")
        .file("long.txt", lines)
        .server("request_timeout: 300ms\nwrite_timeout: 300ms\nidle_timeout: 1h")
        .start();
    // Not each of them is taken in several pieces, which is what matters.
    let mut long: Vec<_> = (0..20).map(|_| vigie.connect()).collect();
    for connection in &mut long {
        for _ in 0..3 {
            let answer = connection.ask("GET", "/services?service_name=long", &[]);
            assert_eq!(answer.status, 200);
        }
    }
    // When a later connection is late, so would they be.
    assert_timed_out(vigie.connect());
    for connection in &mut long {
        assert!(connection.is_silent());
        assert_eq!(connection.ask("GET", "/livez", &[]).status, 200);
    }
}

#[test]
fn a_slow_body_is_408_and_closes() {
    let vigie = serve("request_timeout: 300ms");
    for part in [
        "Content-Length: 5\r\n\r\nhell",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "Transfer-Encoding: chunked\r\n\r\n0\r\n",
    ] {
        let mut connection = vigie.connect();
        connection.send(format!("POST /livez HTTP/1.1\r\nHost: x\r\n{part}").as_bytes());
        assert_timed_out(connection);
    }
}

#[test]
fn a_body_that_was_asked_for_and_does_not_come_is_408() {
    let vigie = serve("request_timeout: 300ms");
    let mut connection = vigie.connect();
    connection.send(
        b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(connection.receive().status, 100);
    assert_timed_out(connection);
}

#[test]
fn a_client_that_drips_gains_no_time() {
    let vigie = serve("request_timeout: 300ms");
    let mut connection = vigie.connect();
    connection.send(b"GET /livez HTTP/1.1\r\nHost: x\r\nX: ");
    while connection.is_silent() {
        connection.send(b"y");
    }
    assert_timed_out(connection);
}

#[test]
fn a_connection_that_never_says_a_word_is_closed() {
    let vigie = serve("request_timeout: 300ms");
    vigie.connect().drain();
}

#[test]
fn the_time_of_a_later_request_begins_with_its_first_byte() {
    let vigie = serve("request_timeout: 300ms");
    let mut kept = vigie.connect();
    assert_eq!(kept.ask("GET", "/livez", &[]).status, 200);
    let mut clock = vigie.connect();
    clock.send(b"GET");
    assert_timed_out(clock);
    assert_eq!(
        kept.ask("GET", "/livez", &[]).status,
        200,
        "it was quiet for longer than a request may take"
    );
    kept.send(b"GET");
    assert_timed_out(kept);
}

#[test]
fn a_quiet_connection_is_closed_without_a_word() {
    let vigie = serve("idle_timeout: 300ms");
    let mut connection = vigie.connect();
    assert_eq!(
        connection
            .ask("GET", "/services?service_name=one", &[])
            .status,
        200
    );
    connection.wait_for_close();
}

#[test]
fn a_request_that_has_begun_is_not_idle() {
    let vigie = serve("idle_timeout: 100ms\nrequest_timeout: 10s");
    let [mut quiet, mut busy] = [vigie.connect(), vigie.connect()];
    assert_eq!(quiet.ask("GET", "/livez", &[]).status, 200);
    assert_eq!(busy.ask("GET", "/livez", &[]).status, 200);
    busy.send(b"GET /livez HTTP/1.1\r\n");
    quiet.wait_for_close();
    assert_eq!(busy.send(b"Host: x\r\n\r\n").receive().status, 200);
}

#[test]
fn a_client_that_expects_to_be_asked_for_its_body_gains_no_time() {
    let vigie = serve("request_timeout: 600ms");
    let mut expecting = vigie.connect();
    expecting.send(b"POST /livez HTTP/1.1\r\nHost: x\r\n");
    // The pace of the client, not a wait.
    std::thread::sleep(Duration::from_millis(300));
    let mut later = vigie.connect();
    later.send(b"GET");
    assert_eq!(vigie.get("/livez").status, 200, "the later one is let in");
    expecting.send(b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert_eq!(expecting.receive().status, 100);
    assert_timed_out(expecting);
    assert!(
        later.is_silent(),
        "who began later has less time than who was asked for a body"
    );
    assert_timed_out(later);
}
