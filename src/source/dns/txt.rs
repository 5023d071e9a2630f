//! Endpoint lines in TXT records.

use std::net::IpAddr;
use std::num::NonZeroU16;

use super::Listed;
use crate::dns::{Asker, Data, End, Family, Kind, Name, Question, to_text};
use crate::endpoint::Endpoint;
use crate::lines;
use crate::source::Failure;
use crate::wording::quote;

/// What the records begin with that hold an endpoint.
const MARK: &[u8] = b"eds=";

/// One endpoint a record that begins with the mark; others are for somebody else. Addresses of another
/// family are left out, host names are kept.
pub(super) async fn list(
    asker: &Asker<'_>,
    name: &Name,
    family: Family,
    default_port: NonZeroU16,
) -> Listed {
    let question = Question {
        name: name.clone(),
        kind: Kind::Txt,
    };
    let records = match asker.ask(&question).await?.end {
        End::Records(records, _) => records,
        End::NoName => return Ok(None),
        End::NoData | End::Alias(_) => Vec::new(),
    };
    let mut endpoints = Vec::new();
    for record in &records {
        let Data::Text(text) = record else { continue };
        let Some(line) = text.strip_prefix(MARK) else {
            continue;
        };
        let endpoint = parse(line, default_port).map_err(|wrong| bad(name, line, wrong))?;
        if is_kept(&endpoint, family) {
            endpoints.push(endpoint);
        }
    }
    Ok(Some(endpoints))
}

fn parse(line: &[u8], default_port: NonZeroU16) -> Result<Endpoint, &'static str> {
    let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
    lines::parse_line(line, default_port)
}

fn is_kept(endpoint: &Endpoint, family: Family) -> bool {
    let text = endpoint.address.as_str();
    let bare = text.split('%').next().unwrap_or(text);
    bare.parse::<IpAddr>().map_or(true, |ip| family.holds(&ip))
}

fn bad(name: &Name, line: &[u8], wrong: &str) -> Failure {
    let record = quote(&format!("eds={}", String::from_utf8_lossy(line)));
    let name = to_text(name);
    Failure::Unreadable(format!("the TXT record {record} of {name}: {wrong}").into())
}
