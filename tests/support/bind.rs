//! A real BIND with one zone, `bind.test`.

use std::fs;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::dns::encode;
use super::wait_until;

const PROGRAM: &str = "/usr/sbin/named";

/// A name server of the zone `bind.test` alone; killed when it is dropped.
pub(crate) struct Bind {
    folder: TempDir,
    address: SocketAddr,
    serial: u32,
    process: Child,
}

impl Bind {
    /// Starts one with these records.
    pub(crate) fn start(records: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = free_address();
        let (ip, port) = (address.ip(), address.port());
        let path = folder.path().display();
        let limits = match says_of_itself("max-records-per-type") {
            true => "max-records-per-type 0;",
            false => "",
        };
        let config = format!(
            "options {{ directory \"{path}\"; listen-on port {port} {{ {ip}; }}; listen-on-v6 {{ none; }};\n\
             recursion no; dnssec-validation no; pid-file none; session-keyfile none; {limits} }};\n\
             controls {{ }};\nzone \"bind.test\" {{ type primary; file \"zone\"; }};\n"
        );
        fs::write(folder.path().join("named.conf"), config).unwrap();
        let mut bind = Self {
            process: Command::new("true").spawn().unwrap(),
            folder,
            address,
            serial: 0,
        };
        bind.write(records);
        bind.go_on();
        bind
    }

    /// The key `servers` with this server alone.
    pub(crate) fn servers(&self) -> String {
        format!("servers: ['{}']", self.address)
    }

    /// Changes the zone, and waits until the new one is served.
    pub(crate) fn change(&mut self, records: &str) {
        self.write(records);
        kill_process(Pid::from_child(&self.process), Signal::HUP).unwrap();
        self.wait();
    }

    /// Ends the server.
    pub(crate) fn stop(&mut self) {
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }

    /// Starts it again at the same port.
    pub(crate) fn go_on(&mut self) {
        self.stop();
        let log = fs::File::create(self.path("log")).unwrap();
        self.process = Command::new(PROGRAM)
            .args(["-g", "-c"])
            .arg(self.path("named.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{PROGRAM}: {error}: apt-get install bind9"));
        self.wait();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&mut self, records: &str) {
        self.serial += 1;
        let head = "$ORIGIN bind.test.\n$TTL 1\n@ NS ns\nns A 127.0.0.1\n";
        let soa = format!("@ SOA ns admin {} 60 60 60 1\n", self.serial);
        fs::write(self.path("zone"), format!("{head}{soa}{records}\n")).unwrap();
    }

    /// Until the zone is served as it was last written.
    fn wait(&mut self) {
        wait_until("BIND serves its zone", || {
            if let Some(status) = self.process.try_wait().unwrap() {
                panic!(
                    "BIND ended, {status}: {}",
                    fs::read_to_string(self.path("log")).unwrap()
                );
            }
            self.serves_serial()
        });
    }

    fn serves_serial(&self) -> bool {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(100)))
            .unwrap();
        let question = [
            &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
            &encode("bind.test")[..],
            &[0, 6, 0, 1],
        ]
        .concat();
        let mut answer = [0; 512];
        let sent = socket
            .connect(self.address)
            .and_then(|()| socket.send(&question));
        let Ok(length) = sent.and_then(|_| socket.recv(&mut answer)) else {
            return false;
        };
        let serial = [self.serial, 60, 60].map(u32::to_be_bytes).concat();
        answer[..length]
            .windows(serial.len())
            .any(|window| window == serial)
    }
}

impl Drop for Bind {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that is free, and stays so: the system gives ports from 32768 on to whoever asks
/// for any.
fn free_address() -> SocketAddr {
    for _ in 0..50 {
        let address = SocketAddr::from(([127, 0, 0, 1], fastrand::u16(10_000..32_768)));
        if UdpSocket::bind(address).is_ok() && TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port of loopback is free");
}

/// Whether the configuration that is built into BIND has this option.
fn says_of_itself(option: &str) -> bool {
    let output = Command::new(PROGRAM).arg("-C").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(option))
}
