//! Memory is short: within a limit, hostile clients and servers cost what the README says, and nobody is killed.

use std::fs;
use std::io::Write;
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::limits::allow_many_files;
use crate::support::dns::DnsServer;
use crate::support::peer::{answer, list};
use crate::support::{Connection, Group, Peer, Reply, Setup, Vigie, assert_says, only, wait_until};

/// What the container of the README has half of.
const LIMIT: usize = 16 << 20;
const CONNECTIONS: usize = 200;

/// A server in a group of this limit, with a good service beside these.
fn serve(promise: &str, services: &str) -> Option<(Group, Vigie)> {
    let group = Group::new(promise, "memory")?;
    group.limit_memory(LIMIT);
    let services = format!("good: {{file: good.txt, cache_ttl: 0s}}\n{services}");
    let vigie = Setup::services(&services)
        .file("good.txt", "10.0.0.1\n")
        .server(&format!(
            "max_connections: {CONNECTIONS}\nrequest_timeout: 1m\nwrite_timeout: 1m"
        ))
        .after(&group.enter())
        .start();
    Some((group, vigie))
}

fn is_good(vigie: &Vigie) {
    assert_eq!(vigie.list("good").summary(), (200, &*only("10.0.0.1")));
}

/// As many connections as there may be but one, each with these bytes.
fn occupy(vigie: &Vigie, bytes: &[u8]) -> Vec<Connection> {
    let occupy = |_| {
        let mut connection = vigie.connect();
        connection.send(bytes);
        connection
    };
    let all: Vec<_> = (1..CONNECTIONS).map(occupy).collect();
    is_good(vigie);
    all
}

#[test]
fn clients_of_every_bad_kind_fit_into_16_mib() {
    let lines: String = (0..20_000)
        .map(|n| format!("10.0.{}.{}\n", n >> 8, n & 255))
        .collect();
    let promise = "hostile clients in 16 MiB";
    let Some((group, vigie)) = serve(promise, "large: {file: large.txt, cache_ttl: 0s}") else {
        return;
    };
    vigie.setup.write("large.txt", lines);
    let rest = vigie.count("fd");
    let head = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(16 << 10));
    let almost = &head.as_bytes()[..(16 << 10) - 1];
    let large = b"GET /services?service_name=large HTTP/1.1\r\nHost: x\r\n\r\n";
    for bytes in [
        almost,
        &almost.repeat(16),
        &b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\nx"[..],
        &b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2000),
        &large.repeat(200),
        large,
    ] {
        drop(occupy(&vigie, bytes));
        wait_until("they are gone", || vigie.count("fd") == rest);
    }
    assert_eq!(group.killed(), 0);
}

#[test]
fn servers_of_every_bad_kind_fit_into_16_mib() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        bomb.write_all(&[b'1'; 1 << 20]).unwrap();
    }
    let gzip = "Content-Encoding: gzip\r\n";
    let bomb = Peer::always(answer("200 OK", gzip, bomb.finish().unwrap()));
    let endless = Peer::start(|_| {
        Reply::Act(Box::new(|wire| {
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while wire.write_all(&b"10.0.0.1\n".repeat(1000)).is_ok() {}
        }))
    });
    let nested = Peer::always(answer(
        "200 OK",
        "Content-Type: application/json\r\n",
        "[".repeat(1 << 20),
    ));
    let shortest = Peer::always(list("a\n".repeat(1 << 19)));
    let fine = Peer::always(list("10.0.0.2\n".repeat(30_000)));
    let peers = [
        ("bomb", &bomb),
        ("endless", &endless),
        ("nested", &nested),
        ("shortest", &shortest),
        ("fine", &fine),
    ];
    let services: Vec<_> = peers
        .iter()
        .map(|(name, peer)| {
            let keys = format!("{{url: \"{}\", max_size: 1MiB}}", peer.url("/"));
            format!("{name}: {{url: {keys}, cache_ttl: 0s}}\n")
        })
        .collect();
    let file = "long: {file: {path: long.txt, max_size: 1MiB}, cache_ttl: 0s}\n";
    let promise = "hostile servers in 16 MiB";
    let Some((group, vigie)) = serve(promise, &(services.concat() + file)) else {
        return;
    };
    vigie
        .setup
        .write("long.txt", "10.0.0.1\n".repeat(1_000_000));
    for _ in 0..5 {
        thread::scope(|scope| {
            for (service, status, words) in [
                ("bomb", 502, "the body has more than 1048576 bytes"),
                ("endless", 502, "the body has more than 1048576 bytes"),
                ("nested", 502, "nested more than 64 deep"),
                ("shortest", 502, "the list has more than 250000 endpoints"),
                ("long", 502, "it is too large"),
            ] {
                let vigie = &vigie;
                scope.spawn(move || {
                    let answer = vigie.list(service);
                    assert_eq!(answer.status, status, "{service}: {:?}", answer.text());
                    assert_says(&answer.error(), &[words]);
                });
            }
        });
        let fine = vigie.list("fine");
        assert_eq!(
            (fine.status, fine.text().matches("10.0.0.2").count()),
            (200, 30_000)
        );
        is_good(&vigie);
    }
    assert_eq!(group.killed(), 0);
}

#[test]
fn a_thousand_services_and_a_hundred_reloads_fit_into_16_mib() {
    let silent = DnsServer::silent();
    let services: String = (0..1000)
        .map(|n| format!("s{n}: {{file: good.txt}}\n"))
        .collect();
    let address = silent.address();
    let hangs = format!("hangs: {{dns: {{name: web.test, servers: '{address}', timeout: 1m}}}}\n");
    let Some((group, vigie)) = serve("reloads in 16 MiB", &(services + &hangs)) else {
        return;
    };
    let mut waiting = Vec::new();
    for n in 0..100 {
        // Who waits through all of them holds nothing but what it waits for.
        let mut connection = vigie.connect();
        connection.send(b"GET /services?service_name=hangs HTTP/1.1\r\nHost: x\r\n\r\n");
        waiting.push(connection);
        assert_eq!(vigie.reload().summary(), (200, "{\"services\":1002}\n"));
        let answer = vigie.list(&format!("s{n}"));
        assert_eq!(answer.summary(), (200, &*only("10.0.0.1")));
    }
    wait_until("no thread is left over", || vigie.threads("blocking") == 0);
    assert!(waiting.iter_mut().all(Connection::is_silent));
    assert_eq!(group.killed(), 0);
}

/// What the container of the README and the pods of the manifests may have.
const SAMPLE_LIMIT: usize = 32 << 20;

/// The configuration in a ConfigMap.
fn of_config_map(text: &str) -> String {
    let lines = text
        .lines()
        .skip_while(|line| !line.ends_with("config.yml: |"));
    let block = lines.skip(1).map_while(|line| line.strip_prefix("    "));
    block.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_samples_hold_as_many_clients_as_their_memory_does() {
    allow_many_files();
    let container = fs::read_to_string("config/container/config.yml").unwrap();
    let config_map = fs::read_to_string("config/kubernetes/configmap.yml").unwrap();
    for config in [
        container.replace("0.0.0.0:8080", "127.0.0.1:8080"),
        of_config_map(&config_map),
    ] {
        let Some(group) = Group::new("the memory of the samples", "memory") else {
            return;
        };
        group.limit_memory(SAMPLE_LIMIT);
        let vigie = Setup::services("").after(&group.enter()).start_as(&config);
        let head = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(16_300));
        // As many as there would be seats without a word about it.
        let clients: Vec<_> = (0..4096)
            .map(|_| {
                let mut client = vigie.connect();
                client.send(head.as_bytes());
                client
            })
            .collect();
        drop(clients);
        wait_until("others are answered", || vigie.get("/livez").status == 200);
        assert_eq!(group.killed(), 0, "{config}");
    }
}
