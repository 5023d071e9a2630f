//! The targets of SRV records. They are names of one version, so their addresses are too.

use super::faults::Fault;
use super::forms::Form;
use super::{Read, State, Zone};
use crate::chance::Chance;
use crate::lists::{DEFAULT_PORT, Endpoint};
use crate::support::dns::{Act, Asked, NXDOMAIN, REFUSED, Reply, SERVFAIL};

/// One target, with an address or one of each family.
#[derive(Clone)]
pub(super) struct Target {
    name: String,
    endpoints: Vec<Endpoint>,
    /// Port and weight of each of its records.
    records: Vec<(u16, u32)>,
}

/// The targets of one version.
pub(super) struct Targets {
    pub(super) version: u64,
    pub(super) all: Vec<Target>,
    pub(super) fault: Option<Fault>,
}

impl Target {
    /// What its records say.
    pub(super) fn data(&self, priority: usize) -> impl Iterator<Item = String> {
        let records = self.records.iter();
        records.map(move |(port, weight)| format!("{priority} {weight} {port} {}", self.name))
    }

    fn is_name(&self) -> bool {
        self.name.starts_with('t')
    }
}

/// Divides a list among targets: some have an address of each family, some are addresses themselves, and some have two
/// records, so that the list has more endpoints.
pub(super) fn draw(list: &mut Vec<Endpoint>, version: u64, chance: &mut Chance) -> Vec<Target> {
    let (mut targets, mut all) = (Vec::<Target>::new(), Vec::new());
    let mut rest = &list[..];
    while let [first, others @ ..] = rest {
        let is_other = |next: &Endpoint| next.ip.is_ipv4() != first.ip.is_ipv4();
        let is_dual = others.first().is_some_and(is_other) && chance.one_in(2);
        let (own, others) = rest.split_at(1 + usize::from(is_dual));
        let is_literal = first.ip.is_ipv4() && !is_dual && targets.len() % 4 == 1;
        let mut records = vec![(
            chance.of_these(&[0, first.port, first.port, u16::MAX]),
            chance.of_these(&[first.weight, first.weight, u16::MAX.into()]),
        )];
        if chance.one_in(5) {
            records.push((7001, 3));
        }
        for (port, weight) in &records {
            let port = if *port == 0 { DEFAULT_PORT } else { *port };
            all.extend(own.iter().map(|one| Endpoint {
                port,
                weight: *weight,
                ..*one
            }));
        }
        targets.push(Target {
            name: match is_literal {
                true => first.ip.to_string(),
                false => format!("t{}.v{version}.test", targets.len()),
            },
            endpoints: own.to_vec(),
            records,
        });
        rest = others;
    }
    *list = all;
    targets
}

impl Zone {
    /// With the addresses of targets along, as the form has it, or of all.
    pub(super) fn along(&self, reply: Reply, read: &mut Read, all: bool) -> Reply {
        let mut texts = Vec::new();
        for target in read.targets.iter().filter(|target| target.is_name()) {
            let count = match read.form {
                _ if all => 2,
                // With an address of one family along, the other may fail.
                _ if read.fault.is_some_and(|fault| fault != Fault::Lost) => 0,
                Form::Bare => 0,
                Form::Half => read.chance.number(0..2),
                _ => 2,
            };
            let name = match read.form {
                Form::Capitals => target.name.to_uppercase(),
                _ => target.name.clone(),
            };
            // The first or the last of them.
            let skipped = read
                .chance
                .number(0..2)
                .min(target.endpoints.len().saturating_sub(count));
            for endpoint in target.endpoints.iter().skip(skipped).take(count) {
                texts.push(format!("{name} {} {}", kind(endpoint), endpoint.ip));
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        reply.additional(&texts)
    }

    /// One family of one target.
    pub(super) fn target(&self, asked: &Asked, state: &State) -> Vec<Act> {
        let labels: Vec<&str> = asked.name.split('.').collect();
        let number = |label: &str| label.get(1..)?.parse::<u64>().ok();
        let version = labels.get(1).and_then(|label| number(label));
        let known = state
            .targets
            .iter()
            .find(|known| Some(known.version) == version);
        let Some(targets) = known else {
            return match &*asked.name {
                "loop.test" => {
                    let end = self.wanted.name();
                    asked.answer(&[&format!("loop.test CNAME {end}")]).send()
                }
                _ => asked.error(NXDOMAIN),
            };
        };
        if targets.fault == Some(Fault::AllGone) || labels[0] == "gone" {
            return asked.error(NXDOMAIN);
        }
        let Some(at) = number(labels[0]) else {
            return asked.answer(&[]).send();
        };
        match targets.fault {
            Some(Fault::TargetFails) if at == 0 && targets.version.is_multiple_of(2) => {
                return asked.error(SERVFAIL);
            }
            Some(Fault::TargetFails) if at == 0 => return asked.error(REFUSED),
            Some(Fault::TargetSilent) if at == 0 => return Vec::new(),
            _ => {}
        }
        self.place.goes_on(targets.version);
        let mine = targets.all[at as usize].endpoints.iter();
        let mine = mine.filter(|endpoint| kind(endpoint) == asked.kind);
        let host = format!("h{at}.v{}.test", targets.version);
        let is_alias = labels[0].starts_with('t');
        let owner = if is_alias && at % 4 == 2 {
            &host
        } else {
            &asked.name
        };
        let mut records: Vec<String> = mine
            .map(|endpoint| format!("{owner} {} {}", asked.kind, endpoint.ip))
            .collect();
        if is_alias && matches!(at % 4, 2 | 3) {
            // Of the second kind nothing is told but the name.
            records.truncate(if at % 4 == 2 { records.len() } else { 0 });
            records.push(format!("{} CNAME {host}", asked.name));
        }
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        asked.answer(&records).send()
    }
}

fn kind(endpoint: &Endpoint) -> &'static str {
    match endpoint.ip.is_ipv4() {
        true => "A",
        false => "AAAA",
    }
}
