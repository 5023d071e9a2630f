//! The date that certificates are held against.

use std::time::UNIX_EPOCH;

use futures_rustls::pki_types::UnixTime;
use futures_rustls::rustls::time_provider::TimeProvider;

use crate::clock;

/// The date of the system, within what can be shown. That of rustls panics before 1970.
#[derive(Debug)]
pub(super) struct Dated;

impl TimeProvider for Dated {
    fn current_time(&self) -> Option<UnixTime> {
        let since = clock::date().duration_since(UNIX_EPOCH).ok()?;
        Some(UnixTime::since_unix_epoch(since))
    }
}
