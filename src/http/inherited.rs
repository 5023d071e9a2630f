//! Listening sockets that a supervisor opened and passes on (sd_listen_fds(3)): while this process is
//! restarted, connections wait in them.

use std::io;
use std::os::fd::OwnedFd;

use listenfd::ListenFd;

use super::listener::Listener;
use crate::wording::without_number;

/// The sockets that were passed to this process; usually none.
///
/// Errors: one of them is no listening TCP or unix socket.
pub fn listeners() -> Result<Vec<Listener>, String> {
    let mut passed = ListenFd::from_env();
    let count = passed.len();
    let adopt = |index| {
        let adopted = take(&mut passed, index).and_then(Listener::adopt);
        adopted.map_err(|error| {
            format!(
                "the {}. socket that was passed on: {}; let it be a listening TCP or unix socket",
                index + 1,
                without_number(&error)
            )
        })
    };
    (0..count).map(adopt).collect()
}

fn take(passed: &mut ListenFd, index: usize) -> io::Result<OwnedFd> {
    let tcp = passed.take_tcp_listener(index);
    let socket = match tcp {
        Ok(socket) => socket.map(OwnedFd::from),
        Err(_) => passed.take_unix_listener(index)?.map(OwnedFd::from),
    };
    socket.ok_or_else(|| io::ErrorKind::NotFound.into())
}
