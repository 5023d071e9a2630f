//! Connections to servers are kept for the next read, and one that is no longer there is no error.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::peer::{answer, list};
use crate::support::{Authority, Peer, Reply, Setup, Vigie, assert_says, only, wait_until};

fn serve(peer: &Peer) -> Vigie {
    Setup::services(&format!("web: {{url: {}, cache_ttl: 0s}}", peer.url("/"))).start()
}

/// Gives these replies one after the other, then the list for ever.
fn scripted(replies: impl Fn(usize) -> Option<Reply> + Send + Sync + 'static) -> Peer {
    let next = AtomicUsize::new(0);
    Peer::start(move |_| {
        let reply = replies(next.fetch_add(1, Ordering::Relaxed));
        reply.unwrap_or_else(|| Reply::Keep(list("10.0.0.1")))
    })
}

/// Reads so many times, which must go well.
#[track_caller]
fn read(vigie: &Vigie, times: usize) {
    for _ in 0..times {
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
}

#[test]
fn one_connection_serves_many_reads() {
    for bytes in [
        list("10.0.0.1"),
        b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 8\r\n\r\n10.0.0.1".to_vec(),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n10.0.0.1\r\n0\r\n\r\n".to_vec(),
    ] {
        let peer = Peer::always(bytes);
        let vigie = serve(&peer);
        read(&vigie, 5);
        assert_eq!((peer.requests().len(), peer.connections()), (5, 1));
    }
    let peer = Peer::always(answer("404 x", "", "nothing"));
    let vigie = serve(&peer);
    assert_eq!([(); 3].map(|()| vigie.list("web").status), [502; 3]);
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_connection_is_not_kept_where_the_server_says_so() {
    for bytes in [
        answer("200 OK", "Connection: foo, Close\r\n", "10.0.0.1"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 8\r\n\r\n10.0.0.1".to_vec(),
        // Bytes that nobody asked for must not become the next answer.
        [list("10.0.0.1"), list("10.0.0.2")].concat(),
    ] {
        let peer = Peer::always(bytes);
        let vigie = serve(&peer);
        let before = vigie.count("fd");
        read(&vigie, 3);
        assert_eq!(peer.connections(), 3);
        wait_until("the connections are closed", || vigie.count("fd") <= before);
    }
}

#[test]
fn a_connection_that_the_server_closed_is_replaced_without_an_error() {
    let peer = Peer::ending(list("10.0.0.1"));
    let vigie = serve(&peer);
    read(&vigie, 1);
    let before = vigie.count("fd");
    read(&vigie, 4);
    assert_eq!((peer.requests().len(), peer.connections()), (5, 5));
    wait_until("what the server closed is closed", || {
        vigie.count("fd") <= before
    });
}

#[test]
fn a_connection_that_the_server_closes_instead_of_an_answer_is_replaced() {
    let ends: [fn() -> Reply; 3] = [
        || Reply::End(Vec::new()),
        || Reply::Reset(Vec::new()),
        || Reply::End(answer("408 x", "Connection: close\r\n", "")),
    ];
    for end in ends {
        let peer = scripted(move |number| (number % 2 == 1).then(end));
        let vigie = serve(&peer);
        read(&vigie, 1);
        // The second request comes on the first connection, which ends, and again on the second one.
        read(&vigie, 1);
        assert_eq!((peer.requests().len(), peer.connections()), (3, 2));
    }
}

#[test]
fn a_request_whose_answer_has_begun_is_not_sent_again() {
    let peer = scripted(|number| (number == 1).then(|| Reply::End(b"HTTP/1.1 2".to_vec())));
    let vigie = serve(&peer);
    read(&vigie, 1);
    assert_says(
        &vigie.list("web").error(),
        &["reading the head of the answer: it was cut short"],
    );
    assert_eq!(peer.requests().len(), 2);
    read(&vigie, 1);
}

#[test]
fn a_new_connection_without_an_answer_is_a_failure_at_once() {
    let peer = Peer::ending("");
    let vigie = serve(&peer);
    assert_says(
        &vigie.list("web").error(),
        &["waiting for the answer: the server ended the connection"],
    );
    assert_eq!(peer.requests().len(), 1);
}

#[test]
fn a_connection_with_tls_is_kept_too() {
    let authority = Authority::new();
    let server = authority.sign(&["127.0.0.1"]).server(None);
    let peer = Peer::tls(server, |_| Reply::Keep(list("10.0.0.1")));
    let keys = format!("{{url: \"{}\", ca_file: ca.pem}}", peer.url("/"));
    let vigie = Setup::services(&format!("web: {{url: {keys}, cache_ttl: 0s}}"))
        .file("ca.pem", authority.pem())
        .start();
    read(&vigie, 5);
    assert_eq!((peer.requests().len(), peer.connections()), (5, 1));
}

#[test]
fn tls_sessions_are_resumed() {
    let authority = Authority::new();
    let server = authority.sign(&["127.0.0.1"]).server(None);
    let peer = Peer::tls(server, |_| Reply::End(list("10.0.0.1")));
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", ca_file: ca.pem}}, cache_ttl: 0s}}",
        peer.url("/")
    ))
    .file("ca.pem", authority.pem())
    .start();
    read(&vigie, 4);
    assert_eq!((peer.connections(), peer.resumed()), (4, 3));
}

#[test]
fn a_kept_connection_is_closed_by_a_reload_and_with_vigie() {
    let peer = Peer::always(list("10.0.0.1"));
    let mut vigie = serve(&peer);
    let before = vigie.count("fd");
    read(&vigie, 1);
    assert!(vigie.count("fd") > before);
    assert_eq!(vigie.reload().status, 200);
    wait_until("it is closed", || vigie.count("fd") <= before);
    read(&vigie, 1);
    assert_eq!(vigie.stop(), Some(0));
}

/// So many services of one server.
fn services(peer: &Peer, count: usize) -> String {
    let service = |number| format!("s{number}: {{url: {}, cache_ttl: 0s}}\n", peer.url("/"));
    (0..count).map(service).collect()
}

#[test]
fn the_kept_connections_of_all_services_are_few() {
    let peer = Peer::always(list("10.0.0.1"));
    for (shell, most) in [("", 32), ("ulimit -n 64", 8)] {
        let setup = Setup::services(&services(&peer, 70)).after(shell);
        let vigie = setup.start();
        let before = vigie.count("fd");
        for _ in 0..2 {
            for number in 0..70 {
                let answer = vigie.list(&format!("s{number}"));
                assert_eq!(answer.status, 200, "{:?}", answer.text());
            }
            wait_until("the clients are gone", || {
                vigie.count("fd") <= before + most
            });
        }
    }
}

#[test]
fn where_files_run_out_kept_connections_make_room_and_then_the_limit_is_named() {
    let kept = Peer::always(list("10.0.0.1"));
    let hanging = Peer::start(|_| Reply::Act(Box::new(|_| std::thread::park())));
    let ending = Peer::start(|_| Reply::Cut(answer("200 OK", "Connection: close\r\n", "10.0.0.2")));
    let hung: String = (0..30)
        .map(|number| {
            format!(
                "h{number}: {{url: {{url: \"{}\", timeout: 60s}}}}\n",
                hanging.url("/")
            )
        })
        .collect();
    let fresh = format!("fresh: {{url: {}, cache_ttl: 0s}}\n", ending.url("/"));
    let vigie = Setup::services(&(services(&kept, 8) + &hung + &fresh))
        .after("ulimit -n 64")
        .start();
    let mut asking = vigie.connect();
    let ask = |connection: &mut crate::support::Connection, name: &str| {
        connection.ask("GET", &format!("/services?service_name={name}"), &[])
    };
    for number in 0..8 {
        assert_eq!(ask(&mut asking, &format!("s{number}")).status, 200);
    }
    // What it inherits may have a number beyond the limit, and then takes no room.
    let open = || {
        let files = std::fs::read_dir(vigie.proc("fd")).unwrap();
        let numbers = files.filter_map(|file| file.unwrap().file_name().to_str()?.parse().ok());
        numbers.filter(|number: &u32| *number < 64).count()
    };
    let mut clients = Vec::new();
    let mut fill = || {
        while open() < 64 {
            let (before, number) = (open(), clients.len());
            let mut client = vigie.connect();
            let name = format!("GET /services?service_name=h{number} HTTP/1.1\r\nHost: h\r\n\r\n");
            if before <= 62 {
                client.send(name.as_bytes());
            }
            clients.push(client);
            wait_until("it is taken", || open() >= (before + 2).min(64));
        }
    };
    fill();
    let fresh = ask(&mut asking, "fresh");
    assert_eq!(fresh.summary(), (200, only("10.0.0.2").as_str()));
    fill();
    let refused = ask(&mut asking, "fresh");
    assert_eq!(refused.status, 502);
    let want = format!(
        "service fresh: url {}: connecting to {}: Too many open files; raise the limit of open files",
        ending.url("/"),
        ending.address
    );
    assert_eq!(refused.error(), want);
}
