//! SIGHUP, SIGTERM and SIGINT as events; and SIGXFSZ, which a log file at its size limit sends, as none.

use std::io;

use signal_hook_async_std::Signals;
use smol::stream::StreamExt;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// SIGHUP: read the configuration again.
    Reload,
    /// SIGTERM or SIGINT: stop.
    Stop,
}

/// The signals that have come and will come.
pub struct Wishes(Signals);

const SIGHUP: i32 = rustix::process::Signal::HUP.as_raw();
const SIGINT: i32 = rustix::process::Signal::INT.as_raw();
const SIGTERM: i32 = rustix::process::Signal::TERM.as_raw();
const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();

impl Wishes {
    /// From now on these signals are delivered here instead of ending the process.
    pub fn new() -> io::Result<Self> {
        Signals::new([SIGHUP, SIGTERM, SIGINT, SIGXFSZ]).map(Self)
    }

    /// The next one.
    pub async fn next(&mut self) -> Wish {
        loop {
            match self.0.next().await {
                Some(SIGHUP) => return Wish::Reload,
                // The write that it is about fails, and that is enough.
                Some(SIGXFSZ) => {}
                Some(_) => return Wish::Stop,
                // The stream of signals never ends.
                None => smol::future::pending().await,
            }
        }
    }
}
