//! Counters, a histogram, the text that Prometheus reads, and what the system says of the process.
//!
//! Whoever counts holds its counters itself, so counting is one addition without a lock or a look-up.
//! Nothing here knows what is counted: that is put together where `/metrics` is answered.
//! Naming and text: <https://prometheus.io/docs/instrumenting/exposition_formats/>, version 0.0.4.

mod histogram;
pub mod process;
mod text;

use std::sync::atomic::{AtomicU64, Ordering};

pub use histogram::{Histogram, Histograms};
pub use text::{Family, Kind, MEDIA_TYPE, Text};

/// A number that only grows, from zero at the start of the process.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds one.
    pub fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
