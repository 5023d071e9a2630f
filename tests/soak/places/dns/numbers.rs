//! Ids and ports of questions, which nobody else may be able to guess.

use std::collections::VecDeque;
use std::net::SocketAddr;

use super::Zone;
use crate::support::dns::Asked;

/// So many in a row are near each other by chance less than once in a thousand million times.
const ROW: usize = 8;
const NEAR: u16 = 200;

/// The last ones that came in datagrams.
#[derive(Default)]
pub(super) struct Numbers(VecDeque<(SocketAddr, u16)>);

impl Numbers {
    /// Notes a question, and says what of it could have been guessed.
    fn note(&mut self, asked: &Asked) -> Option<&'static str> {
        if self.0.contains(&(asked.peer, asked.id)) {
            // It was sent again.
            return None;
        }
        self.0.push_back((asked.peer, asked.id));
        if self.0.len() <= ROW {
            return None;
        }
        self.0.pop_front();
        let is_row = |number: fn(&(SocketAddr, u16)) -> u16| {
            let all: Vec<u16> = self.0.iter().map(number).collect();
            let step = |pair: &[u16]| pair[1].wrapping_sub(pair[0]);
            all.windows(2)
                .all(|pair| step(pair).wrapping_add(NEAR) < 2 * NEAR)
        };
        match () {
            () if is_row(|(_, id)| *id) => Some("ids"),
            () if is_row(|(peer, _)| peer.port()) => Some("ports"),
            () => None,
        }
    }
}

impl Zone {
    /// A question comes in the way that is wanted, and from where nobody guesses.
    pub(super) fn check_how(&self, asked: &Asked, numbers: &mut Numbers) {
        let name = &self.place.name;
        if asked.tcp {
            return;
        }
        if self.wanted.is_over_tcp() && asked.name == self.wanted.name() {
            self.stage()
                .fail(format!("{name}: asked for {asked} over UDP"));
        }
        if let Some(what) = numbers.note(asked) {
            self.stage().fail(format!(
                "{name}: the {what} of {ROW} questions can be guessed"
            ));
        }
    }
}
