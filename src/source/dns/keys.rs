//! The keys of the dns source.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Dns, Records};
use crate::dns::{Family, Protocol, Server, Wanted};
use crate::yaml::{Field, Reader, Value};

pub(in crate::source) const KEYS: [&str; 6] =
    ["name", "type", "family", "servers", "protocol", "timeout"];
const TYPES: [(&str, Records); 3] = [
    ("a", Records::A),
    ("srv", Records::Srv),
    ("txt", Records::Txt),
];
pub(in crate::source) const FAMILIES: [(&str, Family); 3] = [
    ("any", Family::Any),
    ("ipv4", Family::Ipv4),
    ("ipv6", Family::Ipv6),
];
const PROTOCOLS: [(&str, Protocol); 2] = [("udp", Protocol::Udp), ("tcp", Protocol::Tcp)];
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 86_400);
/// More servers than anyone has.
const MOST_SERVERS: usize = 16;

impl Dns {
    /// Reads `NAME` or the mapping of its keys; `None` after noting what is wrong.
    pub(in crate::source) fn parse(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match field.node.value {
            Value::Plain(_) | Value::Quoted(_) => Self::of_name(field, reader),
            Value::Mapping(_) => Self::parse_keys(field, reader),
            Value::Broken | Value::Null | Value::Sequence(_) => {
                reader.wrong(field, "write a name to look up, or {name: NAME}");
                None
            }
        }
    }

    /// A name, and the default of every other key.
    fn of_name(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(field, "write a name to look up")?;
        let wanted = match Wanted::parse(text) {
            Ok(wanted) => wanted,
            Err(right) => {
                reader.wrong(field, right);
                return None;
            }
        };
        let records = if text.starts_with('_') {
            Records::Srv
        } else {
            Records::A
        };
        Some(Self {
            name: text.into(),
            wanted,
            records,
            family: Family::Any,
            servers: Vec::new(),
            protocol: None,
            timeout: TIMEOUT,
        })
    }

    fn parse_keys(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let keys = reader.mapping(field, &KEYS);
        let records = keys
            .get("type")
            .and_then(|field| reader.choice(field, &TYPES));
        let family = keys
            .get("family")
            .and_then(|field| reader.choice(field, &FAMILIES));
        let servers = keys
            .get("servers")
            .map(|field| parse_servers(field, reader));
        let protocol = keys
            .get("protocol")
            .and_then(|field| reader.choice(field, &PROTOCOLS));
        let timeout = keys
            .get("timeout")
            .and_then(|field| reader.duration(field, TIMEOUTS));
        let Some(name) = keys.get("name") else {
            if !keys.may_hold("name") {
                reader.error(
                    field.node.position,
                    format!("{} has no name: add name: NAME", field.name),
                );
            }
            return None;
        };
        let default = Self::of_name(name, reader)?;
        Some(Self {
            records: records.unwrap_or(default.records),
            family: family.unwrap_or(default.family),
            servers: servers.unwrap_or_default(),
            protocol,
            timeout: timeout.unwrap_or(default.timeout),
            ..default
        })
    }
}

const RIGHT: &str = "write IP or IP:PORT, as in 10.0.0.53, 127.0.0.1:8600 or \"[::1]:8600\"";

/// One server or a list of them, each once.
fn parse_servers(field: Field<'_>, reader: &mut Reader<'_>) -> Vec<Server> {
    let nodes = match &field.node.value {
        Value::Sequence(nodes) => nodes,
        _ => std::slice::from_ref(field.node),
    };
    if !(1..=MOST_SERVERS).contains(&nodes.len()) {
        let message = format!("{} names 1 to {MOST_SERVERS} servers: {RIGHT}", field.name);
        reader.error(field.node.position, message);
        return Vec::new();
    }
    let mut servers = Vec::new();
    for node in nodes {
        let Some(server) = parse_server(Field { node, ..field }, reader) else {
            continue;
        };
        if servers.contains(&server) {
            let called = match reader.hides(node) {
                true => "this server".into(),
                false => format!("the server {server}"),
            };
            reader.error(
                node.position,
                format!("{called} is named twice: remove one"),
            );
        }
        servers.push(server);
    }
    servers
}

fn parse_server(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Server> {
    let text = reader.text(field, RIGHT)?;
    let server = Server::parse(text);
    if server.is_none() {
        reader.wrong(field, RIGHT);
    }
    server
}
