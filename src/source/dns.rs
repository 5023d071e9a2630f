//! The dns source: A and AAAA, SRV or TXT records, whole or not at all.

mod keys;
mod srv;
mod txt;

use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) use self::keys::{FAMILIES, KEYS};
use self::srv::LeftOut;
use super::{Failure, Reader, Reading};
use crate::blocking::Lane;
use crate::clock::Clock;
use crate::dns::{self, Asker, Family, Name, Protocol, Server, System, Wanted};
use crate::endpoint::{Address, Endpoint};

/// A name whose records are endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dns {
    /// As it is written.
    pub name: Box<str>,
    /// What is looked up.
    pub wanted: Wanted,
    /// Which records.
    pub records: Records,
    /// Which addresses are kept.
    pub family: Family,
    /// In the order in which they are asked; none for those of resolv.conf.
    pub servers: Vec<Server>,
    /// `None` for what suits the name.
    pub protocol: Option<Protocol>,
    /// For the whole read.
    pub timeout: Duration,
}

/// The records that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// A and AAAA.
    A,
    /// SRV, and the addresses of its targets.
    Srv,
    /// TXT that begins with `eds=`.
    Txt,
}

/// A name that can be read.
pub struct DnsReader {
    settings: Dns,
    system: System,
    left_out: LeftOut,
}

/// The endpoints of a name; `None` when there is no such name.
type Listed = Result<Option<Vec<Endpoint>>, Failure>;

impl DnsReader {
    /// Makes it ready; asks nobody.
    pub fn new(settings: Dns, lane: Lane) -> Self {
        Self {
            left_out: LeftOut::default(),
            system: System::new(lane),
            settings,
        }
    }

    async fn read_whole(&self, default_port: NonZeroU16) -> Result<Vec<Endpoint>, Failure> {
        let deadline = Clock::System.now() + self.settings.timeout;
        if !self.settings.servers.is_empty() {
            let asker = self.asker(&self.settings.servers, deadline);
            let name = self.settings.wanted.name();
            let list = self.list(&asker, name, default_port).await?;
            return Ok(list.unwrap_or_else(|| self.nothing()));
        }
        let resolv_conf = self.system.resolv_conf(deadline).await?;
        let asker = self.asker(&resolv_conf.servers, deadline);
        let wanted = &self.settings.wanted;
        for name in wanted.candidates(&resolv_conf.search, resolv_conf.ndots) {
            if let Some(list) = self.list(&asker, &name, default_port).await? {
                return Ok(list);
            }
        }
        Ok(self.nothing())
    }

    /// The list of a name that does not exist.
    fn nothing(&self) -> Vec<Endpoint> {
        self.left_out.end(self.settings.wanted.name());
        Vec::new()
    }

    fn asker<'a>(&self, servers: &'a [Server], deadline: Instant) -> Asker<'a> {
        Asker::new(servers, self.settings.protocol, deadline)
    }

    async fn list(&self, asker: &Asker<'_>, name: &Name, default_port: NonZeroU16) -> Listed {
        let family = self.settings.family;
        let list = match self.settings.records {
            Records::A => {
                let found = dns::addresses(asker, name, family, &[]).await?;
                found.map(|ips| ips.iter().map(|ip| endpoint(ip, default_port, 0)).collect())
            }
            Records::Srv => srv::list(asker, name, family, default_port, &self.left_out).await?,
            Records::Txt => txt::list(asker, name, family, default_port).await?,
        };
        Ok(list.map(sorted))
    }
}

impl Reader for DnsReader {
    fn read(&self, default_port: NonZeroU16) -> Reading<'_> {
        Box::pin(async move {
            let found = self.read_whole(default_port).await.map(Arc::new);
            found.map_err(|failure| failure.of(format_args!("dns {}", self.settings.name)))
        })
    }

    fn notices(&self) -> Vec<String> {
        self.left_out.notices()
    }
}

fn endpoint(ip: &IpAddr, port: NonZeroU16, weight: u32) -> Endpoint {
    Endpoint {
        address: Address::from(*ip),
        port,
        weight,
    }
}

/// By address, port and weight, each once: servers shuffle their answers, and the list changes only
/// when the records do. Names come after addresses.
pub fn sorted(endpoints: Vec<Endpoint>) -> Vec<Endpoint> {
    let place = |endpoint: &Endpoint| {
        let text = endpoint.address.as_str();
        let ip = text.parse::<IpAddr>().ok();
        let name = if ip.is_none() { text } else { "" };
        (
            ip.is_none(),
            ip,
            name.to_owned(),
            endpoint.port,
            endpoint.weight,
        )
    };
    let mut placed: Vec<_> = endpoints
        .into_iter()
        .map(|endpoint| (place(&endpoint), endpoint))
        .collect();
    // Of two ways to write one address the same is kept each time.
    placed.sort_by(|(a, one), (b, other)| {
        (a, one.address.as_str()).cmp(&(b, other.address.as_str()))
    });
    placed.dedup_by(|(a, _), (b, _)| a == b);
    placed.into_iter().map(|(_, endpoint)| endpoint).collect()
}

impl From<dns::Failure> for Failure {
    fn from(failure: dns::Failure) -> Self {
        let mut reason = failure.to_string();
        match failure.answered() {
            Some(Family::Ipv4) => reason.push_str("; family: ipv4 does without it"),
            Some(Family::Ipv6) => reason.push_str("; family: ipv6 does without it"),
            Some(Family::Any) | None => {}
        }
        match failure.is_timeout() {
            true => Self::TimedOut(reason.into()),
            false => Self::Unreadable(reason.into()),
        }
    }
}
