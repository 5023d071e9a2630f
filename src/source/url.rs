//! The url source: a list that a server gives over HTTP or HTTPS.

mod build;
mod list;
mod read;
mod secret;

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use read::UrlReader;

use super::named_file as file;
use crate::client::{HeaderMap, HeaderName, HeaderValue, Login, ServerName, Target, header};
use crate::yaml::{self, Entry, Field, Mapping, Placed, Value};

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

/// The keys of the mapping.
pub(super) const KEYS: [&str; 12] = [
    "url",
    "headers",
    "bearer_token_file",
    "basic_auth",
    "ca_file",
    "cert_file",
    "key_file",
    "server_name",
    "insecure_skip_verify",
    "timeout",
    "max_size",
    "max_redirects",
];
const BASIC_KEYS: [&str; 2] = ["username", "password_file"];
const TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUTS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_secs(365 * 86_400);
const MAX_SIZE: u64 = 4 << 20;
const SIZES: RangeInclusive<u64> = 1..=1 << 30;
const MAX_REDIRECTS: u64 = 5;
const REDIRECTS: RangeInclusive<u64> = 0..=20;
/// More header fields than anyone sets.
const MOST_HEADERS: usize = 64;
/// What Vigie says itself, and what would change how the answer is to be read.
const OWN_HEADERS: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "keep-alive",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Url {
    /// Reads `URL` or the mapping; `None` after noting what is wrong. No error quotes a value.
    pub(super) fn parse(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<Self> {
        reader.discreetly(|reader| match field.node.value {
            Value::Plain(_) | Value::Quoted(_) => {
                let (target, login) = target(field, reader)?;
                Some(Self {
                    target,
                    headers: login
                        .and_then(|login| authorization(&login))
                        .unwrap_or_default(),
                    secret: None,
                    tls: Tls::default(),
                    timeout: TIMEOUT,
                    max_size: MAX_SIZE,
                    max_redirects: MAX_REDIRECTS,
                })
            }
            Value::Mapping(_) => Self::parse_keys(field, reader),
            Value::Broken | Value::Null | Value::Sequence(_) => {
                reader.wrong(field, "write the URL of a list, or {url: URL}");
                None
            }
        })
    }

    fn parse_keys(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<Self> {
        let keys = reader.mapping(field, &KEYS);
        let url = keys.get("url").map(|field| target(field, reader));
        if url.is_none() && !keys.may_hold("url") {
            let message = format!("{} has no url: add url: URL", field.name);
            reader.error(field.node.position, message);
        }
        let headers = keys.get("headers").map(|field| headers(field, reader));
        let secret = secret(&keys, reader);
        let tls = tls(&keys, reader);
        let timeout = keys
            .get("timeout")
            .and_then(|field| reader.duration(field, TIMEOUTS));
        let max_size = keys
            .get("max_size")
            .and_then(|field| reader.size(field, SIZES));
        let max_redirects = keys
            .get("max_redirects")
            .and_then(|field| reader.integer(field, REDIRECTS));
        let (target, login) = url??;
        let mut headers = headers.unwrap_or_default();
        let ways = [
            login.is_some(),
            headers.contains_key(header::AUTHORIZATION),
            secret.is_some(),
        ];
        if ways.into_iter().filter(|is_set| *is_set).count() > 1 {
            let message = "more than one of these says who asks: a user in the url, headers with Authorization, bearer_token_file, basic_auth: keep one";
            reader.error(field.node.position, message);
        }
        headers.extend(
            login
                .and_then(|login| authorization(&login))
                .unwrap_or_default(),
        );
        Some(Self {
            target,
            headers,
            secret,
            tls,
            timeout: timeout.unwrap_or(TIMEOUT),
            max_size: max_size.unwrap_or(MAX_SIZE),
            max_redirects: max_redirects.unwrap_or(MAX_REDIRECTS),
        })
    }

    /// The file that is read at each request.
    pub(super) fn secret_file(&self) -> Option<&Path> {
        self.secret.as_ref().map(Secret::file)
    }
}

fn target(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<(Target, Option<Login>)> {
    let text = reader.text(field, "write http://HOST/PATH or https://HOST/PATH")?;
    Target::parse(text)
        .map_err(|right| reader.wrong(field, right))
        .ok()
}

fn authorization(login: &Login) -> Option<HeaderMap> {
    Some(HeaderMap::from_iter([(
        header::AUTHORIZATION,
        login.basic()?,
    )]))
}

fn headers(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> HeaderMap {
    let entries = reader.entries(field);
    if entries.len() > MOST_HEADERS {
        let message = format!("headers has more than {MOST_HEADERS} of them: remove some");
        reader.error(field.node.position, message);
    }
    let mut headers = HeaderMap::new();
    for entry in entries {
        if let Some((name, value)) = header(entry, reader)
            && headers.insert(name, value).is_some()
        {
            let message = "this header is set twice, for case does not matter: remove one";
            reader.error(entry.key.position, message);
        }
    }
    headers
}

fn header(entry: &Entry, reader: &mut yaml::Reader<'_>) -> Option<(HeaderName, HeaderValue)> {
    let text = &*entry.key.text;
    let name = HeaderName::from_bytes(text.as_bytes()).ok();
    let name = name.filter(|name| !OWN_HEADERS.contains(&name.as_str()));
    if name.is_none() {
        let message = match HeaderName::from_bytes(text.as_bytes()) {
            Ok(name) => format!("Vigie sets {name} itself: remove it"),
            Err(_) => "this is no name of a header: write letters, digits and -".into(),
        };
        reader.error(entry.key.position, message);
    }
    let field = Field {
        name: name.as_ref().map_or("the header", HeaderName::as_str),
        node: &entry.node,
    };
    let right = "write text of visible ASCII";
    let mut value = HeaderValue::from_str(reader.text(field, right)?)
        .map_err(|_| reader.wrong(field, right))
        .ok()?;
    value.set_sensitive(true);
    Some((name?, value))
}

fn secret(keys: &Mapping<'_>, reader: &mut yaml::Reader<'_>) -> Option<Secret> {
    let token = keys
        .get("bearer_token_file")
        .and_then(|field| reader.path(field));
    let Some(field) = keys.get("basic_auth") else {
        return token.map(Secret::Token);
    };
    if keys.get("bearer_token_file").is_some() {
        let message = "both bearer_token_file and basic_auth are set: remove one";
        reader.error(field.node.position, message);
    }
    basic_auth(field, reader)
}

fn basic_auth(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<Secret> {
    let keys = reader.mapping(field, &BASIC_KEYS);
    for key in BASIC_KEYS {
        if keys.get(key).is_none() && !keys.may_hold(key) {
            let message = format!("{} has no {key}: add it", field.name);
            reader.error(field.node.position, message);
        }
    }
    let file = keys
        .get("password_file")
        .and_then(|field| reader.path(field));
    let username = keys.get("username")?;
    let right = "write a user without a colon and without control characters";
    let text = reader.text(username, right)?;
    if text.contains(':') || text.contains(char::is_control) {
        reader.wrong(username, right);
        return None;
    }
    Some(Secret::Password(text.into(), file?))
}

fn tls(keys: &Mapping<'_>, reader: &mut yaml::Reader<'_>) -> Tls {
    let mut file = |key| {
        let field = keys.get(key)?;
        Some(Placed {
            value: reader.path(field)?,
            position: field.node.position,
        })
    };
    let (ca_file, certificate, key) = (file("ca_file"), file("cert_file"), file("key_file"));
    for (key, other) in [("cert_file", "key_file"), ("key_file", "cert_file")] {
        if let Some(field) = keys.get(key).filter(|_| keys.get(other).is_none()) {
            let message = format!("{key} is set without {other}: add {other}");
            reader.error(field.node.position, message);
        }
    }
    let insecure = keys.get("insecure_skip_verify");
    let skips = insecure
        .and_then(|field| reader.boolean(field))
        .unwrap_or(false);
    if let Some(field) = insecure.filter(|_| skips) {
        let message = "insecure_skip_verify takes any certificate, so whoever is on the way can read and change the list: set ca_file instead";
        reader.warn(field.node.position, message);
    }
    Tls {
        ca_file,
        identity: certificate.zip(key),
        server_name: keys
            .get("server_name")
            .and_then(|field| server_name(field, reader)),
        insecure_skip_verify: skips,
    }
}

fn server_name(field: Field<'_>, reader: &mut yaml::Reader<'_>) -> Option<ServerName<'static>> {
    let right = "write a host name or an IP address";
    let text = reader.text(field, right)?;
    ServerName::try_from(text.to_owned())
        .map_err(|_| reader.wrong(field, right))
        .ok()
}
