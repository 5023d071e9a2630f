//! An endpoint is one address and port that a service gives, with its load balancing weight.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU16;

/// One endpoint of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// An IP address, or a host name that is passed on as it is.
    pub address: Address,
    /// 1 to 65535.
    pub port: NonZeroU16,
    /// The load balancing weight; 0 when the source gives none.
    pub weight: u32,
}

/// A list has at most so many endpoints, doubles counted, wherever it comes from: more than a cluster has
/// pods. A few bytes of a source can be an endpoint, which takes many times as much.
pub const MOST: usize = 250_000;
/// What is wrong with a longer list, and what to do.
pub const TOO_MANY: &str =
    "the list has more than 250000 endpoints; split it over several services";

/// `ADDRESS:PORT`, an IPv6 address in brackets.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address.0.contains(':') {
            true => write!(f, "[{}]:{}", self.address.0, self.port),
            false => write!(f, "{}:{}", self.address.0, self.port),
        }
    }
}

/// An IPv4 or IPv6 address or a host name, kept as it was written.
///
/// It holds letters, digits and `-_.:%` only, so it needs no escaping in JSON, HTML or a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Box<str>);

/// A host name has at most this many bytes (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;
/// A label of a host name has at most this many bytes (RFC 1035, section 2.3.4).
const LONGEST_LABEL: usize = 63;

impl Address {
    /// Takes an IPv4 address, an IPv6 address without brackets (a zone as in `fe80::1%eth0` is kept,
    /// RFC 4007, section 11), or a host name of letters, digits, `-`, `_` and `.` whose last label is
    /// not all digits. Anything else gives `None`.
    pub fn parse(text: &str) -> Option<Self> {
        (is_ip(text) || is_host_name(text)).then(|| Self(text.into()))
    }

    /// The address as it was written; IPv6 without brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// As RFC 5952 has it.
impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self(ip.to_string().into())
    }
}

fn is_ip(text: &str) -> bool {
    let (address, zone) = text
        .split_once('%')
        .map_or((text, None), |(address, zone)| (address, Some(zone)));
    match zone {
        None => address.parse::<IpAddr>().is_ok(),
        Some(zone) => address.parse::<Ipv6Addr>().is_ok() && is_zone(zone),
    }
}

fn is_zone(zone: &str) -> bool {
    (1..=LONGEST_LABEL).contains(&zone.len()) && zone.bytes().all(is_name_byte)
}

fn is_host_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= LONGEST_NAME
        && name
            .split('.')
            .all(|label| (1..=LONGEST_LABEL).contains(&label.len()))
        && name.bytes().all(is_name_byte)
        && !last.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::{MOST, TOO_MANY};

    #[test]
    fn what_is_said_of_too_many_names_how_many_there_may_be() {
        assert!(TOO_MANY.contains(&format!(" {MOST} ")), "{TOO_MANY}");
    }
}
