//! What a supervisor, systemd above all, is told of this process (sd_notify(3)). Without one, nothing.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process;
use std::time::Duration;

use async_io::Async;
use rustix::time::{ClockId, clock_gettime};

use crate::clock;

/// A supervisor that does not take a message within this time misses it.
const PATIENCE: Duration = Duration::from_secs(1);
/// Without a watchdog the status is told so often, when it has changed.
const PACE: Duration = Duration::from_secs(5);

/// Whether there is a supervisor that wants to be told.
pub fn is_there() -> bool {
    env::var_os("NOTIFY_SOCKET").is_some()
}

/// How often it is to hear of this process: twice within the time of its watchdog
/// (sd_watchdog_enabled(3)).
pub fn pace() -> Duration {
    let number = |name| env::var(name).ok()?.parse().ok();
    let is_ours = number("WATCHDOG_PID").is_none_or(|pid: u64| pid == u64::from(process::id()));
    match number("WATCHDOG_USEC").filter(|_| is_ours) {
        Some(limit) => Duration::from_micros(limit.max(2) / 2),
        None => PACE,
    }
}

/// The process serves, for the first time or after a reload.
pub async fn ready(status: &str) {
    tell(&format!("READY=1\nSTATUS={status}\n")).await;
}

/// A reload begins; [`ready`] ends it.
pub async fn reloading() {
    let now = clock_gettime(ClockId::Monotonic);
    let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
    tell(&format!("RELOADING=1\nMONOTONIC_USEC={microseconds}\n")).await;
}

/// The process is on its way out.
pub async fn stopping() {
    tell("STOPPING=1\n").await;
}

/// The process is alive; and its status, when there is news.
pub async fn alive(news: Option<&str>) {
    let status = news.map(|status| format!("STATUS={status}\n"));
    tell(&format!("WATCHDOG=1\n{}", status.unwrap_or_default())).await;
}

async fn tell(message: &str) {
    let Some(address) = env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    match clock::within(PATIENCE, send(&address, message)).await {
        Some(Ok(())) => {}
        Some(Err(error)) => log::debug!("telling the supervisor: {error}"),
        None => log::debug!("telling the supervisor: it takes no message"),
    }
}

/// Sends one message and waits for room where there is none.
async fn send(address: &OsStr, message: &str) -> io::Result<()> {
    let address = match address.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(address)?,
    };
    let socket = UnixDatagram::unbound()?;
    // A socket that is not connected does not tell when its peer has room again.
    socket.connect_addr(&address)?;
    Async::new(socket)?.send(message.as_bytes()).await?;
    Ok(())
}
