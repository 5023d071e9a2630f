//! A server that answers as a test says, byte for byte, with TLS or without.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use futures_rustls::rustls::{HandshakeKind, ServerConfig, ServerConnection, StreamOwned};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

use super::PATIENCE;

/// A server. It stops taking connections when the test ends with its process.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    scheme: &'static str,
    seen: Arc<Mutex<Seen>>,
    door: Arc<Door>,
    tls: Speech,
}

/// How TLS is spoken with who comes next.
type Speech = Arc<Mutex<Option<Arc<ServerConfig>>>>;

/// Whether connections are taken.
#[derive(Default)]
struct Door {
    shut: Mutex<bool>,
    opened: Condvar,
}

#[derive(Default)]
struct Seen {
    /// For a peer that is asked for hours.
    forgets: bool,
    requests: Vec<String>,
    connections: usize,
    resumed: usize,
}

/// Writes to a connection as it likes.
pub(crate) type Act = Box<dyn FnOnce(&mut dyn Write) + Send>;

/// What a peer does with one request.
pub(crate) enum Reply {
    /// Sends these bytes and waits for the next request.
    Keep(Vec<u8>),
    /// Sends these bytes and ends the connection; with TLS it says so.
    End(Vec<u8>),
    /// Sends these bytes and ends the connection, whose TLS goes on.
    Cut(Vec<u8>),
    /// Sends these bytes and resets the connection.
    Reset(Vec<u8>),
    /// Does as it likes, then ends the connection.
    Act(Act),
    /// Reads and writes as it likes; says whether it waits for the next request then.
    #[allow(dead_code, reason = "for the soak")]
    Converse(Converse),
}

/// Reads from a connection and writes to it.
pub(crate) type Converse = Box<dyn FnOnce(&mut dyn Wire) -> io::Result<bool> + Send>;

/// A whole answer with its length.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A 200 with this list.
pub(crate) fn list(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", "", body)
}

/// A connection, with TLS or without.
pub(crate) trait Wire: Read + Write + Send {
    /// Says that nothing more comes.
    fn end(&mut self);

    fn socket(&self) -> &TcpStream;

    /// Whether it goes on with a TLS session of an earlier connection.
    fn is_resumed(&self) -> bool {
        false
    }
}

impl Wire for TcpStream {
    fn end(&mut self) {
        let _ = self.shutdown(Shutdown::Write);
    }

    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn end(&mut self) {
        self.conn.send_close_notify();
        let _ = self.flush();
    }

    fn socket(&self) -> &TcpStream {
        &self.sock
    }

    fn is_resumed(&self) -> bool {
        self.conn.handshake_kind() == Some(HandshakeKind::Resumed)
    }
}

impl Peer {
    /// Replies to each request, whose head it gets.
    pub(crate) fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, reply)
    }

    /// Gives the same answer to every request on a connection, and keeps it.
    pub(crate) fn always(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::start(move |_| Reply::Keep(bytes.clone()))
    }

    /// Gives the same bytes to every request, and ends the connection.
    pub(crate) fn ending(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::start(move |_| Reply::End(bytes.clone()))
    }

    /// The same over TLS.
    pub(crate) fn tls(
        config: Arc<ServerConfig>,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::at("127.0.0.1:0", Some(config), reply)
    }

    /// The same at an address, with TLS or without.
    pub(crate) fn at(
        address: &str,
        tls: Option<Arc<ServerConfig>>,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let peer = Self {
            address: listener.local_addr().unwrap(),
            scheme: if tls.is_some() { "https" } else { "http" },
            seen: Arc::default(),
            door: Arc::default(),
            tls: Arc::new(Mutex::new(tls)),
        };
        let (seen, door, address) = (peer.seen.clone(), peer.door.clone(), peer.address);
        let tls = peer.tls.clone();
        let reply = Arc::new(reply);
        thread::spawn(move || {
            let mut open = Some(listener);
            loop {
                let listener = open
                    .take()
                    .unwrap_or_else(|| TcpListener::bind(address).unwrap());
                door.let_in(&listener, |stream| {
                    let (seen, reply, tls) = (seen.clone(), reply.clone(), tls.clone());
                    thread::spawn(move || receive(stream, &tls, &seen, &*reply));
                });
                drop(listener);
                door.wait_until_open();
            }
        });
        peer
    }

    /// Keeps no record of what is asked from now on.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn forgetting(self) -> Self {
        self.seen.lock().unwrap().forgets = true;
        self
    }

    /// Refuses new connections until it is opened. Only a peer at an address of its own can be sure to get its port
    /// back.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn shut(&self) {
        *self.door.shut.lock().unwrap() = true;
        // Wakes who accepts.
        let _ = TcpStream::connect(self.address);
    }

    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn open(&self) {
        *self.door.shut.lock().unwrap() = false;
        self.door.opened.notify_all();
    }

    /// Speaks TLS so from now on, as after a restart: a connection that is open already ends at its next request.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn renew(&self, tls: Arc<ServerConfig>) {
        *self.tls.lock().unwrap() = Some(tls);
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a path, by address.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// The URL of a path, by a name.
    pub(crate) fn url_as(&self, host: &str, path: &str) -> String {
        format!("{}://{host}:{}{path}", self.scheme, self.port())
    }

    /// The heads of all requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().requests.clone()
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().unwrap().connections
    }

    /// How many connections went on with a TLS session.
    pub(crate) fn resumed(&self) -> usize {
        self.seen.lock().unwrap().resumed
    }

    /// The value of a header of the last request.
    pub(crate) fn last_header(&self, name: &str) -> Option<String> {
        header(self.requests().last().unwrap(), name)
    }
}

impl Door {
    /// Hands on each connection until it is shut.
    fn let_in(&self, listener: &TcpListener, mut take: impl FnMut(TcpStream)) {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            if *self.shut.lock().unwrap() {
                return;
            }
            take(stream);
        }
    }

    fn wait_until_open(&self) {
        let shut = self.shut.lock().unwrap();
        drop(self.opened.wait_while(shut, |shut| *shut).unwrap());
    }
}

fn receive(
    stream: TcpStream,
    speech: &Mutex<Option<Arc<ServerConfig>>>,
    seen: &Mutex<Seen>,
    reply: &(dyn Fn(&str) -> Reply + Send + Sync),
) {
    stream.set_read_timeout(Some(PATIENCE * 3)).unwrap();
    stream.set_write_timeout(Some(PATIENCE * 3)).unwrap();
    stream.set_nodelay(true).unwrap();
    seen.lock().unwrap().connections += 1;
    let tls = speech.lock().unwrap().clone();
    let wire: Box<dyn Wire> = match tls.clone() {
        None => Box::new(stream),
        Some(config) => {
            let connection = ServerConnection::new(config).unwrap();
            Box::new(StreamOwned::new(connection, stream))
        }
    };
    // Whoever it talks to may leave at any time.
    let is_old = || match (&tls, &*speech.lock().unwrap()) {
        (Some(spoken), Some(now)) => !Arc::ptr_eq(spoken, now),
        _ => false,
    };
    let _ = serve(wire, seen, reply, &is_old);
}

/// The value of a header of a request.
pub(crate) fn header(head: &str, name: &str) -> Option<String> {
    let fields = head
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(": "));
    let mut values = fields.filter(|(found, _)| found.eq_ignore_ascii_case(name));
    let value = values.next().map(|(_, value)| value.to_owned());
    assert_eq!(values.next(), None, "{name} comes twice in {head:?}");
    value
}

fn serve(
    mut wire: Box<dyn Wire>,
    seen: &Mutex<Seen>,
    reply: &(dyn Fn(&str) -> Reply + Send + Sync),
    is_old: &dyn Fn() -> bool,
) -> io::Result<()> {
    let mut is_first = true;
    loop {
        let head = read_head(&mut *wire)?;
        if is_old() {
            return Ok(());
        }
        {
            let mut seen = seen.lock().unwrap();
            if !seen.forgets {
                seen.requests.push(head.clone());
            }
            seen.resumed += usize::from(std::mem::take(&mut is_first) && wire.is_resumed());
        }
        match reply(&head) {
            Reply::Keep(bytes) => {
                wire.write_all(&bytes)?;
                wire.flush()?;
                continue;
            }
            Reply::End(bytes) => {
                wire.write_all(&bytes)?;
                wire.flush()?;
                wire.end();
            }
            Reply::Cut(bytes) => {
                wire.write_all(&bytes)?;
                wire.flush()?;
            }
            Reply::Reset(bytes) => {
                wire.write_all(&bytes)?;
                // Closing it with no time to linger makes the system reset it.
                sockopt::set_socket_linger(wire.socket(), Some(Duration::ZERO))?;
            }
            Reply::Act(act) => act(&mut wire),
            Reply::Converse(converse) => {
                if converse(&mut *wire)? {
                    continue;
                }
            }
        }
        return Ok(());
    }
}

/// Waits for a whole head.
pub(crate) fn read_head(wire: &mut dyn Wire) -> io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        wire.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8(head).unwrap())
}

/// A port of 127.0.0.1 where nobody listens, and that nobody else is given as long as it is held.
pub(crate) fn reserve() -> (OwnedFd, u16) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&held, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = SocketAddr::try_from(getsockname(&held).unwrap()).unwrap();
    (held, address.port())
}
