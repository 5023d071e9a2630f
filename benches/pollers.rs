//! Many clients that each ask once a second, as proxies do: how long do they wait?
//!
//! The server runs on the first core and the clients on the second one, so what they measure has their
//! own waiting in it. `VIGIE_POLLERS` sets how many there are.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_io::{Async, Timer};
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::{Executor, future};

const REQUEST: &[u8] = b"GET /services?service_name=web HTTP/1.1\r\nHost: localhost\r\n\r\n";
const SECONDS: u32 = 8;

/// A server that is killed when it is dropped.
struct Server(Child, SocketAddr);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &std::path::Path) -> Server {
    let config = folder.join("config.yml");
    let text = "server: {address: '127.0.0.1:0', max_connections: 20000}\ncache: {ttl: 1h}\nservices: {web: {file: list.txt}}\n";
    std::fs::write(
        folder.join("list.txt"),
        "10.0.0.1:80 1\n10.0.0.2:80 2\n10.0.0.3:80 3\n",
    )
    .expect("a list");
    std::fs::write(&config, text).expect("a configuration");
    let command = ["-c", "0", env!("CARGO_BIN_EXE_vigie"), "serve", "-c"];
    let mut child = Command::new("taskset")
        .args(command)
        .arg(config)
        .stderr(Stdio::piped())
        .spawn()
        .expect("taskset");
    let lines = BufReader::new(child.stderr.take().expect("its log")).lines();
    let address = lines
        .map_while(Result::ok)
        .find_map(|line| line.split("listening on ").nth(1)?.trim().parse().ok());
    Server(child, address.expect("the log names the address"))
}

/// Asks once a second, the first time after `offset`, and says how long each answer took.
async fn poll(server: SocketAddr, offset: Duration) -> Vec<Duration> {
    let mut connection = Async::<std::net::TcpStream>::connect(server)
        .await
        .expect("a connection");
    let mut buffer = [0; 1024];
    let begin = Instant::now() + Duration::from_secs(1) + offset;
    let mut waits = Vec::new();
    for second in 0..SECONDS {
        Timer::at(begin + Duration::from_secs(second.into())).await;
        let asked = Instant::now();
        connection
            .write_all(REQUEST)
            .await
            .expect("the request is sent");
        let count = connection.read(&mut buffer).await.expect("an answer comes");
        assert!(
            buffer[..count].starts_with(b"HTTP/1.1 200 OK\r\n"),
            "the answer is a list"
        );
        waits.push(asked.elapsed());
    }
    waits
}

fn main() {
    let pollers: u32 = std::env::var("VIGIE_POLLERS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(10_000);
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve(folder.path());
    let executor = Executor::new();
    let offset = |n| Duration::from_secs(1) * n / pollers;
    let polling: Vec<_> = (0..pollers)
        .map(|n| executor.spawn(poll(server.1, offset(n))))
        .collect();
    let mut waits = smol::block_on(executor.run(async {
        let mut waits = Vec::new();
        for polling in polling {
            waits.extend(polling.await);
            future::yield_now().await;
        }
        waits
    }));
    waits.sort_unstable();
    let share = |percent: usize| waits[(waits.len() - 1) * percent / 100];
    println!(
        "{pollers} pollers, {} answers: p50 {:?}, p99 {:?}, longest {:?}",
        waits.len(),
        share(50),
        share(99),
        share(100)
    );
}
