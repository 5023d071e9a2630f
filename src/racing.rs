//! Several futures at once, the first that ends first.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A few futures under way; dropping it drops them.
pub struct Racing<'a, T>(Vec<Pin<Box<dyn Future<Output = T> + Send + 'a>>>);

impl<T> Default for Racing<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T> Racing<'a, T> {
    /// None yet.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one; it begins when the next result is waited for.
    pub fn add(&mut self, future: impl Future<Output = T> + Send + 'a) {
        self.0.push(Box::pin(future));
    }

    /// How many are under way.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is under way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The result of the next that ends; never ends when there is none.
    pub async fn next(&mut self) -> T {
        poll_fn(|context| {
            let ended = self.0.iter_mut().enumerate().find_map(|(at, future)| {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => Some((at, value)),
                    Poll::Pending => None,
                }
            });
            match ended {
                Some((at, value)) => {
                    drop(self.0.swap_remove(at));
                    Poll::Ready(value)
                }
                None => Poll::Pending,
            }
        })
        .await
    }
}
