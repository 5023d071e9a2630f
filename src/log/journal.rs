//! The journal of systemd: when it takes standard error, each line says how important it is.

use std::os::unix::ffi::OsStrExt;

use log::Level;
use rustix::fs::fstat;

/// Whether standard error is the stream that systemd has connected to its journal (systemd.exec(5),
/// `JOURNAL_STREAM`).
pub(super) fn is_listening() -> bool {
    let (Some(stream), Ok(stat)) = (std::env::var_os("JOURNAL_STREAM"), fstat(std::io::stderr()))
    else {
        return false;
    };
    stream.as_bytes() == format!("{}:{}", stat.st_dev, stat.st_ino).as_bytes()
}

/// What a line begins with, which the journal takes for itself (sd-daemon(3)).
pub(super) fn priority(level: Level) -> &'static str {
    match level {
        Level::Error => "<3>",
        Level::Warn => "<4>",
        Level::Info => "<6>",
        Level::Debug | Level::Trace => "<7>",
    }
}
