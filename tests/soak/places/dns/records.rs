//! SRV and TXT records. The targets of SRV records are names of one version, so their addresses are too.

use super::addresses::{cut_off, is_truncated, malformed};
use super::{Fault, Form, Read, State, Type, Zone};
use crate::lists::{Endpoint, socket, sorted};
use crate::support::dns::{Act, Asked, NXDOMAIN, REFUSED, Reply, SERVFAIL};

impl Zone {
    pub(super) fn records(&self, asked: &Asked, read: &mut Read) -> Vec<Act> {
        let texts = self.texts(read);
        match read.fault {
            Some(Fault::Servfail) => return asked.error(SERVFAIL),
            Some(Fault::Refused) => return asked.error(REFUSED),
            Some(Fault::Silent) => return Vec::new(),
            Some(Fault::Malformed) => return malformed(asked),
            Some(Fault::TruncatedForGood) => return cut_off(asked, &texts),
            Some(Fault::Trimmed) => {
                return self
                    .with_addresses(asked.answer(&[]), read, usize::MAX)
                    .send();
            }
            _ => {}
        }
        if read.list.is_empty() {
            self.whole(read, &[]);
            return match read.version % 3 {
                0 => asked.error(NXDOMAIN),
                1 if self.kind == Type::Srv => asked.answer(&["web.test SRV 0 0 0 ."]).send(),
                1 => asked.answer(&["web.test TXT for somebody else"]).send(),
                _ => asked.answer(&[]).send(),
            };
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let reply = asked.answer(&texts);
        let reply = match (self.kind, read.form) {
            // With an address of one family along, the other may fail.
            (Type::Srv, _) if read.fault == Some(Fault::TargetFails) => reply,
            (Type::Srv, Form::Bare) => reply,
            (Type::Srv, Form::Half) => self.with_addresses(reply, read, read.list.len() / 2),
            (Type::Srv, _) => self.with_addresses(reply, read, usize::MAX),
            _ => reply,
        };
        let acts = self.send(asked, read, reply);
        let is_cut = !asked.tcp && acts.iter().any(is_truncated);
        let is_good = matches!(read.fault, None | Some(Fault::Lost));
        if is_good && !is_cut {
            let list = sorted(read.list.clone());
            self.whole(read, &list);
        }
        acts
    }

    /// The records of a version, shuffled.
    fn texts(&self, read: &mut Read) -> Vec<String> {
        let of_srv = |(index, endpoint): (usize, &Endpoint)| {
            format!(
                "web.test SRV 0 {} {} {}",
                endpoint.weight,
                endpoint.port,
                name(read.version, index)
            )
        };
        let of_txt = |(_, endpoint): (usize, &Endpoint)| {
            format!("web.test TXT eds={}| {}", socket(endpoint), endpoint.weight)
        };
        let all = read.list.iter().enumerate();
        let mut texts: Vec<String> = match self.kind {
            Type::Srv => all.map(of_srv).collect(),
            _ => all.map(of_txt).collect(),
        };
        if read.fault == Some(Fault::BadLine) {
            texts.push("web.test TXT eds=10.0.0.1:80 lots".into());
        }
        read.chance.shuffle(&mut texts);
        texts
    }

    /// The addresses of the first targets along.
    fn with_addresses(&self, reply: Reply, read: &Read, count: usize) -> Reply {
        let address = |(index, endpoint): (usize, &Endpoint)| {
            let kind = if endpoint.ip.is_ipv4() { "A" } else { "AAAA" };
            format!("{} {kind} {}", name(read.version, index), endpoint.ip)
        };
        let texts: Vec<String> = read
            .list
            .iter()
            .enumerate()
            .take(count)
            .map(address)
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        reply.additional(&texts)
    }

    /// One family of one target.
    pub(super) fn target(&self, asked: &Asked, state: &State) -> Vec<Act> {
        let number = |label: &str| label.get(1..)?.parse::<u64>().ok();
        let mut labels = asked.name.split('.').map(number);
        let (Some(Some(index)), Some(Some(version))) = (labels.next(), labels.next()) else {
            return asked.error(NXDOMAIN);
        };
        let targets = state
            .targets
            .iter()
            .find(|targets| targets.version == version);
        let Some(targets) = targets else {
            return asked.error(NXDOMAIN);
        };
        if targets.first_fails && index == 0 {
            return asked.error(SERVFAIL);
        }
        self.place.goes_on(version);
        let endpoint = &targets.list[index as usize];
        match endpoint.ip.is_ipv4() == (asked.kind == "A") {
            true => asked
                .answer(&[&format!("{} {} {}", asked.name, asked.kind, endpoint.ip)])
                .send(),
            false => asked.answer(&[]).send(),
        }
    }
}

/// A target of one version.
fn name(version: u64, index: usize) -> String {
    format!("t{index}.v{version}.test")
}
