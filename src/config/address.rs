//! Addresses to listen at.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use crate::wording::quote;
use crate::yaml::{Field, Node, Reader, Value};

/// One address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP address; `[::]` takes IPv4 too. Port 0 lets the system choose a free one.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

/// As it is written in the configuration; a relative path comes with its folder.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Address {
    /// Whether other hosts can reach it.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Tcp(address) => !address.ip().to_canonical().is_loopback(),
            Self::Unix(_) => false,
        }
    }

    /// Why both cannot be bound at once, where one takes what comes to the other: in words, which wildcard
    /// that is.
    pub fn overlap(&self, other: &Self) -> Option<&'static str> {
        let (Self::Tcp(one), Self::Tcp(other)) = (self, other) else {
            return None;
        };
        let ips = [one, other].map(|address| address.ip().to_canonical());
        let is_ipv4 = ips.iter().all(IpAddr::is_ipv4);
        match one.port() == other.port() && one.port() != 0 {
            true if ips.contains(&Ipv6Addr::UNSPECIFIED.into()) => Some("[::] takes IPv4 too"),
            true if ips.contains(&Ipv4Addr::UNSPECIFIED.into()) && is_ipv4 => {
                Some("0.0.0.0 takes every IPv4 address")
            }
            _ => None,
        }
    }
}

/// The path of a unix socket has at most this many bytes (unix(7)).
const LONGEST_PATH: usize = 107;
const RIGHT: &str = "write IP:PORT or unix:PATH, as in 127.0.0.1:8080, \"[::]:8080\" or \"unix:/run/vigie/vigie.sock\"";

/// One address or a list of them, each once; `reload` says whether requests may reload.
pub(super) fn parse_all(field: Field<'_>, reload: bool, reader: &mut Reader<'_>) -> Vec<Address> {
    let mut addresses = Vec::new();
    for node in items(field, reader) {
        let Some(address) = parse(Field { node, ..field }, reader) else {
            continue;
        };
        let called = match reader.hides(node) {
            true => "this address".into(),
            false => format!("the address {address}"),
        };
        if addresses.contains(&address) {
            let message = format!("{called} is named twice: remove one");
            reader.error(node.position, message);
        }
        if reload && address.is_open() {
            let message = "can be reached from other hosts, and whoever reaches it may ask for a reload: listen at 127.0.0.1, or set disable_reload_by_request: true";
            reader.warn(node.position, format!("{called} {message}"));
        }
        addresses.push(address);
    }
    addresses
}

/// More addresses than anyone listens at; finding doubles among them stays quick.
const MOST: usize = 256;

fn items<'a>(field: Field<'a>, reader: &mut Reader<'_>) -> &'a [Node] {
    match &field.node.value {
        Value::Sequence(nodes) if nodes.is_empty() => {
            reader.error(
                field.node.position,
                format!("{} is an empty list: {RIGHT}", field.name),
            );
            &[]
        }
        Value::Sequence(nodes) if nodes.len() > MOST => {
            reader.error(
                field.node.position,
                format!(
                    "{} names more than {MOST} addresses: remove some",
                    field.name
                ),
            );
            &[]
        }
        Value::Sequence(nodes) => nodes,
        _ => std::slice::from_ref(field.node),
    }
}

fn parse(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Address> {
    let text = reader.text(field, RIGHT)?;
    if let Some(path) = text.strip_prefix("unix:") {
        return socket(field, path, reader);
    }
    match text.parse() {
        Ok(address) => Some(Address::Tcp(address)),
        Err(_) => {
            let right = match reader.hides(field.node) {
                true => RIGHT.into(),
                false => right(text),
            };
            reader.wrong(field, &right);
            None
        }
    }
}

fn socket(field: Field<'_>, path: &str, reader: &mut Reader<'_>) -> Option<Address> {
    let whole = reader.folder().join(path);
    let right = match () {
        () if path.is_empty() || path.contains('\0') => RIGHT.to_owned(),
        () if whole.as_os_str().len() > LONGEST_PATH => {
            let shown = match reader.hides(field.node) {
                true => "this one".into(),
                false => quote(path),
            };
            let length = whole.as_os_str().len();
            format!(
                "the path of a unix socket has at most {LONGEST_PATH} bytes, {shown} has {length}"
            )
        }
        () => return Some(Address::Unix(whole)),
    };
    reader.wrong(field, &right);
    None
}

/// What to write instead of a text that is no address.
fn right(text: &str) -> String {
    let host_and_port = text
        .rsplit_once(':')
        .filter(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    if let Ok(ip) = text.parse::<IpAddr>() {
        return format!("add a port, as in \"{}\"", SocketAddr::new(ip, 8080));
    }
    match (
        text.strip_prefix(':').unwrap_or(text).parse::<u16>(),
        host_and_port,
    ) {
        (Ok(port), _) => format!("add an IP address, as in 127.0.0.1:{port} or \"[::]:{port}\""),
        (_, Some(("localhost", port))) => format!(
            "write the IP address instead of a host name, as in 127.0.0.1:{port} or \"[::1]:{port}\""
        ),
        (_, Some((_, port))) => format!(
            "write an IP address, not a host name, as in 127.0.0.1:{port} or \"[::]:{port}\""
        ),
        _ => RIGHT.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{bad, good};
    use super::*;

    fn addresses(text: &str) -> Vec<String> {
        good(&format!("server: {{address: {text}}}"))
            .server
            .addresses
            .iter()
            .map(Address::to_string)
            .collect()
    }

    #[test]
    fn an_address_is_an_ip_address_with_a_port_or_a_unix_socket() {
        assert_eq!(addresses("127.0.0.1:8080"), ["127.0.0.1:8080"]);
        assert_eq!(
            addresses("['[::]:8080', 0.0.0.0:0, 'unix:/run/v', 'unix:v']"),
            ["[::]:8080", "0.0.0.0:0", "unix:/run/v", "unix:dir/v"]
        );
    }

    #[test]
    fn a_wildcard_overlaps_what_it_takes_the_connections_of() {
        let tcp = |text: &str| Address::Tcp(text.parse().expect("an address"));
        let (six, four) = ("[::] takes IPv4 too", "0.0.0.0 takes every IPv4 address");
        for (one, other, overlap) in [
            ("0.0.0.0:1", "[::]:1", Some(six)),
            ("127.0.0.1:1", "[::]:1", Some(six)),
            ("[::1]:1", "[::]:1", Some(six)),
            ("0.0.0.0:1", "127.0.0.1:1", Some(four)),
            ("0.0.0.0:1", "[::1]:1", None),
            ("127.0.0.1:1", "127.0.0.2:1", None),
            ("0.0.0.0:1", "[::]:2", None),
            ("0.0.0.0:0", "[::]:0", None),
        ] {
            let (one, other) = (tcp(one), tcp(other));
            assert_eq!(one.overlap(&other), overlap, "{one} {other}");
            assert_eq!(other.overlap(&one), overlap, "{other} {one}");
        }
        assert_eq!(tcp("[::]:1").overlap(&Address::Unix("x".into())), None);
    }

    #[test]
    fn what_is_no_address_says_how_to_write_one() {
        for (text, right) in [
            (
                "localhost:80",
                "write the IP address instead of a host name, as in 127.0.0.1:80 or \"[::1]:80\"",
            ),
            (
                "web.example:80",
                "write an IP address, not a host name, as in 127.0.0.1:80 or \"[::]:80\"",
            ),
            ("127.0.0.1", "add a port, as in \"127.0.0.1:8080\""),
            ("'::1'", "add a port, as in \"[::1]:8080\""),
            (
                "':8080'",
                "add an IP address, as in 127.0.0.1:8080 or \"[::]:8080\"",
            ),
            (
                "8080",
                "add an IP address, as in 127.0.0.1:8080 or \"[::]:8080\"",
            ),
            ("127.0.0.1:65536", RIGHT),
            ("'unix:'", RIGHT),
            ("{}", RIGHT),
        ] {
            let error = bad(&format!("server: {{address: {text}}}"));
            assert!(
                error.starts_with("c.yml:1:19: address: ") && error.ends_with(right),
                "{error}"
            );
        }
        assert!(bad("server: {address: []}").starts_with("c.yml:1:19: address is an empty list: "));
        assert_eq!(
            bad("server:\n  address: [127.0.0.1:1,\n   127.0.0.1:1]"),
            "c.yml:3:4: the address 127.0.0.1:1 is named twice: remove one"
        );
        assert!(
            bad(&format!("server: {{address: 'unix:/{}'}}", "x".repeat(107)))
                .contains("at most 107 bytes")
        );
    }

    #[test]
    fn an_open_address_with_reload_by_request_is_warned_of() {
        let warnings = |text| {
            good(text)
                .warnings
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let open = warnings("server: {address: ['127.0.0.1:1', '[::1]:1', 'unix:x', '[::]:1']}");
        assert!(
            matches!(&*open, [one] if one.starts_with(":1:56: the address [::]:1 ") && one.contains("reload")),
            "{open:?}"
        );
        assert_eq!(
            warnings("server: {address: '[::]:1'}\ndisable_reload_by_request: true"),
            [""; 0]
        );
    }
}
