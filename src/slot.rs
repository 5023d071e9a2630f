//! The memory of one service.

use std::time::Duration;

/// How long an answer is kept, and for how long after that it may stand in for a failed read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long an answer is fresh, from the end of its read; zero turns the cache off.
    pub ttl: Duration,
    /// How long past its ttl the last good answer may stand in when a read fails; zero means never.
    pub max_stale: Duration,
}
