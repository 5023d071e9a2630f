//! Tokens and passwords, read at each request.

use std::time::Duration;

use super::{Secret, file};
use crate::blocking::{Lane, Stuck};
use crate::client::{HeaderValue, Login};
use crate::source::Failure;

/// More than any token has.
const LARGEST: u64 = 64 << 10;

impl Secret {
    /// The value of `Authorization`. Errors quote nothing of what is in the file.
    pub(super) async fn authorization(
        &self,
        lane: &Lane,
        timeout: Duration,
    ) -> Result<HeaderValue, Failure> {
        let secret = self.clone();
        match lane.run(timeout, move || secret.read()).await {
            Ok(read) => read.map_err(|reason| Failure::Unreadable(reason.into())),
            Err(Stuck::TimedOut) => Err(Failure::TimedOut(
                self.about("reading: not done in time; see whether its file system hangs")
                    .into(),
            )),
            Err(stuck) => Err(Failure::Unreadable(
                self.about(&format!("reading: {stuck}")).into(),
            )),
        }
    }

    fn about(&self, wrong: &str) -> String {
        file::about(self.key(), self.file(), wrong)
    }

    fn key(&self) -> &'static str {
        match self {
            Self::Token(_) => "bearer_token_file",
            Self::Password(..) => "password_file",
        }
    }

    fn read(&self) -> Result<HeaderValue, String> {
        let bytes = file::read(self.key(), self.file(), LARGEST)?;
        let text = String::from_utf8(bytes).map_err(|_| self.about("it is not UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(self.about("it is empty; write the secret into it"));
        }
        if text.contains(['\n', '\r']) {
            return Err(self.about("it has several lines; write the secret alone into it"));
        }
        let value = match self {
            // Others break what they are sent in (RFC 6750, section 2.1).
            Self::Token(_) if !text.is_ascii() => None,
            // RFC 7617, section 2.
            Self::Password(..) if text.contains(char::is_control) => None,
            Self::Token(_) => HeaderValue::try_from(format!("Bearer {text}")).ok(),
            Self::Password(username, _) => Login {
                username: username.clone(),
                password: text.into(),
            }
            .basic(),
        };
        let mut value = value.ok_or_else(|| {
            self.about(match self {
                Self::Token(_) => "it is no line of visible ASCII; write the token alone into it",
                Self::Password(..) => "it has control characters, which no password has",
            })
        })?;
        value.set_sensitive(true);
        Ok(value)
    }
}
