//! A file system that can be made to hang: a real FUSE mount whose daemon is stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{skip, wait_until, write_at_rest};

/// A mount of a folder. Whoever opens a file in it while it hangs waits until it goes on.
pub(crate) struct Hanging {
    folder: TempDir,
    daemon: Child,
}

impl Hanging {
    /// Mounts a folder that holds one list; `None`, with a word about it, where the kernel lets nobody mount.
    pub(crate) fn mount(promise: &str, name: &str, list: &str) -> Option<Self> {
        if let Err(error) = fs::File::options().read(true).write(true).open("/dev/fuse") {
            skip(promise, &format!("/dev/fuse: {error}"));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let [behind, before] = ["behind", "before"].map(|name| folder.path().join(name));
        fs::create_dir(&behind).unwrap();
        fs::create_dir(&before).unwrap();
        write_at_rest(&behind.join(name), list);
        let daemon = Command::new("bindfs")
            // Sizes are asked for each time, so that a changed list is read whole.
            .args(["-f", "--no-allow-other", "-o", "attr_timeout=0"])
            .args([&behind, &before])
            .stdin(Stdio::null())
            .spawn()
            .expect("bindfs must be installed: apt-get install bindfs fuse3");
        let mount = Self { folder, daemon };
        wait_until("the file system is mounted", || mount.path(name).exists());
        Some(mount)
    }

    /// The path of a file as seen through the mount.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("before").join(name)
    }

    /// Writes a list past the mount, which may hang.
    pub(crate) fn write(&self, name: &str, list: &str) {
        write_at_rest(&self.folder.path().join("behind").join(name), list);
    }

    pub(crate) fn hang(&self) {
        self.signal(Signal::STOP);
        let tasks = Path::new("/proc")
            .join(self.daemon.id().to_string())
            .join("task");
        let stopped = |task: PathBuf| {
            fs::read_to_string(task.join("stat")).is_ok_and(|stat| stat.contains(") T "))
        };
        let all_stopped = || {
            fs::read_dir(&tasks)
                .unwrap()
                .all(|task| stopped(task.unwrap().path()))
        };
        wait_until("the file system hangs", all_stopped);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.daemon), signal).unwrap();
    }
}

impl Drop for Hanging {
    fn drop(&mut self) {
        // With its daemon gone the mount fails whoever waits for it, and can be taken away.
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
        let _ = Command::new("fusermount3")
            .args(["-u", "-z"])
            .arg(self.folder.path().join("before"))
            .status();
    }
}
