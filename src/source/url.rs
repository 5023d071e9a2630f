//! The url source: a list that a server gives over HTTP or HTTPS.

mod build;
mod echo;
mod headers;
mod keys;
mod list;
mod read;
mod secret;
mod tls_keys;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) use self::keys::KEYS;
pub use self::read::UrlReader;

use super::named_file as file;
use crate::client::{HeaderMap, ServerName, Target};
use crate::yaml::Placed;

/// A list that a server gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Where it is.
    pub target: Target,
    /// What is sent with the request: the configured headers, and the user and password of the URL.
    pub headers: HeaderMap,
    /// What is read at each request and sent with it.
    pub secret: Option<Secret>,
    /// How TLS is spoken.
    pub tls: Tls,
    /// For the whole read, from the look-up of the name to the last byte.
    pub timeout: Duration,
    /// Of the decoded body.
    pub max_size: u64,
    /// How many redirects are followed.
    pub max_redirects: u64,
}

/// What a file holds that is read at each request.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A token, sent as `Bearer`.
    Token(PathBuf),
    /// The password of this user, sent as `Basic`.
    Password(String, PathBuf),
}

/// How TLS is spoken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// The authorities to trust, instead of those of the system.
    pub ca_file: Option<Placed<PathBuf>>,
    /// A client certificate and its key.
    pub identity: Option<(Placed<PathBuf>, Placed<PathBuf>)>,
    /// The name to verify, instead of that of the host.
    pub server_name: Option<ServerName<'static>>,
    /// Whether any certificate is taken.
    pub insecure_skip_verify: bool,
}

/// A user is as secret as a password.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.file().display())
    }
}

impl Secret {
    /// Where it is read.
    pub fn file(&self) -> &Path {
        match self {
            Self::Token(path) | Self::Password(_, path) => path,
        }
    }
}

impl Url {
    /// The file that is read at each request.
    pub(super) fn secret_file(&self) -> Option<&Path> {
        self.secret.as_ref().map(Secret::file)
    }
}
