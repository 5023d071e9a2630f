//! The keys of the url source.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Secret, Tls, Url, headers, tls_keys};
use crate::client::{HeaderMap, Login, Target, header};
use crate::yaml::{self, Field, Mapping, Value};

/// The keys of the mapping.
pub(in crate::source) const KEYS: [&str; 12] = [
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
impl Url {
    /// Reads `URL` or the mapping; `None` after noting what is wrong. No error quotes a value.
    pub(in crate::source) fn parse(
        field: Field<'_>,
        reader: &mut yaml::Reader<'_>,
    ) -> Option<Self> {
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
        let headers = keys
            .get("headers")
            .map(|field| headers::parse(field, reader));
        let secret = secret(&keys, reader);
        let tls = tls_keys::parse(&keys, reader);
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
