//! The only reader of time in the server. Everything else takes `now` as an argument or asks a [`Clock`].
//! A command that asks a server keeps its own deadline.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use event_listener::Event;
use smol::future::FutureExt;

/// Monotonic time: the system's, or one that a test advances by hand.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The monotonic clock of the system; a change of the date never moves it.
    #[default]
    System,
    /// A clock that stands still until [`Clock::advance`].
    Manual(Arc<Manual>),
}

/// What a manual clock shows, and who waits for it to move.
#[derive(Debug)]
pub struct Manual {
    now: Mutex<Instant>,
    moved: Event,
}

/// The date, which decides nothing: it is only shown. Bounded to what RFC 3339 and HTTP can write.
pub fn date() -> SystemTime {
    const END_OF_9999: Duration = Duration::from_secs(253_402_300_799);
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    UNIX_EPOCH + since.min(END_OF_9999)
}

/// The result of `future` by the system's clock, or `None` when it takes longer than `limit`.
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    // A limit beyond what an instant can say is none.
    match Instant::now().checked_add(limit) {
        Some(moment) => until(moment, future).await,
        None => Some(future.await),
    }
}

/// The same with a moment instead of a duration.
pub async fn until<T>(moment: Instant, future: impl Future<Output = T>) -> Option<T> {
    let late = async {
        async_io::Timer::at(moment).await;
        None
    };
    async { Some(future.await) }.or(late).await
}

impl Clock {
    /// A clock that starts at the present moment and moves only by [`Clock::advance`].
    pub fn manual() -> Self {
        Self::Manual(Arc::new(Manual {
            now: Mutex::new(Instant::now()),
            moved: Event::new(),
        }))
    }

    /// The present moment.
    pub fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            Self::Manual(manual) => *manual.now.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Moves a manual clock forward and wakes whoever waits for that; the system's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Self::Manual(manual) = self {
            *manual.now.lock().unwrap_or_else(PoisonError::into_inner) += by;
            manual.moved.notify(usize::MAX);
        }
    }

    /// Ends when the clock shows `moment` or later.
    pub async fn sleep_until(&self, moment: Instant) {
        match self {
            Self::System => {
                async_io::Timer::at(moment).await;
            }
            Self::Manual(manual) => loop {
                let moved = manual.moved.listen();
                if self.now() >= moment {
                    return;
                }
                moved.await;
            },
        }
    }
}
