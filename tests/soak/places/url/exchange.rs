//! One answer: in one of its good forms, or cut, late or wrong.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Host;
use super::ending::Ending;
use super::fault::Fault;
use super::form::Form;
use crate::chance::Chance;
use crate::holds::Hold;
use crate::lists::Endpoint;
use crate::stage::Stage;
use crate::support::Reply;
use crate::support::peer::Wire;
use crate::truth::{Excuse, Give};
use crate::turns::Turn;

/// A longer answer and what is left over behind it may come in two pieces.
const ONE_PIECE: usize = 8 << 10;

/// One request under way.
pub(super) struct Exchange {
    pub(super) host: Arc<Host>,
    pub(super) stage: Arc<Stage>,
    pub(super) version: u64,
    pub(super) arrived: Instant,
    /// The entity tag of a good answer, if it is to have one.
    pub(super) tag: Option<String>,
    pub(super) path: String,
    /// Whether it says what is at hand.
    pub(super) is_conditional: bool,
    /// What was sent with it or before it, and is not to be told.
    pub(super) secret: String,
    /// Set where it is held until another has overtaken it.
    pub(super) hold: Option<Arc<Hold>>,
    pub(super) chance: Chance,
}

/// Answers, and ends the turn; the connection ends as it may.
pub(super) fn converse(
    turn: Turn,
    act: impl FnOnce(&mut dyn Wire) -> io::Result<Ending> + Send + 'static,
) -> Reply {
    Reply::Converse(Box::new(move |wire| {
        let ending = act(wire);
        drop(turn);
        ending?.play(wire)
    }))
}

pub(super) fn send(wire: &mut dyn Wire, bytes: &[u8]) -> io::Result<()> {
    wire.write_all(bytes)?;
    wire.flush()
}

impl Exchange {
    /// From now on a read may have it whole.
    pub(super) fn is_whole(&self, list: &[Endpoint]) {
        self.host
            .place
            .whole(self.version, list, Give::exchanged(self.arrived));
    }

    pub(super) fn good(mut self, wire: &mut dyn Wire) -> io::Result<Ending> {
        let list = self.host.style.list(self.version, &mut self.chance);
        let Form { mut bytes, keeps } = self.form(&list);
        // Not within what is left over: whoever has all before it has the list.
        let cuts = match self.chance.one_in(2) {
            true => self.cuts(&bytes),
            false => Vec::new(),
        };
        let ending = match keeps {
            false => Ending::Said,
            true if bytes.len() < ONE_PIECE && self.chance.one_in(12) => {
                let place = &self.host.place;
                let (left, ending) = Ending::used_up(&self.stage, place, &mut self.chance);
                bytes.extend_from_slice(left);
                ending
            }
            true => Ending::any(&self.stage, &mut self.chance),
        };
        if !cuts.is_empty() {
            self.stage.tally.count("peers: url", "in pieces");
        }
        let mut sent = 0;
        for cut in cuts {
            send(wire, &bytes[sent..cut])?;
            std::thread::sleep(self.chance.ms(1..5));
            sent = cut;
        }
        self.is_whole(&list);
        send(wire, &bytes[sent..])?;
        Ok(ending)
    }

    /// One to three places at which an answer is cut in pieces: mostly within the status line and about the ends of
    /// lines, and most of all within the empty line that ends a head or the last chunk.
    fn cuts(&mut self, bytes: &[u8]) -> Vec<usize> {
        let are = |line_end: &[u8]| -> Vec<usize> {
            let windows = bytes.windows(line_end.len()).enumerate();
            let found = windows.filter(|(_, window)| *window == line_end);
            found.map(|(at, _)| at).collect()
        };
        let (empty, ends) = (are(b"\r\n\r\n"), are(b"\r\n"));
        let count = self.chance.number(1..4);
        let mut cuts: Vec<usize> = (0..count)
            .map(|_| match self.chance.number(0..8) {
                0 => self.chance.number(1..10),
                1 => self.chance.number(1..bytes.len()),
                2..5 => self.chance.of_these(&ends) + self.chance.number(0..3),
                _ => self.chance.of_these(&empty) + self.chance.number(1..5),
            })
            .filter(|cut| (1..bytes.len()).contains(cut))
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    pub(super) fn bad(mut self, wire: &mut dyn Wire, fault: Fault) -> io::Result<Ending> {
        let excuse = match fault {
            Fault::Slow => Excuse::Slow,
            Fault::Silent | Fault::Drip => Excuse::Silent,
            _ => Excuse::Saying(fault.words(self.version)),
        };
        let place = self.host.place.clone();
        let span = place.begin_at(excuse, self.arrived);
        let done = self.play(wire, fault);
        place.end(span);
        done
    }

    /// A byte now and then, longer than any timeout.
    pub(super) fn drip(&self, wire: &mut dyn Wire) -> io::Result<Ending> {
        send(wire, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
        for _ in 0..100 {
            send(wire, b"#")?;
            self.stage.pause(Duration::from_millis(50));
        }
        wait_for_end(wire)
    }
}

pub(super) fn wait_for_end(wire: &mut dyn Wire) -> io::Result<Ending> {
    while wire.read(&mut [0; 64])? > 0 {}
    Ok(Ending::Now)
}
