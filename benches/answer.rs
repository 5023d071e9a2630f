//! A kept list over a real connection: from the request's first byte to the answer's last.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use smol::Executor;
use vigie::catalog::{Catalog, Current};
use vigie::clock::Clock;
use vigie::config::{self, Address};
use vigie::http::counts::Counts;
use vigie::http::listener::Listener;
use vigie::http::seats::{Limits, Seats};
use vigie::http::shared::{Phase, Scratch, Shared};
use vigie::slot::Runtime;

static EXECUTOR: Executor<'static> = Executor::new();

/// Serves a list of so many endpoints on a thread of its own, and gives the address.
fn serve(count: usize) -> String {
    let folder = tempfile::tempdir().expect("a folder for the list").keep();
    let lines: String = (0..count)
        .map(|n| format!("10.0.{}.{}:8080 {n}\n", n >> 8, n & 255))
        .collect();
    std::fs::write(folder.join("list.txt"), lines).expect("the list is written");
    let text = "cache: {ttl: 1h}\nservices: {web: {file: list.txt}}";
    let config =
        config::parse(text, &folder.join("config.yml")).expect("the configuration is good");
    let limit = Duration::from_secs(3600);
    let shared = Arc::new(Shared {
        catalog: Arc::new(Current::new(
            Catalog::build(config.services, None).expect("the services can be built"),
        )),
        runtime: Runtime {
            clock: Clock::System,
            spawn: Arc::new(|task| EXECUTOR.spawn(task).detach()),
        },
        seats: Seats::new(Limits {
            connections: 100,
            refused: 1,
            request: limit,
            write: limit,
            idle: limit,
        }),
        reloader: None,
        phase: Phase::default(),
        scratch: Mutex::new(Scratch::default()),
        counts: Counts::default(),
        durations: Arc::default(),
        reloads: Arc::default(),
    });
    let address = Address::Tcp(([127, 0, 0, 1], 0).into());
    let listener = Listener::bind(&address, 0).expect("an address on the loopback");
    let name = listener.name.clone();
    thread::spawn(move || {
        smol::block_on(EXECUTOR.run(async move { listener.accept_all(&shared).await }))
    });
    name
}

/// One request, and the whole of its answer.
fn ask(connection: &mut TcpStream, buffer: &mut [u8]) -> usize {
    connection
        .write_all(b"GET /services?service_name=web HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .expect("it is sent");
    let mut filled = 0;
    loop {
        filled += connection
            .read(&mut buffer[filled..])
            .expect("an answer comes");
        if buffer[..filled].ends_with(b"\n]\n") {
            return filled;
        }
    }
}

fn bench(criterion: &mut Criterion) {
    for count in [1, 100, 1_000] {
        let mut connection =
            TcpStream::connect(serve(count)).expect("the server takes connections");
        connection.set_nodelay(true).expect("a TCP connection");
        let mut buffer = vec![0; 1 << 20];
        criterion.bench_function(&format!("answer of {count} endpoints"), |bencher| {
            bencher.iter(|| ask(&mut connection, &mut buffer));
        });
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
