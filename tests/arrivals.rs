//! Requests that arrive in pieces, that ask before they go on, or that end too early.

use crate::support::framing::statuses;
use crate::support::{Connection, Setup, Vigie, wait_until};

fn serve() -> Vigie {
    Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1:80\n")
        .start()
}

#[test]
fn a_client_that_asks_is_told_to_go_on() {
    let vigie = serve();
    for expect in ["100-continue", "100-Continue"] {
        let mut connection = vigie.connect();
        connection.send(
            format!(
                "POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: {expect}\r\n\r\n"
            )
            .as_bytes(),
        );
        assert_eq!(connection.receive().status, 100);
        assert_eq!(connection.send(b"hello").receive().status, 200);
        connection.send(b"POST /reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!(connection.receive().status, 100);
        assert_eq!(connection.send(b"0\r\n\r\n").receive().status, 200);
    }
}

#[test]
fn a_client_whose_body_is_refused_is_not_told_to_go_on() {
    let head = "POST /livez HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n";
    let vigie = serve();
    for (header, status) in [
        ("Content-Length: 65537", 413),
        ("Content-Length: x", 400),
        ("Transfer-Encoding: gzip", 501),
    ] {
        assert_eq!(
            statuses(&vigie.tell(format!("{head}{header}\r\n\r\n").as_bytes())),
            [status],
            "{header}"
        );
    }
}

#[test]
fn any_other_expectation_is_417() {
    let vigie = serve();
    for expect in ["200-ok", "100-continue, x", "x"] {
        let request = format!(
            "POST /livez HTTP/1.1\r\nHost: x\r\nExpect: {expect}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        );
        assert_eq!(statuses(&vigie.tell(request.as_bytes())), [417], "{expect}");
        let head = request.strip_suffix("hello").unwrap();
        let answers = vigie.tell(head.as_bytes());
        assert_eq!(statuses(&answers), [417], "{expect}, before the body");
    }
}

#[test]
fn http_1_0_expects_nothing() {
    let request = "POST /livez HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello";
    serve().closes(405, &[request]);
}

#[test]
fn a_refusal_reaches_a_client_that_is_still_sending() {
    let junk = "x".repeat(256 << 10);
    let requests = [
        (400, format!("NONSENSE\r\n{junk}")),
        (431, format!("GET /livez HTTP/1.1\r\nX: {junk}")),
        (414, format!("GET /{junk}")),
        (
            413,
            format!("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{junk}"),
        ),
        (
            413,
            format!(
                "POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffff\r\n{junk}"
            ),
        ),
        (
            501,
            format!("POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{junk}"),
        ),
        (505, format!("GET /livez HTTP/2.0\r\nHost: x\r\n\r\n{junk}")),
    ];
    let vigie = serve();
    for (status, request) in requests {
        let mut connection = vigie.connect();
        let answers = connection.send(request.as_bytes()).receive_all();
        assert_eq!(statuses(&answers), [status]);
        assert!(!answers[0].error().is_empty());
        // A reset could overtake the answer on its way to a client that has not read it yet.
        assert!(connection.takes(&[b'x'; 64 << 10]), "reset after {status}");
    }
}

/// A request with a body in chunks, and one behind it.
const SPLIT: &[u8] = b"POST /reload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0\r\nX: y\r\n\r\n\
    GET /services?service_name=one HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Returns when the server has taken what was sent before: it answers on the same loop.
fn let_it_read(probe: &mut Connection) {
    assert_eq!(probe.ask("GET", "/livez", &[]).status, 200);
}

#[test]
fn a_request_split_anywhere_gets_the_same_answer() {
    let vigie = serve();
    let whole: Vec<_> = vigie
        .tell(SPLIT)
        .into_iter()
        .map(|answer| (answer.status, answer.body))
        .collect();
    assert_eq!(
        whole.iter().map(|(status, _)| *status).collect::<Vec<_>>(),
        [200, 200]
    );
    let mut probe = vigie.connect();
    let firsts = (1..SPLIT.len()).map(|at| {
        let mut connection = vigie.connect();
        connection.send(&SPLIT[..at]);
        (at, connection)
    });
    let firsts: Vec<_> = firsts.collect();
    let_it_read(&mut probe);
    for (at, mut connection) in firsts {
        let answers = connection.send(&SPLIT[at..]).receive_all();
        let answers: Vec<_> = answers
            .into_iter()
            .map(|answer| (answer.status, answer.body))
            .collect();
        assert_eq!(answers, whole, "split after {}", SPLIT[..at].escape_ascii());
    }
}

#[test]
fn a_request_that_drips_byte_by_byte_is_answered() {
    let vigie = serve();
    let [mut connection, mut probe] = [vigie.connect(), vigie.connect()];
    for byte in SPLIT {
        connection.send(&[*byte]);
        let_it_read(&mut probe);
    }
    assert_eq!(statuses(&connection.receive_all()), [200, 200]);
}

#[test]
fn a_client_that_closes_its_side_after_a_request_still_gets_the_answer() {
    let vigie = serve();
    for request in [
        "GET /services?service_name=one HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /services?service_name=one HTTP/1.0\r\n\r\n",
    ] {
        let answers = vigie
            .connect()
            .send(request.as_bytes())
            .half_close()
            .receive_all();
        assert_eq!(statuses(&answers), [200]);
    }
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_request_leaves_nothing_behind() {
    let vigie = serve();
    let before = vigie.count("fd");
    for length in 0..SPLIT.len() / 2 {
        vigie.connect().send(&SPLIT[..length]);
    }
    wait_until("their connections are closed", || {
        vigie.count("fd") <= before
    });
    assert_eq!(vigie.list("one").status, 200);
}
