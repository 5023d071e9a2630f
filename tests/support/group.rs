//! A control group: what a container may take of memory, and how many processes it may have.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::skip;

const ROOT: &str = "/sys/fs/cgroup";

/// A group with one limit. Made before the server that is to run in it, so that it is removed after it.
pub(crate) struct Group(PathBuf);

impl Group {
    /// One that limits `memory` or `pids`; `None`, with a word about it, where this user may not make one.
    pub(crate) fn new(promise: &str, what: &str) -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "vigie-test-{}-{}",
            process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let group = Self(root(what).join(name));
        match fs::create_dir(&group.0) {
            Ok(()) if group.has(&format!("{what}.")) => Some(group),
            Ok(()) => {
                skip(promise, &format!("{ROOT} does not limit {what}"));
                None
            }
            Err(error) => {
                skip(promise, &format!("making a control group: {error}"));
                None
            }
        }
    }

    /// Its processes may have so many bytes together, and none of them on a disk.
    pub(crate) fn limit_memory(&self, bytes: usize) {
        let limits = [
            ("memory.limit_in_bytes", bytes),
            ("memory.memsw.limit_in_bytes", bytes),
            ("memory.max", bytes),
            ("memory.swap.max", 0),
        ];
        for (name, limit) in limits {
            if self.0.join(name).exists() {
                self.set(name, limit);
            }
        }
    }

    /// There may be so many threads.
    pub(crate) fn limit_threads(&self, most: usize) {
        self.set("pids.max", most);
    }

    /// How many processes were ended for want of memory.
    pub(crate) fn killed(&self) -> usize {
        let events = ["memory.events", "memory.oom_control"].map(|name| self.0.join(name));
        let text = events.iter().find_map(|path| fs::read_to_string(path).ok());
        let text = text.expect("the group tells of its memory");
        let mut words = text
            .lines()
            .filter_map(|line| line.strip_prefix("oom_kill "));
        words.next().unwrap().parse().unwrap()
    }

    /// A command of the shell that moves it into the group.
    pub(crate) fn enter(&self) -> String {
        format!("echo $$ > {}", self.0.join("cgroup.procs").display())
    }

    /// Whether one of its files begins so.
    fn has(&self, begin: &str) -> bool {
        let mut files = fs::read_dir(&self.0).unwrap();
        files.any(|file| {
            let name = file.unwrap().file_name();
            name.to_str().is_some_and(|name| name.starts_with(begin))
        })
    }

    fn set(&self, name: &str, value: usize) {
        fs::write(self.0.join(name), value.to_string()).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The last process may take a moment to be gone.
        for _ in 0..1000 {
            match fs::remove_dir(&self.0) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {}
                _ => return,
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Where groups that limit this are made: all in one tree, or each kind in its own (cgroups(7)).
fn root(what: &str) -> PathBuf {
    let own = Path::new(ROOT).join(what);
    if own.is_dir() { own } else { ROOT.into() }
}
