//! Services of a cluster: endpoints spread over slices and slices over pages at random, with what must not be served
//! among them; tokens that change, lists that are forgotten between two pages, refusals and cuts.

mod page;
mod slices;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::page::Page;
use super::{Kept, Later, arrived};
use crate::chance::Chance;
use crate::lists::{Endpoint, Style, sorted};
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::cluster::{Asked, Cluster, status};
use crate::support::peer::answer;
use crate::support::{Authority, Reply};
use crate::truth::{Excuse, Place, TIMEOUT};
use crate::turns::{Turn, Turns};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Slow,
    Silent,
    Reset,
    Forbidden,
    Broken,
    CutPage,
    /// The list is forgotten between two pages, again and again.
    AlwaysGone,
    /// The second page is refused.
    SecondFails,
    NoList,
}

const FAULTS: [Fault; 9] = [
    Fault::Slow,
    Fault::Silent,
    Fault::Reset,
    Fault::Forbidden,
    Fault::Broken,
    Fault::CutPage,
    Fault::AlwaysGone,
    Fault::SecondFails,
    Fault::NoList,
];

/// The API server.
struct Api {
    stage: Later,
    services: HashMap<String, Service>,
    token: Mutex<Token>,
}

/// The token that is accepted.
struct Token {
    number: u32,
    chance: Chance,
    /// A read can be refused once, and must not be again: so each token lasts longer than a read.
    until: Instant,
}

struct Service {
    place: Arc<Place>,
    style: Style,
    turns: Arc<Turns>,
    state: Mutex<State>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    read: Option<Read>,
    /// When a read beside another was last told that its list is forgotten.
    forgotten: Option<Instant>,
}

/// The pages of one version.
struct Read {
    version: u64,
    arrived: Instant,
    fault: Option<Fault>,
    list: Vec<Endpoint>,
    pages: Vec<String>,
    /// The server forgets the list once.
    forgets: bool,
}

/// Starts a cluster with places of these numbers; gives them and the kubeconfig of the cluster. Its first token is
/// `token-0`.
pub(crate) fn start(stage: &Later, seed: u64, numbers: &[u8]) -> (Vec<Kept>, String) {
    let service = |number: &u8| {
        let name = format!("kubernetes place {number}");
        let service = Service {
            place: Place::new(&name),
            style: Style {
                place: *number,
                most: 300,
                port: Some(8443),
                has_weights: false,
                has_ipv6: true,
            },
            turns: Arc::default(),
            state: Mutex::new(State {
                moods: Moods::new(&FAULTS, Chance::of(seed, &format!("moods of {name}"))),
                chance: Chance::of(seed, &name),
                read: None,
                forgotten: None,
            }),
        };
        (format!("service-{number}"), service)
    };
    let api = Arc::new(Api {
        stage: stage.clone(),
        services: numbers.iter().map(service).collect(),
        token: Mutex::new(Token {
            number: 0,
            chance: Chance::of(seed, "tokens"),
            until: Instant::now(),
        }),
    });
    let kept = |number: &u8| Kept {
        place: api.services[&format!("service-{number}")].place.clone(),
        kind: "kubernetes",
        source: format!(
            "{{service: service-{number}, kubeconfig: kube.yml, port: main, timeout: 2500ms}}"
        ),
    };
    let places = numbers.iter().map(kept).collect();
    let Cluster { peer, authority } = Cluster::start(move |asked| api.reply(asked));
    let cluster: Cluster = Cluster {
        peer: peer.forgetting(),
        authority,
    };
    let _: &Authority = &cluster.authority;
    (places, cluster.kubeconfig("{tokenFile: token}"))
}

impl Api {
    fn reply(&self, asked: &Asked<'_>) -> Reply {
        let stage = self
            .stage
            .get()
            .expect("the stage is set before anyone asks");
        let label = asked
            .query("labelSelector")
            .expect("each list is asked for by its label");
        let name = label.split('=').next_back().unwrap_or_default();
        let service = &self.services[name];
        let turn = service.turns.begin(stage, &service.place);
        if self.refuses(stage, asked) {
            drop(turn);
            return status("401 Unauthorized", "Unauthorized");
        }
        service.reply(stage, turn, asked.query("continue"))
    }

    /// Whether the token is an old one. The token file holds a new one before that is asked for.
    fn refuses(&self, stage: &Stage, asked: &Asked<'_>) -> bool {
        let mut token = self.token.lock().unwrap();
        if Instant::now() >= token.until {
            token.number += 1;
            token.until = Instant::now() + token.chance.ms(3000..6000);
            let text = format!("token-{}\n", token.number);
            stage.vigie.setup.write("token", text);
            stage.tally.count("peers: kubernetes", "new token");
        }
        asked.authorization().as_deref() != Some(&format!("Bearer token-{}", token.number))
    }
}

impl Service {
    fn reply(&self, stage: &Arc<Stage>, turn: Turn, next: Option<String>) -> Reply {
        let mut state = self.state.lock().unwrap();
        let Some(next) = next else {
            self.begin(stage, &mut state);
            return self.page(stage, turn, &mut state, 0);
        };
        let at = next.split_once('.').and_then(|(version, page)| {
            Some((version.parse::<u64>().ok()?, page.parse::<usize>().ok()?))
        });
        let Some((_, at)) = at.filter(|(version, _)| {
            state
                .read
                .as_ref()
                .is_some_and(|read| read.version == *version)
        }) else {
            drop(turn);
            stage.tally.count("peers: kubernetes", "forgotten list");
            state.forgotten = Some(Instant::now());
            let span = self.place.begin(Excuse::Failing);
            self.place.end(span);
            return status("410 Gone", "The provided continue parameter is too old");
        };
        self.page(stage, turn, &mut state, at)
    }

    fn begin(&self, stage: &Stage, state: &mut State) {
        let arrived = arrived(stage, &self.place);
        let fault = state.moods.now().filter(|_| !stage.quiet.is_wanted());
        let version = self.place.draft();
        let mut chance = state.chance.fork();
        let list = match fault {
            Some(Fault::CutPage | Fault::AlwaysGone | Fault::SecondFails) => {
                let count = chance.number(4..60);
                self.style.exactly(count, version, &mut chance)
            }
            _ => self.style.list(version, &mut chance),
        };
        let pages = slices::pages(&list, &mut chance);
        let forgot = state.read.as_ref().is_some_and(|read| read.forgets);
        let forgets = fault.is_none() && !forgot && pages.len() > 1 && chance.one_in(4);
        stage.tally.count(
            "peers: kubernetes",
            match fault {
                Some(fault) => format!("{fault:?}"),
                None if forgets => "forgotten once".to_owned(),
                None if pages.len() > 1 => "good pages".to_owned(),
                None => "good page".to_owned(),
            },
        );
        state.read = Some(Read {
            version,
            arrived,
            fault,
            list,
            pages,
            forgets,
        });
    }

    /// One page of the read, or the fault in its place.
    fn page(&self, stage: &Arc<Stage>, turn: Turn, state: &mut State, at: usize) -> Reply {
        let chance = state.chance.fork();
        let Some(read) = &state.read else {
            return status("410 Gone", "nothing is known of it");
        };
        if at > 0 && (read.forgets || read.fault == Some(Fault::AlwaysGone)) {
            // A read begins anew once, and a read beside another may have done so already.
            let is_second = state.forgotten.is_some_and(|at| at.elapsed() < TIMEOUT);
            if read.fault.is_some() || is_second {
                self.place.end(self.place.begin(Excuse::Failing));
            }
            drop(turn);
            return status("410 Gone", "The provided continue parameter is too old");
        }
        let is_last = at + 1 == read.pages.len();
        let next = if is_last {
            String::new()
        } else {
            format!("{}.{}", read.version, at + 1)
        };
        let list = format!(
            r#"{{"kind":"EndpointSliceList","metadata":{{"continue":"{next}"}},"items":[{}]}}"#,
            read.pages[at]
        );
        let bytes = answer("200 OK", "Content-Type: application/json\r\n", list);
        let is_played = |fault: &Fault| match fault {
            Fault::AlwaysGone => false,
            Fault::SecondFails | Fault::CutPage => is_last,
            _ => true,
        };
        let fault = read.fault.filter(is_played);
        let is_whole =
            is_last && matches!(read.fault, None | Some(Fault::Slow | Fault::AlwaysGone));
        let page = Page {
            stage: stage.clone(),
            place: self.place.clone(),
            chance,
            bytes,
            whole: is_whole.then(|| (read.version, read.arrived, sorted(read.list.clone()))),
        };
        Reply::Converse(Box::new(move |wire| {
            let sent = page.send(wire, fault);
            drop(turn);
            sent
        }))
    }
}
