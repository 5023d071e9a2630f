//! Clients of every bad kind, bounded in how many there are at once and how much they do, so that the machine still
//! serves the honest ones.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::chance::Chance;
use crate::stage::Stage;

#[derive(Clone, Copy, Debug)]
enum Bad {
    SlowHead,
    HalfHead,
    DeafReader,
    EndlessLine,
    LargeHead,
    LargeBody,
    Garbage,
    Reset,
    Tls,
    Http2,
    Smuggling,
    ConnectAndLeave,
    GarbageBehind,
    OtherSite,
    Unknown,
    LeavesEarly,
}

const ALL: [Bad; 16] = [
    Bad::SlowHead,
    Bad::HalfHead,
    Bad::DeafReader,
    Bad::EndlessLine,
    Bad::LargeHead,
    Bad::LargeBody,
    Bad::Garbage,
    Bad::Reset,
    Bad::Tls,
    Bad::Http2,
    Bad::Smuggling,
    Bad::ConnectAndLeave,
    Bad::GarbageBehind,
    Bad::OtherSite,
    Bad::Unknown,
    Bad::LeavesEarly,
];

const CROWD: &[u8] = b"GET /services?service_name=crowd HTTP/1.1\r\nHost: x\r\n\r\n";

/// Starts so many threads of them.
pub(crate) fn start(stage: &Arc<Stage>, threads: usize) {
    for number in 0..threads {
        let name = format!("bad clients {number}");
        let (shared, mut chance, mut deck) = (stage.clone(), stage.chance(&name), Vec::new());
        stage.run(&name, move || {
            shared.pause(chance.ms(10..200));
            let bad = chance.deal(&mut deck, &ALL);
            shared.tally.count("bad clients", format!("{bad:?}"));
            play(&shared, bad, &mut chance);
        });
    }
}

fn play(stage: &Stage, bad: Bad, chance: &mut Chance) {
    match bad {
        Bad::OtherSite => {
            let answer = stage
                .vigie
                .ask("POST", "/reload", &[("Origin", "http://evil.test")]);
            assert_eq!(answer.status, 403, "a reload from another site");
        }
        Bad::Unknown => {
            let name = format!("nobody-{}", chance.number(0..1 << 30));
            let answer = stage.vigie.list(&name);
            assert!(
                answer.status == 404 && answer.error().contains(&name),
                "{answer:?}"
            );
        }
        Bad::ConnectAndLeave => {
            let all: Vec<TcpStream> = (0..chance.number(1..100))
                .filter_map(|_| connect(stage))
                .collect();
            drop(all);
        }
        Bad::SlowHead => {
            let mut all: Vec<TcpStream> = (0..20).filter_map(|_| connect(stage)).collect();
            for byte in b"GET /livez HTTP/1.1\r\n" {
                all.iter_mut()
                    .for_each(|stream| drop(stream.write_all(&[*byte])));
                stage.pause(Duration::from_millis(60));
            }
        }
        Bad::HalfHead => {
            let mut all: Vec<TcpStream> = (0..chance.number(1..30))
                .filter_map(|_| connect(stage))
                .collect();
            all.iter_mut().for_each(|stream| {
                drop(stream.write_all(b"GET /services?service_name=crowd HTTP/1.1\r\nHo"))
            });
            stage.pause(chance.ms(0..2500));
        }
        _ => {
            if let Some(stream) = connect(stage) {
                alone(stage, bad, chance, stream);
            }
        }
    }
}

fn connect(stage: &Stage) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", stage.vigie.port())).ok()?;
    stream
        .set_read_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    Some(stream)
}

/// What one connection is enough for.
fn alone(stage: &Stage, bad: Bad, chance: &mut Chance, mut stream: TcpStream) {
    let bytes = match bad {
        Bad::DeafReader => {
            let _ = stream.set_nonblocking(true);
            let _ = stream.write_all(&CROWD.repeat(400));
            stage.pause(chance.ms(500..3500));
            return;
        }
        Bad::EndlessLine => [&b"GET /"[..], &b"x".repeat(200_000)].concat(),
        Bad::LargeHead => [&b"GET / HTTP/1.1\r\nHost: x\r\n"[..], &b"X-Long: yyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(2000)].concat(),
        Bad::LargeBody => [&b"POST /reload HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"[..], &b"z".repeat(200_000)].concat(),
        Bad::Garbage => { let count = chance.number(1..4000); chance.bytes(count) }
        Bad::Tls => [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], &chance.bytes(500)].concat(),
        Bad::Http2 => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00".to_vec(),
        Bad::Smuggling => chance.of_these(&[
            &b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /reload HTTP/1.1\r\n\r\n"[..],
            b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
            b"POST /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            b"GET /livez HTTP/1.1\r\nHost: x\r\n Folded: y\r\n\r\n",
        ]).to_vec(),
        Bad::GarbageBehind => { let count = chance.number(1..2000); [&CROWD.repeat(3)[..], &chance.bytes(count)].concat() }
        Bad::Reset => {
            let _ = stream.write_all(&CROWD.repeat(5));
            let _ = stream.read(&mut [0; 100]);
            let _ = sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
            return;
        }
        _ => {
            // Gone before the answer is there.
            let _ = stream.write_all(CROWD);
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    };
    let _ = stream.write_all(&bytes);
    let _ = stream.shutdown(Shutdown::Write);
    drain(&mut stream);
}

/// Takes what comes, for a while.
fn drain(stream: &mut TcpStream) {
    let (begin, mut buffer) = (Instant::now(), [0; 16 << 10]);
    while begin.elapsed() < Duration::from_secs(3)
        && stream.read(&mut buffer).is_ok_and(|count| count > 0)
    {}
}
