//! Chance from the printed seed: each part of the soak draws from a stream of its own, so that a seed replays whatever
//! the threads do.

use std::ops::Range;
use std::time::Duration;

use fastrand::Rng;

/// A stream of chance.
#[derive(Clone)]
pub(crate) struct Chance(Rng);

impl Chance {
    /// The stream of this name.
    pub(crate) fn of(seed: u64, name: &str) -> Self {
        // FNV-1a.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(Rng::with_seed(
            name.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, mix),
        ))
    }

    /// A stream that goes its own way from here.
    pub(crate) fn fork(&mut self) -> Self {
        Self(self.0.fork())
    }

    /// Whether the one chance in so many is met.
    pub(crate) fn one_in(&mut self, count: u32) -> bool {
        self.0.u32(..count) == 0
    }

    pub(crate) fn ms(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.0.u64(range))
    }

    /// Some part of a length.
    pub(crate) fn share_of(&mut self, length: Duration) -> Duration {
        length.mul_f64(self.0.f64())
    }

    pub(crate) fn number(&mut self, range: Range<usize>) -> usize {
        self.0.usize(range)
    }

    pub(crate) fn of_these<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.usize(..choices.len())]
    }

    /// The next of a deck that is shuffled again when it is used up: each choice comes in its turn.
    pub(crate) fn deal<T: Copy>(&mut self, deck: &mut Vec<T>, choices: &[T]) -> T {
        if deck.is_empty() {
            deck.extend_from_slice(choices);
            self.0.shuffle(deck);
        }
        deck.pop().expect("there is a choice")
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        self.0.shuffle(all);
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.0.u8(..)).collect()
    }
}
