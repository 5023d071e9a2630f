//! Addresses to listen at, and the connections that come there.

use std::fs;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_io::Async;
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use super::connection;
use super::seats::{Admission, Stream};
use super::shared::Shared;
use crate::blocking::Lane;
use crate::config::Address;
use crate::wording::without_number;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;
/// What the system keeps of an answer that a client does not take, in bytes.
const SEND_BUFFER: usize = 64 * 1024;
/// So many connections are let in before those who are there have their turn.
const ACCEPTS_A_TURN: usize = 64;
/// When there is no descriptor or memory for a connection, some may be given back within this time.
const PAUSE: Duration = Duration::from_millis(100);

/// The end of the process waits so long for the files of its sockets to be removed.
const REMOVING: Duration = Duration::from_secs(1);

/// It is told no more often than this.
const SILENCE: Duration = Duration::from_secs(60);

/// A bound address.
pub struct Listener {
    socket: Async<OwnedFd>,
    /// The address as bound, for the log.
    pub name: String,
    /// The file of a unix socket; it is removed when this is dropped.
    pub file: Option<SocketFile>,
}

impl Listener {
    /// Binds an address. The error says what is in the way.
    pub fn bind(address: &Address, socket_mode: u32) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Self::bind_tcp(*address),
            Address::Unix(path) => Self::bind_unix(path, socket_mode),
        }
    }

    fn bind_tcp(address: SocketAddr) -> io::Result<Self> {
        let family = if address.is_ipv4() {
            AddressFamily::INET
        } else {
            AddressFamily::INET6
        };
        let socket =
            rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if address.is_ipv6() {
            sockopt::set_ipv6_v6only(&socket, false)?;
        }
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Self::adopt(socket)
    }

    /// Takes a socket that listens already. The file of a unix socket stays its owner's.
    pub fn adopt(socket: OwnedFd) -> io::Result<Self> {
        if !sockopt::socket_acceptconn(&socket)? {
            return Err(Errno::INVAL.into());
        }
        let address = rustix::net::getsockname(&socket)?;
        let name = match SocketAddr::try_from(address.clone()) {
            Ok(address) => {
                prepare(&socket)?;
                address.to_string()
            }
            Err(_) => SocketAddrUnix::try_from(address).map_or("unix:".into(), unix_name),
        };
        Ok(Self {
            socket: Async::new(socket)?,
            name,
            file: None,
        })
    }

    fn bind_unix(path: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(path)?;
        // The socket must not be open to others even for a moment.
        let before = rustix::process::umask(Mode::from_raw_mode(0o777 & !mode));
        let bound = UnixListener::bind(path);
        rustix::process::umask(before);
        let socket = bound?;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        rustix::net::listen(&socket, BACKLOG)?;
        let file = SocketFile::new(path.to_owned())?;
        Ok(Self {
            socket: Async::new(socket.into())?,
            name: format!("unix:{}", path.display()),
            file: Some(file),
        })
    }

    /// Accepts connections, for ever.
    pub async fn accept_all(&self, shared: &Arc<Shared>) {
        let clock = &shared.runtime.clock;
        let mut silent_until = clock.now();
        for count in 1_usize.. {
            match self.accept().await {
                Ok(stream) => {
                    welcome(stream, shared);
                    if count.is_multiple_of(ACCEPTS_A_TURN) {
                        smol::future::yield_now().await;
                    }
                }
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                Err(error) => {
                    let now = clock.now();
                    if now >= silent_until {
                        silent_until = now + SILENCE;
                        let error = without_number(&error.into());
                        log::warn!(
                            "{}: accepting: {error}; new connections wait until that is over",
                            self.name
                        );
                    }
                    clock.sleep_until(now + PAUSE).await;
                }
            }
        }
    }

    async fn accept(&self) -> Result<Arc<Stream>, Errno> {
        loop {
            match rustix::net::accept_with(
                &self.socket,
                SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            ) {
                Ok(socket) => {
                    return Async::new_nonblocking(socket)
                        .map(Arc::new)
                        .map_err(to_errno);
                }
                Err(Errno::WOULDBLOCK) => self.socket.readable().await.map_err(to_errno)?,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Sets what the connections of a TCP socket inherit.
fn prepare(socket: &OwnedFd) -> io::Result<()> {
    // Without it small answers wait for the client's acknowledgements.
    sockopt::set_tcp_nodelay(socket, true)?;
    // The system would take megabytes for a client that reads nothing, and not say for as long that one
    // reads slowly.
    sockopt::set_socket_send_buffer_size(socket, SEND_BUFFER)?;
    Ok(())
}

fn unix_name(address: SocketAddrUnix) -> String {
    let path = address.path().unwrap_or_default();
    format!("unix:{}", path.to_string_lossy())
}

fn to_errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

fn welcome(stream: Arc<Stream>, shared: &Arc<Shared>) {
    let admission = shared
        .seats
        .admit(stream.clone(), shared.runtime.clock.now());
    let (shared, spawn) = (shared.clone(), &shared.runtime.spawn);
    match admission {
        Admission::Welcome(seat) => spawn(Box::pin(connection::serve(stream, shared, seat))),
        Admission::Refused(seat) => spawn(Box::pin(connection::refuse(stream, shared, seat))),
        Admission::Dropped => {}
    }
}

/// Removes a socket that a process left behind; anything else is left alone.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "a file that is no socket is there; move it away",
        ));
    }
    match try_unix(path) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path),
        // Of one whose queue is full a connection would have to wait.
        Ok(()) | Err(Errno::AGAIN) => Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process listens there; stop it first",
        )),
        Err(error) => Err(error.into()),
    }
}

/// Connects to a unix socket without waiting, and hangs up.
fn try_unix(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)
}

/// The files of unix sockets at the end.
pub struct SocketFiles {
    files: Mutex<Vec<SocketFile>>,
    lane: Lane,
}

impl SocketFiles {
    /// Those of the listeners, which no longer remove them.
    pub fn of(listeners: &mut [Listener]) -> Self {
        let files = listeners.iter_mut().filter_map(|one| one.file.take());
        Self {
            files: Mutex::new(files.collect()),
            lane: Lane::default(),
        }
    }

    /// Removes them, if that is not done yet or under way, and waits for that, but not for long: their file system may
    /// hang, and the next process at that address removes what is left.
    pub async fn remove(&self) {
        let files = mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        // Without a thread the work is dropped, and so they are removed here.
        let _ = self.lane.run(REMOVING, move || drop(files)).await;
    }
}

/// The file of a unix socket, removed when it is dropped, unless another has taken its place.
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    fn new(path: PathBuf) -> io::Result<Self> {
        Ok(Self {
            identity: identity(&path)?,
            path,
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // Nothing can be done about a file that cannot be removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}
