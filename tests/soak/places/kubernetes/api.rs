//! The API server: who may ask it for what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Service;
use crate::chance::Chance;
use crate::places::Later;
use crate::stage::{SECRET, Stage};
use crate::support::Reply;
use crate::support::cluster::{Asked, status};
use crate::truth::Place;

/// The API server.
pub(super) struct Api {
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
    /// Of [`BETWEEN_PAGES`].
    deck: Vec<bool>,
    /// Whether it is to change between two pages of a list.
    between_pages: bool,
}

const BETWEEN_PAGES: [bool; 2] = [false, true];
/// Lists of several pages are asked for so often.
const SOON: Duration = Duration::from_millis(1500);

impl Api {
    pub(super) fn new(stage: &Later, seed: u64, services: HashMap<String, Service>) -> Self {
        Self {
            stage: stage.clone(),
            services,
            token: Mutex::new(Token {
                number: 0,
                chance: Chance::of(seed, "tokens"),
                until: Instant::now(),
                deck: Vec::new(),
                between_pages: false,
            }),
        }
    }

    /// The place of a service.
    pub(super) fn place(&self, service: &str) -> Arc<Place> {
        self.services[service].place.clone()
    }

    pub(super) fn reply(&self, asked: &Asked<'_>) -> Reply {
        let stage = self
            .stage
            .get()
            .expect("the stage is set before anyone asks");
        if let Err(why) = check(asked) {
            stage.fail(format!("the API server was asked {why}"));
        }
        let label = asked
            .query("labelSelector")
            .expect("each list is asked for by its label");
        let name = label.split('=').next_back().unwrap_or_default();
        let service = &self.services[name];
        let turn = service.turns.begin(stage, &service.place);
        let next = asked.query("continue");
        let token = self.token(stage, next.is_some());
        if asked.authorization() != Some(format!("Bearer {token}")) {
            drop(turn);
            service.refused(next.is_none());
            return status("401 Unauthorized", "Unauthorized");
        }
        service.reply(stage, turn, next, token)
    }

    /// The token that is accepted from now on. The token file holds it before it is asked for.
    fn token(&self, stage: &Stage, is_further_page: bool) -> String {
        let mut locked = self.token.lock().unwrap();
        let token = &mut *locked;
        let now = Instant::now();
        let waits = token.between_pages && !is_further_page && now < token.until + SOON;
        if now >= token.until && !waits {
            token.number += 1;
            token.until = now + token.chance.ms(3000..6000);
            token.between_pages = token.chance.deal(&mut token.deck, &BETWEEN_PAGES);
            let words = match is_further_page {
                true => "new token between two pages",
                false => "new token",
            };
            stage
                .vigie
                .setup
                .write("token", format!("{}\n", token.text()));
            stage.tally.count("peers: kubernetes", words);
        }
        token.text()
    }
}

impl Token {
    fn text(&self) -> String {
        // No two of them have much in common: what is struck of one would hide the other.
        format!("{SECRET}{}-token", self.number)
    }
}

/// Whether a request is for a list as it must be: from the server's own cache at first, and then as it is.
fn check(asked: &Asked<'_>) -> Result<(), String> {
    let (path, version) = (asked.path(), asked.query("resourceVersion"));
    if path != "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices" {
        return Err(format!("for {path}"));
    }
    let is_first = asked.query("continue").is_none();
    match version.as_deref() == is_first.then_some("0") && asked.query("limit").is_some() {
        true => Ok(()),
        false => Err(format!(
            "with the resourceVersion {version:?}, and first {is_first}"
        )),
    }
}
