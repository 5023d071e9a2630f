//! Why there is no answer.

use std::fmt;
use std::time::Duration;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not done in time.
    TimedOut,
    /// The host has no address.
    Name,
    /// No address took the connection.
    Connect,
    /// The two do not agree on TLS, or one does not accept the certificate of the other.
    Tls,
    /// What came is not HTTP, or not HTTP that can be read in one way only.
    Protocol,
    /// The connection ended in the middle of the answer.
    Cut,
    /// The head or the body has more bytes than are allowed.
    TooLarge,
    /// A redirect that is not followed.
    Redirect,
}

/// Why there is no answer: one sentence that names the step, the reason and where possible what to do.
/// It holds no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub kind: Kind,
    /// The sentence.
    pub reason: String,
}

impl Failure {
    pub(super) fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }

    pub(super) fn protocol(reason: impl fmt::Display) -> Self {
        Self::new(
            Kind::Protocol,
            format!("the answer is not good HTTP: {reason}"),
        )
    }

    pub(super) fn timed_out(step: &str, limit: Duration) -> Self {
        let limit = humantime::format_duration(limit)
            .to_string()
            .replace(' ', "");
        let right = "see whether the server and the network are well, or raise timeout";
        Self::new(
            Kind::TimedOut,
            format!("{step}: not done within {limit}; {right}"),
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
