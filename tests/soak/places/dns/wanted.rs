//! What is wanted of a name, as the keys of its source have it.

use crate::lists::{Endpoint, Spelling};

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    A,
    Srv,
    Txt,
}

/// Which servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Servers {
    One,
    /// The first is not always well.
    Two,
    /// Nobody listens where the first one is to be.
    SecondAlone,
}

/// How questions for the name are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    Udp,
    Tcp,
    /// Over TCP, because its name is under `.consul`.
    Consul,
}

/// The addresses that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Any,
    Ipv4,
    Ipv6,
}

/// What a name is and how it is read.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(super) kind: Type,
    pub(super) carrier: Carrier,
    pub(super) family: Family,
    pub(super) servers: Servers,
    /// Whether the search list of resolv.conf makes the name whole.
    pub(super) is_searched: bool,
}

impl Wanted {
    /// One server, over UDP, of any family.
    pub(crate) fn of(kind: Type) -> Self {
        Self {
            kind,
            carrier: Carrier::Udp,
            family: Family::Any,
            servers: Servers::One,
            is_searched: false,
        }
    }

    pub(crate) fn carrier(self, carrier: Carrier) -> Self {
        Self { carrier, ..self }
    }

    pub(crate) fn family(self, family: Family) -> Self {
        Self { family, ..self }
    }

    pub(crate) fn servers(self, servers: Servers) -> Self {
        Self { servers, ..self }
    }

    pub(super) fn searched(self) -> Self {
        Self {
            is_searched: true,
            ..self
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.carrier {
            Carrier::Udp | Carrier::Tcp => "web.test",
            Carrier::Consul => "web.consul",
        }
    }

    pub(super) fn is_over_tcp(&self) -> bool {
        self.carrier != Carrier::Udp
    }

    /// How many questions for the name make a read.
    pub(super) fn kinds(&self) -> usize {
        1 + usize::from(self.kind == Type::A && self.family == Family::Any)
    }

    pub(super) fn keeps(&self, endpoint: &Endpoint) -> bool {
        match self.family {
            // Nobody knows of which family a host name is.
            _ if endpoint.spelling == Spelling::Name => true,
            Family::Any => true,
            Family::Ipv4 => endpoint.ip.is_ipv4(),
            Family::Ipv6 => endpoint.ip.is_ipv6(),
        }
    }
}
