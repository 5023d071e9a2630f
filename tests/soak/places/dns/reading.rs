//! One read of a name: what it is to get, and who else gets it.

use std::time::Instant;

use super::faults::Fault;
use super::forms::{self, Form};
use super::servers::First;
use super::targets::{self, Target, Targets};
use super::{Servers, State, Type, Zone};
use crate::chance::Chance;
use crate::lists::{self, Endpoint};
use crate::places::arrived;
use crate::truth::Give;

/// Versions whose targets may still be looked up.
const MOST_TARGETS: usize = 20;

/// The questions of one read.
pub(super) struct Read {
    pub(super) version: u64,
    pub(super) arrived: Instant,
    pub(super) fault: Option<Fault>,
    pub(super) form: Form,
    pub(super) first: First,
    pub(super) list: Vec<Endpoint>,
    pub(super) targets: Vec<Target>,
    /// Other reads that got the list too.
    joined: Vec<Instant>,
    is_whole: bool,
    /// It has had an answer that is none, so that it asks nothing more: what is asked now may be of the next one.
    pub(super) is_lost: bool,
    /// What was told whole.
    pub(super) told: Vec<&'static str>,
    pub(super) chance: Chance,
}

impl Zone {
    /// Another read is under way, and gets the same.
    pub(super) fn join(&self, state: &mut State) {
        let now = Instant::now();
        if let Some(read) = &mut state.read {
            read.joined.push(now);
            self.excuse(read, now);
        }
    }

    /// Notes that a list is whole.
    pub(super) fn whole(&self, read: &mut Read, list: &[Endpoint]) {
        if !std::mem::replace(&mut read.is_whole, true) {
            let kept = list.iter().filter(|endpoint| self.wanted.keeps(endpoint));
            let list = lists::sorted(kept.copied().collect());
            let give = Give::exchanged(read.arrived);
            self.place.whole(read.version, &list, give);
        }
    }

    /// The reads that have joined have it too; the last of them when its own question is answered.
    pub(super) fn give_again(&self, read: &mut Read) {
        if read.is_whole {
            for arrived in read.joined.drain(..) {
                self.place.again(read.version, Give::exchanged(arrived));
            }
            self.place.goes_on(read.version);
        }
    }

    pub(super) fn begin(&self, state: &mut State) {
        let stage = self.stage();
        let arrived = arrived(stage, &self.place);
        let fault = state.moods.now().filter(|_| !stage.quiet.is_wanted());
        let version = self.place.draft();
        let form = forms::choose(&self.wanted, &mut state.forms, &mut state.chance);
        let mut chance = state.chance.fork();
        let first = match self.wanted.servers {
            Servers::Two if fault.is_none() && !stage.quiet.is_wanted() => {
                First::deal(&mut state.firsts, &mut state.chance)
            }
            _ => First::Good,
        };
        stage.tally.count(
            "peers: dns",
            match fault {
                Some(fault) => format!("{fault:?}"),
                None => format!("good {form:?}"),
            },
        );
        if self.wanted.servers == Servers::Two {
            stage.tally.count("peers: dns", format!("first {first:?}"));
        }
        let (list, targets) = self.draw(version, fault, form, &mut chance);
        state.targets.push_back(Targets {
            version,
            all: targets.clone(),
            fault,
        });
        if state.targets.len() > MOST_TARGETS {
            state.targets.pop_front();
        }
        let read = Read {
            version,
            arrived,
            fault,
            form,
            first,
            list,
            targets,
            joined: Vec::new(),
            is_whole: false,
            is_lost: false,
            told: Vec::new(),
            chance,
        };
        self.excuse(&read, arrived);
        state.read = Some(read);
    }

    /// The list of a version, and the targets of its SRV records.
    fn draw(
        &self,
        version: u64,
        fault: Option<Fault>,
        form: Form,
        chance: &mut Chance,
    ) -> (Vec<Endpoint>, Vec<Target>) {
        let mut list = match fault {
            Some(fault) if fault != Fault::Lost => {
                let count = chance.number(3..30);
                self.style.exactly(count, version, chance)
            }
            _ if form == Form::NoName => Vec::new(),
            _ => self.style.list(version, chance),
        };
        match self.wanted.kind {
            Type::A => (list, Vec::new()),
            Type::Txt => {
                lists::vary(&mut list, chance);
                (list, Vec::new())
            }
            Type::Srv => {
                if !list.iter().any(|endpoint| self.wanted.keeps(endpoint)) {
                    // With no address of its family at all a list is no list.
                    list.clear();
                }
                let targets = targets::draw(&mut list, version, chance);
                (list, targets)
            }
        }
    }
}
