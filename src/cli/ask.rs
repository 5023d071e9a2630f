//! One question to a running server: a small blocking HTTP client under one deadline.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use super::server::Server;
use crate::blocking::{self, Lane};
use crate::dns;
use crate::wording::{shorten, without_number};

/// What a server answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// The status code.
    pub(super) status: u16,
    /// How many seconds a list that stands in is past its ttl, and why it stands in.
    pub(super) stale: Option<(String, String)>,
    /// The whole body.
    pub(super) body: Vec<u8>,
}

/// The most bytes of a head.
const LARGEST_HEAD: usize = 64 << 10;
/// The most bytes of an answer.
const LARGEST: usize = 64 << 20;
/// The most headers of an answer.
const MOST_HEADERS: usize = 100;
/// A host name is looked up for so long at most.
const LOOKUP: Duration = Duration::from_secs(5);
/// A reason is shown to this many characters.
const LONGEST_REASON: usize = 1000;

/// Sends `GET target` and takes the whole answer, all within `patience`. Errors name the step that
/// failed; a body that is cut short is one. Where nobody is at the place, they say to start Vigie there
/// or to do what `or_else` says.
pub(super) fn ask(
    server: &Server,
    target: &str,
    patience: Duration,
    or_else: &str,
) -> Result<Answer, String> {
    let deadline = Instant::now() + patience;
    let place =
        find(server, deadline).map_err(|reason| format!("looking up the host: {reason}"))?;
    let mut line = Line::connect(&place, deadline).map_err(|error| {
        let failed = step("connecting", &error);
        match is_nobody(&error) {
            true => format!("{failed}; is Vigie running there? start it, or {or_else}"),
            false => failed,
        }
    })?;
    // HTTP/1.0, so that the server neither chunks its answer nor keeps the connection.
    let request = format!(
        "GET {target} HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    );
    line.send(request.as_bytes())
        .map_err(|error| step("sending", &error))?;
    receive(&mut line)
}

/// Where a server can be connected to.
enum Place<'a> {
    Tcp(Vec<SocketAddr>),
    Unix(&'a Path),
}

fn find(server: &Server, deadline: Instant) -> Result<Place<'_>, String> {
    Ok(match server {
        Server::Unix(path) => Place::Unix(path),
        Server::Tcp(address) => Place::Tcp(vec![*address]),
        Server::Host(host, port) => {
            let system = dns::System::new(Lane::default());
            let deadline = deadline.min(Instant::now() + LOOKUP);
            blocking::probe().map_err(|stuck| stuck.to_string())?;
            let ips = smol::block_on(system.addresses(host, deadline))
                .map_err(|failure| failure.to_string())?;
            Place::Tcp(
                ips.into_iter()
                    .map(|ip| SocketAddr::new(ip, *port))
                    .collect(),
            )
        }
    })
}

fn step(step: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => format!("{step}: timed out"),
        _ => format!("{step}: {}", without_number(error)),
    }
}

/// Whether an error of connecting says that nobody is there.
fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotFound
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}

fn receive(line: &mut Line) -> Result<Answer, String> {
    let mut bytes = Vec::new();
    let mut head = None;
    loop {
        if head.is_none() {
            head = Head::parse(&bytes)?;
        }
        if let Some(head) = &head
            && head.is_answered_by(&bytes)
        {
            return Ok(head.answer(bytes));
        }
        if bytes.len() > LARGEST || (head.is_none() && bytes.len() > LARGEST_HEAD) {
            return Err("reading: the answer is too large".into());
        }
        if line
            .receive(&mut bytes)
            .map_err(|error| step("reading", &error))?
            == 0
        {
            return match head {
                Some(head @ Head { length: None, .. }) => Ok(head.answer(bytes)),
                _ => Err("reading: the answer was cut short".into()),
            };
        }
    }
}

/// The head of an answer, as far as it matters here.
struct Head {
    status: u16,
    stale: Option<(String, String)>,
    /// Where the body begins.
    body: usize,
    /// How long it is; `None` when it ends with the connection.
    length: Option<usize>,
}

impl Head {
    /// `None` when more bytes are needed.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let body = match response.parse(bytes) {
            Ok(httparse::Status::Complete(body)) => body,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(format!("reading: this is no HTTP ({error})")),
        };
        let mut length = None;
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(
                    "reading: the answer comes in a transfer coding that was not asked for".into(),
                );
            }
            if header.name.eq_ignore_ascii_case("content-length") {
                let this = content_length(header.value)
                    .ok_or("reading: the Content-Length is no number")?;
                if length.replace(this).is_some_and(|other| other != this) {
                    return Err("reading: the answer has two Content-Lengths".into());
                }
            }
        }
        Ok(Some(Self {
            status: response.code.unwrap_or_default(),
            stale: stale(response.headers),
            body,
            length,
        }))
    }

    fn is_answered_by(&self, bytes: &[u8]) -> bool {
        self.length
            .is_some_and(|length| bytes.len().saturating_sub(self.body) >= length)
    }

    fn answer(&self, mut bytes: Vec<u8>) -> Answer {
        let mut body = bytes.split_off(self.body.min(bytes.len()));
        body.truncate(self.length.unwrap_or(usize::MAX));
        Answer {
            status: self.status,
            stale: self.stale.clone(),
            body,
        }
    }
}

fn stale(headers: &[httparse::Header<'_>]) -> Option<(String, String)> {
    let value = |name: &str| {
        let header = headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(shorten(
            &String::from_utf8_lossy(header.value),
            LONGEST_REASON,
        ))
    };
    Some((
        value("Vigie-Stale")?,
        value("Vigie-Error").unwrap_or_default(),
    ))
}

fn content_length(value: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(value).ok()?;
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

/// A connection that is given up at its deadline.
struct Line {
    stream: Stream,
    deadline: Instant,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Line {
    fn connect(place: &Place<'_>, deadline: Instant) -> io::Result<Self> {
        let stream = match place {
            Place::Unix(path) => Stream::Unix(connect_unix(path, left(deadline)?)?),
            Place::Tcp(addresses) => {
                let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
                for address in addresses {
                    outcome = TcpStream::connect_timeout(address, left(deadline)?);
                    if outcome.is_ok() {
                        break;
                    }
                }
                Stream::Tcp(outcome?)
            }
        };
        Ok(Self { stream, deadline })
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let time = Some(left(self.deadline)?);
            let sent = match &mut self.stream {
                Stream::Tcp(stream) => stream
                    .set_write_timeout(time)
                    .and_then(|()| stream.write(bytes)),
                Stream::Unix(stream) => stream
                    .set_write_timeout(time)
                    .and_then(|()| stream.write(bytes)),
            };
            bytes = bytes
                .get(retried(sent)?.unwrap_or_default()..)
                .unwrap_or_default();
        }
        Ok(())
    }

    /// Adds what comes next; 0 is the end.
    fn receive(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let mut buffer = [0; 16 << 10];
        loop {
            let time = Some(left(self.deadline)?);
            let received = match &mut self.stream {
                Stream::Tcp(stream) => stream
                    .set_read_timeout(time)
                    .and_then(|()| stream.read(&mut buffer)),
                Stream::Unix(stream) => stream
                    .set_read_timeout(time)
                    .and_then(|()| stream.read(&mut buffer)),
            };
            if let Some(count) = retried(received)? {
                bytes.extend_from_slice(buffer.get(..count).unwrap_or_default());
                return Ok(count);
            }
        }
    }
}

/// `None` when a signal came in between.
fn retried(outcome: io::Result<usize>) -> io::Result<Option<usize>> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// How much time there is; none at all is an error.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    (!left.is_zero())
        .then_some(left)
        .ok_or(io::ErrorKind::TimedOut.into())
}

/// The standard library's connect to a unix socket waits without end for a server whose queue is full.
fn connect_unix(path: &Path, time: Duration) -> io::Result<UnixStream> {
    let socket = rustix::net::socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(time))?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(UnixStream::from(socket))
}
