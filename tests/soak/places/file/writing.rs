//! Lists that are read while they are written, or replaced while they are read.

use std::fs::{self, File};
use std::io::Write;
use std::time::{Duration, Instant};

use super::{REST, Writer};
use crate::stage::Stage;
use crate::truth::{Excuse, Give};

/// A file that is left alone for 100 ms is taken for whole.
const SOON: Duration = Duration::from_millis(80);

impl Writer {
    /// Written in several steps, each cut within an address, so that no part of it is a list. Vigie reads it when it has
    /// been left alone for 100 ms, which it is only when this thread is held up.
    pub(super) fn write_in_place(&mut self, stage: &Stage) {
        let path = self.path(stage);
        if path.is_symlink() {
            return self.replace(stage);
        }
        let (version, list, text) = self.begin_with(3..100);
        let slow = self.place.begin(Excuse::Slow);
        let mut from = 0;
        let mut held_up = self.may_be_held_up();
        let mut file = File::create(&path).unwrap();
        self.present(None);
        for cut in self.cuts(&text) {
            let next = self.may_be_held_up();
            file.write_all(&text.as_bytes()[from..cut]).unwrap();
            self.was_written(held_up);
            (held_up, from) = (next, cut);
            stage.pause(self.chance.ms(1..60));
        }
        self.place.whole(version, &list, Give::standing());
        file.write_all(&text.as_bytes()[from..]).unwrap();
        self.was_written(held_up);
        self.present = Some(version);
        self.place.end_at(slow, Instant::now() + REST);
        stage.tally.count("peers: file", "written in place");
    }

    /// Within addresses, in their order.
    fn cuts(&mut self, text: &str) -> Vec<usize> {
        let count = self.chance.number(1..4);
        let within = within_addresses(text);
        let mut cuts: Vec<usize> = match within[..] {
            [] => Vec::new(),
            _ => (0..count).map(|_| self.chance.of_these(&within)).collect(),
        };
        cuts.sort_unstable();
        // To write nothing is no sign of life.
        cuts.dedup();
        cuts
    }

    /// When nothing more is written for a while, a part may be read.
    fn may_be_held_up(&self) -> u64 {
        let held_up = Instant::now() + SOON;
        self.place.begin_at(Excuse::Failing, held_up)
    }

    /// More was written; in time, or until now it may have been read.
    fn was_written(&self, held_up: u64) {
        self.place.end(held_up);
    }

    /// Other files in its place again and again, sooner than any of them is at rest, for longer than Vigie waits for
    /// that. Some are finished when they are there already.
    pub(super) fn replace_often(&mut self, stage: &Stage) {
        let slow = self.place.begin(Excuse::Slow);
        let (path, new) = (
            self.path(stage),
            stage.vigie.setup.path(&format!("{}.new", self.name)),
        );
        for _ in 0..self.chance.number(70..110) {
            let (version, list, text) = self.begin_with(1..20);
            let within = within_addresses(&text);
            let cut = match within[..] {
                [] => text.len(),
                _ if self.chance.one_in(2) => text.len(),
                _ => self.chance.of_these(&within),
            };
            let mut file = File::create(&new).unwrap();
            file.write_all(&text.as_bytes()[..cut]).unwrap();
            let held_up = self.may_be_held_up();
            self.place.whole(version, &list, Give::standing());
            fs::rename(&new, &path).unwrap();
            self.present(Some(version));
            if cut < text.len() {
                stage.pause(self.chance.ms(1..6));
            }
            file.write_all(&text.as_bytes()[cut..]).unwrap();
            self.was_written(held_up);
            stage.pause(self.chance.ms(10..60));
        }
        self.place.end_at(slow, Instant::now() + REST);
        stage.tally.count("peers: file", "renamed again and again");
    }
}

/// Where a text can be cut so that its last line is none: within the address at the begin of a line.
fn within_addresses(text: &str) -> Vec<usize> {
    let is_address = |at: &usize| text[*at..].starts_with(|c: char| c.is_ascii_digit() || c == '[');
    let begins = text.match_indices('\n').map(|(at, _)| at + 1);
    begins
        .filter(is_address)
        .map(|at| at + "10.1".len())
        .collect()
}
