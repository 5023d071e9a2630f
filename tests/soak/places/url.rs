//! Lists behind a url: every good form of an answer, and every way in which one can be cut, late or wrong.

mod exchange;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use self::exchange::{Exchange, converse, send};
use super::{Kept, Later, arrived};
use crate::chance::Chance;
use crate::lists::Style;
use crate::mood::Moods;
use crate::stage::Stage;
use crate::support::peer::{answer, header};
use crate::support::{Peer, Reply, Signed};
use crate::truth::{Excuse, Give, Place};
use crate::turns::Turns;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Slow,
    Silent,
    Drip,
    Reset,
    Refuse,
    CutHead,
    CutBody,
    CutChunk,
    CutGzip,
    CutTls,
    Status,
    RedirectLoop,
    BadLine,
    TooLarge,
    WrongJson,
    NotUtf8,
}

const FAULTS: [Fault; 16] = [
    Fault::Slow,
    Fault::Silent,
    Fault::Drip,
    Fault::Reset,
    Fault::Refuse,
    Fault::CutHead,
    Fault::CutBody,
    Fault::CutChunk,
    Fault::CutGzip,
    Fault::CutTls,
    Fault::Status,
    Fault::RedirectLoop,
    Fault::BadLine,
    Fault::TooLarge,
    Fault::WrongJson,
    Fault::NotUtf8,
];

/// As `max_size` has it; no good body is as long.
const LARGEST: usize = 256 << 10;

/// One place behind a server of its own.
struct Host {
    stage: Later,
    place: Arc<Place>,
    style: Style,
    turns: Arc<Turns>,
    state: Mutex<State>,
    peer: OnceLock<Peer>,
}

struct State {
    moods: Moods<Fault>,
    chance: Chance,
    /// The version that was given last, when nothing else was said since.
    last: Option<u64>,
    is_shut: bool,
}

/// Starts one, over TLS with a certificate.
pub(crate) fn start(stage: &Later, seed: u64, number: u8, signed: Option<&Signed>) -> Kept {
    let name = format!("url place {number}");
    let mut chance = Chance::of(seed, &name);
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
            moods: Moods::new(&FAULTS, Chance::of(seed, &format!("moods of {name}"))),
            chance: chance.clone(),
            last: None,
            is_shut: false,
        }),
        peer: OnceLock::new(),
    });
    // An address of its own, whose port nobody else is given while it refuses connections.
    let address = match signed {
        Some(_) => "127.0.0.1:0".into(),
        None => format!(
            "127.{}.{}.{}:0",
            chance.number(1..255),
            chance.number(0..255),
            chance.number(1..255)
        ),
    };
    let asked = host.clone();
    let peer = Peer::at(
        &address,
        signed.map(|signed| signed.server(None)),
        move |head| asked.reply(head),
    )
    .forgetting();
    let url = peer.url("/list");
    let _ = host.peer.set(peer);
    let tls = if signed.is_some() {
        ", ca_file: ca.pem"
    } else {
        ""
    };
    let source = format!("{{url: '{url}', timeout: 2500ms, max_size: 256KiB{tls}}}");
    Kept {
        place: host.place.clone(),
        kind: "url",
        source,
    }
}

impl Host {
    fn reply(self: &Arc<Self>, head: &str) -> Reply {
        let stage = self
            .stage
            .get()
            .expect("the stage is set before anyone asks")
            .clone();
        let turn = self.turns.begin(&stage, &self.place);
        let arrived = arrived(&stage, &self.place);
        let mut state = self.state.lock().unwrap();
        let fault = state.moods.now().filter(|_| !stage.quiet.is_wanted());
        let chance = state.chance.fork();
        let matching =
            header(head, "if-none-match").and_then(|tag| tag.trim_matches('"').parse().ok());
        if let Some(last) = state
            .last
            .filter(|last| fault.is_none() && matching == Some(*last) && state.chance.one_in(2))
        {
            stage.tally.count("peers: url", "not modified");
            self.place.again(last, Give::exchanged(arrived));
            return converse(turn, move |wire| {
                send(
                    wire,
                    format!("HTTP/1.1 304 Not Modified\r\nETag: \"{last}\"\r\n\r\n").as_bytes(),
                    true,
                )
            });
        }
        let version = self.place.draft();
        state.last = None;
        let exchange = Exchange {
            host: self.clone(),
            stage: stage.clone(),
            version,
            arrived,
            chance,
        };
        let fault = fault.filter(|fault| *fault != Fault::Refuse || self.place_is_its_own());
        match fault {
            None if !head.contains("/moved") && state.chance.one_in(8) => {
                stage.tally.count("peers: url", "redirect");
                converse(turn, |wire| {
                    send(
                        wire,
                        &answer("302 Found", "Location: /moved\r\n", "elsewhere"),
                        true,
                    )
                })
            }
            None => {
                state.last = Some(version);
                converse(turn, move |wire| exchange.good(wire))
            }
            Some(fault) => {
                stage.tally.count("peers: url", format!("{fault:?}"));
                if fault == Fault::Refuse && !std::mem::replace(&mut state.is_shut, true) {
                    self.refuse(&stage, state.chance.ms(100..900));
                }
                converse(turn, move |wire| exchange.bad(wire, fault))
            }
        }
    }

    fn place_is_its_own(&self) -> bool {
        self.peer
            .get()
            .is_some_and(|peer| peer.address.ip() != std::net::Ipv4Addr::LOCALHOST)
    }

    /// Takes no connections for a while.
    fn refuse(self: &Arc<Self>, stage: &Arc<Stage>, length: Duration) {
        let span = self.place.begin(Excuse::Failing);
        let (host, stage) = (self.clone(), stage.clone());
        std::thread::spawn(move || {
            let peer = host.peer.get().expect("it was set when it was started");
            peer.shut();
            stage.pause(length);
            peer.open();
            while std::net::TcpStream::connect(peer.address).is_err() && stage.goes_on() {
                std::thread::sleep(Duration::from_millis(1));
            }
            host.place.end(span);
            host.state.lock().unwrap().is_shut = false;
        });
    }
}
