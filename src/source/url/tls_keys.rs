//! The keys that say how TLS is spoken.

use super::Tls;
use crate::client::ServerName;
use crate::yaml::{self, Field, Mapping, Placed};

pub(super) fn parse(keys: &Mapping<'_>, reader: &mut yaml::Reader<'_>) -> Tls {
    let mut file = |key| {
        let field = keys.get(key)?;
        Some(Placed {
            value: reader.path(field)?,
            position: field.node.position,
        })
    };
    let (ca_file, certificate, key) = (file("ca_file"), file("cert_file"), file("key_file"));
    for (key, other) in [("cert_file", "key_file"), ("key_file", "cert_file")] {
        if let Some(field) = keys.get(key).filter(|_| keys.get(other).is_none()) {
            let message = format!("{key} is set without {other}: add {other}");
            reader.error(field.node.position, message);
        }
    }
    let insecure = keys.get("insecure_skip_verify");
    let skips = insecure
        .and_then(|field| reader.boolean(field))
        .unwrap_or(false);
    if let Some(field) = insecure.filter(|_| skips) {
        let message = "insecure_skip_verify takes any certificate, so whoever is on the way can read and change the list: set ca_file instead";
        reader.warn(field.node.position, message);
    }
    Tls {
        ca_file,
        identity: certificate.zip(key),
        server_name: keys
            .get("server_name")
            .and_then(|field| server_name(field, reader)),
        insecure_skip_verify: skips,
    }
}

fn server_name(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<ServerName<'static>> {
    let right = "write a host name or an IP address";
    let text = reader.text(field, right)?;
    ServerName::try_from(text.to_owned())
        .map_err(|_| reader.wrong(field, right))
        .ok()
}
