//! What happens when there is more of something than there may be.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};

use crate::support::{Connection, Setup, Vigie, assert_says, only, skip, wait_until};

fn serve(server: &str) -> Vigie {
    Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1\n")
        .server(server)
        .start()
}

/// A connection that has been used and is quiet now.
fn idle(vigie: &Vigie) -> Connection {
    let mut connection = vigie.connect();
    assert!(works(&mut connection));
    connection
}

/// A connection with a request under way, whose body the server has asked for.
fn busy(vigie: &Vigie) -> Connection {
    let mut connection = vigie.connect();
    connection.send(
        b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    assert_eq!(connection.receive().status, 100);
    connection
}

fn works(connection: &mut Connection) -> bool {
    connection
        .ask("GET", "/services?service_name=one", &[])
        .summary()
        == (200, &only("10.0.0.1"))
}

/// The tests open more connections than the usual soft limit allows.
pub(crate) fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    )
    .unwrap();
}

#[test]
fn the_connection_idle_longest_makes_room() {
    let vigie = serve("max_connections: 3");
    let [mut first, mut second, mut third] = [(); 3].map(|()| idle(&vigie));
    assert!(works(&mut first), "now the second is idle longest");
    let mut fourth = idle(&vigie);
    second.wait_for_close();
    assert!(works(&mut first) && works(&mut third) && works(&mut fourth));
    let mut fifth = idle(&vigie);
    first.wait_for_close();
    assert!(works(&mut third) && works(&mut fourth) && works(&mut fifth));
}

#[test]
fn whoever_is_idle_longest_makes_room_whether_it_ever_asked_or_not() {
    let vigie = serve("max_connections: 2");
    let mut used = idle(&vigie);
    let mut silent = vigie.connect();
    let mut third = idle(&vigie);
    used.wait_for_close();
    assert!(silent.is_silent());
    let mut fourth = idle(&vigie);
    silent.wait_for_close();
    assert!(works(&mut third) && works(&mut fourth));
}

#[test]
fn a_connection_with_a_request_under_way_does_not_make_room() {
    let vigie = serve("max_connections: 2");
    let mut busy = busy(&vigie);
    let mut quiet = idle(&vigie);
    for _ in 0..5 {
        let mut next = idle(&vigie);
        quiet.wait_for_close();
        assert!(works(&mut next));
        quiet = next;
    }
    assert_eq!(busy.send(b"hello").receive().status, 405);
}

#[test]
fn a_connection_whose_request_has_come_and_is_not_read_yet_does_not_make_room() {
    let vigie = serve("max_connections: 8");
    // Which of them the server sees first is up to the system, so they get several chances.
    for _ in 0..8 {
        let mut quiet: Vec<_> = (0..8).map(|_| idle(&vigie)).collect();
        vigie.signal(Signal::STOP);
        let _another = vigie.connect();
        for connection in &mut quiet {
            connection.send(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
        }
        vigie.signal(Signal::CONT);
        for connection in &mut quiet {
            assert_eq!(connection.receive().status, 200);
        }
    }
}

#[test]
fn a_connection_that_never_said_a_word_makes_room_too() {
    let vigie = serve("max_connections: 3\nrequest_timeout: 1h");
    let silent: Vec<_> = (0..20).map(|_| vigie.connect()).collect();
    assert!(works(&mut idle(&vigie)));
    for mut connection in silent.into_iter().take(17) {
        connection.wait_for_close();
    }
}

#[test]
fn when_none_is_idle_there_is_503_at_once() {
    let vigie = serve("max_connections: 2\nrequest_timeout: 1h");
    let mut both = [busy(&vigie), busy(&vigie)];
    for request in [&b""[..], b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"] {
        let answers = vigie.tell(request);
        assert_eq!(answers.len(), 1);
        assert_eq!(
            (answers[0].status, answers[0].header("connection")),
            (503, Some("close"))
        );
        assert!(
            answers[0]
                .header("retry-after")
                .unwrap()
                .parse::<u32>()
                .unwrap()
                > 0
        );
        assert_says(&answers[0].error(), &["connections"]);
    }
    assert_eq!(both[0].send(b"hello").receive().status, 405);
    assert!(works(&mut idle(&vigie)), "one is idle now and makes room");
    assert_eq!(both[1].send(b"hello").receive().status, 405);
}

#[test]
fn when_none_is_idle_one_that_has_its_last_answer_makes_room() {
    let vigie = serve("max_connections: 2\nrequest_timeout: 1h");
    let mut busy = busy(&vigie);
    let mut refused = vigie.connect();
    assert_eq!(
        refused.send(b"GET x HTTP/1.1\r\n\r\n").receive().status,
        400
    );
    assert!(works(&mut idle(&vigie)));
    assert_eq!(busy.send(b"hello").receive().status, 405);
}

#[test]
fn everyone_who_finds_no_room_is_told_so() {
    let vigie = serve("max_connections: 1\nrequest_timeout: 1h");
    let mut busy = busy(&vigie);
    let mut refused: Vec<_> = (0..50).map(|_| vigie.connect()).collect();
    for connection in &mut refused {
        assert_eq!(connection.receive().status, 503);
    }
    assert_eq!(busy.send(b"hello").receive().status, 405);
}

#[test]
fn who_leaves_makes_room() {
    let vigie = serve("max_connections: 2\nrequest_timeout: 1h");
    let [first, _second] = [busy(&vigie), busy(&vigie)];
    assert_eq!(vigie.tell(b"")[0].status, 503);
    drop(first);
    wait_until("there is room", || {
        vigie
            .connect()
            .send(b"GET /livez HTTP/1.0\r\n\r\n")
            .receive()
            .status
            == 200
    });
}

#[test]
fn a_thousand_half_sent_heads_delay_nobody() {
    allow_many_files();
    let vigie = serve("request_timeout: 1m");
    let halves: Vec<_> = (0..1_000)
        .map(|_| {
            let mut connection = vigie.connect();
            connection.send(b"GET /services?service_name=one HTTP/1.1\r\nHost: x\r\nX: ");
            connection
        })
        .collect();
    assert!(works(&mut idle(&vigie)));
    let begin = Instant::now();
    for _ in 0..100 {
        assert!(works(&mut vigie.connect()));
    }
    assert!(
        begin.elapsed() < Duration::from_secs(2),
        "{:?}",
        begin.elapsed()
    );
    for mut half in halves {
        assert_eq!(
            half.send(b"y\r\n\r\n").receive().summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
}

/// A list of some megabytes; asked for often enough, it is more than all buffers on the way hold.
pub(crate) fn serve_large(server: &str) -> Vigie {
    let list: String = (0..40_000)
        .map(|i| format!("10.{}.{}.{}\n", i >> 16, i >> 8 & 255, i & 255))
        .collect();
    Setup::services("large: {file: large.txt, cache_ttl: 1h}")
        .file("large.txt", list)
        .server(server)
        .start()
}

const OFTEN: usize = 8;

fn ask_often(vigie: &Vigie) -> (Connection, usize) {
    let size = vigie.list("large").body.len();
    assert!(size > 3 << 20, "{size}");
    let mut connection = vigie.connect();
    connection.send(
        "GET /services?service_name=large HTTP/1.1\r\nHost: x\r\n\r\n"
            .repeat(OFTEN)
            .as_bytes(),
    );
    (connection, size)
}

#[test]
fn a_client_that_takes_nothing_is_dropped() {
    let vigie = serve_large("write_timeout: 300ms");
    let before = vigie.count("fd");
    let (mut connection, size) = ask_often(&vigie);
    wait_until("it is let in", || vigie.count("fd") > before);
    wait_until("it is dropped", || vigie.count("fd") == before);
    let taken = connection.drain();
    assert!(taken < OFTEN * size, "{taken} of {}", OFTEN * size);
}

#[test]
fn of_a_client_that_took_nothing_the_system_keeps_nothing() {
    let vigie = serve_large("write_timeout: 300ms");
    let (_deaf, _) = ask_often(&vigie);
    // In /proc/net/tcp: the number of a line, the local address, the remote one, the state.
    let port = format!("0100007F:{:04X}", vigie.port());
    let states = || {
        let table = fs::read_to_string("/proc/net/tcp").unwrap();
        let rows = table.lines().map(|row| row.split_ascii_whitespace());
        let ours = rows
            .filter_map(|mut row| (row.nth(1)? == port).then(|| row.nth(1).map(str::to_owned))?);
        ours.collect::<Vec<_>>()
    };
    const LISTENS: &str = "0A";
    wait_until("only the listening socket is left", || {
        states() == [LISTENS]
    });
}

#[test]
fn a_client_that_takes_its_time_gets_everything() {
    let vigie = serve_large("write_timeout: 300ms");
    let (mut connection, size) = ask_often(&vigie);
    let begin = Instant::now();
    for _ in 0..OFTEN {
        // The pace of the client, not a wait: each pause is shorter than the time-out, all together are longer.
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(connection.receive().body.len(), size);
    }
    assert!(begin.elapsed() > Duration::from_millis(600));
}

#[test]
fn a_client_that_takes_a_little_at_a_time_gets_everything() {
    let vigie = serve_large("write_timeout: 300ms");
    let (mut connection, size) = ask_often(&vigie);
    for _ in 0..40 {
        // The pace of the client, not a wait: all pauses together are far longer than the time-out.
        std::thread::sleep(Duration::from_millis(30));
        connection.take(20_000);
    }
    for _ in 0..OFTEN {
        assert_eq!(connection.receive().body.len(), size);
    }
}

#[test]
fn a_client_that_takes_few_bytes_is_not_one_that_takes_none() {
    let vigie = serve_large("write_timeout: 2s");
    assert_eq!(vigie.list("large").status, 200);
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    // With little room at its end each read shows at the other.
    sockopt::set_socket_recv_buffer_size(&socket, 16 << 10).unwrap();
    rustix::net::connect(&socket, &SocketAddr::from(([127, 0, 0, 1], vigie.port()))).unwrap();
    let mut client = TcpStream::from(socket);
    client
        .write_all(b"GET /services?service_name=large HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(7) {
        // The pace of the client, not a wait: the system calls the socket writable only after three seconds of it.
        std::thread::sleep(Duration::from_millis(300));
        client
            .read_exact(&mut [0; 4096])
            .expect("it is not cut off");
    }
}

#[test]
fn a_client_that_takes_nothing_delays_nobody() {
    let vigie = serve_large("write_timeout: 1m");
    let (_deaf, size) = ask_often(&vigie);
    for _ in 0..3 {
        assert_eq!(vigie.list("large").body.len(), size);
    }
}

fn limit_of_open_files(vigie: &Vigie) -> Vec<String> {
    let limits = fs::read_to_string(vigie.proc("limits")).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    line.split_whitespace()
        .skip(3)
        .take(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_soft_limit_of_open_files_is_raised_to_the_hard_one() {
    let vigie = Setup::services("")
        .after("ulimit -Sn 64; ulimit -Hn 512")
        .start();
    assert_eq!(limit_of_open_files(&vigie), ["512", "512"]);
}

#[test]
fn max_connections_is_lowered_to_what_open_files_allow() {
    let vigie = Setup::services("one: {file: one.txt, cache_ttl: 0s}")
        .file("one.txt", "10.0.0.1\n")
        .after("ulimit -n 64")
        .start();
    assert_says(&vigie.log.wait_for("max_connections"), &["WARN", "64"]);
    let mut connections: Vec<_> = (0..200).map(|_| idle(&vigie)).collect();
    assert!(works(connections.last_mut().unwrap()));
    assert!(
        works(&mut idle(&vigie)),
        "there is a file left to read the list with"
    );
}

#[test]
fn enough_open_files_are_not_worth_a_warning() {
    let mut vigie = Setup::services("").server("max_connections: 16").start();
    assert_eq!(vigie.stop(), Some(0));
    assert!(!vigie.log.wait_for_end().contains("max_connections"));
}

/// How many KiB of memory the process holds.
fn resident(vigie: &Vigie) -> usize {
    let value = vigie.status("VmRSS");
    value.strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn a_list_that_stays_the_same_is_there_once_however_many_have_not_taken_it() {
    let list: String = (0..5_000)
        .map(|i| format!("10.0.{}.{}\n", i >> 8, i & 255))
        .collect();
    let vigie = Setup::services("large: {file: large.txt, cache_ttl: 0s}")
        .file("large.txt", list)
        .start();
    for _ in 0..5 {
        assert_eq!(vigie.list("large").status, 200);
    }
    let before = resident(&vigie);
    let mut deaf = Vec::new();
    for i in 0..100 {
        let mut connection = vigie.connect();
        connection.send(b"GET /services?service_name=large HTTP/1.1\r\nHost: x\r\n\r\n");
        // Each has a read of its own.
        connection.wait_for_bytes();
        deaf.push(connection);
        if i % 2 == 1 {
            assert_eq!(vigie.reload().status, 200);
        }
    }
    let grown = resident(&vigie).saturating_sub(before);
    assert!(grown < 100 * 64, "{grown} KiB");
}

#[test]
fn who_is_told_that_a_request_is_too_large_holds_none_of_it_any_more() {
    const CLIENTS: usize = 300;
    let vigie = serve("");
    let target = format!("GET /{} HTTP/1.1\r\n", "a".repeat(20_000));
    let told = || {
        let mut connection = vigie.connect();
        assert_eq!(connection.send(target.as_bytes()).receive().status, 414);
        connection
    };
    let _first = told();
    let before = resident(&vigie);
    let _others: Vec<_> = (0..CLIENTS).map(|_| told()).collect();
    let grown = resident(&vigie).saturating_sub(before);
    assert!(grown < CLIENTS * 8, "{grown} KiB");
}

#[test]
fn whoever_asks_without_end_has_one_turn_and_then_the_others_have_theirs() {
    const CHECKS: usize = 10;
    let services = "one: {file: one.txt, cache_ttl: 1h}";
    for target in ["/nothing", "/livez", "/services?service_name=one"] {
        let vigie = Setup::services(services)
            .file("one.txt", "10.0.0.1\n")
            .start();
        let mut greedy: Vec<_> = (0..200).map(|_| idle(&vigie)).collect();
        let mut patient = idle(&vigie);
        // So that all is there before the first is answered, that of the patient one behind all the others.
        vigie.signal(Signal::STOP);
        let request = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        for connection in &mut greedy {
            connection.send(request(target).repeat(1_000).as_bytes());
        }
        patient.send(request("/livez").repeat(CHECKS).as_bytes());
        vigie.signal(Signal::CONT);
        for _ in 0..CHECKS {
            assert_eq!(patient.receive().status, 200);
        }
        vigie.signal(Signal::STOP);
        let answers = greedy
            .iter_mut()
            .map(Connection::count_answers)
            .sum::<usize>()
            / greedy.len();
        vigie.signal(Signal::CONT);
        // Some for each check, and more until the server has stopped.
        assert!(
            (CHECKS / 2..15 * CHECKS).contains(&answers),
            "{target}: {answers} answers to each of the others"
        );
    }
}

/// Runs a command that may start no thread, as a user whom such a limit binds: exit code and standard error.
/// `None` when there is no such user.
fn without_threads(arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let user = match rustix::process::geteuid().is_root() {
        true => "setpriv --reuid=65534 --regid=65534 --clear-groups",
        false => "",
    };
    let run = |arguments: &[&str]| {
        Command::new("sh")
            .args(["-c", &format!("{user} prlimit --nproc=1 \"$@\""), "sh"])
            .arg(env!("CARGO_BIN_EXE_vigie"))
            .args(arguments)
            .output()
            .unwrap()
    };
    run(&["version"]).status.success().then(|| {
        let output = run(arguments);
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    })
}

#[test]
fn without_threads_a_command_says_which_limit_to_raise() {
    // Another user must be able to read it.
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"services: {default: {file: /etc/hosts}}\n")
        .unwrap();
    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(file.path(), readable).unwrap();
    let path = file.path().to_str().unwrap();
    let reason = "no thread for it: Resource temporarily unavailable; raise the limit of processes (ulimit -u, TasksMax of systemd, pids of a container)";
    for (arguments, step) in [
        (&["serve", "-c", path][..], "starting"),
        (&["get", "-c", path], "vigie get: service default: starting"),
        (&["health", "-c", path], "vigie health: starting"),
        (
            &["health", "--server", "http://localhost:1"],
            "vigie health: localhost:1: looking up the host",
        ),
    ] {
        let Some(ended) = without_threads(arguments) else {
            return skip(
                "without threads a command says which limit to raise",
                "no user whom a limit of processes binds can run it here",
            );
        };
        assert_eq!(ended, (Some(1), format!("{step}: {reason}\n")));
    }
}
