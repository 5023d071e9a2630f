//! Large pages: few are in memory at once, of whatever cluster they are.

use std::time::{Duration, Instant};

use smol::lock::{Semaphore, SemaphoreGuard};

use crate::clock;
use crate::source::Failure;

/// A page of at most so many bytes is small, and waits for no other.
pub(super) const SMALL: u64 = 4 << 20;
/// So many large ones are in memory at once.
const AT_ONCE: usize = 2;

static TURNS: Semaphore = Semaphore::new(AT_ONCE);

/// Leave to hold a large page, as long as this lives.
pub(super) type Turn = SemaphoreGuard<'static>;

/// Waits for a turn.
pub(super) async fn turn(begun: Instant, timeout: Duration) -> Result<Turn, Failure> {
    let turn = clock::until(begun + timeout, TURNS.acquire()).await;
    turn.ok_or_else(|| {
        let timeout = humantime::format_duration(timeout)
            .to_string()
            .replace(' ', "");
        let reason = format!(
            "waiting for other large lists to be read: not done within {timeout}; raise timeout"
        );
        Failure::TimedOut(reason.into())
    })
}
