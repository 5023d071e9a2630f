//! SRV records, and the addresses of their targets.

mod left_out;
mod targets;

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroU16;

pub(super) use self::left_out::LeftOut;
use self::targets::Reason;
use super::{Listed, endpoint};
use crate::dns::{Addresses, Asker, Data, End, Family, Kind, Name, Question, to_text};
use crate::endpoint::MOST;
use crate::source::Failure;

/// One SRV record. All priorities are served.
struct Service {
    port: u16,
    weight: u16,
    target: Name,
}

/// One endpoint for each address of each target. A target that does not exist, or has no address of the
/// family, is left out.
///
/// Errors: a lookup of a target failed, every target was left out, or there are more than [`MOST`] endpoints.
pub(super) async fn list(
    asker: &Asker<'_>,
    name: &Name,
    family: Family,
    default_port: NonZeroU16,
    left_out: &LeftOut,
) -> Listed {
    let question = Question {
        name: name.clone(),
        kind: Kind::Srv,
    };
    let (records, additional) = match asker.ask(&question).await?.end {
        End::Records(records, additional) => (records, additional),
        End::NoName => return Ok(None),
        End::NoData | End::Alias(_) => (Vec::new(), Addresses::new()),
    };
    let services: Vec<Service> = records.into_iter().filter_map(service).collect();
    if services.iter().all(|service| service.target.is_root()) {
        // "The service is decidedly not available at this domain" (RFC 2782).
        left_out.end(name);
        return Ok(Some(Vec::new()));
    }
    let found = targets::find(asker, targets_of(&services), &additional, family).await?;
    let missing: BTreeMap<String, Reason> = found
        .iter()
        .filter_map(|(target, outcome)| Some((to_text(target), *outcome.as_ref().err()?)))
        .collect();
    if missing.len() == found.len() {
        return Err(none_left(&missing));
    }
    let mut endpoints = Vec::new();
    for service in &services {
        let Some(Ok(ips)) = found.get(&service.target) else {
            continue;
        };
        if endpoints.len() + ips.len() > MOST {
            return Err(targets::too_many());
        }
        let port = NonZeroU16::new(service.port).unwrap_or(default_port);
        endpoints.extend(
            ips.iter()
                .map(|ip| endpoint(ip, port, service.weight.into())),
        );
    }
    left_out.tell(name, missing);
    Ok(Some(endpoints))
}

fn service(data: Data) -> Option<Service> {
    match data {
        Data::Service {
            port,
            weight,
            target,
        } => Some(Service {
            port,
            weight,
            target,
        }),
        Data::Address(_) | Data::Text(_) => None,
    }
}

/// Each target once, in the order of the records.
fn targets_of(services: &[Service]) -> Vec<&Name> {
    let mut seen = HashSet::new();
    services
        .iter()
        .map(|service| &service.target)
        .filter(|target| seen.insert(*target))
        .collect()
}

fn none_left(missing: &BTreeMap<String, Reason>) -> Failure {
    let (target, reason) = missing
        .iter()
        .next()
        .map_or(("", ""), |(target, reason)| (target, *reason));
    let others = match missing.len() {
        0 | 1 => String::new(),
        all => format!(", and {} more", all - 1),
    };
    Failure::Unreadable(
        format!("no target of its SRV records has an address: {target} {reason}{others}; correct them or their addresses").into(),
    )
}
