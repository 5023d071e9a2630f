//! Names in DNS: addresses of both families, SRV and TXT records. What is asked in one read belongs together: a list is
//! of one read, though its records come in many answers.

mod addresses;
mod questions;
mod records;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::addresses::is_truncated;
use self::questions::{Place as Belongs, Questions, State as Told};
use super::{Kept, Later, arrived};
use crate::chance::Chance;
use crate::lists::{DEFAULT_PORT, Endpoint, Style};
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::dns::{Act, Asked, DnsServer, NOTIMP, Reply};
use crate::truth::{Excuse, Give, Place};

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
    questions: Questions,
    /// The targets of versions that may still be looked up.
    targets: VecDeque<Targets>,
}

/// What is known of the targets of one version.
struct Targets {
    version: u64,
    list: Vec<Endpoint>,
    first_fails: bool,
}

/// The questions of one read.
struct Read {
    version: u64,
    arrived: Instant,
    fault: Option<Fault>,
    form: Form,
    list: Vec<Endpoint>,
    /// Other reads that got the list too.
    joined: Vec<Instant>,
    is_whole: bool,
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
            port: is_of_addresses.then_some(DEFAULT_PORT),
            has_weights: !is_of_addresses,
            has_ipv6: true,
        },
        kind,
        state: Mutex::new(State {
            moods: Moods::new(faults, Chance::of(seed, &format!("moods of {name}"))),
            chance: Chance::of(seed, &name),
            read: None,
            questions: Questions::default(),
            targets: VecDeque::new(),
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
        if asked.name != "web.test" {
            return self.target(asked, &state);
        }
        let is_second_try = !asked.edns || asked.tcp && self.kind != Type::AOverTcp;
        match state.questions.place(asked, is_second_try, self.kinds()) {
            Belongs::Begins => {
                state.questions = Questions::default();
                self.begin(stage, &mut state);
            }
            Belongs::Joins => self.join(&mut state),
            Belongs::GoesOn => {}
        }
        let is_known = state.questions.is_known(asked);
        let Some(read) = &mut state.read else {
            return Vec::new();
        };
        let acts = match (self.kind, read.fault) {
            (_, Some(Fault::Lost)) if !asked.tcp && !is_known => Vec::new(),
            (Type::A | Type::AOverTcp, _) => self.addresses(asked, read),
            (Type::Srv | Type::Txt, _) => self.records(asked, read),
        };
        self.give_again(read);
        let is_again =
            |act: &Act| is_truncated(act) && !asked.tcp || is_not_implemented(act) && asked.edns;
        let told = match acts.iter().any(is_again) {
            true => Told::Again,
            false if acts.is_empty() => Told::Open,
            false => Told::Answered,
        };
        state.questions.note(asked, is_second_try, told);
        acts
    }

    /// How many questions for the name make a read.
    fn kinds(&self) -> usize {
        match self.kind {
            Type::A | Type::AOverTcp => 2,
            Type::Srv | Type::Txt => 1,
        }
    }

    /// Another read is under way, and gets the same.
    fn join(&self, state: &mut State) {
        let now = Instant::now();
        if let Some(read) = &mut state.read {
            read.joined.push(now);
            self.excuse(read.fault, now);
        }
    }

    /// Notes that a list is whole.
    fn whole(&self, read: &mut Read, list: &[Endpoint]) {
        if !std::mem::replace(&mut read.is_whole, true) {
            let give = Give::exchanged(read.arrived);
            self.place.whole(read.version, list, give);
        }
    }

    /// The reads that have joined have it too.
    fn give_again(&self, read: &mut Read) {
        if read.is_whole {
            for arrived in read.joined.drain(..) {
                self.place.again(read.version, Give::exchanged(arrived));
            }
        }
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
        state.targets.push_back(Targets {
            version,
            list: list.clone(),
            first_fails: fault == Some(Fault::TargetFails),
        });
        if state.targets.len() > 20 {
            state.targets.pop_front();
        }
        state.read = Some(Read {
            version,
            arrived,
            fault,
            form,
            list,
            joined: Vec::new(),
            is_whole: false,
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

fn is_not_implemented(act: &Act) -> bool {
    matches!(act, Act::Send(bytes) if u16::from(bytes[3] & 15) == NOTIMP)
}
