//! What a server says may repeat what was sent to it: secrets are struck out of it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;

use crate::client::{HeaderValue, Request, header};
use crate::source::Failure;
use crate::wording::shorten;

/// Fewer bytes would be found where nobody repeats them.
const SHORTEST: usize = 4;
const STRUCK: &str = "[secret]";

/// The failure without what this request sent of header values, users, passwords and the query.
pub(super) fn strike_out(failure: Failure, request: &Request<'_>) -> Failure {
    let secrets = secrets(request);
    let strike = |reason: &str| {
        // Before a quote or a URL the words are our own.
        let from = ["\"", "://"].iter().filter_map(|begin| reason.find(begin));
        let (own, theirs) = reason.split_at(from.min().unwrap_or(reason.len()));
        let struck = secrets.iter().fold(theirs.to_owned(), strike_one);
        format!("{own}{struck}").into()
    };
    match failure {
        Failure::TimedOut(reason) => Failure::TimedOut(strike(&reason)),
        Failure::Unreadable(reason) => Failure::Unreadable(strike(&reason)),
    }
}

/// Also strikes out what is left of it where a quote ends early.
fn strike_one(text: String, secret: &String) -> String {
    let mut text = text.replace(secret, STRUCK);
    let ends: Vec<_> = text.match_indices('…').map(|(at, _)| at).collect();
    for end in ends.into_iter().rev() {
        let before = text.get(..end).unwrap_or_default();
        let cuts = secret.char_indices().map(|(at, _)| at);
        let begins = cuts.filter(|cut| (SHORTEST..=end).contains(cut));
        let mut begins = begins.filter_map(|cut| secret.get(..cut));
        if let Some(begin) = begins.rfind(|begin| before.ends_with(begin)) {
            text.replace_range(end - begin.len()..end, STRUCK);
        }
    }
    text
}

/// As they are sent and as they are meant, as a message would show them, the longest first.
fn secrets(request: &Request<'_>) -> Vec<String> {
    let mut secrets = Vec::new();
    for (name, value) in &request.credentials {
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        if name == header::AUTHORIZATION {
            secrets.extend(parts(value));
        }
        secrets.push(text);
    }
    let query = request.target.query().unwrap_or_default();
    for pair in query.split('&').chain([query]) {
        let value = pair.split_once('=').map_or(pair, |(_, value)| value);
        let decoded = percent_decode_str(value).decode_utf8_lossy().into_owned();
        secrets.extend([pair.to_owned(), value.to_owned(), decoded]);
    }
    let mut secrets: Vec<_> = secrets
        .iter()
        .map(|secret| shorten(secret, usize::MAX))
        .filter(|secret| secret.len() >= SHORTEST)
        .collect();
    secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// What stands behind the scheme of `Authorization`; of Basic the user and the password too (RFC 7617,
/// section 2).
fn parts(value: &HeaderValue) -> Vec<String> {
    let text = String::from_utf8_lossy(value.as_bytes());
    let Some((_, credentials)) = text.split_once(' ') else {
        return Vec::new();
    };
    let pair = STANDARD.decode(credentials).unwrap_or_default();
    let pair = String::from_utf8(pair).unwrap_or_default();
    let both = pair.split_once(':').unwrap_or_default();
    [credentials, &pair, both.0, both.1]
        .map(str::to_owned)
        .into()
}
