//! A DNS server to ask.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};

use super::PORT;

/// The address of a DNS server, for IPv6 perhaps with a zone (RFC 4007, section 11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    ip: IpAddr,
    zone: Option<Box<str>>,
    port: u16,
}

impl Server {
    /// `IP`, `IP:PORT`, `[IPv6]` or `[IPv6]:PORT`, the IPv6 address perhaps with a zone as in
    /// `fe80::1%eth0`. Without a port it is 53. Anything else, port 0 too, gives `None`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(server) = Self::bare(text, PORT) {
            return Some(server);
        }
        let (address, port) = match text.strip_prefix('[') {
            Some(bracketed) => bracketed.split_once(']')?,
            None => text.split_at(text.rfind(':')?),
        };
        let port = match port {
            "" => PORT,
            _ => parse_port(port.strip_prefix(':')?)?,
        };
        let server = Self::bare(address, port)?;
        (server.ip.is_ipv6() == text.starts_with('[')).then_some(server)
    }

    fn bare(text: &str, port: u16) -> Option<Self> {
        let (address, zone) = match text.split_once('%') {
            Some((address, zone)) => (address, Some(zone)),
            None => (text, None),
        };
        let ip: IpAddr = address.parse().ok()?;
        let is_zone = |zone: &str| {
            ip.is_ipv6()
                && (1..=63).contains(&zone.len())
                && zone
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b']')
        };
        zone.is_none_or(is_zone).then(|| Self {
            ip,
            zone: zone.map(Into::into),
            port,
        })
    }

    /// Where to send to. A zone is looked up each time: its interface may come and go.
    pub(super) fn address(&self) -> io::Result<SocketAddr> {
        match (self.ip, &self.zone) {
            (IpAddr::V6(ip), Some(zone)) => {
                let scope = zone.parse().or_else(|_| index(zone))?;
                Ok(SocketAddrV6::new(ip, self.port, 0, scope).into())
            }
            (ip, _) => Ok(SocketAddr::new(ip, self.port)),
        }
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

/// The number of a network interface.
fn index(zone: &str) -> io::Result<u32> {
    let socket = socket_with(
        AddressFamily::INET6,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    Ok(netdevice::name_to_index(&socket, zone)?)
}

/// `IP:PORT`, an IPv6 address in brackets.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.zone.as_deref().map(|zone| format!("%{zone}"));
        let zone = zone.unwrap_or_default();
        match self.ip {
            IpAddr::V4(ip) => write!(f, "{ip}:{}", self.port),
            IpAddr::V6(ip) => write!(f, "[{ip}{zone}]:{}", self.port),
        }
    }
}

/// The server on this host, which is asked where resolv.conf names none.
impl Default for Server {
    fn default() -> Self {
        Self {
            ip: IpAddr::from([127, 0, 0, 1]),
            zone: None,
            port: PORT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_ip_address_perhaps_with_a_port() {
        for (text, shown) in [
            ("10.0.0.53", "10.0.0.53:53"),
            ("10.0.0.53:5353", "10.0.0.53:5353"),
            ("::1", "[::1]:53"),
            ("[::1]", "[::1]:53"),
            ("[::1]:5353", "[::1]:5353"),
            ("[fe80::1%eth0]:5353", "[fe80::1%eth0]:5353"),
            ("fe80::1%2", "[fe80::1%2]:53"),
        ] {
            let server = Server::parse(text).map(|server| server.to_string());
            assert_eq!(server.as_deref(), Some(shown), "{text}");
        }
        for text in [
            "",
            "localhost",
            "10.0.0",
            "10.0.0.53:",
            "10.0.0.53:0",
            "10.0.0.53:65536",
            "10.0.0.53:+5",
            "[10.0.0.53]:53",
            "[::1",
            "::1]",
            "[::1]53",
            "[::1]:",
            "10.0.0.53%eth0",
            "fe80::1%",
            "[fe80::1%]:53",
            " 10.0.0.53",
        ] {
            assert_eq!(Server::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_zone_is_the_name_or_the_number_of_an_interface() {
        let scope = |text| match Server::parse(text)?.address().ok()? {
            SocketAddr::V6(address) => Some(address.scope_id()),
            SocketAddr::V4(_) => None,
        };
        assert_eq!(scope("fe80::1%7"), Some(7));
        assert_eq!(scope("fe80::1%lo"), Some(1));
        assert_eq!(scope("fe80::1%nosuchdevice"), None);
    }
}
