//! What this host says of names: resolv.conf, hosts and `localhost`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use super::addresses::{Family, addresses};
use super::ask::Asker;
use super::failure::Failure;
use super::hosts::Hosts;
use super::name::Wanted;
use super::resolv_conf::ResolvConf;
use crate::blocking::{Lane, Stuck};
use crate::clock::Clock;
use crate::regular_file::{self, Unreadable};
use crate::wording::{MORE_FILES, quote};

/// The most bytes that either file may have.
const LARGEST: u64 = 4 << 20;

const EMPTIED: &str = "it has no byte any more, so a writer may be at work, or its disk full; if it is to be empty, write a comment";

/// The files of this host that have a say in names. They are read afresh for each use, on a thread that
/// may block: a change shows at once, and a file system that hangs holds up nobody else.
#[derive(Clone, Debug)]
pub struct System {
    resolv_conf: SystemFile,
    hosts: SystemFile,
    lane: Lane,
}

#[derive(Clone, Debug)]
struct SystemFile {
    path: PathBuf,
    /// Whether it had a byte when it was read before.
    had_some: Arc<AtomicBool>,
}

/// What has been read of them is known to all, through all reloads.
static FILES: LazyLock<[SystemFile; 2]> = LazyLock::new(|| {
    let paths = ["/etc/resolv.conf", "/etc/hosts"];
    paths.map(|path| SystemFile::new(path.into()))
});

impl SystemFile {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            had_some: Arc::default(),
        }
    }
}

impl System {
    /// `/etc/resolv.conf` and `/etc/hosts`, read on `lane`.
    pub fn new(lane: Lane) -> Self {
        let [resolv_conf, hosts] = &*FILES;
        Self {
            resolv_conf: resolv_conf.clone(),
            hosts: hosts.clone(),
            lane,
        }
    }

    /// Other files in their place.
    pub fn with_files(resolv_conf: PathBuf, hosts: PathBuf, lane: Lane) -> Self {
        let [resolv_conf, hosts] = [resolv_conf, hosts].map(SystemFile::new);
        Self {
            resolv_conf,
            hosts,
            lane,
        }
    }

    /// What resolv.conf says now; without the file, that the server on this host is to be asked.
    ///
    /// Errors: the file cannot be read in time, or names no server that could be asked.
    pub async fn resolv_conf(&self, deadline: Instant) -> Result<ResolvConf, Failure> {
        let text = self.read(&self.resolv_conf, deadline).await?;
        let Some(text) = text else {
            return Ok(ResolvConf::default());
        };
        let path = self.resolv_conf.path.display();
        ResolvConf::parse(&text).map_err(|wrong| Failure::new(format!("{path}: {wrong}")))
    }

    /// All addresses of a host, at least one, IPv4 first: of an IP address itself, of `localhost` and
    /// names below it those of loopback (RFC 6761, section 6.3), else those of hosts, else those that
    /// DNS has.
    ///
    /// Errors: it is no name, it has no address, or DNS gives no answer by the deadline.
    pub async fn addresses(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, Failure> {
        if let Ok(ip) = host.parse() {
            return Ok(vec![ip]);
        }
        if is_local(host) {
            return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
        }
        let wanted = Wanted::parse(host)
            .map_err(|right| Failure::new(format!("the host {}: {right}", quote(host))))?;
        let hosts = self.read(&self.hosts, deadline).await?;
        let known = Hosts::new(hosts.unwrap_or_default()).addresses(host);
        if !known.is_empty() {
            return Ok(known);
        }
        self.ask(&wanted, deadline).await
    }

    async fn ask(&self, wanted: &Wanted, deadline: Instant) -> Result<Vec<IpAddr>, Failure> {
        let resolv_conf = self.resolv_conf(deadline).await?;
        let asker = Asker::new(&resolv_conf.servers, None, deadline);
        for name in wanted.candidates(&resolv_conf.search, resolv_conf.ndots) {
            match addresses(&asker, &name, Family::Any, &[]).await? {
                None => {}
                Some(list) if list.is_empty() => {
                    return Err(Failure::new(format!(
                        "the host {} has no address; correct its name, or its A and AAAA records",
                        super::to_text(&name)
                    )));
                }
                Some(list) => return Ok(list),
            }
        }
        Err(Failure::new(format!(
            "there is no host {}; correct its name, or add it to DNS",
            super::to_text(wanted.name())
        )))
    }

    /// The text of a file; `None` when there is none. Half of one would send questions to another server, or for
    /// another name, and what comes of them is a good answer. So would one that has been emptied.
    async fn read(&self, file: &SystemFile, deadline: Instant) -> Result<Option<String>, Failure> {
        let wrong = |what: String| format!("reading {}: {what}", file.path.display());
        let timeout = deadline.saturating_duration_since(Clock::System.now());
        let path = file.path.clone();
        let read = move || regular_file::read_if_there(&path, LARGEST);
        match self.lane.run(timeout, read).await {
            Ok(Ok(Some(bytes))) if bytes.is_empty() && file.had_some.load(Relaxed) => {
                Err(Failure::new(wrong(EMPTIED.into())))
            }
            Ok(Ok(read)) => {
                let text = read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                if text.as_ref().is_some_and(|text| !text.is_empty()) {
                    file.had_some.store(true, Relaxed);
                }
                Ok(text)
            }
            Ok(Err(error)) => Err(Failure::new(wrong(advise(&error)))),
            Err(stuck @ Stuck::TimedOut) => Err(Failure::timed_out(wrong(stuck.to_string()))),
            Err(stuck) => Err(Failure::new(wrong(stuck.to_string()))),
        }
    }
}

fn advise(error: &Unreadable) -> String {
    match error {
        Unreadable::TooLarge => format!("{error}; it may have {LARGEST} bytes: shorten it"),
        Unreadable::NotRegular(_) => format!("{error}; put a file there"),
        Unreadable::Restless => format!("{error}; write a new file and rename it over the old one"),
        _ if error.is_denied() => format!("{error}; let the user that runs Vigie read it"),
        _ if error.lacks_files() => format!("{error}; {MORE_FILES}"),
        _ => error.to_string(),
    }
}

fn is_local(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let last = host.rsplit('.').next().unwrap_or_default();
    last.eq_ignore_ascii_case("localhost")
}
