//! Where a running server is asked.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use crate::config::Address;
use crate::dns::Wanted;

/// A server to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Server {
    /// An address.
    Tcp(SocketAddr),
    /// A host and a port: the first of its addresses that takes the connection.
    Host(Box<str>, u16),
    /// A unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

const RIGHT: &str = "write http://HOST:PORT or unix:PATH";

impl Server {
    /// Reads `http://HOST[:PORT]`, whose host is an IP address or a name, or `unix:PATH`. Errors say what would be
    /// right and quote nothing, for a URL may hold a password.
    pub(super) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once(':').ok_or(RIGHT)?;
        let rest = rest.strip_prefix("//").ok_or(rest);
        match (scheme.to_ascii_lowercase().as_str(), rest) {
            ("unix", Ok(path) | Err(path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            ("http", Ok(rest)) => tcp(rest),
            ("https", _) => Err(format!("https is not spoken here: {RIGHT}")),
            _ => Err(RIGHT.into()),
        }
    }

    /// The server that listens at an address, a wildcard by loopback.
    pub(super) fn at(address: &Address) -> Self {
        match address {
            Address::Unix(path) => Self::Unix(path.clone()),
            Address::Tcp(address) => Self::Tcp(reachable(*address)),
        }
    }
}

fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

fn tcp(rest: &str) -> Result<Server, String> {
    if rest.contains('@') {
        return Err(format!("a user and password are not sent: {RIGHT}"));
    }
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    if authority.contains(['/', '?', '#']) {
        return Err(format!("a path and a query have no place here: {RIGHT}"));
    }
    let (host, port) = split(authority).ok_or(RIGHT)?;
    match host.parse() {
        Ok(ip) => Ok(Server::Tcp(SocketAddr::new(ip, port))),
        Err(_) if Wanted::parse(host).is_ok() => Ok(Server::Host(host.into(), port)),
        Err(_) => Err(RIGHT.into()),
    }
}

/// Host, without brackets, and port, 80 when there is none.
fn split(authority: &str) -> Option<(&str, u16)> {
    if let Some((host, rest)) = authority
        .strip_prefix('[')
        .and_then(|inner| inner.split_once(']'))
    {
        let port = if rest.is_empty() {
            80
        } else {
            port(rest.strip_prefix(':')?)?
        };
        return host.contains(':').then_some((host, port));
    }
    match authority.split_once(':') {
        Some((host, digits)) => Some((host, port(digits)?)),
        None => Some((authority, 80)),
    }
}

fn port(digits: &str) -> Option<u16> {
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|port| decimal && *port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_an_ip_address_a_host_name_or_a_unix_socket() {
        for (url, shown) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("HTTP://127.0.0.1/", "127.0.0.1:80"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://[::1]", "[::1]:80"),
            ("http://localhost:81", "localhost:81"),
            ("http://vigie.example.net", "vigie.example.net:80"),
            ("unix:/run/vigie.sock", "unix:/run/vigie.sock"),
            ("unix:///run/vigie.sock", "unix:/run/vigie.sock"),
            ("unix:vigie.sock", "unix:vigie.sock"),
        ] {
            assert_eq!(
                Server::parse(url).map(|server| server.to_string()),
                Ok(shown.into()),
                "{url}"
            );
        }
    }

    #[test]
    fn what_is_no_server_says_what_to_write_and_quotes_nothing() {
        for (url, wrong) in [
            ("https://127.0.0.1", "https is not spoken here: "),
            (
                "http://me:hunter2@127.0.0.1",
                "a user and password are not sent: ",
            ),
            (
                "http://127.0.0.1/services",
                "a path and a query have no place here: ",
            ),
            ("http://a b", ""),
            ("http://10.0.0.256", ""),
            ("http://", ""),
            ("127.0.0.1:8080", ""),
            ("localhost", ""),
            ("http:127.0.0.1", ""),
            ("http://127.0.0.1:0", ""),
            ("http://127.0.0.1:+1", ""),
            ("http://[127.0.0.1]:1", ""),
            ("http://[::1]1", ""),
            ("unix:", ""),
            ("", ""),
        ] {
            assert_eq!(Server::parse(url), Err(format!("{wrong}{RIGHT}")), "{url}");
        }
    }

    #[test]
    fn a_wildcard_is_asked_by_loopback() {
        for (address, asked) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("10.0.0.1:1", "10.0.0.1:1"),
        ] {
            let address = Address::Tcp(address.parse().expect("an address"));
            assert_eq!(Server::at(&address).to_string(), asked);
        }
    }
}
