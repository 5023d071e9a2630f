//! Lists that no two reads share: each endpoint says of which place, and of which version of its list, it is. Rendered
//! here once more, for what is tested must not write its own tests.

mod lines;

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) use self::lines::{bad_line, line, lines, vary};
use crate::chance::Chance;

/// In the lists of places that give no port, whatever port the service has for them.
pub(crate) const DEFAULT_PORT: u16 = 9000;

/// An endpoint as a peer lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) ip: IpAddr,
    pub(crate) port: u16,
    pub(crate) weight: u32,
    pub(crate) spelling: Spelling,
}

/// How its address is written, which lists of lines keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Spelling {
    #[default]
    Usual,
    /// IPv6 in capitals.
    Capitals,
    /// IPv6 with a zone.
    Zone,
    /// A host name.
    Name,
}

impl Endpoint {
    /// Its address as it is written and served.
    pub(crate) fn address(&self) -> String {
        let ip = self.ip.to_string();
        match self.spelling {
            Spelling::Usual => ip,
            Spelling::Capitals => ip.to_uppercase(),
            Spelling::Zone => format!("{ip}%eth0"),
            Spelling::Name => format!("Web-{}.example.", ip.replace(['.', ':'], "-")),
        }
    }
}

/// What the lists of a place are like.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// The number of the place, below 100.
    pub(crate) place: u8,
    /// Of one version at most.
    pub(crate) most: usize,
    /// Of each endpoint, where the place gives none.
    pub(crate) port: Option<u16>,
    pub(crate) has_weights: bool,
    pub(crate) has_ipv6: bool,
}

impl Style {
    /// The endpoints of a version: mostly a few, sometimes none or hundreds, so that a cut list shows.
    pub(crate) fn list(&self, version: u64, chance: &mut Chance) -> Vec<Endpoint> {
        let most = match chance.number(0..20) {
            0..2 => 0,
            2..10 => chance.number(1..6),
            10..16 => chance.number(6..60),
            16..19 => chance.number(60..300),
            _ => chance.number(300..700),
        };
        self.exactly(most.min(self.most), version, chance)
    }

    /// So many endpoints of a version.
    pub(crate) fn exactly(&self, count: usize, version: u64, chance: &mut Chance) -> Vec<Endpoint> {
        let endpoint = |index: usize| Endpoint {
            ip: match self.has_ipv6 && index % 3 == 1 {
                true => self.ipv6(version, index),
                false => self.ipv4(version, index),
            },
            port: self.port.unwrap_or(2000 + (index / 250) as u16),
            weight: if self.has_weights {
                chance.number(0..1000) as u32
            } else {
                0
            },
            spelling: Spelling::Usual,
        };
        (0..count).map(endpoint).collect()
    }

    /// Versions that are 65,536 apart share addresses: hours lie between them.
    fn ipv4(&self, version: u64, index: usize) -> IpAddr {
        let [.., high, low] = version.to_be_bytes();
        Ipv4Addr::new(10 + self.place, high, low, (index % 250) as u8 + 1).into()
    }

    fn ipv6(&self, version: u64, index: usize) -> IpAddr {
        let place = u16::from(self.place);
        let [high, low] = [(version >> 16) as u16, version as u16];
        Ipv6Addr::new(0x2001, 0xdb8, place, high, low, 0, 0, index as u16 + 1).into()
    }
}

/// The body that clients must get.
pub(crate) fn body(list: &[Endpoint]) -> String {
    if list.is_empty() {
        return "[]\n".into();
    }
    let mut body = String::from("[\n");
    for (index, endpoint) in list.iter().enumerate() {
        let comma = if index + 1 < list.len() { "," } else { "" };
        let (address, port, weight) = (endpoint.address(), endpoint.port, endpoint.weight);
        let _ = write!(
            body,
            "  {{\n    \"ip\": \"{address}\",\n    \"port\": {port},\n    \"load_balancing_weight\": {weight}\n  }}{comma}\n"
        );
    }
    body + "]\n"
}

/// As dns and kubernetes sources give it: what is no plain address comes last.
pub(crate) fn sorted(mut list: Vec<Endpoint>) -> Vec<Endpoint> {
    list.sort_by_cached_key(|endpoint| {
        let name = match endpoint.spelling {
            Spelling::Usual | Spelling::Capitals => None,
            Spelling::Zone | Spelling::Name => Some(endpoint.address()),
        };
        let ip = name.is_none().then_some(endpoint.ip);
        (name, ip, endpoint.port, endpoint.weight)
    });
    list.dedup();
    list
}
