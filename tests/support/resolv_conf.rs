//! Another file in the place of /etc/resolv.conf, for one server.

use std::path::Path;
use std::process::Command;

use super::skip;

/// Whether this machine lets us put another file in the place of a system's one, for one process.
pub(crate) fn may_mount(promise: &str) -> bool {
    let output = Command::new("unshare")
        .args(["-m", "mount", "--bind", "/etc/hosts", "/etc/hosts"])
        .output();
    match output {
        Ok(output) if output.status.success() => true,
        Ok(output) => {
            skip(promise, String::from_utf8_lossy(&output.stderr).trim());
            false
        }
        Err(error) => {
            skip(promise, &format!("unshare: {error}"));
            false
        }
    }
}

/// A command of the shell that puts a file in the place of /etc/resolv.conf before the server starts.
pub(crate) fn instead(resolv_conf: &Path) -> String {
    let mount = format!("mount --bind {} /etc/resolv.conf", resolv_conf.display());
    format!("exec unshare -m sh -c '{mount} && exec \"$@\"' sh \"$@\"")
}
