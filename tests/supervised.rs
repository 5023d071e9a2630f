//! What a supervisor such as systemd passes on to Vigie, and what it is told.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{Connection, PATIENCE, Setup, assert_says, only, skip, wait_until};

fn one() -> Setup {
    Setup::services("one: {file: one.txt}").file("one.txt", "10.0.0.1\n")
}

/// The socket at which a supervisor is told.
struct Notified {
    socket: UnixDatagram,
    _folder: TempDir,
    shell: String,
}

impl Notified {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            socket,
            _folder: folder,
            shell: format!("export NOTIFY_SOCKET={}", path.display()),
        }
    }

    /// One that has no room for a message more.
    fn full() -> Self {
        let notified = Self::new();
        let full = UnixDatagram::unbound().unwrap();
        full.set_nonblocking(true).unwrap();
        full.connect_addr(&notified.socket.local_addr().unwrap())
            .unwrap();
        while full.send(b"x").is_ok() {}
        notified
    }

    fn next(&self) -> String {
        let mut buffer = [0; 4096];
        let length = self.socket.recv(&mut buffer).expect("a message");
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

#[test]
fn a_supervisor_is_told_of_readiness_reload_and_stop() {
    let notified = Notified::new();
    let mut vigie = one().after(&notified.shell).start();
    assert_eq!(notified.next(), "READY=1\nSTATUS=1 service\n");
    vigie
        .setup
        .write_services("one: {file: one.txt}\ntwo: {file: two.txt}");
    vigie.signal(Signal::HUP);
    let reloading = notified.next();
    let moment = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=");
    let moment: u64 = moment.expect(&reloading).trim_end().parse().unwrap();
    assert!(moment > 0);
    assert_eq!(notified.next(), "READY=1\nSTATUS=2 services\n");
    vigie.setup.write("config.yml", "bad: 1\n");
    assert_eq!(vigie.reload().status, 500);
    assert!(notified.next().starts_with("RELOADING=1\n"));
    assert_eq!(notified.next(), "READY=1\nSTATUS=2 services\n");
    assert_eq!(vigie.stop(), Some(0));
    assert_eq!(notified.next(), "STOPPING=1\n");
}

#[test]
fn the_watchdog_is_answered_with_the_number_of_services_that_fail() {
    let notified = Notified::new();
    let shell = format!(
        "{}; export WATCHDOG_USEC=20000 WATCHDOG_PID=$$",
        notified.shell
    );
    let vigie = Setup::services("one: {file: one.txt}")
        .after(&shell)
        .start();
    assert_eq!(notified.next(), "READY=1\nSTATUS=1 service\n");
    assert_eq!(notified.next(), "WATCHDOG=1\n");
    assert_eq!(vigie.list("one").status, 502);
    wait_until("the failure is told", || {
        notified.next() == "WATCHDOG=1\nSTATUS=1 service, 1 failing\n"
    });
    assert_eq!(notified.next(), "WATCHDOG=1\n");
}

#[test]
fn a_supervisor_that_takes_no_message_holds_up_nobody() {
    let notified = Notified::full();
    let vigie = one().after(&notified.shell).start();
    assert_eq!(vigie.list("one").status, 200);
    assert_eq!(vigie.get("/livez").status, 200);
    wait_until("there is room for its message", || {
        notified.next().starts_with("READY=1")
    });
}

#[test]
fn a_reload_and_the_end_wait_for_such_a_supervisor_for_a_moment_only() {
    let notified = Notified::full();
    let mut vigie = one().after(&notified.shell).start();
    let begun = Instant::now();
    assert_eq!(vigie.reload().status, 200);
    let reloaded = begun.elapsed();
    assert_eq!(vigie.stop(), Some(0));
    let ended = begun.elapsed() - reloaded;
    let most = Duration::from_secs(5);
    assert!(reloaded < most && ended < most, "{reloaded:?}, {ended:?}");
}

#[test]
fn an_abstract_socket_is_told_too() {
    let name = format!("vigie-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let _vigie = one()
        .after(&format!("export NOTIFY_SOCKET=@{name}"))
        .start();
    let mut buffer = [0; 100];
    let length = socket.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"READY=1\nSTATUS=1 service\n");
}

#[test]
fn a_socket_that_is_passed_on_is_listened_at_instead_of_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let vigie = one().passing(listener).start();
    assert_eq!(vigie.port(), port);
    assert_eq!(
        vigie.list("one").summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_says(
        &vigie.log.wait_for("listening on"),
        &["a socket that was passed on, so server.address is not used"],
    );
}

#[test]
fn no_connection_is_refused_while_vigie_is_restarted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut first = one().passing(listener.try_clone().unwrap()).start();
    assert_eq!(first.list("one").status, 200);
    assert_eq!(first.stop(), Some(0));
    let mut waiting = TcpStream::connect(address).expect("not refused");
    waiting
        .write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let _second = one().passing(listener).start();
    assert_eq!(Connection::over(waiting).receive().status, 200);
}

#[test]
fn the_file_of_a_unix_socket_that_was_passed_on_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vigie.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let setup = one().addresses(&[&format!("unix:{}", path.display())]);
    let mut vigie = setup.passing(listener.try_clone().unwrap()).start();
    assert_eq!(vigie.list("one").status, 200);
    assert_says(
        &vigie.log.wait_for("listening on"),
        &[&path.display().to_string()],
    );
    assert_eq!(vigie.stop(), Some(0));
    assert!(path.exists());
}

#[test]
fn what_is_passed_on_and_cannot_be_listened_at_is_an_error() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let connected = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(connected.local_addr().unwrap()).unwrap();
    for setup in [one().passing(udp), one().passing(stream)] {
        let (code, said) = setup.refuse_to_start();
        assert_eq!(code, Some(1), "{said}");
        assert_says(
            &said,
            &[
                "the 1. socket that was passed on",
                "let it be a listening TCP or unix socket",
            ],
        );
    }
}

/// The program `kill` belongs to a package that small hosts do without.
#[test]
fn the_unit_reloads_without_a_program_that_sends_signals() {
    let unit = fs::read_to_string("config/systemd/vigie.service").unwrap();
    let mut commands = unit
        .lines()
        .filter_map(|line| line.strip_prefix("ExecReload="));
    // The one before it checks the configuration.
    let reload = commands.nth(1).unwrap();
    let (shell, rest) = reload.split_once(" -c ").unwrap();
    let notified = Notified::new();
    let vigie = one().after(&notified.shell).start();
    assert_eq!(notified.next(), "READY=1\nSTATUS=1 service\n");
    let status = Command::new(shell)
        .args(["-c", rest.trim_matches('"')])
        .env("MAINPID", vigie.pid().to_string())
        .env("PATH", "/nonexistent")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
    assert!(notified.next().starts_with("RELOADING=1\n"));
}

/// The units as they are shipped, but with the program that was built.
fn units() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for unit in ["vigie.service", "vigie.socket"] {
        let text = fs::read_to_string(format!("config/systemd/{unit}")).unwrap();
        let text = text.replace("/usr/local/bin/vigie", env!("CARGO_BIN_EXE_vigie"));
        fs::write(folder.path().join(unit), text).unwrap();
    }
    folder
}

fn systemd_analyze(folder: &TempDir, arguments: &[&str]) -> Option<(bool, String)> {
    let output = Command::new("systemd-analyze")
        .args(arguments)
        .env("SYSTEMD_UNIT_PATH", format!("{}:", folder.path().display()))
        .current_dir(folder.path())
        .output();
    let Ok(output) = output else {
        skip("the units are good", "systemd-analyze is not installed");
        return None;
    };
    let said = [output.stdout, output.stderr].concat();
    Some((
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    ))
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    let verify = ["verify", "--man=no", "./vigie.service", "./vigie.socket"];
    if let Some(outcome) = systemd_analyze(&units(), &verify) {
        assert_eq!(outcome, (true, String::new()));
    }
}

#[test]
fn the_service_is_exposed_to_little() {
    let security = [
        "security",
        "--offline=true",
        "--no-pager",
        "--threshold=19",
        "./vigie.service",
    ];
    if let Some((good, said)) = systemd_analyze(&units(), &security) {
        assert!(good, "{said}");
    }
}
