//! How long something takes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The upper bounds of the buckets in microseconds, 1 ms to 10 s, each included in its bucket.
const BOUNDS: [u64; 13] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000,
];

/// Durations, counted by buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many fell into each bucket and none before it; what is above the last bound comes last.
    buckets: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Histogram {
    /// Counts a duration.
    pub fn observe(&mut self, duration: Duration) {
        let above = |bound: &u64| Duration::from_micros(*bound) < duration;
        if let Some(bucket) = self.buckets.get_mut(BOUNDS.partition_point(above)) {
            *bucket += 1;
        }
        self.sum = self.sum.saturating_add(duration);
    }

    /// The upper bounds in seconds, and how many durations were not above each.
    pub(super) fn cumulated(&self) -> impl Iterator<Item = (f64, u64)> {
        let seconds = BOUNDS
            .iter()
            .map(|bound| Duration::from_micros(*bound).as_secs_f64());
        let running = self.buckets.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        seconds.zip(running)
    }

    /// How many durations there were.
    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// All durations together.
    pub(super) fn sum(&self) -> Duration {
        self.sum
    }
}

/// A histogram for each value of a label, from its first duration on.
///
/// It is locked for each, so it is for what is rare beside the work that it measures.
#[derive(Debug, Default)]
pub struct Histograms(Mutex<BTreeMap<&'static str, Histogram>>);

impl Histograms {
    /// Counts a duration under the value of the label.
    pub fn observe(&self, value: &'static str, duration: Duration) {
        let mut histograms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        histograms.entry(value).or_default().observe(duration);
    }

    /// All of them, by the values of the label.
    pub fn all(&self) -> BTreeMap<&'static str, Histogram> {
        let histograms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        histograms.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_its_bucket() {
        let mut histogram = Histogram::default();
        for micros in [0, 1_000, 1_001, 10_000_000, 10_000_001] {
            histogram.observe(Duration::from_micros(micros));
        }
        let at = |bound| {
            let mut cumulated = histogram.cumulated();
            cumulated.find_map(|(found, count)| (found == bound).then_some(count))
        };
        assert_eq!(
            [0.001, 0.0025, 5.0, 10.0].map(at),
            [Some(2), Some(3), Some(3), Some(4)]
        );
        assert_eq!(histogram.count(), 5);
        assert_eq!(histogram.sum(), Duration::from_micros(20_002_002));
    }
}
