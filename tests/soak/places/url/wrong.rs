//! Answers that came whole, and are no list all the same.

use std::fmt::Write;

use super::exchange::Exchange;
use super::form::chunks;
use crate::support::peer::answer;

impl Exchange {
    /// Contradicting words about where it ends (RFC 9112, section 6).
    pub(super) fn ambiguous(&mut self, tag: &str, text: &str) -> Vec<u8> {
        let length = text.len();
        let chunks = chunks(text.as_bytes(), &mut self.chance);
        let (version, fields, body) = match self.chance.number(0..6) {
            0 => (
                "1.1",
                format!("Content-Length: {length}\r\nTransfer-Encoding: chunked"),
                &chunks[..],
            ),
            1 => ("1.0", "Transfer-Encoding: chunked".into(), &chunks[..]),
            2 => (
                "1.1",
                "Transfer-Encoding: gzip, chunked".into(),
                &chunks[..],
            ),
            3 => ("1.1", "Transfer-Encoding: identity".into(), text.as_bytes()),
            4 => {
                let less = length - 1;
                let both = format!("Content-Length: {length}\r\nContent-Length: {less}");
                ("1.1", both, text.as_bytes())
            }
            _ => ("1.1", format!("Content-Length: +{length}"), text.as_bytes()),
        };
        let head = format!("HTTP/{version} 200 OK\r\n{tag}{fields}\r\n\r\n");
        [head.as_bytes(), body].concat()
    }

    /// More header fields, or more bytes of them, than are taken.
    pub(super) fn large_head(&mut self, tag: &str, text: &str) -> Vec<u8> {
        let (count, size) = self.chance.of_these(&[(101, 1), (66, 1000), (1, 66_000)]);
        let mut fields = tag.to_owned();
        for number in 0..count {
            let _ = write!(fields, "X-Pad-{number}: {}\r\n", "x".repeat(size));
        }
        answer("200 OK", &fields, text)
    }

    /// A good list, but for one thing.
    pub(super) fn wrong_json(&mut self, good: &str) -> String {
        let echo = format!("\"ip\": \"{}", self.secret);
        let (from, to) = match self.chance.number(0..12) {
            0 => ("\"ip\"", "\"host\""),
            1 => ("\"port\": ", "\"port\": -"),
            2 => (
                "\"load_balancing_weight\": ",
                "\"load_balancing_weight\": 99999999999",
            ),
            3 => ("\"ip\": \"", "\"ip\": \"<b>"),
            4 => return format!("{good}x"),
            5 => return format!("{{\"endpoints\":{good}}}"),
            6..9 => ("\"ip\": \"", &*echo),
            _ => return good[..self.chance.number(1..good.len() - 2)].to_owned(),
        };
        let at = good.rfind(from).unwrap_or_default();
        format!("{}{}", &good[..at], good[at..].replacen(from, to, 1))
    }
}
