//! What a peer is up to: good for a while, then faulty for a while, as its stream of chance says.

use std::time::Instant;

use crate::chance::Chance;

/// The moods of one place.
pub(crate) struct Moods<F: 'static> {
    faults: &'static [F],
    deck: Vec<F>,
    chance: Chance,
    until: Instant,
    present: Mood<F>,
}

#[derive(Clone, Copy)]
enum Mood<F> {
    Good,
    Faulty(F),
    /// Each time as it comes.
    Flapping,
}

impl<F: Copy> Moods<F> {
    /// Those of the place of a number. Places with the same faults begin with different ones, far from each other, so that
    /// together they have soon played all.
    pub(crate) fn new(faults: &'static [F], seed: u64, number: u8) -> Self {
        let mut deck = faults.to_vec();
        Chance::of(seed, "the first faults").shuffle(&mut deck);
        // The golden ratio leaves the widest gaps.
        let turned = usize::from(number) * 618 % 1000;
        deck.rotate_left(turned * faults.len() / 1000);
        Self {
            faults,
            deck,
            chance: Chance::of(seed, &format!("moods of place {number}")),
            until: Instant::now(),
            present: Mood::Good,
        }
    }

    /// The fault to play now, if any.
    pub(crate) fn now(&mut self) -> Option<F> {
        let now = Instant::now();
        if now >= self.until {
            let (mood, length) = match self.present {
                Mood::Good => (self.bad(), self.bad_length()),
                Mood::Faulty(_) | Mood::Flapping => (Mood::Good, self.chance.ms(100..1500)),
            };
            self.present = mood;
            self.until = now + length;
        }
        match self.present {
            Mood::Good => None,
            Mood::Faulty(fault) => Some(fault),
            Mood::Flapping if self.chance.one_in(2) => None,
            Mood::Flapping => Some(self.chance.of_these(self.faults)),
        }
    }

    fn bad(&mut self) -> Mood<F> {
        match self.chance.one_in(4) {
            true => Mood::Flapping,
            false => Mood::Faulty(self.chance.deal(&mut self.deck, self.faults)),
        }
    }

    /// Mostly short; sometimes longer than any list may stand in.
    fn bad_length(&mut self) -> std::time::Duration {
        match self.chance.one_in(8) {
            true => self.chance.ms(4000..9000),
            false => self.chance.ms(50..1500),
        }
    }
}
