//! The services, as each configuration has them: the same names, but with other sources, ports, ttls and max_stales; and
//! a few that say in which configuration they were read. What a service does not say, it has from the section `cache`.

mod draft;

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use self::draft::Draft;
use crate::chance::Chance;
use crate::lists::{self, DEFAULT_PORT, Endpoint, Spelling};
use crate::places::Kept;
use crate::truth::{Place, Spec};

/// A service whose source lives.
pub(crate) struct Living {
    pub(crate) name: &'static str,
    /// The places that it may be read from.
    places: Vec<Kept>,
    /// The choices of `max_stale`, in milliseconds.
    max_stales: &'static [u64],
    /// Of the places, its default_port, its ttl and its max_stale, the ones in force.
    now: (usize, u16, u64, u64),
}

/// All of them.
pub(crate) struct Services {
    pub(crate) living: Vec<Living>,
    chance: Chance,
    generation: u64,
    crowd: Arc<Place>,
}

/// One configuration.
pub(crate) struct Configuration {
    /// The section `cache`.
    pub(crate) cache: String,
    /// The lines under `services:`.
    pub(crate) text: String,
    pub(crate) specs: HashMap<String, Spec>,
    /// A service that no other configuration has.
    pub(crate) own: String,
    /// A list that belongs to it, and the name of its file.
    pub(crate) list: (String, String),
}

const PORTS: [u16; 2] = [DEFAULT_PORT, 9001];
const STANDING_IN: Duration = Duration::from_secs(4);
const TTLS: [u64; 5] = [0, 200, 300, 700, 1500];

impl Living {
    pub(crate) fn new(name: &'static str, places: Vec<Kept>, max_stales: &'static [u64]) -> Self {
        Self {
            name,
            places,
            max_stales,
            now: (0, DEFAULT_PORT, TTLS[2], max_stales[0]),
        }
    }

    fn change(&mut self, chance: &mut Chance) {
        if chance.one_in(3) {
            self.now.0 = chance.number(0..self.places.len());
        }
        if chance.one_in(4) {
            self.now.1 = chance.of_these(&PORTS);
        }
        if chance.one_in(3) {
            self.now.2 = chance.of_these(&TTLS);
        }
        if chance.one_in(4) {
            self.now.3 = chance.of_these(self.max_stales);
        }
    }

    fn spec(&self) -> Spec {
        let Kept {
            place,
            kind,
            source,
        } = &self.places[self.now.0];
        Spec {
            place: place.clone(),
            kind,
            source: source.clone(),
            default_port: self.now.1,
            ttl: Duration::from_millis(self.now.2),
            max_stale: Duration::from_millis(self.now.3),
        }
    }
}

/// The list of `crowd`, which the bad clients ask for.
pub(crate) fn crowd() -> Vec<Endpoint> {
    (0..700).map(|index| one(90, index, 80)).collect()
}

fn one(place: u8, number: u64, port: u16) -> Endpoint {
    let [.., high, low] = number.to_be_bytes();
    Endpoint {
        ip: Ipv4Addr::new(10, place, high, low).into(),
        port,
        weight: 0,
        spelling: Spelling::Usual,
    }
}

impl Services {
    pub(crate) fn new(living: Vec<Living>, chance: Chance) -> Self {
        Self {
            living,
            chance,
            generation: 0,
            crowd: Place::still("crowd", &crowd()),
        }
    }

    /// The next configuration.
    pub(crate) fn next(&mut self) -> Configuration {
        self.next_with(None)
    }

    /// The next configuration, in which one service is as it is now, but that its last good list may stand in.
    pub(crate) fn next_with(&mut self, standing_in: Option<&str>) -> Configuration {
        self.generation += 1;
        let generation = self.generation;
        let mut draft = Draft::new(&mut self.chance);
        for service in &mut self.living {
            let mut spec = service.spec();
            if standing_in == Some(service.name) {
                spec.max_stale = STANDING_IN;
            } else {
                service.change(&mut self.chance);
                spec = service.spec();
            }
            draft.add(service.name, spec);
        }
        let file = format!("pair-{generation}.txt");
        let own = format!("generation-{generation}");
        let list = [one(91, generation, 80)];
        let still = |name: &str, list: &[Endpoint], source: &str| Spec {
            place: Place::still(name, list),
            kind: "file",
            source: source.into(),
            default_port: DEFAULT_PORT,
            ttl: Duration::from_millis(500),
            max_stale: Duration::ZERO,
        };
        draft.add("pair-a", still("pair-a", &list, &file));
        let pair_b = still("pair-b", &[one(92, 1, DEFAULT_PORT)], "pair-b.txt");
        let default_port = 10_000 + (generation % 50_000) as u16;
        draft.add(
            "pair-b",
            Spec {
                default_port,
                ..pair_b
            },
        );
        draft.add(&own, still(&own, &list, &file));
        let place = self.crowd.clone();
        draft.add(
            "crowd",
            Spec {
                place,
                ..still("crowd", &[], "crowd.txt")
            },
        );
        if generation.is_multiple_of(2) {
            draft.add("comes-and-goes", still("comes-and-goes", &list, &file));
        }
        let list = lists::lines(&list, &mut self.chance);
        Configuration {
            cache: draft.cache,
            text: draft.text,
            specs: draft.specs,
            own,
            list: (file, list),
        }
    }
}
