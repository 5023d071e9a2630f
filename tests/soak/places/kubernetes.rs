//! Services of a cluster: endpoints spread over slices and slices over pages at random, with what must not be served
//! among them; tokens that change, lists that are forgotten between two pages, refusals and cuts.

mod api;
mod fault;
mod page;
mod ports;
mod slices;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use self::api::Api;
use self::fault::{FAULTS, Fault, GONE};
use self::page::Page;
use self::ports::Ports;
use super::{Kept, Later, Renewal, arrived};
use crate::chance::Chance;
use crate::lists::{Endpoint, Style, sorted};
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::Reply;
use crate::support::cluster::{Cluster, status};
use crate::support::peer::answer;
use crate::truth::{Place, TIMEOUT};
use crate::turns::{Turn, Turns};

/// What each continue token ends with: it says nothing, and must come back as it is. As JSON may write it.
const TAIL: &str = "+/=&%2B%zz#?;, \u{e4}\"\\";
const TAIL_IN_JSON: &str = r#"\u002b\/=&%2B%zz#?;, \u00e4\"\\"#;

struct Service {
    place: Arc<Place>,
    style: Style,
    ports: Ports,
    turns: Arc<Turns>,
    state: Mutex<State>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    read: Option<Read>,
    /// Of [`ECHOES`].
    echoes: Vec<bool>,
    /// Whether the next list repeats the token that it is asked for with, which is a new one.
    echoes_next: bool,
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

/// The services, each with its number and the port that it wants.
const SERVICES: [(u8, Ports); 4] = [
    (20, Ports::Named),
    (21, Ports::Numbered),
    (22, Ports::Only),
    (23, Ports::OnlyOfIpv4),
];
/// Whether a list repeats the token that was read anew for it.
const ECHOES: [bool; 2] = [true, false];
const USER: &str = "{tokenFile: token}";

/// Starts a cluster; gives its places, its renewal and its kubeconfig. Its first token has the number 0.
pub(crate) fn start(stage: &Later, seed: u64) -> (Vec<Kept>, Renewal, String) {
    let service = |(number, ports): (u8, Ports)| {
        let name = format!("kubernetes place {number}");
        let service = Service {
            place: Place::new(&name),
            style: Style {
                place: number,
                most: 300,
                port: Some(8443),
                has_weights: false,
                has_ipv6: ports.has_ipv6(),
            },
            ports,
            turns: Arc::default(),
            state: Mutex::new(State {
                moods: Moods::new(&FAULTS, seed, number),
                chance: Chance::of(seed, &name),
                read: None,
                echoes: Vec::new(),
                echoes_next: false,
                forgotten: None,
            }),
        };
        (format!("service-{number}"), service)
    };
    let services = SERVICES.into_iter().map(service).collect();
    let api = Api::new(stage, seed, services);
    let kept = |(number, ports): (u8, Ports)| Kept {
        place: api.place(&format!("service-{number}")),
        kind: "kubernetes",
        source: format!(
            "{{service: service-{number}, kubeconfig: kube.yml, timeout: 2500ms{}}}",
            ports.keys()
        ),
    };
    let kept: Vec<Kept> = SERVICES.into_iter().map(kept).collect();
    let places = kept.iter().map(|kept| kept.place.clone()).collect();
    let Cluster { peer, authority } = Cluster::start(move |asked| api.reply(asked));
    let mut cluster = Cluster {
        peer: peer.forgetting(),
        authority,
    };
    let kubeconfig = cluster.kubeconfig(USER);
    let renew = move || {
        cluster.renew();
        cluster.kubeconfig(USER)
    };
    let renewal = Renewal {
        places,
        file: "kube.yml",
        renew: Box::new(renew),
    };
    (kept, renewal, kubeconfig)
}

impl Service {
    /// A request was refused, and its token is read anew.
    fn refused(&self, is_first_page: bool) {
        let mut locked = self.state.lock().unwrap();
        let state = &mut *locked;
        state.echoes_next = is_first_page && state.chance.deal(&mut state.echoes, &ECHOES);
    }

    fn reply(&self, stage: &Arc<Stage>, turn: Turn, next: Option<String>, token: String) -> Reply {
        let mut state = self.state.lock().unwrap();
        let Some(next) = next else {
            self.begin(stage, &mut state);
            return self.page(stage, turn, &mut state, 0, token);
        };
        let at = next.strip_suffix(TAIL).and_then(|next| {
            let (version, page) = next.split_once('.')?;
            Some((version.parse::<u64>().ok()?, page.parse::<usize>().ok()?))
        });
        let Some((version, at)) = at else {
            stage.fail(format!(
                "{}: a continue token came back as {next:?}",
                self.place.name
            ));
            return status("400 Bad Request", "the token is no good");
        };
        let is_it = |read: &Read| read.version == version;
        if !state.read.as_ref().is_some_and(is_it) {
            drop(turn);
            stage.tally.count("peers: kubernetes", "forgotten list");
            state.forgotten = Some(Instant::now());
            let span = self.place.begin(GONE);
            self.place.end(span);
            return status("410 Gone", "The provided continue parameter is too old");
        }
        self.page(stage, turn, &mut state, at, token)
    }

    fn begin(&self, stage: &Stage, state: &mut State) {
        let arrived = arrived(stage, &self.place);
        let fault = match std::mem::take(&mut state.echoes_next) {
            true => Some(Fault::Echo),
            false => state.moods.now(),
        };
        let fault = fault.filter(|_| !stage.quiet.is_wanted());
        let version = self.place.draft();
        let mut chance = state.chance.fork();
        let mut list = match fault {
            Some(Fault::CutPage | Fault::AlwaysGone | Fault::SecondFails | Fault::WrongPorts) => {
                let count = chance.number(4..60);
                self.style.exactly(count, version, &mut chance)
            }
            _ => self.style.list(version, &mut chance),
        };
        let numbers = match fault {
            Some(Fault::WrongPorts) => self.ports.wrong(&mut chance),
            _ => self.ports.begin(&mut chance),
        };
        let mut pages = slices::pages(&mut list, numbers, &mut chance);
        if fault == Some(Fault::WrongSlice) {
            pages = slices::wrong_pages(&pages, &mut chance);
        }
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
    fn page(
        &self,
        stage: &Arc<Stage>,
        turn: Turn,
        state: &mut State,
        at: usize,
        token: String,
    ) -> Reply {
        let mut chance = state.chance.fork();
        let Some(read) = &state.read else {
            return status("410 Gone", "nothing is known of it");
        };
        if at > 0 && (read.forgets || read.fault == Some(Fault::AlwaysGone)) {
            // A read begins anew once, and a read beside another may have done so already.
            let is_second = state.forgotten.is_some_and(|at| at.elapsed() < TIMEOUT);
            if read.fault.is_some() || is_second {
                self.place.end(self.place.begin(GONE));
            }
            drop(turn);
            return status("410 Gone", "The provided continue parameter is too old");
        }
        let is_last = at + 1 == read.pages.len();
        let list = page::list(
            &read.pages[at],
            (!is_last).then_some((read.version, at + 1)),
            &mut chance,
        );
        let bytes = answer("200 OK", "Content-Type: application/json\r\n", list);
        let is_played = |fault: &Fault| match fault {
            Fault::AlwaysGone | Fault::WrongPorts | Fault::WrongSlice => false,
            Fault::SecondFails | Fault::CutPage => is_last,
            _ => true,
        };
        let fault = read.fault.filter(is_played);
        let is_whole =
            is_last && matches!(read.fault, None | Some(Fault::Slow | Fault::AlwaysGone));
        let is_no_list = |fault: &Fault| matches!(fault, Fault::WrongPorts | Fault::WrongSlice);
        let excusing = fault.or(read.fault.filter(is_no_list));
        let page = Page {
            excuse: excusing.map(Fault::excuse),
            stage: stage.clone(),
            place: self.place.clone(),
            token,
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
