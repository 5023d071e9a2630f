//! What was sent to say who asks, kept out of what is told: a server may repeat it.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::client::HeaderValue;
use crate::source::Failure;
use crate::wording::shorten;

/// So many bytes of a secret are struck wherever they stand: messages show long words cut short.
const TELLING: usize = 8;
/// A secret of fewer bytes is none.
const SHORTEST: usize = 4;
const STRUCK: &str = "(secret)";

/// The credentials that a read has sent, in each form in which they may come back.
#[derive(Default)]
pub(super) struct Sent(Vec<String>);

impl Sent {
    /// Notes the value of `Authorization`.
    pub(super) fn note(&mut self, value: Option<&HeaderValue>) {
        let value = value.and_then(|value| value.to_str().ok());
        let Some((scheme, secret)) = value.and_then(|value| value.split_once(' ')) else {
            return;
        };
        self.add(secret);
        let login = STANDARD.decode(secret).ok().filter(|_| scheme == "Basic");
        let login = login.and_then(|login| String::from_utf8(login).ok());
        if let Some((_, password)) = login.as_deref().and_then(|login| login.split_once(':')) {
            self.add(password);
        }
    }

    /// As it is, and as a message shows it.
    fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            let shown = shorten(secret, usize::MAX);
            self.0.extend((shown != secret).then_some(shown));
            self.0.push(secret.to_owned());
        }
    }

    /// The same failure without a secret.
    pub(super) fn strike(&self, failure: Failure) -> Failure {
        let clean = |text: &str| {
            self.0
                .iter()
                .fold(text.to_owned(), |text, secret| strike(&text, secret))
        };
        match failure {
            Failure::TimedOut(reason) => Failure::TimedOut(clean(&reason).into()),
            Failure::Unreadable(reason) => Failure::Unreadable(clean(&reason).into()),
        }
    }
}

/// The text without the secret and without long pieces of it.
fn strike(text: &str, secret: &str) -> String {
    let length = secret.len().min(TELLING);
    let telling: HashSet<&[u8]> = secret.as_bytes().windows(length).collect();
    let (mut clean, mut secret_until, mut was_secret) = (String::new(), 0, false);
    let mut windows = text.as_bytes().windows(length).enumerate().peekable();
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        while let Some((begin, window)) = windows.next_if(|(begin, _)| *begin < end) {
            if telling.contains(window) {
                secret_until = begin + length;
            }
        }
        let is_secret = at < secret_until;
        match (is_secret, was_secret) {
            (false, _) => clean.push(character),
            (true, false) => clean.push_str(STRUCK),
            (true, true) => {}
        }
        was_secret = is_secret;
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_and_a_long_piece_of_it_are_struck_and_nothing_else() {
        for (text, secret, want) in [
            (
                "it is a hunter2, not a list",
                "hunter2",
                "it is a (secret), not a list",
            ),
            ("hunter2hunter2 hunter2", "hunter2", "(secret) (secret)"),
            ("hunter 2", "hunter2", "hunter 2"),
            (
                "x12345678… is cut short",
                "123456789",
                "x(secret)… is cut short",
            ),
            (
                "x1234567… is cut short",
                "123456789",
                "x1234567… is cut short",
            ),
            ("\u{fc}p\u{e4}ss\u{fc}", "p\u{e4}ss", "\u{fc}(secret)\u{fc}"),
            ("", "hunter2", ""),
        ] {
            assert_eq!(strike(text, secret), want, "{text}");
        }
    }

    #[test]
    fn what_is_struck_is_the_token_or_the_login_and_its_password() {
        let said = |value: &str, text: &str| {
            let mut sent = Sent::default();
            sent.note(HeaderValue::try_from(value).ok().as_ref());
            sent.strike(Failure::Unreadable(text.into()))
                .reason()
                .to_owned()
        };
        assert_eq!(said("Bearer hunter2", "Bearer hunter2"), "Bearer (secret)");
        assert_eq!(said("Bearer abc", "abc"), "abc");
        let basic = "Basic bWU6aHVudGVyMg==";
        assert_eq!(said(basic, basic), "Basic (secret)");
        assert_eq!(said(basic, "me:hunter2"), "me:(secret)");
        assert_eq!(
            said(r#"Bearer a"b\c"#, r#"it is a "a\"b\\c""#),
            r#"it is a "(secret)""#
        );
    }
}
