//! What slices give together.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::num::NonZeroU16;

use super::{Port, Wanted};
use crate::endpoint::{Endpoint, MOST};
use crate::wording::shorten;

/// A failure lists so many ports.
const MOST_LISTED: usize = 16;
/// Names of ports are shown to this many characters; none that is valid is longer.
const LONGEST_NAME: usize = 63;

/// The endpoints of the slices that have come, and the ports that these have.
pub struct Gathered {
    pub(super) wanted: Wanted,
    found: Vec<(IpAddr, NonZeroU16)>,
    /// The name that all ports have so far.
    name: Option<Box<str>>,
    /// Whether ports have different names.
    has_several: bool,
    /// Whether there was a slice at all, apart from those that stand in for an empty list.
    has_slices: bool,
    has_wanted: bool,
    /// What a failure lists.
    ports: BTreeSet<String>,
}

/// One slice of a family that is wanted.
#[derive(Default)]
pub(super) struct Slice {
    /// How many endpoints there are, ready or not.
    pub(super) endpoints: usize,
    /// Of the endpoints that are ready.
    pub(super) addresses: Vec<IpAddr>,
    /// By name.
    pub(super) ports: BTreeMap<Box<str>, Option<NonZeroU16>>,
}

impl Gathered {
    /// Begins without a slice.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            found: Vec::new(),
            name: None,
            has_several: false,
            has_slices: false,
            has_wanted: false,
            ports: BTreeSet::new(),
        }
    }

    /// Whether these are more endpoints than are taken.
    pub(super) fn is_too_much(&self, more: usize) -> bool {
        self.found.len() + more > MOST
    }

    pub(super) fn add(&mut self, slice: Slice) {
        // For a Service without pods Kubernetes keeps one slice that has neither.
        if slice.endpoints == 0 && slice.ports.is_empty() {
            return;
        }
        self.has_slices = true;
        for (name, number) in &slice.ports {
            self.note(name, *number);
        }
        let port = match &self.wanted.port {
            None => Some(slice.ports.values().next().copied().flatten()),
            Some(wanted) => {
                let mut ports = slice.ports.iter();
                let port = ports.find(|(name, number)| wanted.is(name, **number));
                port.map(|(_, number)| *number)
            }
        };
        if let Some(number) = port {
            self.has_wanted = true;
            let port = number.unwrap_or(self.wanted.default_port);
            let found = slice.addresses.into_iter().map(|ip| (ip, port));
            self.found.extend(found);
        }
    }

    fn note(&mut self, name: &str, number: Option<NonZeroU16>) {
        match &self.name {
            None => self.name = Some(name.into()),
            Some(known) => self.has_several |= **known != *name,
        }
        if self.ports.len() <= MOST_LISTED {
            let number = number.map_or("without a number".into(), |number| number.to_string());
            let listed = match name {
                "" => number,
                name => format!("{} ({number})", shorten(name, LONGEST_NAME)),
            };
            self.ports.insert(listed);
        }
    }

    /// The endpoints, sorted and each once; the weight of all is 0.
    ///
    /// Errors: the slices do not have the wanted port, or several ports of which none is wanted. The
    /// error lists those that there are.
    pub fn finish(mut self) -> Result<Vec<Endpoint>, String> {
        match &self.wanted.port {
            Some(port) if self.has_slices && !self.has_wanted => return Err(self.lacking(port)),
            None if self.has_several => {
                let ports = self.listed();
                return Err(format!(
                    "the slices have several ports: {ports}; name one with port"
                ));
            }
            _ => {}
        }
        self.found.sort_unstable();
        self.found.dedup();
        let endpoints = self.found.into_iter().map(|(ip, port)| Endpoint {
            address: ip.into(),
            port,
            weight: 0,
        });
        Ok(endpoints.collect())
    }

    fn lacking(&self, port: &Port) -> String {
        if self.ports.is_empty() {
            return format!("no slice has the port {port}, and none has any; leave out port");
        }
        let advice = match port {
            Port::Name(_) => "correct port",
            Port::Number(_) => "correct port: a number is that of the pods, not of the Service",
        };
        let ports = self.listed();
        format!("no slice has the port {port}; the slices have {ports}; {advice}")
    }

    fn listed(&self) -> String {
        let ports: Vec<&str> = self
            .ports
            .iter()
            .take(MOST_LISTED)
            .map(|port| &**port)
            .collect();
        match self.ports.len() > MOST_LISTED {
            true => format!("{} and more", ports.join(", ")),
            false => ports.join(", "),
        }
    }
}
