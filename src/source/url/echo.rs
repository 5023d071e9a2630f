//! What a server says may repeat what was sent to it: secrets are struck out of it.

use percent_encoding::percent_decode_str;

use crate::client::{HeaderName, HeaderValue, Request, Target, header};
use crate::source::Failure;
use crate::source::sent::{Sent, login};

/// A word of so many bytes in a header may be a key or a token.
const KEY: usize = 16;
/// No secrets, but words that messages have too.
const PLAIN: [HeaderName; 4] = [
    header::ACCEPT,
    header::ACCEPT_LANGUAGE,
    header::HOST,
    header::USER_AGENT,
];

/// The failure without what this request sent of header values, users, passwords and the query.
pub(super) fn strike_out(failure: Failure, request: &Request<'_>) -> Failure {
    strike(failure, &sent(request))
}

/// The failure without the query of where the read has been led.
pub(super) fn strike_out_query(failure: Failure, target: &Target) -> Failure {
    let mut sent = Sent::default();
    note_query(&mut sent, target);
    strike(failure, &sent)
}

fn strike(failure: Failure, sent: &Sent) -> Failure {
    failure.map(|reason| {
        // Before a quote or a URL the words are our own.
        let from = ["\"", "://"].iter().filter_map(|begin| reason.find(begin));
        let (own, theirs) = reason.split_at(from.min().unwrap_or(reason.len()));
        format!("{own}{}", sent.strike(theirs))
    })
}

fn sent(request: &Request<'_>) -> Sent {
    let mut sent = Sent::default();
    for (name, value) in &request.credentials {
        note_header(&mut sent, name, value);
    }
    note_query(&mut sent, request.target);
    sent
}

fn note_query(sent: &mut Sent, target: &Target) {
    let query = target.query().unwrap_or_default();
    for pair in query.split('&').chain([query]) {
        let value = pair.split_once('=').map_or(pair, |(_, value)| value);
        let decoded = percent_decode_str(value).decode_utf8_lossy();
        for form in [pair, value, &*decoded] {
            sent.note_whole(form);
        }
    }
}

fn note_header(sent: &mut Sent, name: &HeaderName, value: &HeaderValue) {
    let text = String::from_utf8_lossy(value.as_bytes());
    sent.note_whole(&text);
    if name == header::AUTHORIZATION {
        sent.note_authorization(Some(value));
        if let Some((user, password)) = login(value) {
            sent.note(&user);
            sent.note(&format!("{user}:{password}"));
        }
    } else if !PLAIN.contains(name) {
        let keys = text.split(' ').filter(|word| word.len() >= KEY);
        keys.for_each(|key| sent.note(key));
    }
}
