//! Who asks: the user of a kubeconfig, or the service account of the pod.

use std::path::{Path, PathBuf};

use super::{fields, pod};
use crate::client::{HeaderValue, Login};
use crate::source::named_file;

/// Who asks. What is sent is marked as sensitive, so that no debug output shows it.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum User {
    /// Nobody, or whoever the client certificate names.
    Nobody,
    /// A token, or a user with a password: the value of `Authorization`.
    Known(HeaderValue),
    /// The token of a file, which is read for each list; until it can be read, perhaps another one.
    File(PathBuf, Option<HeaderValue>),
    /// The service account of the pod.
    Pod,
}

/// More than any token has.
const LARGEST: u64 = 64 << 10;

impl User {
    /// Reads the user of a kubeconfig. A client certificate is told of elsewhere.
    ///
    /// Errors: what Vigie does not do, and what to use instead. They quote nothing.
    pub(super) fn of(info: &fields::User) -> Result<Self, &'static str> {
        let refused = match () {
            () if info.has_exec => Some(
                "gets its credentials from a command (exec), and Vigie runs none: use a service account with token or tokenFile, or a client certificate",
            ),
            () if info.has_auth_provider => Some(
                "gets its credentials from an auth-provider, which Vigie does not have: use a service account with token or tokenFile, or a client certificate",
            ),
            () if info.acts_as_another => Some(
                "acts as another user (as), which Vigie does not do: use the token of that user",
            ),
            () => None,
        };
        if let Some(refused) = refused {
            return Err(refused);
        }
        let token = info.token.as_deref().map(str::trim);
        let token = token.filter(|token| !token.is_empty()).map(bearer);
        let token = token.transpose()?;
        if let Some(file) = &info.token_file {
            return Ok(Self::File(file.into(), token));
        }
        Ok(match (token, info.username.as_deref()) {
            (Some(token), _) => Self::Known(token),
            (None, Some(username)) => Self::Known(basic(username, info)?),
            (None, None) => Self::Nobody,
        })
    }
}

impl User {
    /// A file that is read for each list.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(file, _) => Some(file),
            Self::Pod => Some(Path::new(pod::FOLDER)),
            Self::Nobody | Self::Known(_) => None,
        }
    }
}

fn basic(username: &str, info: &fields::User) -> Result<HeaderValue, &'static str> {
    let login = Login {
        username: username.into(),
        password: info.password.clone().unwrap_or_default(),
    };
    let basic = login.basic().filter(|_| !username.contains(':'));
    basic.ok_or("has a username that cannot be sent: it may have no colon")
}

/// The value of `Authorization` (RFC 6750, section 2.1).
fn bearer(token: &str) -> Result<HeaderValue, &'static str> {
    let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let value = HeaderValue::try_from(format!("Bearer {token}")).ok();
    let mut value = value
        .filter(|_| is_token)
        .ok_or("has a token that is no word of visible ASCII")?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads the token of a file. Errors quote nothing of it.
pub(super) fn read_token(key: &str, file: &Path) -> Result<HeaderValue, String> {
    let bytes = named_file::read(key, file, LARGEST)?;
    let wrong = |reason| named_file::about(key, file, reason);
    let text = std::str::from_utf8(&bytes).unwrap_or("\u{fffd}").trim();
    if text.is_empty() {
        return Err(wrong("it is empty; write the token into it"));
    }
    bearer(text).map_err(|_| wrong("it holds no token: a word of visible ASCII"))
}
