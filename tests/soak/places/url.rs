//! Lists behind a url: every good form of an answer, and every way in which one can be cut, late or wrong. Each place has
//! two servers: one that is asked, and one elsewhere, to which the first may redirect.

mod asked;
mod ending;
mod exchange;
mod fault;
mod form;
mod login;
mod redirect;
mod servers;
mod words;
mod wrong;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use self::asked::Asked;
use self::ending::Ending;
use self::exchange::{Exchange, converse, send};
use self::fault::{FAULTS, FAULTS_OVER_TLS, Fault};
use self::login::Login;
use self::servers::Servers;
use super::{Kept, Later, Renewal, arrived};
use crate::chance::Chance;
use crate::holds::Part;
use crate::lists::Style;
use crate::mood::Moods;
use crate::stage::{SECRET, Stage};
use crate::support::peer::header;
use crate::support::{Authority, Reply, Signed};
use crate::truth::{Excuse, Give, Place};
use crate::turns::{Turn, Turns};

/// As `max_size` has it.
const LARGEST: usize = 256 << 10;

/// One place behind servers of its own.
struct Host {
    stage: Later,
    place: Arc<Place>,
    style: Style,
    turns: Arc<Turns>,
    state: Mutex<State>,
    /// A header that only the first server is to get.
    key: String,
    /// So is this.
    login: Option<Arc<Login>>,
    servers: OnceLock<Servers>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    /// The version that was given last as a good one, and its entity tag.
    last: Option<(u64, String)>,
    is_shut: bool,
}

/// Starts one.
pub(crate) fn start(stage: &Later, seed: u64, number: u8) -> Kept {
    start_with(stage, seed, number, None).0
}

/// The files that say who asks, and what they hold at first.
pub(crate) fn logins() -> Vec<(String, String)> {
    Login::files()
}

/// Starts one over TLS, whose certificate can be renewed; gives the text of its `ca_file` too.
pub(crate) fn start_tls(stage: &Later, seed: u64, number: u8) -> (Kept, Renewal, String) {
    let authority = Authority::new();
    let signed = authority.sign(&["127.0.0.1"]);
    let (kept, host) = start_with(stage, seed, number, Some(&signed));
    let renew = move || {
        let authority = Authority::new();
        let signed = authority.sign(&["127.0.0.1"]);
        host.servers().renew(&signed);
        authority.pem()
    };
    let renewal = Renewal {
        places: vec![kept.place.clone()],
        file: "ca.pem",
        renew: Box::new(renew),
    };
    (kept, renewal, authority.pem())
}

fn start_with(stage: &Later, seed: u64, number: u8, signed: Option<&Signed>) -> (Kept, Arc<Host>) {
    let name = format!("url place {number}");
    let mut chance = Chance::of(seed, &name);
    let faults: &[Fault] = match signed {
        None => &FAULTS,
        Some(_) => &FAULTS_OVER_TLS,
    };
    let host = Arc::new(Host {
        stage: stage.clone(),
        place: Place::new(&name),
        style: Style {
            place: number,
            most: 700,
            port: None,
            has_weights: true,
            has_ipv6: true,
        },
        turns: Arc::default(),
        state: Mutex::new(State {
            moods: Moods::new(faults, seed, number),
            chance: chance.clone(),
            last: None,
            is_shut: false,
        }),
        key: format!("{SECRET}key-{number}"),
        login: Login::of(seed, number).map(Arc::new),
        servers: OnceLock::new(),
    });
    let servers = Servers::start(&host, &mut chance, signed);
    let source = source(&host, &servers);
    let _ = host.servers.set(servers);
    let kept = Kept {
        place: host.place.clone(),
        kind: "url",
        source,
    };
    (kept, host)
}

/// As the configuration has it.
fn source(host: &Host, servers: &Servers) -> String {
    let url = servers.url_of_first("/list");
    let tls = if servers.is_plain() {
        ""
    } else {
        ", ca_file: ca.pem"
    };
    let login = host.login.as_ref();
    let login = login.map(|login| format!(", {}", login.keys()));
    let key = &host.key;
    format!(
        "{{url: '{url}', timeout: 2500ms, max_size: 256KiB, headers: {{X-Key: {key}}}{}{tls}}}",
        login.unwrap_or_default()
    )
}

impl Host {
    fn reply(self: &Arc<Self>, head: &str, is_first: bool) -> Reply {
        let stage = self
            .stage
            .get()
            .expect("the stage is set before anyone asks")
            .clone();
        let asked = Asked {
            head,
            path: head.split(' ').nth(1).unwrap_or_default(),
            is_first,
        };
        let login = self.login.as_ref().filter(|_| is_first);
        let checked = asked
            .check(&self.key)
            .and_then(|()| asked.check_login(&stage, login));
        if let Err(why) = checked {
            stage.fail(format!("{}: {why}", self.place.name));
        }
        let known = asked.version_at_hand();
        if let Some(Err(why)) = known.map(|known| stage.truth.has(&self.place, known)) {
            let service = stage.truth.service_of(&self.place);
            stage.fail_with(service.as_deref().unwrap_or_default(), why);
        }
        if let Some(login) = login {
            login.change(&stage, &self.place);
        }
        let turn = self.turns.begin(&stage, &self.place);
        let arrived = arrived(&stage, &self.place);
        let mut state = self.state.lock().unwrap();
        let part = match asked.leads_too_far() {
            true => None,
            false => stage.holds.part(&self.place),
        };
        let fault = match &part {
            Some(part) => Fault::of(part, &mut state.chance),
            None if asked.leads_too_far() => Some(Fault::TooManyRedirects),
            None => state.moods.now().filter(|_| !stage.quiet.is_wanted()),
        };
        let fault = fault.filter(|fault| *fault != Fault::Refuse || self.servers().may_refuse());
        let mut chance = state.chance.fork();
        if fault.is_none() && part.is_none() {
            if let Some(next) = redirect::next(&asked, &mut chance) {
                return self.redirect(&stage, turn, &asked, &next, &mut chance);
            }
            if let Some(last) = state.given_to(&asked).filter(|_| chance.one_in(2)) {
                return self.not_modified(&stage, turn, last, arrived, chance);
            }
        }
        let version = self.place.draft();
        let tag = asked.tag(&format!("{version}"), &mut chance);
        let exchange = Exchange {
            host: self.clone(),
            stage: stage.clone(),
            version,
            arrived,
            tag: (!chance.one_in(5)).then_some(tag),
            path: asked.path.to_owned(),
            is_conditional: header(head, "if-none-match").is_some(),
            secret: asked
                .secret()
                .filter(|_| chance.one_in(2))
                .unwrap_or_else(|| self.key.clone()),
            hold: part.and_then(Part::hold),
            chance,
        };
        match fault {
            None => {
                state.last = exchange.tag.clone().map(|tag| (version, tag));
                converse(turn, move |wire| exchange.good(wire))
            }
            Some(fault) => {
                stage.tally.count("peers: url", format!("{fault:?}"));
                if fault == Fault::Slow {
                    // It gives another list: nobody has the one of now already.
                    state.last = None;
                }
                if fault == Fault::Refuse && !std::mem::replace(&mut state.is_shut, true) {
                    self.refuse(&stage, state.chance.ms(100..900));
                }
                converse(turn, move |wire| exchange.bad(wire, fault))
            }
        }
    }

    fn not_modified(
        &self,
        stage: &Arc<Stage>,
        turn: Turn,
        (version, tag): (u64, String),
        arrived: Instant,
        mut chance: Chance,
    ) -> Reply {
        stage.tally.count("peers: url", "not modified");
        self.place.again(version, Give::exchanged(arrived));
        // Its length would be that of the list, and nothing follows (RFC 9110, section 8.6).
        let length = chance.of_these(&["", "Content-Length: 900\r\n"]);
        let answer = format!("HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n{length}\r\n");
        let ending = Ending::any(stage, &mut chance);
        converse(turn, move |wire| {
            send(wire, answer.as_bytes())?;
            Ok(ending)
        })
    }

    fn servers(&self) -> &Servers {
        self.servers.get().expect("they are set before anyone asks")
    }

    /// Takes no connections for a while.
    fn refuse(self: &Arc<Self>, stage: &Arc<Stage>, length: Duration) {
        let span = self.place.begin(Excuse::Saying(words::REFUSED));
        let (host, stage) = (self.clone(), stage.clone());
        std::thread::spawn(move || {
            let servers = host.servers();
            servers.refuse(|| stage.pause(length), || stage.goes_on());
            host.place.end(span);
            host.state.lock().unwrap().is_shut = false;
        });
    }
}

impl State {
    /// The version that whoever asks so has already.
    fn given_to(&self, asked: &Asked<'_>) -> Option<(u64, String)> {
        let known = header(asked.head, "if-none-match")?;
        self.last.clone().filter(|(_, tag)| *tag == known)
    }
}
