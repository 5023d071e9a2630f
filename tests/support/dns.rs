//! A DNS server that answers as a test tells it, over UDP and TCP on one port.

mod reply;

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, socket};

pub(crate) use reply::{
    Asked, FORMERR, NOTIMP, NXDOMAIN, REFUSED, Reply, SERVFAIL, encode, record,
};

use super::{PATIENCE, Setup, Vigie, skip};

/// What the server does about a question, in this order; nothing at all is silence.
#[derive(Clone)]
pub(crate) enum Act {
    /// Sends a message.
    Send(Vec<u8>),
    /// Sends a message from another port; over UDP only.
    Foreign(Vec<u8>),
    /// Sends bytes without their length; over TCP only.
    Raw(Vec<u8>),
    /// Lets what was sent so far arrive; over TCP only.
    #[allow(dead_code, reason = "for the soak")]
    Pause(Duration),
    /// Ends the connection; over TCP only.
    Close,
}

type Script = Box<dyn Fn(&Asked) -> Vec<Act> + Send + Sync>;

/// A running server; it stops when it is dropped.
pub(crate) struct DnsServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// What keeps the TCP port from others when nobody listens there.
    _reserved: Option<OwnedFd>,
}

struct Shared {
    script: Script,
    asked: Mutex<Vec<Asked>>,
    /// For a server that is asked for hours.
    forgets: AtomicBool,
    stopped: AtomicBool,
}

impl DnsServer {
    /// Starts one at a free port of 127.0.0.1.
    pub(crate) fn start(script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::start_at([127, 0, 0, 1].into(), true, Box::new(script))
    }

    /// The same at `[::1]`.
    pub(crate) fn start_ipv6(script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::start_at(std::net::Ipv6Addr::LOCALHOST.into(), true, Box::new(script))
    }

    /// The same where nobody listens for TCP.
    pub(crate) fn without_tcp(script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        Self::start_at([127, 0, 0, 1].into(), false, Box::new(script))
    }

    /// One that never answers, though its ports are there.
    pub(crate) fn silent() -> Self {
        Self::start(|_| Vec::new())
    }

    /// One at port 53 of some address of loopback, which resolv.conf can name; `None`, with a word about it, where
    /// only root may have that port.
    pub(crate) fn at_port_53(
        promise: &str,
        script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static,
    ) -> Option<Self> {
        for _ in 0..50 {
            let address = SocketAddr::from((
                [
                    127,
                    fastrand::u8(1..),
                    fastrand::u8(..),
                    fastrand::u8(1..255),
                ],
                53,
            ));
            match (UdpSocket::bind(address), TcpListener::bind(address)) {
                (Ok(udp), Ok(listener)) => {
                    return Some(Self::over(udp, Some(listener), None, Box::new(script)));
                }
                (Err(error), _) if error.kind() == ErrorKind::PermissionDenied => {
                    skip(promise, &format!("port 53: {error}"));
                    return None;
                }
                _ => {}
            }
        }
        panic!("no address of loopback has a free port 53");
    }

    fn start_at(ip: IpAddr, tcp: bool, script: Script) -> Self {
        let (udp, listener, reserved) = ports(ip, tcp);
        Self::over(udp, listener, reserved, script)
    }

    fn over(
        udp: UdpSocket,
        listener: Option<TcpListener>,
        reserved: Option<OwnedFd>,
        script: Script,
    ) -> Self {
        let server = Self {
            shared: Arc::new(Shared {
                script,
                asked: Mutex::default(),
                forgets: AtomicBool::new(false),
                stopped: AtomicBool::new(false),
            }),
            address: udp.local_addr().unwrap(),
            _reserved: reserved,
        };
        let shared = server.shared.clone();
        thread::spawn(move || shared.serve_udp(&udp));
        if let Some(listener) = listener {
            let shared = server.shared.clone();
            thread::spawn(move || shared.serve_tcp(&listener));
        }
        server
    }

    /// Keeps no record of what is asked from now on.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn forgetting(self) -> Self {
        self.shared.forgets.store(true, Ordering::SeqCst);
        self
    }

    /// `IP:PORT`, an IPv6 address in brackets.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().unwrap().clone()
    }

    /// What was asked, as `web.test A` or `web.test A over TCP`, sorted and each once.
    pub(crate) fn questions(&self) -> Vec<String> {
        let mut questions: Vec<_> = self.asked().iter().map(ToString::to_string).collect();
        questions.sort_unstable();
        questions.dedup();
        questions
    }
}

impl Drop for DnsServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes both threads, which end then.
        if let Ok(socket) = UdpSocket::bind((self.address.ip(), 0)) {
            let _ = socket.send_to(b"", self.address);
        }
        let _ = TcpStream::connect(self.address);
    }
}

/// A UDP and a TCP socket on one port that is free for both.
fn ports(ip: IpAddr, tcp: bool) -> (UdpSocket, Option<TcpListener>, Option<OwnedFd>) {
    for _ in 0..50 {
        let udp = UdpSocket::bind((ip, 0)).unwrap();
        let address = udp.local_addr().unwrap();
        if tcp {
            if let Ok(listener) = TcpListener::bind(address) {
                return (udp, Some(listener), None);
            }
            continue;
        }
        let reserved = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        if bind(&reserved, &address).is_ok() {
            return (udp, None, Some(reserved));
        }
    }
    panic!("no port is free for both UDP and TCP");
}

impl Shared {
    fn answer(&self, bytes: &[u8], tcp: bool, peer: SocketAddr) -> Vec<Act> {
        let asked = {
            let mut all = self.asked.lock().unwrap();
            let asked = Asked::read(bytes, tcp, peer, &all);
            if !self.forgets.load(Ordering::SeqCst) {
                all.push(asked.clone());
            }
            asked
        };
        (self.script)(&asked)
    }

    fn serve_udp(&self, socket: &UdpSocket) {
        let mut buffer = [0; 4096];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer) {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            for act in self.answer(&buffer[..length], false, peer) {
                // Nobody may be there any more.
                let _ = match act {
                    Act::Send(bytes) => socket.send_to(&bytes, peer),
                    Act::Foreign(bytes) => UdpSocket::bind((peer.ip(), 0))
                        .unwrap()
                        .send_to(&bytes, peer),
                    Act::Raw(_) | Act::Pause(_) | Act::Close => panic!("only over TCP"),
                };
            }
        }
    }

    fn serve_tcp(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let (shared, stream) = (self.clone(), stream.unwrap());
            thread::spawn(move || shared.converse(stream));
        }
    }

    /// Answers one question after the other until the client, or the script, ends it.
    fn converse(&self, mut stream: TcpStream) {
        let Ok(peer) = stream.peer_addr() else { return };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut length = [0; 2];
        while stream.read_exact(&mut length).is_ok() {
            let mut bytes = vec![0; u16::from_be_bytes(length).into()];
            if stream.read_exact(&mut bytes).is_err() {
                return;
            }
            for act in self.answer(&bytes, true, peer) {
                let sent = match act {
                    Act::Send(bytes) => {
                        let length = u16::try_from(bytes.len()).expect("it fits in a message");
                        stream.write_all(&[&length.to_be_bytes(), &bytes[..]].concat())
                    }
                    Act::Raw(bytes) => stream.write_all(&bytes),
                    Act::Pause(length) => {
                        thread::sleep(length);
                        Ok(())
                    }
                    Act::Close => stream.shutdown(Shutdown::Both),
                    Act::Foreign(_) => panic!("only over UDP"),
                };
                // The client may have left.
                let _ = sent;
            }
        }
    }
}

/// A server with the service `web`, which reads this name from these servers each time it is asked for. More keys
/// of the source begin with a comma.
pub(crate) fn serve(servers: &[&DnsServer], name: &str, keys: &str) -> Vigie {
    Setup::services(&service(servers, name, keys)).start()
}

/// The line of that service.
pub(crate) fn service(servers: &[&DnsServer], name: &str, keys: &str) -> String {
    let addresses: Vec<String> = servers
        .iter()
        .map(|server| format!("'{}'", server.address()))
        .collect();
    let servers = addresses.join(", ");
    format!(
        "web: {{dns: {{name: {name}, servers: [{servers}]{keys}}}, default_port: 9000, cache_ttl: 0s}}"
    )
}
