//! The servers of a name, which are asked in their order: the second one when the first is not well.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::questions::Questions;
use super::said::Said;
use super::{Carrier, Family, Read, Servers, Type, Zone};
use crate::chance::Chance;
use crate::support::dns::{Act, Asked, DnsServer, FORMERR, NOTIMP, REFUSED, SERVFAIL};

/// Nobody listens there.
const NOBODY: &str = "127.0.0.1:1";
/// A server has a question to itself for so long.
const PATIENCE: Duration = Duration::from_secs(1);
/// A server that is late answers what is sent again after so long.
const LATE: Duration = Duration::from_millis(1200);

/// What the first of two servers does while the second is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    Good,
    Errors,
    Malformed,
    Silent,
    /// Truncated, and over TCP it breaks off.
    Closes,
    /// It is good when the second one has been asked, which says nothing.
    Late,
}

impl First {
    /// The next of a deck.
    pub(super) fn deal(deck: &mut Vec<Self>, chance: &mut Chance) -> Self {
        use First::{Closes, Errors, Good, Late, Malformed, Silent};
        let all = [Good, Errors, Malformed, Silent, Closes, Late];
        chance.deal(deck, &all)
    }

    /// What it says to any question when it is not well.
    pub(super) fn fails(self, asked: &Asked, chance: &mut Chance) -> Option<Said> {
        let acts = match self {
            Self::Good | Self::Late => return None,
            Self::Silent => Vec::new(),
            Self::Errors => asked.error(chance.of_these(&[SERVFAIL, REFUSED, NOTIMP, FORMERR, 9])),
            Self::Closes if asked.tcp => vec![Act::Close],
            Self::Closes => asked.answer(&[]).truncated().send(),
            Self::Malformed => {
                let mut reply = asked.answer(&[]);
                reply.counts = Some([1, 0, 0]);
                reply.send()
            }
        };
        Some(Said::again(acts))
    }
}

/// Starts the servers of a zone, which serve to the end of the process, and gives its source as the configuration has it.
pub(super) fn start(zone: Zone) -> String {
    let wanted = zone.wanted;
    let zone = Arc::new(zone);
    let serve = |place: usize| {
        let zone = zone.clone();
        let server = DnsServer::start(move |asked| zone.answer(asked, place)).forgetting();
        let address = server.address().to_string();
        std::mem::forget(server);
        address
    };
    let servers = match wanted.servers {
        Servers::One => vec![serve(0)],
        Servers::Two => vec![serve(0), serve(1)],
        Servers::SecondAlone => vec![NOBODY.to_owned(), serve(0)],
    };
    let servers: Vec<String> = servers.iter().map(|server| format!("'{server}'")).collect();
    let kind = match wanted.kind {
        Type::A => "a",
        Type::Srv => "srv",
        Type::Txt => "txt",
    };
    let family = match wanted.family {
        Family::Any => "any",
        Family::Ipv4 => "ipv4",
        Family::Ipv6 => "ipv6",
    };
    let protocol = match wanted.carrier {
        Carrier::Udp => ", protocol: udp",
        Carrier::Tcp => ", protocol: tcp",
        Carrier::Consul => "",
    };
    let name = wanted.name();
    format!(
        "{{name: {name}, type: {kind}, family: {family}{protocol}, servers: [{}], timeout: 2500ms}}",
        servers.join(", ")
    )
}

impl Zone {
    /// Whether a server does not answer a question for the name yet, or at all, while the first one is late.
    pub(super) fn waits(
        &self,
        asked: &Asked,
        server: usize,
        is_second_try: bool,
        read: &Read,
    ) -> bool {
        let is_first_try = asked.name == self.wanted.name() && !is_second_try;
        read.first == First::Late && (server > 0 || is_first_try && read.arrived.elapsed() < LATE)
    }

    /// A server that a read has waited for is not asked first for what the same read asks next.
    pub(super) fn check_patience(&self, asked: &Asked, read: &Read) {
        let now = Instant::now();
        let slack = self.stage().truth.slack(read.arrived, now);
        let is_next = asked.name.ends_with(&format!(".v{}.test", read.version));
        if is_next
            && read.first == First::Silent
            && now - read.arrived + slack < 2 * PATIENCE
            && self.stage().truth.is_calm(read.arrived, now)
        {
            self.stage().fail(format!(
                "{}: the first server was asked for {asked}, though the read had waited for it",
                self.place.name
            ));
        }
    }

    /// The second server is asked when the first has failed, or has been silent for a while.
    pub(super) fn check_order(
        &self,
        asked: &Asked,
        server: usize,
        read: &Read,
        questions: &Questions,
    ) {
        let is_well = read.fault.is_none() && read.first == First::Good;
        let now = Instant::now();
        let slack = self.stage().truth.slack(read.arrived, now);
        let is_sure =
            asked.name == self.wanted.name() && self.stage().truth.is_calm(read.arrived, now);
        if server == 0 || !is_sure {
            return;
        }
        let name = &self.place.name;
        match questions.first(asked.kind) {
            None => self.stage().fail(format!(
                "{name}: the second server was asked for {asked} before the first"
            )),
            Some(at) if is_well && now - at + slack < PATIENCE => self.stage().fail(format!(
                "{name}: the second server was asked for {asked}, though the first had answered"
            )),
            Some(_) => {}
        }
    }
}
