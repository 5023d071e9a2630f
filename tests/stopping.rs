//! How a server ends: what it still answers, for how long, and with which exit code.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Connection, Hanging, Setup, Vigie, only, wait_until};

fn serve(server: &str) -> Vigie {
    Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .server(server)
        .start()
}

/// A request whose body is still to come; the server has asked for it, so it is surely under way.
fn begin(vigie: &Vigie) -> Connection {
    let mut connection = vigie.connect();
    connection.send(
        b"POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(connection.receive().status, 100);
    connection
}

fn wait_until_stopping(vigie: &Vigie) {
    wait_until("nobody is let in any more", || !vigie.listens());
}

#[test]
fn sigterm_and_sigint_end_it_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut vigie = serve("");
        assert_eq!(vigie.list("one").status, 200);
        vigie.signal(signal);
        assert_eq!(vigie.wait_for_exit(), Some(0));
    }
}

#[test]
fn for_the_delay_it_serves_on_and_says_that_it_is_not_ready() {
    let mut vigie = serve("shutdown_delay: 1s");
    let mut kept = vigie.connect();
    assert_eq!(kept.ask("GET", "/readyz", &[]).status, 200);
    let begin = Instant::now();
    vigie.signal(Signal::TERM);
    wait_until("it is not ready", || vigie.get("/readyz").status == 503);
    assert_eq!(vigie.ask("HEAD", "/-/ready", &[]).status, 503);
    assert!(!vigie.get("/-/ready").error().is_empty());
    assert_eq!(
        (
            vigie.get("/livez").status,
            vigie.list("one").status,
            vigie.reload().status
        ),
        (200, 200, 200)
    );
    assert_eq!(
        kept.ask("GET", "/services?service_name=one", &[]).summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_eq!(vigie.wait_for_exit(), Some(0));
    assert!(
        (1..5).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_second_signal_ends_it_with_1_at_once() {
    for (first, second) in [
        (Signal::TERM, Signal::TERM),
        (Signal::TERM, Signal::INT),
        (Signal::INT, Signal::TERM),
    ] {
        let mut vigie = serve("shutdown_delay: 1h");
        vigie.signal(first);
        wait_until("it is not ready", || vigie.get("/readyz").status == 503);
        vigie.signal(second);
        assert_eq!(vigie.wait_for_exit(), Some(1));
    }
}

#[test]
fn a_second_signal_does_not_wait_for_answers_under_way() {
    let mut vigie = serve("shutdown_timeout: 1h\nrequest_timeout: 1h");
    let _under_way = begin(&vigie);
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    vigie.signal(Signal::TERM);
    assert_eq!(vigie.wait_for_exit(), Some(1));
}

#[test]
fn quiet_connections_are_closed_without_a_word() {
    let mut vigie = serve("shutdown_timeout: 1h");
    let mut used = vigie.connect();
    assert_eq!(used.ask("GET", "/livez", &[]).status, 200);
    let mut never_used = vigie.connect();
    assert_eq!(
        vigie.get("/livez").status,
        200,
        "connections are let in one after the other"
    );
    assert_eq!(vigie.stop(), Some(0));
    used.wait_for_close();
    never_used.wait_for_close();
}

#[test]
fn a_request_under_way_is_answered_before_the_end() {
    let mut vigie = serve("");
    let mut under_way = begin(&vigie);
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    let answers = under_way.send(b"hello").receive_all();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (answers[0].status, answers[0].header("connection")),
        (200, Some("close"))
    );
    assert_eq!(vigie.wait_for_exit(), Some(0));
}

#[test]
fn a_request_that_has_come_and_is_not_read_yet_is_answered_before_the_end() {
    let mut vigie = serve("");
    let mut quiet = vigie.connect();
    assert_eq!(quiet.ask("GET", "/livez", &[]).status, 200);
    vigie.signal(Signal::STOP);
    quiet.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
    vigie.signal(Signal::TERM);
    vigie.signal(Signal::CONT);
    let answers = quiet.receive_all();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].status, 200);
    assert_eq!(vigie.wait_for_exit(), Some(0));
}

#[test]
fn a_read_under_way_is_answered_before_the_end() {
    let Some(mount) = Hanging::mount("a read under way at the end", "list.txt", "10.0.0.1\n")
    else {
        return;
    };
    let path = mount.path("list.txt");
    let services = format!("hung: {{file: {{path: {}, timeout: 1m}}}}", path.display());
    let mut vigie = Setup::services(&services).start();
    mount.hang();
    let mut waiting = vigie.connect();
    waiting.send(b"GET /services?service_name=hung HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(vigie.get("/livez").status, 200);
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    mount.go_on();
    let answers = waiting.receive_all();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (answers[0].summary(), answers[0].header("connection")),
        ((200, only("10.0.0.1").as_str()), Some("close"))
    );
    assert_eq!(vigie.wait_for_exit(), Some(0));
}

#[test]
fn what_takes_longer_than_shutdown_timeout_is_given_up_with_0() {
    let mut vigie = serve("shutdown_timeout: 300ms\nrequest_timeout: 1h");
    let mut under_way = begin(&vigie);
    let begin = Instant::now();
    assert_eq!(vigie.stop(), Some(0));
    assert!(
        (Duration::from_millis(300)..Duration::from_secs(5)).contains(&begin.elapsed()),
        "{:?}",
        begin.elapsed()
    );
    under_way.drain();
}

#[test]
fn a_file_system_that_hangs_does_not_hold_up_the_end() {
    let Some(mount) = Hanging::mount(
        "the end while a file system hangs",
        "list.txt",
        "10.0.0.1\n",
    ) else {
        return;
    };
    let path = mount.path("list.txt");
    let services = format!(
        "hung: {{file: {{path: {}, timeout: 100ms}}}}",
        path.display()
    );
    let mut vigie = Setup::services(&services).start();
    mount.hang();
    assert_eq!(vigie.list("hung").status, 504);
    let begin = Instant::now();
    assert_eq!(vigie.stop(), Some(0));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}

/// A server at a port, and at a unix socket whose file system hangs now.
fn serve_at_a_socket_that_hangs(promise: &str) -> Option<(Hanging, Vigie)> {
    let mount = Hanging::mount(promise, "list.txt", "10.0.0.1\n")?;
    let socket = format!("unix:{}", mount.path("vigie.sock").display());
    let vigie = Setup::services("one: {file: one.txt}")
        .addresses(&["127.0.0.1:0", &socket])
        .server("shutdown_timeout: 1h\nrequest_timeout: 1h")
        .start();
    vigie.log.wait_for("started: 1 service");
    mount.hang();
    Some((mount, vigie))
}

#[test]
fn a_unix_socket_whose_file_system_hangs_does_not_hold_up_the_end_nor_what_is_under_way() {
    let Some((_mount, mut vigie)) = serve_at_a_socket_that_hangs("the end of a socket that hangs")
    else {
        return;
    };
    let mut under_way = begin(&vigie);
    let begun = Instant::now();
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    assert_eq!(under_way.send(b"hello").receive().status, 200);
    assert_eq!(vigie.wait_for_exit(), Some(0));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn a_second_signal_does_not_wait_for_a_unix_socket_whose_file_system_hangs() {
    let Some((_mount, mut vigie)) = serve_at_a_socket_that_hangs("a second signal beside a socket")
    else {
        return;
    };
    let _under_way = begin(&vigie);
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    vigie.signal(Signal::TERM);
    assert_eq!(vigie.wait_for_exit(), Some(1));
}

#[test]
fn nobody_is_let_in_after_the_delay() {
    let mut vigie = serve("request_timeout: 1h");
    let mut under_way = begin(&vigie);
    vigie.signal(Signal::TERM);
    wait_until_stopping(&vigie);
    assert!(
        under_way.is_silent(),
        "the one under way is still waited for"
    );
    assert_eq!(under_way.send(b"hello").receive().status, 200);
    assert_eq!(vigie.wait_for_exit(), Some(0));
}

#[test]
fn unix_sockets_are_taken_away() {
    let mut vigie = Setup::services("")
        .addresses(&["unix:a.sock", "unix:b.sock"])
        .start();
    wait_until("both are there", || vigie.setup.path("b.sock").exists());
    assert_eq!(vigie.stop(), Some(0));
    assert!(!vigie.setup.path("a.sock").exists() && !vigie.setup.path("b.sock").exists());
}

#[test]
fn unix_sockets_are_taken_away_at_a_second_signal_too() {
    let mut vigie = Setup::services("")
        .addresses(&["unix:a.sock"])
        .server("shutdown_delay: 1h")
        .start();
    wait_until("it is there", || vigie.setup.path("a.sock").exists());
    vigie.signal(Signal::TERM);
    vigie.log.wait_for("stopping");
    vigie.signal(Signal::TERM);
    assert_eq!(vigie.wait_for_exit(), Some(1));
    assert!(!vigie.setup.path("a.sock").exists());
}

#[test]
fn a_port_can_be_taken_again_at_once() {
    let mut vigie = serve("");
    let address = format!("127.0.0.1:{}", vigie.port());
    let mut kept = vigie.connect();
    assert_eq!(kept.ask("GET", "/livez", &[]).status, 200);
    assert_eq!(vigie.stop(), Some(0));
    // The connections of the old server are still in TIME-WAIT: it was the side that closed first.
    kept.wait_for_close();
    let next = Setup::services("").addresses(&[&address]).start();
    assert_eq!(next.get("/livez").status, 200);
}

/// A server that is reading its configuration from a file system that hangs.
fn start_hanging(promise: &str) -> Option<(Hanging, Vigie)> {
    let config =
        "server: {address: \"unix:vigie.sock\"}\nservices: {one: {file: one.txt, cache_ttl: 0s}}\n";
    let mount = Hanging::mount(promise, "config.yml", config)?;
    mount.hang();
    let vigie = Setup::services("")
        .addresses(&["unix:vigie.sock"])
        .file("one.txt", "10.0.0.1\n")
        .start_later(&mount.path("config.yml"));
    wait_until("it takes signals", || {
        let taken = u64::from_str_radix(&vigie.status("SigCgt"), 16).unwrap();
        let all = [Signal::HUP, Signal::INT, Signal::TERM];
        vigie.status("Name") == "vigie"
            && all
                .iter()
                .all(|signal| taken >> (signal.as_raw() - 1) & 1 == 1)
    });
    Some((mount, vigie))
}

#[test]
fn a_signal_that_comes_while_the_configuration_is_read_ends_it_with_0() {
    let Some((mount, mut vigie)) = start_hanging("the end while the configuration is read") else {
        return;
    };
    vigie.signal(Signal::TERM);
    assert_eq!(vigie.wait_for_exit(), Some(0), "while it hangs");
    mount.go_on();
}

#[test]
fn a_reload_that_is_asked_for_while_the_configuration_is_read_does_not_end_it() {
    let Some((mount, mut vigie)) = start_hanging("a reload while the configuration is read") else {
        return;
    };
    vigie.signal(Signal::HUP);
    mount.go_on();
    vigie.log.wait_for("started: 1 service");
    assert_eq!(
        vigie.list("one").summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_eq!(vigie.stop(), Some(0));
}
