//! Names as people write them.

use hickory_proto::rr::Name;

/// A name has at most this many bytes without its last dot (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;
/// A label has at most this many bytes (RFC 1035, section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// A name to look up, as it is written in a configuration or a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    name: Name,
    /// Whether it ends with a dot, so that no search list applies.
    absolute: bool,
}

impl Wanted {
    /// A name of letters, digits, `-` and `_`; an error says what would be right.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (bare, absolute) = match text.strip_suffix('.') {
            Some(bare) => (bare, true),
            None => (text, false),
        };
        check(bare)?;
        // From its labels: it is no host name, so a hyphen may stand at either end of them.
        let name = Name::from_labels(bare.split('.').map(str::as_bytes));
        Ok(Self {
            name: name.map_err(|_| "DNS cannot hold this name")?,
            absolute,
        })
    }

    /// The names to try one after the other: the next only when one does not exist (resolv.conf(5),
    /// `search` and `ndots`). A name that a search list makes too long is left out.
    pub fn candidates(&self, search: &[Name], ndots: usize) -> Vec<Name> {
        if self.absolute {
            return vec![self.name.clone()];
        }
        let dots = self.name.iter().count().saturating_sub(1);
        let longer = search
            .iter()
            .filter_map(|domain| self.name.clone().append_domain(domain).ok())
            .filter(|name| name.len() <= LONGEST_NAME + 1);
        let mut candidates: Vec<Name> = longer.collect();
        let place = if dots >= ndots { 0 } else { candidates.len() };
        candidates.insert(place, self.name.clone());
        candidates
    }

    /// The name itself, taken as absolute.
    pub fn name(&self) -> &Name {
        &self.name
    }
}

fn check(bare: &str) -> Result<(), &'static str> {
    let is_name_byte =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let mut labels = bare.split('.');
    match () {
        () if bare.len() > LONGEST_NAME => Err("a name has at most 253 bytes"),
        () if !bare.is_ascii() => Err("write it in its ASCII form, as in xn--bcher-kva.example"),
        () if !bare.bytes().all(is_name_byte) => {
            Err("a name has letters, digits, - and _ between its dots")
        }
        () if labels.clone().any(str::is_empty) => {
            Err("a name has 1 to 63 bytes between its dots, as in web.example.net")
        }
        () if labels.clone().any(|label| label.len() > LONGEST_LABEL) => {
            Err("a name has at most 63 bytes between its dots")
        }
        () if labels.all(|label| label.bytes().all(|byte| byte.is_ascii_digit())) => {
            Err("write a name, not a number or an IP address")
        }
        () => Ok(()),
    }
}

/// A name for messages and the log: without its last dot, unusual bytes escaped (RFC 1035, section
/// 5.1).
pub fn to_text(name: &Name) -> String {
    if name.is_root() {
        return ".".into();
    }
    let labels = name
        .iter()
        .map(|label| label.iter().copied().map(escape).collect::<String>());
    labels.collect::<Vec<_>>().join(".")
}

fn escape(byte: u8) -> String {
    match byte {
        b'.' | b'\\' => format!("\\{}", char::from(byte)),
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("\\{byte:03}"),
    }
}

/// The text of a name without escapes, its labels joined by dots.
pub fn plain(name: &Name) -> Option<String> {
    let labels: Option<Vec<&str>> = name
        .iter()
        .map(|label| std::str::from_utf8(label).ok())
        .collect();
    Some(labels?.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(name: &str, search: &[&str], ndots: usize) -> Vec<String> {
        let search: Vec<Name> = search
            .iter()
            .map(|domain| Wanted::parse(domain).expect("a domain").name)
            .collect();
        let wanted = Wanted::parse(name).expect("a name");
        wanted
            .candidates(&search, ndots)
            .iter()
            .map(to_text)
            .collect()
    }

    #[test]
    fn a_name_with_enough_dots_is_tried_before_the_search_list_and_one_without_after_it() {
        let search = ["a.test", "b.test"];
        assert_eq!(
            candidates("web", &search, 1),
            ["web.a.test", "web.b.test", "web"]
        );
        assert_eq!(
            candidates("w.x", &search, 1),
            ["w.x", "w.x.a.test", "w.x.b.test"]
        );
        assert_eq!(
            candidates("w.x", &search, 5),
            ["w.x.a.test", "w.x.b.test", "w.x"]
        );
        assert_eq!(candidates("web.", &search, 5), ["web"]);
        assert_eq!(candidates("web", &[], 1), ["web"]);
        assert_eq!(
            candidates("web", &search, 0),
            ["web", "web.a.test", "web.b.test"]
        );
        let long = format!("{}a", "a.".repeat(124));
        assert_eq!(
            candidates(&long, &["b", "cccc"], 1),
            [long.clone(), format!("{long}.b")]
        );
    }

    #[test]
    fn what_is_no_name_says_what_would_be_right() {
        for good in [
            "web",
            "_http._tcp.web.example.net.",
            "1.web",
            "xn--bcher-kva.example",
        ] {
            assert!(Wanted::parse(good).is_ok(), "{good}");
        }
        assert!(Wanted::parse(&format!("{}a", "a.".repeat(126))).is_ok());
        for (bad, right) in [
            ("", "1 to 63 bytes"),
            (".", "1 to 63 bytes"),
            ("a..b", "1 to 63 bytes"),
            ("a..", "1 to 63 bytes"),
            ("bücher.example", "ASCII form"),
            ("a b", "letters, digits"),
            ("a\\.b", "letters, digits"),
            ("http://web", "letters, digits"),
            ("web:80", "letters, digits"),
            ("10.0.0.1", "not a number or an IP address"),
            ("2001:db8::1", "letters, digits"),
            (&"a".repeat(64), "at most 63"),
            (&format!("{}aa", "a.".repeat(126)), "at most 253"),
        ] {
            let error = Wanted::parse(bad).expect_err(bad);
            assert!(error.contains(right), "{bad}: {error}");
        }
    }
}
