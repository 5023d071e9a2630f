//! Secrets that were sent to say who asks, kept out of what is told: a server may repeat them.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::client::HeaderValue;
use crate::wording::shorten;

/// So many bytes of a secret are struck wherever they stand: a server may send it in pieces, and messages show
/// long words cut short.
const TELLING: usize = 8;
/// Fewer bytes would be found where nobody repeats them.
const SHORTEST: usize = 4;
const STRUCK: &str = "[secret]";

/// The secrets that a read has sent, in each form in which they may come back.
#[derive(Default)]
pub(super) struct Sent(Vec<Secret>);

struct Secret {
    text: String,
    /// How many bytes in a row are struck.
    telling: usize,
}

impl Sent {
    /// Notes what is struck in pieces too.
    pub(super) fn note(&mut self, secret: &str) {
        self.add(secret, TELLING);
    }

    /// Notes what is struck as a whole, and where it is cut short: its pieces may be honest words.
    pub(super) fn note_whole(&mut self, secret: &str) {
        self.add(secret, usize::MAX);
    }

    /// Notes the value of `Authorization`: what stands behind its scheme, and the password in that.
    pub(super) fn note_authorization(&mut self, value: Option<&HeaderValue>) {
        let Some(value) = value else { return };
        self.note(&credentials(value).1);
        if let Some((_, password)) = login(value) {
            self.note(&password);
        }
    }

    /// As it is, and as a message shows it.
    fn add(&mut self, secret: &str, telling: usize) {
        if secret.len() < SHORTEST {
            return;
        }
        let shown = shorten(secret, usize::MAX);
        let shown = (shown != secret).then_some(shown);
        let forms = shown.into_iter().chain([secret.to_owned()]);
        self.0.extend(forms.map(|text| Secret {
            telling: telling.min(text.len()),
            text,
        }));
    }

    /// The text without secrets and what tells of them.
    pub(super) fn strike(&self, text: &str) -> String {
        let mut marks = vec![false; text.len()];
        for secret in &self.0 {
            secret.mark(text, &mut marks);
        }
        without(text, &marks)
    }
}

impl Secret {
    /// Marks the bytes of the text that belong to it.
    fn mark(&self, text: &str, marks: &mut [bool]) {
        let telling: HashSet<&[u8]> = self.text.as_bytes().windows(self.telling).collect();
        for (at, window) in text.as_bytes().windows(self.telling).enumerate() {
            if telling.contains(window) {
                fill(marks, at, window.len());
            }
        }
        for (end, _) in text.match_indices('…') {
            let before = text.get(..end).unwrap_or_default();
            let length = self.begin_at_end_of(before).unwrap_or_default();
            fill(marks, end - length, length);
        }
    }

    /// How much of its begin such a text ends with.
    fn begin_at_end_of(&self, text: &str) -> Option<usize> {
        let cuts = self.text.char_indices().map(|(cut, _)| cut);
        let mut cuts = cuts.filter(|cut| (SHORTEST..=text.len()).contains(cut));
        cuts.rfind(|cut| {
            let begin = self.text.get(..*cut);
            begin.is_some_and(|begin| text.ends_with(begin))
        })
    }
}

fn fill(marks: &mut [bool], at: usize, length: usize) {
    if let Some(marks) = marks.get_mut(at..at + length) {
        marks.fill(true);
    }
}

/// The text with one word for all that is marked in a row.
fn without(text: &str, marks: &[bool]) -> String {
    let (mut clean, mut was_marked) = (String::new(), false);
    for (at, character) in text.char_indices() {
        let marks = marks.get(at..at + character.len_utf8());
        let is_marked = marks.is_some_and(|marks| marks.contains(&true));
        match (is_marked, was_marked) {
            (false, _) => clean.push(character),
            (true, false) => clean.push_str(STRUCK),
            (true, true) => {}
        }
        was_marked = is_marked;
    }
    clean
}

/// The scheme of `Authorization`, and what stands behind it.
fn credentials(value: &HeaderValue) -> (String, String) {
    let value = String::from_utf8_lossy(value.as_bytes());
    let (scheme, credentials) = value.split_once(' ').unwrap_or(("", &value));
    (scheme.to_owned(), credentials.to_owned())
}

/// The user and the password of `Basic` (RFC 7617, section 2).
pub(super) fn login(value: &HeaderValue) -> Option<(String, String)> {
    let (scheme, credentials) = credentials(value);
    let pair = STANDARD.decode(credentials).ok();
    let pair = pair.filter(|_| scheme.eq_ignore_ascii_case("Basic"))?;
    let pair = String::from_utf8(pair).ok()?;
    let (user, password) = pair.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
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
                "it is a [secret], not a list",
            ),
            ("hunter2hunter2 hunter2", "hunter2", "[secret] [secret]"),
            ("hunter 2", "hunter2", "hunter 2"),
            ("hun", "hun", "hun"),
            ("x12345678 is", "123456789", "x[secret] is"),
            ("x1234567 is", "123456789", "x1234567 is"),
            ("23456789 is", "123456789", "[secret] is"),
            (
                "x1234… is cut short",
                "123456789",
                "x[secret]… is cut short",
            ),
            ("x123… is cut short", "123456789", "x123… is cut short"),
            ("\u{fc}p\u{e4}ss\u{fc}", "p\u{e4}ss", "\u{fc}[secret]\u{fc}"),
            ("", "hunter2", ""),
        ] {
            let mut sent = Sent::default();
            sent.note(secret);
            assert_eq!(sent.strike(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_struck_as_a_whole_keeps_its_pieces() {
        let mut sent = Sent::default();
        sent.note_whole("12345678 secret");
        sent.note_whole("secret");
        for (text, want) in [
            ("12345678 is", "12345678 is"),
            ("12345678 secret", "[secret]"),
            ("x 12345678 s…", "x [secret]…"),
            ("a secret", "a [secret]"),
        ] {
            assert_eq!(sent.strike(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_struck_is_the_token_or_the_login_and_its_password() {
        let said = |value: &str, text: &str| {
            let mut sent = Sent::default();
            sent.note_authorization(HeaderValue::try_from(value).ok().as_ref());
            sent.strike(text)
        };
        assert_eq!(said("Bearer hunter2", "Bearer hunter2"), "Bearer [secret]");
        assert_eq!(said("hunter2", "Bearer hunter2"), "Bearer [secret]");
        assert_eq!(said("Bearer abc", "abc"), "abc");
        let basic = "Basic bWU6aHVudGVyMg==";
        assert_eq!(said(basic, basic), "Basic [secret]");
        assert_eq!(said(basic, "me:hunter2"), "me:[secret]");
        assert_eq!(said(&basic.to_lowercase(), "me:hunter2"), "me:hunter2");
        assert_eq!(said("basic bWU6aHVudGVyMg==", "hunter2"), "[secret]");
        assert_eq!(
            said(r#"Bearer a"b\c"#, r#"it is a "a\"b\\c""#),
            r#"it is a "[secret]""#
        );
    }
}
