//! JSON text read as it comes: no tree, bounded nesting, errors that say where (RFC 8259).
//!
//! For documents of which a little matters: whoever reads takes what it knows and skips the rest, so
//! memory is taken for that little alone. miniserde says neither where nor why it stops.

use std::borrow::Cow;
use std::fmt;

/// Arrays and objects within each other.
pub const DEEPEST: usize = 64;

/// A text and how far it has been read.
pub struct Json<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// What is wrong, and the byte at which it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Counted from 0.
    pub at: usize,
    /// What is wrong there.
    pub reason: Cow<'static, str>,
}

/// Whatever is read, or what is wrong.
pub type Read<T> = Result<T, Bad>;

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.reason)
    }
}

impl<'a> Json<'a> {
    /// Begins at the begin of the text.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// What is wrong at the byte that would be read next.
    pub fn bad(&self, reason: impl Into<Cow<'static, str>>) -> Bad {
        Bad {
            at: self.at,
            reason: reason.into(),
        }
    }

    /// Makes sure that nothing follows.
    pub fn end(mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.bad("something follows the end")),
        }
    }

    /// An object: `each` reads the value of each key.
    pub fn object(&mut self, mut each: impl FnMut(&mut Self, &str) -> Read<()>) -> Read<()> {
        self.collection(b'{', b'}', "an object", |json| {
            let key = json.text()?;
            match json.peek() {
                Some(b':') => json.at += 1,
                _ => return Err(json.bad("a colon is missing")),
            }
            each(json, &key)
        })
    }

    /// An object, of which these keys matter: `each` reads the value of each of them, and none may stand twice, for
    /// which of both is meant nobody knows (RFC 8259, section 4). All others are skipped.
    pub fn fields(
        &mut self,
        known: &[&str],
        mut each: impl FnMut(&mut Self, &str) -> Read<()>,
    ) -> Read<()> {
        let mut seen = 0_u32;
        self.object(|json, key| {
            let Some(at) = known.iter().position(|known| *known == key) else {
                return json.skip();
            };
            if seen & (1 << at) != 0 {
                return Err(json.bad(format!("{key} stands twice")));
            }
            seen |= 1 << at;
            each(json, key)
        })
    }

    /// An array: `each` reads each item.
    pub fn array(&mut self, each: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.collection(b'[', b']', "an array", each)
    }

    fn collection(
        &mut self,
        open: u8,
        close: u8,
        what: &'static str,
        mut each: impl FnMut(&mut Self) -> Read<()>,
    ) -> Read<()> {
        if self.peek() != Some(open) {
            return Err(self.bad(format!("{what} is expected")));
        }
        if self.depth == DEEPEST {
            return Err(self.bad(format!("nested more than {DEEPEST} deep")));
        }
        self.at += 1;
        self.depth += 1;
        if self.peek() != Some(close) {
            each(self)?;
            while self.peek() == Some(b',') {
                self.at += 1;
                each(self)?;
            }
        }
        if self.peek() != Some(close) {
            return Err(self.bad(format!("the end of {what} is missing")));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    /// A string.
    pub fn text(&mut self) -> Read<Cow<'a, str>> {
        if self.peek() != Some(b'"') {
            return Err(self.bad("a string is expected"));
        }
        self.at += 1;
        let piece = self.piece()?;
        if self.next() == Some(b'"') {
            return Ok(Cow::Borrowed(piece));
        }
        let mut text = piece.to_owned();
        loop {
            text.push(self.escaped()?);
            text.push_str(self.piece()?);
            if self.next() == Some(b'"') {
                return Ok(Cow::Owned(text));
            }
        }
    }

    /// What stands before the next quote or backslash, where it then is.
    fn piece(&mut self) -> Read<&'a str> {
        let begin = self.at;
        let rest = self.text.as_bytes().get(begin..).unwrap_or_default();
        let is_special = |byte: &u8| matches!(*byte, b'"' | b'\\' | 0..b' ');
        let length = rest.iter().position(is_special).unwrap_or(rest.len());
        self.at += length;
        match rest.get(length) {
            Some(b'"' | b'\\') => Ok(self.text.get(begin..self.at).unwrap_or_default()),
            Some(_) => Err(self.bad("a control character stands in a string")),
            None => Err(self.bad("the end of a string is missing")),
        }
    }

    /// The character that follows a backslash (RFC 8259, section 7).
    fn escaped(&mut self) -> Read<char> {
        let escape = self.next();
        Ok(match escape {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code(),
            _ => return Err(self.bad("an escape is unknown")),
        })
    }

    fn code(&mut self) -> Read<char> {
        let first = self.unit()?;
        let second = match first {
            0xd800..0xdc00 if self.next() == Some(b'\\') && self.next() == Some(b'u') => {
                Some(self.unit()?)
            }
            _ => None,
        };
        let units = [Some(first), second];
        let mut decoded = char::decode_utf16(units.into_iter().flatten());
        match (decoded.next(), decoded.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.bad("an escape is half of a character")),
        }
    }

    fn unit(&mut self) -> Read<u16> {
        let digits = self.text.get(self.at..self.at + 4);
        let hex = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = hex.and_then(|hex| u16::from_str_radix(hex, 16).ok());
        let unit = unit.ok_or_else(|| self.bad("an escape has no four digits"));
        self.at += 4;
        unit
    }

    /// `true` or `false`.
    pub fn boolean(&mut self) -> Read<bool> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => Err(self.bad("true or false is expected")),
        }
    }

    /// A number without sign, fraction and exponent.
    pub fn whole(&mut self) -> Read<u64> {
        self.peek();
        let begin = self.at;
        let number = self.number()?.parse();
        number.map_err(|_| Bad {
            at: begin,
            reason: "a whole number is expected".into(),
        })
    }

    fn number(&mut self) -> Read<&'a str> {
        let begin = self.at;
        self.skip_if(|byte| byte == b'-');
        let is_zero = self.skip_if(|byte| byte == b'0');
        let mut good = is_zero || self.digits();
        if self.skip_if(|byte| byte == b'.') {
            good &= self.digits();
        }
        if self.skip_if(|byte| matches!(byte, b'e' | b'E')) {
            self.skip_if(|byte| matches!(byte, b'+' | b'-'));
            good &= self.digits();
        }
        match self.text.get(begin..self.at).filter(|_| good) {
            Some(number) => Ok(number),
            None => Err(self.bad("a value is expected")),
        }
    }

    /// Whether there were any.
    fn digits(&mut self) -> bool {
        let begin = self.at;
        while self.skip_if(|byte| byte.is_ascii_digit()) {}
        self.at > begin
    }

    /// A value that may be missing: `null` gives `None`.
    pub fn or_null<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<Option<T>> {
        match self.peek() {
            Some(b'n') => self.word("null").map(|()| None),
            _ => read(self).map(Some),
        }
    }

    /// A value of any kind that means nothing.
    pub fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'{') => self.object(|json, _| json.skip()),
            Some(b'[') => self.array(Self::skip),
            Some(b'"') => self.text().map(|_| ()),
            Some(b't' | b'f') => self.boolean().map(|_| ()),
            Some(b'n') => self.word("null"),
            _ => self.number().map(|_| ()),
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if !rest.starts_with(word) {
            return Err(self.bad("a value is expected"));
        }
        self.at += word.len();
        Ok(())
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while self.skip_if(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {}
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.text.as_bytes().get(self.at).copied();
        self.at += 1;
        byte
    }

    fn skip_if(&mut self, is_wanted: impl Fn(u8) -> bool) -> bool {
        let byte = self.text.as_bytes().get(self.at);
        let wanted = byte.is_some_and(|byte| is_wanted(*byte));
        self.at += usize::from(wanted);
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(text: &str) -> Read<()> {
        let mut json = Json::new(text);
        json.skip()?;
        json.end()
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_ends_to_be_some() {
        for (text, at) in [
            ("", 0),
            ("[", 1),
            ("[1,]", 3),
            ("[1 2]", 3),
            ("{\"a\"}", 4),
            ("{\"a\":1,}", 7),
            ("{a:1}", 1),
            ("[}", 1),
            ("[] []", 3),
            ("nul", 0),
            ("-", 1),
            ("01", 1),
            ("1.", 2),
            ("1e+", 3),
            ("\"a", 2),
            ("\"\u{1}\"", 1),
            ("\"\\x\"", 3),
        ] {
            assert_eq!(skip(text).map_err(|bad| bad.at), Err(at), "{text}");
        }
        for text in [
            r#""\ud800""#,
            r#""\udc00\ud800""#,
            r#""\u12g4""#,
            r#""\u+123""#,
        ] {
            assert!(skip(text).is_err(), "{text}");
        }
        for text in [
            "0",
            "-1.5e-7",
            " [ { } , [ ] ] ",
            "{\"\":null}",
            "\"\u{fc}\"",
            "true",
        ] {
            assert_eq!(skip(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn escapes_are_read() {
        let text = |json: &str| Json::new(json).text().map(Cow::into_owned);
        assert_eq!(
            text(r#""a\"\\\/\b\f\n\r\t\u00fc\ud83d\ude00z""#).as_deref(),
            Ok("a\"\\/\u{8}\u{c}\n\r\t\u{fc}\u{1f600}z")
        );
        assert_eq!(text("\"\u{fc}\"").as_deref(), Ok("\u{fc}"));
    }

    #[test]
    fn only_whole_numbers_are_whole() {
        let whole = |json: &str| Json::new(json).whole().ok();
        assert_eq!(whole(" 8080"), Some(8080));
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        for text in ["-1", "1.0", "1e3", "18446744073709551616", "\"1\"", "null"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn nesting_has_its_bound() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(skip(&nested(DEEPEST)), Ok(()));
        assert_eq!(
            skip(&nested(DEEPEST + 1)).map_err(|bad| bad.to_string()),
            Err("byte 64: nested more than 64 deep".into())
        );
        assert!(skip(&"[".repeat(1 << 24)).is_err());
        assert!(skip(&"{\"a\":".repeat(1 << 22)).is_err());
    }
}
