//! Header fields that are sent with each request.

use crate::client::{Authority, HeaderMap, HeaderName, HeaderValue, header};
use crate::yaml::{self, Anchored, Entry, Field};

/// More header fields than anyone sets.
const MOST_HEADERS: usize = 64;
/// What Vigie says itself, and what would change how the answer is to be read.
const OWN_HEADERS: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "keep-alive",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(super) fn parse(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> HeaderMap {
    let entries = reader.entries(field);
    if entries.len() > MOST_HEADERS {
        let message = format!("headers has more than {MOST_HEADERS} of them: remove some");
        reader.error(field.node.position, message);
    }
    let mut headers = HeaderMap::new();
    for entry in entries {
        if let Some((name, value)) = read(entry, reader)
            && headers.insert(name, value).is_some()
        {
            let message = "this header is set twice, for case does not matter: remove one";
            reader.error(entry.key.position, message);
        }
    }
    headers
}

fn read(entry: &Entry, reader: &mut yaml::Reader<'_>) -> Option<(HeaderName, HeaderValue)> {
    let text = &*entry.key.text;
    let name = HeaderName::from_bytes(text.as_bytes()).ok();
    let name = name.filter(|name| !OWN_HEADERS.contains(&name.as_str()));
    if name.is_none() {
        let message = match HeaderName::from_bytes(text.as_bytes()) {
            Ok(name) => format!("Vigie sets {name} itself: remove it"),
            Err(_) => "this is no name of a header: write letters, digits and -".into(),
        };
        reader.error(entry.key.position, message);
    }
    // What an alias may have brought is not named.
    let shown = name
        .as_ref()
        .filter(|_| entry.key.anchored != Anchored::Itself);
    let field = Field {
        name: shown.map_or("the header", HeaderName::as_str),
        node: &entry.node,
    };
    let is_host = name.as_ref() == Some(&header::HOST);
    let right = match is_host {
        true => "write HOST or HOST:PORT, as it stands in a URL",
        false => "write text of visible ASCII",
    };
    let text = reader.text(field, right)?;
    let is_good = text.is_ascii() && (!is_host || is_authority(text));
    let value = HeaderValue::from_str(text).ok().filter(|_| is_good);
    let Some(mut value) = value else {
        reader.wrong(field, right);
        return None;
    };
    value.set_sensitive(true);
    Some((name?, value))
}

/// Whether it is `HOST` or `HOST:PORT` (RFC 9110, section 7.2).
fn is_authority(text: &str) -> bool {
    Authority::try_from(text).is_ok_and(|authority| {
        !text.contains('@') && (authority.host() == text || authority.port_u16().is_some())
    })
}
