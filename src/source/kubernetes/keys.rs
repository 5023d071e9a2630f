//! The keys of the kubernetes source.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::Kubernetes;
use crate::dns::Family;
use crate::slices::{Port, is_label};
use crate::source::dns::FAMILIES;
use crate::yaml::{Field, Mapping, Placed, Reader, Value};

pub(in crate::source) const KEYS: [&str; 7] = [
    "service",
    "namespace",
    "port",
    "kubeconfig",
    "context",
    "family",
    "timeout",
];
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 86_400);
const SHORT: &str = "write NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT, or {service: SERVICE}";
const LABEL: &str =
    "write 1 to 63 lower case letters, digits and -, which neither begin nor end it";
const PORT: &str = "write the name of a port, or its number from 1 to 65535";

impl Kubernetes {
    /// Reads `NAMESPACE/SERVICE[:PORT]` or the mapping; `None` after noting what is wrong.
    pub(in crate::source) fn parse(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        match &field.node.value {
            Value::Plain(text) | Value::Quoted(text) => {
                let settings = Self::parse_short(text);
                if settings.is_none() {
                    reader.wrong(field, SHORT);
                }
                settings
            }
            Value::Mapping(_) => Self::parse_keys(field, reader),
            Value::Broken | Value::Null | Value::Sequence(_) => {
                reader.wrong(field, SHORT);
                None
            }
        }
    }

    fn parse_short(text: &str) -> Option<Self> {
        let (namespace, rest) = text.split_once('/')?;
        let (service, port) = match rest.split_once(':') {
            Some((service, port)) => (service, Some(Port::parse(port)?)),
            None => (rest, None),
        };
        let is_good = is_label(namespace) && is_label(service);
        is_good.then(|| Self {
            namespace: Some(namespace.into()),
            port,
            ..Self::of(service)
        })
    }

    /// A Service, and the default of every other key.
    fn of(service: &str) -> Self {
        Self {
            service: service.into(),
            namespace: None,
            port: None,
            kubeconfig: None,
            context: None,
            family: Family::Any,
            timeout: TIMEOUT,
        }
    }

    fn parse_keys(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let keys = reader.mapping(field, &KEYS);
        let service = label(&keys, "service", reader);
        if keys.get("service").is_none() && !keys.may_hold("service") {
            let message = format!("{} has no service: add service: SERVICE", field.name);
            reader.error(field.node.position, message);
        }
        let read = Self {
            namespace: label(&keys, "namespace", reader).map(Into::into),
            port: keys.get("port").and_then(|field| port(field, reader)),
            kubeconfig: keys.get("kubeconfig").and_then(|field| {
                let value = reader.path(field)?;
                Some(placed(value, field))
            }),
            context: keys.get("context").and_then(|field| {
                let value = reader.text(field, "write the name of a context")?;
                Some(placed(value.into(), field))
            }),
            family: keys
                .get("family")
                .and_then(|field| reader.choice(field, &FAMILIES))
                .unwrap_or(Family::Any),
            timeout: keys
                .get("timeout")
                .and_then(|field| reader.duration(field, TIMEOUTS))
                .unwrap_or(TIMEOUT),
            ..Self::of(service.unwrap_or_default())
        };
        service.map(|_| read)
    }
}

fn placed<T>(value: T, field: Field<'_>) -> Placed<T> {
    Placed {
        value,
        position: field.node.position,
    }
}

fn label<'a>(keys: &Mapping<'a>, key: &'a str, reader: &mut Reader<'_>) -> Option<&'a str> {
    let field = keys.get(key)?;
    let text = reader.text(field, LABEL)?;
    if !is_label(text) {
        reader.wrong(field, LABEL);
        return None;
    }
    Some(text)
}

fn port(field: Field<'_>, reader: &mut Reader<'_>) -> Option<Port> {
    let port = Port::parse(reader.text(field, PORT)?);
    if port.is_none() {
        reader.wrong(field, PORT);
    }
    port
}
