//! Large pages: few are in memory at once, of whatever cluster they are.

use smol::lock::Semaphore;

/// A page of at most so many bytes is small, and waits for no other.
pub(super) const SMALL: u64 = 4 << 20;
/// So many large ones are in memory at once.
const AT_ONCE: usize = 2;

/// Leave to hold a large page.
pub(super) static TURNS: Semaphore = Semaphore::new(AT_ONCE);
