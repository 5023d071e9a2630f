//! The API server: who may ask it for what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

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
}

impl Api {
    pub(super) fn new(stage: &Later, seed: u64, services: HashMap<String, Service>) -> Self {
        Self {
            stage: stage.clone(),
            services,
            token: Mutex::new(Token {
                number: 0,
                chance: Chance::of(seed, "tokens"),
                until: Instant::now(),
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
            let text = format!("{SECRET}token-{}\n", token.number);
            stage.vigie.setup.write("token", text);
            stage.tally.count("peers: kubernetes", "new token");
        }
        asked.authorization().as_deref() != Some(&format!("Bearer {SECRET}token-{}", token.number))
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
