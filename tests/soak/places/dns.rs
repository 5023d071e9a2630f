//! Names in DNS: addresses of both families, SRV and TXT records. What is asked in one read belongs together: a list is
//! of one read, though its records come in many answers.

mod addresses;
mod faults;
mod forms;
mod malformed;
mod numbers;
mod questions;
mod reading;
mod records;
mod said;
mod search;
mod sending;
mod servers;
mod targets;
mod wanted;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use self::faults::Fault;
use self::forms::Form;
use self::numbers::Numbers;
use self::questions::{Place as Belongs, Questions, State as Told};
use self::reading::Read;
use self::said::Said;
pub(crate) use self::search::start_with_search;
use self::servers::First;
use self::targets::Targets;
pub(crate) use self::wanted::{Carrier, Family, Servers, Type, Wanted};
use super::{Kept, Later};
use crate::chance::Chance;
use crate::lists::{DEFAULT_PORT, Style};
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::dns::{Act, Asked};
use crate::truth::Place;

/// No read goes on for longer.
const TIMEOUT: Duration = Duration::from_millis(2500);

/// One name on servers of its own.
struct Zone {
    stage: Later,
    place: Arc<Place>,
    style: Style,
    wanted: Wanted,
    state: Mutex<State>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    read: Option<Read>,
    questions: Questions,
    targets: VecDeque<Targets>,
    numbers: Numbers,
    /// The forms that come next, of those that few reads can have.
    forms: Vec<Form>,
    /// What the first server is next.
    firsts: Vec<First>,
}

/// Starts one.
pub(crate) fn start(stage: &Later, seed: u64, number: u8, wanted: Wanted) -> Kept {
    let zone = zone(stage, seed, number, wanted);
    Kept {
        place: zone.place.clone(),
        kind: "dns",
        source: servers::start(zone),
    }
}

fn zone(stage: &Later, seed: u64, number: u8, wanted: Wanted) -> Zone {
    let name = format!("dns place {number}");
    let is_of_addresses = wanted.kind == Type::A;
    Zone {
        stage: stage.clone(),
        place: Place::new(&name),
        style: Style {
            place: number,
            most: match wanted.kind {
                Type::A => 200,
                Type::Srv => 40,
                Type::Txt => 300,
            },
            port: is_of_addresses.then_some(DEFAULT_PORT),
            has_weights: !is_of_addresses,
            has_ipv6: true,
        },
        wanted,
        state: Mutex::new(State {
            moods: Moods::new(faults::of(&wanted), seed, number),
            chance: Chance::of(seed, &name),
            read: None,
            questions: Questions::default(),
            targets: VecDeque::new(),
            numbers: Numbers::default(),
            forms: Vec::new(),
            firsts: Vec::new(),
        }),
    }
}

impl Zone {
    fn stage(&self) -> &Arc<Stage> {
        self.stage
            .get()
            .expect("the stage is set before anyone asks")
    }

    /// What one of the servers does about a question.
    fn answer(&self, asked: &Asked, server: usize) -> Vec<Act> {
        if let Some(acts) = self.passes_over(asked) {
            return acts;
        }
        let mut state = self.state.lock().unwrap();
        let state = &mut *state;
        let alias = forms::alias_version(&asked.name);
        let present = state.read.as_ref().map(|read| read.version);
        if alias.is_some() && alias != present {
            // Who asks has given up.
            return Vec::new();
        }
        self.check_how(asked, &mut state.numbers);
        if let Some(read) = state.read.as_ref().filter(|_| server == 0) {
            self.check_patience(asked, read);
        }
        if alias.is_none() && asked.name != self.wanted.name() {
            return self.elsewhere(asked, server, state);
        }
        let is_second_try = !asked.edns
            || asked.tcp && !self.wanted.is_over_tcp()
            || server > 0
            || asked.name != self.wanted.name();
        let is_settled = || self.stage().truth.is_settled(Instant::now());
        match state
            .questions
            .place(asked, is_second_try, self.wanted.kinds(), is_settled)
        {
            Belongs::Begins => {
                state.questions = Questions::default();
                self.begin(state);
            }
            Belongs::Joins => self.join(state),
            Belongs::GoesOn => {}
        }
        let is_known = is_second_try || state.questions.is_known(asked);
        let Some(read) = &mut state.read else {
            return Vec::new();
        };
        self.check_order(asked, server, read, &state.questions);
        if self.waits(asked, server, is_second_try, read) {
            if server == 0 {
                state.questions.note(asked, is_second_try, Told::Open);
            }
            return Vec::new();
        }
        let first = (server == 0).then(|| read.first.fails(asked, &mut read.chance));
        let said = match first.flatten() {
            Some(said) => said,
            None => self.say(asked, server, read, is_known),
        };
        self.give_again(read);
        state.questions.note(asked, is_second_try, said.told);
        said.acts
    }

    /// What one of the servers does about a question for another name, which is of a target most likely.
    fn elsewhere(&self, asked: &Asked, server: usize, state: &mut State) -> Vec<Act> {
        let said = match &mut state.read {
            Some(read) if server == 0 => read.first.fails(asked, &mut read.chance),
            Some(read) if read.first == First::Late => Some(Said::nothing()),
            _ => None,
        };
        match said {
            Some(said) => said.acts,
            None => self.target(asked, state),
        }
    }

    fn say(&self, asked: &Asked, server: usize, read: &mut Read, is_known: bool) -> Said {
        if let Some(said) = self.plays(asked, read, is_known) {
            // The other server is asked for what fails here.
            let has_other = server == 0 && self.wanted.servers == Servers::Two;
            return match has_other && said.told == Told::Answered {
                true => Said::again(said.acts),
                false => said,
            };
        }
        match self.wanted.kind {
            Type::A => self.addresses(asked, read),
            Type::Srv | Type::Txt => self.records(asked, read),
        }
    }
}
