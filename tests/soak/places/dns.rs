//! Names in DNS: addresses of both families, SRV and TXT records. What is asked in one read belongs together: a list is
//! of one read, though its records come in many answers.

mod addresses;
mod records;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Kept, Later, arrived};
use crate::chance::Chance;
use crate::lists::{Endpoint, Style};
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::dns::{Act, Asked, DnsServer, Reply};
use crate::truth::{Excuse, Place};

/// An answer with more bytes goes over TCP; Vigie takes 1232 in a datagram.
const LARGEST_DATAGRAM: usize = 1200;
/// No read goes on for longer.
const TIMEOUT: Duration = Duration::from_millis(2500);

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    A,
    AOverTcp,
    Srv,
    Txt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Servfail,
    Refused,
    Silent,
    /// The first datagram of each question is lost.
    Lost,
    Malformed,
    /// It says that it is truncated, and nobody takes the question over TCP.
    TruncatedForGood,
    /// One family fails while the other has addresses, which is a good answer.
    OneRefused,
    /// One family is silent.
    OneSilent,
    /// SRV: addresses without SRV records, over TCP too.
    Trimmed,
    /// SRV: the look-up of one target fails.
    TargetFails,
    /// TXT: a line that cannot be read.
    BadLine,
}

const OF_ADDRESSES: [Fault; 8] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::OneRefused,
    Fault::OneSilent,
];
/// Over TCP nothing is lost and nothing is truncated.
const OVER_TCP: [Fault; 6] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Malformed,
    Fault::OneRefused,
    Fault::OneSilent,
];
const OF_SRV: [Fault; 8] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::Trimmed,
    Fault::TargetFails,
];
const OF_TXT: [Fault; 7] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::BadLine,
];

/// One name on a server of its own.
struct Zone {
    stage: Later,
    place: Arc<Place>,
    style: Style,
    kind: Type,
    state: Mutex<State>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    read: Option<Read>,
}

/// The questions of one read.
struct Read {
    version: u64,
    arrived: Instant,
    fault: Option<Fault>,
    form: Form,
    list: Vec<Endpoint>,
    /// Who asked for which kind: the same again is the same question.
    asked: Vec<(&'static str, std::net::SocketAddr)>,
    /// What was told whole.
    told: Vec<&'static str>,
    chance: Chance,
}

/// How a good answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    /// By way of a CNAME record.
    Alias,
    /// Behind datagrams that do not match.
    BehindOthers,
    /// Truncated, and whole over TCP.
    Truncated,
    /// SRV without the addresses of its targets.
    Bare,
    /// SRV with the addresses of some targets.
    Half,
    NoName,
}

/// Starts one.
pub(crate) fn start(stage: &Later, seed: u64, number: u8, kind: Type) -> Kept {
    let name = format!("dns place {number}");
    let (faults, most): (&'static [Fault], _) = match kind {
        Type::A => (&OF_ADDRESSES, 150),
        Type::AOverTcp => (&OVER_TCP, 200),
        Type::Srv => (&OF_SRV, 40),
        Type::Txt => (&OF_TXT, 300),
    };
    let is_of_addresses = matches!(kind, Type::A | Type::AOverTcp);
    let zone = Zone {
        stage: stage.clone(),
        place: Place::new(&name),
        style: Style {
            place: number,
            most,
            port: is_of_addresses.then_some(9000),
            has_weights: !is_of_addresses,
            has_ipv6: true,
        },
        kind,
        state: Mutex::new(State {
            moods: Moods::new(faults, Chance::of(seed, &format!("moods of {name}"))),
            chance: Chance::of(seed, &name),
            read: None,
        }),
    };
    let place = zone.place.clone();
    let server = DnsServer::start(move |asked| zone.answer(asked)).forgetting();
    let (kind_key, protocol) = match kind {
        Type::A => ("a", "udp"),
        Type::AOverTcp => ("a", "tcp"),
        Type::Srv => ("srv", "udp"),
        Type::Txt => ("txt", "udp"),
    };
    let source = format!(
        "{{name: web.test, type: {kind_key}, protocol: {protocol}, servers: ['{}'], timeout: 2500ms}}",
        server.address()
    );
    // It serves to the end of the process.
    std::mem::forget(server);
    Kept {
        place,
        kind: "dns",
        source,
    }
}

impl Zone {
    fn answer(&self, asked: &Asked) -> Vec<Act> {
        let stage = self
            .stage
            .get()
            .expect("the stage is set before anyone asks");
        let mut state = self.state.lock().unwrap();
        let is_main = asked.name == "web.test";
        if is_main && self.is_new(&state, asked) {
            self.begin(stage, &mut state);
        }
        let Some(read) = &mut state.read else {
            return Vec::new();
        };
        let before = read
            .asked
            .iter()
            .filter(|(kind, peer)| *kind == asked.kind && *peer == asked.peer)
            .count();
        if is_main {
            read.asked.push((asked.kind, asked.peer));
        }
        if read.fault == Some(Fault::Lost) && !asked.tcp && before == 0 && is_main {
            return Vec::new();
        }
        match self.kind {
            Type::A | Type::AOverTcp => self.addresses(asked, read),
            Type::Srv | Type::Txt => self.records(asked, read),
        }
    }

    /// Whether a question for the name begins another read: it was asked before, and not just now by the same, nor
    /// because an answer did not fit in a datagram, or because EDNS was refused.
    fn is_new(&self, state: &State, asked: &Asked) -> bool {
        let Some(read) = &state.read else { return true };
        let mut same = read
            .asked
            .iter()
            .filter(|(kind, _)| *kind == asked.kind)
            .peekable();
        let is_second_try = !asked.edns || asked.tcp && self.kind != Type::AOverTcp;
        same.peek().is_some() && !is_second_try && !same.any(|(_, peer)| *peer == asked.peer)
    }

    fn begin(&self, stage: &Stage, state: &mut State) {
        let arrived = arrived(stage, &self.place);
        let fault = state.moods.now().filter(|_| !stage.quiet.is_wanted());
        let version = self.place.draft();
        let form = state.chance.of_these(match self.kind {
            Type::A => &[
                Form::Plain,
                Form::Plain,
                Form::Alias,
                Form::BehindOthers,
                Form::Truncated,
                Form::NoName,
            ][..],
            Type::AOverTcp => &[Form::Plain, Form::Plain, Form::Alias, Form::NoName],
            Type::Srv => &[
                Form::Plain,
                Form::Half,
                Form::Bare,
                Form::BehindOthers,
                Form::Truncated,
                Form::NoName,
            ],
            Type::Txt => &[
                Form::Plain,
                Form::Plain,
                Form::BehindOthers,
                Form::Truncated,
                Form::NoName,
            ],
        });
        stage.tally.count(
            "peers: dns",
            match fault {
                Some(fault) => format!("{fault:?}"),
                None => format!("good {form:?}"),
            },
        );
        let mut chance = state.chance.fork();
        let mut list = self.style.list(version, &mut chance);
        if fault.is_some_and(|fault| fault != Fault::Lost) {
            list = self
                .style
                .exactly(chance.number(3..30), version, &mut chance);
        } else if form == Form::NoName {
            list.clear();
        }
        self.excuse(fault, arrived);
        state.read = Some(Read {
            version,
            arrived,
            fault,
            form,
            list,
            asked: Vec::new(),
            told: Vec::new(),
            chance,
        });
    }

    /// Notes the fault of a read. What comes at once has come within a moment; silence lasts until nobody waits.
    fn excuse(&self, fault: Option<Fault>, arrived: Instant) {
        let (excuse, length) = match fault {
            None | Some(Fault::OneRefused) => return,
            Some(Fault::Silent | Fault::OneSilent) => (Excuse::Silent, TIMEOUT),
            Some(Fault::Lost) => (Excuse::Slow, Duration::from_millis(900)),
            Some(_) => (Excuse::Failing, Duration::from_millis(50)),
        };
        let span = self.place.begin_at(excuse, arrived);
        self.place.end_at(span, arrived + length);
    }

    /// Sends a reply, over TCP if it does not fit in a datagram.
    fn send(&self, asked: &Asked, read: &mut Read, reply: Reply) -> Vec<Act> {
        let is_long = reply.bytes().len() > LARGEST_DATAGRAM || read.form == Form::Truncated;
        if is_long && !asked.tcp {
            let cut = match read.chance.one_in(2) {
                true => asked.answer(&[]),
                false => Reply {
                    sections: [
                        reply.sections[0].iter().take(3).cloned().collect(),
                        Vec::new(),
                        Vec::new(),
                    ],
                    ..reply
                },
            };
            return cut.truncated().send();
        }
        let mut acts = Vec::new();
        if read.form == Form::BehindOthers && !asked.tcp {
            let mut wrong = asked.answer(&[&format!("{} TXT eds=10.9.9.9:9", asked.name)]);
            wrong.id = !asked.id;
            acts.push(Act::Foreign(reply.bytes()));
            acts.push(Act::Send(wrong.bytes()));
        }
        acts.extend(reply.send());
        acts
    }
}
