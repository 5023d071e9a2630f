//! A network of its own, with nothing but loopback, for a server and those that it asks.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::skip;

/// The network. It is gone with the last process in it.
pub(crate) struct Network {
    /// Keeps it; ends by itself should nobody end it.
    holder: Child,
}

impl Network {
    /// One whose loopback is up; `None`, with a word about it, for a user that may not make one.
    pub(crate) fn new(promise: &str) -> Option<Self> {
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo made; exec sleep 600"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut made = String::new();
        let mut stdout = BufReader::new(holder.stdout.take().unwrap());
        stdout.read_line(&mut made).unwrap();
        let mut network = Self { holder };
        if made.is_empty() {
            let mut why = String::new();
            let mut stderr = network.holder.stderr.take().unwrap();
            stderr.read_to_string(&mut why).unwrap();
            skip(promise, why.trim());
            return None;
        }
        network.run("ip link set lo up");
        Some(network)
    }

    /// Runs a command in it, which must succeed.
    pub(crate) fn run(&self, command: &str) {
        if let Err(said) = self.try_to_run(command) {
            panic!("{command}: {said}");
        }
    }

    /// Runs a command in it; what it said, also when it fails.
    pub(crate) fn try_to_run(&self, command: &str) -> Result<String, String> {
        let output = Command::new("nsenter")
            .arg(format!("--net={}", self.file()))
            .args(["sh", "-c", command])
            .output()
            .unwrap();
        let text = |said: &[u8]| String::from_utf8_lossy(said).trim().to_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)),
        }
    }

    /// What `act` gives when it is done in this network: sockets that it makes stay there.
    pub(crate) fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        let file = File::open(self.file()).unwrap();
        let enter = || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(file.as_fd(), network).unwrap();
            act()
        };
        thread::scope(|scope| scope.spawn(enter).join().unwrap())
    }

    /// A command of the shell that has what follows it run in this network.
    pub(crate) fn enter(&self) -> String {
        format!("set -- nsenter --net={} \"$@\"", self.file())
    }

    fn file(&self) -> String {
        format!("/proc/{}/ns/net", self.holder.id())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
