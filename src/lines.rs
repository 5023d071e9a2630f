//! Endpoint lines, `ADDRESS[:PORT] [WEIGHT]`: the text format of files.

use std::fmt;
use std::num::NonZeroU16;

use crate::endpoint::{Address, Endpoint, MOST, TOO_MANY};
use crate::wording::quote;

/// The first line of a text that cannot be read. It makes the whole text unreadable: a list is
/// served whole or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub number: usize,
    /// What is wrong with it, and what would be right.
    pub reason: &'static str,
    /// The line itself in quotes, shortened to 80 characters, control characters escaped.
    pub line: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.number, self.reason, self.line)
    }
}

/// Reads a text of endpoint lines. Blank lines and comments give nothing; an endpoint without a port
/// gets `default_port`, one without a weight gets 0. Order is kept. More than [`MOST`] are an error.
pub fn parse(text: &str, default_port: NonZeroU16) -> Result<Vec<Endpoint>, BadLine> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(bad) = one_too_many(text) {
        return Err(bad);
    }
    let endpoints = filled(text).map(|(number, line, content)| {
        parse_line(content, default_port).map_err(|reason| bad(number, line, reason))
    });
    endpoints.collect()
}

/// The line of the first endpoint that is one too many. It is looked for before any endpoint is kept, so that
/// what is refused costs no memory.
fn one_too_many(text: &str) -> Option<BadLine> {
    // An endpoint has a byte at least, and a line feed before the next.
    if text.len() <= 2 * MOST {
        return None;
    }
    let (number, line, _) = filled(text).nth(MOST)?;
    Some(bad(number, line, TOO_MANY))
}

/// The lines that hold something: their number, what stands there, and what of it counts.
fn filled(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let lines = text.split('\n').zip(1..).map(|(line, number)| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        (number, line, content(line))
    });
    lines.filter(|(_, _, content)| !content.is_empty())
}

fn bad(number: usize, line: &str, reason: &'static str) -> BadLine {
    BadLine {
        number,
        reason,
        line: quote(trim(line)),
    }
}

/// Reads one endpoint; a line of nothing is an error. The error says what would be right.
pub fn parse_line(line: &str, default_port: NonZeroU16) -> Result<Endpoint, &'static str> {
    let line = content(line);
    read(line, default_port).map_err(|wrong| habit(line).unwrap_or(wrong))
}

/// What to do about a line that cannot be read because it is written as elsewhere.
fn habit(line: &str) -> Option<&'static str> {
    match () {
        () if line.starts_with("http://") => Some("leave out http://"),
        () if line.starts_with("https://") => Some("leave out https://"),
        () if line.contains('#') => Some("a comment needs a blank before #"),
        () => None,
    }
}

fn read(line: &str, default_port: NonZeroU16) -> Result<Endpoint, &'static str> {
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b';');
    let (place, rest) = split_at_byte(line, is_end);
    let (address, port) = parse_place(place, default_port)?;
    Ok(Endpoint {
        address,
        port,
        weight: parse_weight(rest)?,
    })
}

/// Splits before the first byte of that kind, which must be an ASCII one. A list can have many
/// thousands of lines, and this is several times as fast as to look for characters.
fn split_at_byte(text: &str, is_end: impl Fn(&u8) -> bool) -> (&str, &str) {
    text.split_at(
        text.as_bytes()
            .iter()
            .position(is_end)
            .unwrap_or(text.len()),
    )
}

/// The line without its line end, its comment and the blanks around it.
fn content(line: &str) -> &str {
    let mut from = 0;
    while let Some(at) = line.as_bytes()[from..]
        .iter()
        .position(|byte| *byte == b'#')
    {
        let before = &line[..from + at];
        if before.is_empty() || before.ends_with([' ', '\t']) {
            return trim(before);
        }
        from += at + 1;
    }
    trim(line)
}

fn trim(text: &str) -> &str {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let begin = text
        .as_bytes()
        .iter()
        .position(is_text)
        .unwrap_or(text.len());
    let end = text
        .as_bytes()
        .iter()
        .rposition(is_text)
        .map_or(begin, |last| last + 1);
    &text[begin..end]
}

fn parse_place(
    place: &str,
    default_port: NonZeroU16,
) -> Result<(Address, NonZeroU16), &'static str> {
    if let Some(bracketed) = place.strip_prefix('[') {
        return parse_bracketed(bracketed, default_port);
    }
    let is_colon = |byte: &u8| *byte == b':';
    let (host, port) = split_at_byte(place, is_colon);
    match port.get(1..) {
        None => Ok((parse_address(host)?, default_port)),
        Some(port) if port.as_bytes().iter().any(is_colon) => {
            let address = Address::parse(place);
            Ok((
                address.ok_or("not an IPv6 address; with a port it is written [ADDRESS]:PORT")?,
                default_port,
            ))
        }
        Some(port) => Ok((parse_address(host)?, parse_port(port)?)),
    }
}

fn parse_bracketed(
    text: &str,
    default_port: NonZeroU16,
) -> Result<(Address, NonZeroU16), &'static str> {
    let (inner, rest) = text
        .split_once(']')
        .ok_or("the bracket before the IPv6 address is not closed")?;
    let address = Some(inner)
        .filter(|inner| inner.contains(':'))
        .and_then(Address::parse);
    let address = address.ok_or("what stands in brackets is not an IPv6 address")?;
    match rest.strip_prefix(':') {
        Some(port) => Ok((address, parse_port(port)?)),
        None if rest.is_empty() => Ok((address, default_port)),
        None => Err("only :PORT may follow the bracket"),
    }
}

fn parse_address(text: &str) -> Result<Address, &'static str> {
    Address::parse(text).ok_or("not an IP address and not a host name (letters, digits, - _ . and a last label that is not all digits)")
}

fn parse_port(text: &str) -> Result<NonZeroU16, &'static str> {
    digits(text)
        .and_then(|digits| digits.parse().ok())
        .ok_or("the port is not a number from 1 to 65535")
}

fn parse_weight(rest: &str) -> Result<u32, &'static str> {
    let rest = trim(rest);
    let separated = rest.strip_prefix([',', ';']);
    let text = separated.map_or(rest, trim);
    if text.is_empty() && separated.is_none() {
        return Ok(0);
    }
    let text = match text.strip_prefix("weight") {
        Some(value) => value
            .strip_prefix('=')
            .ok_or("a weight is written weight=5, or as 5 alone")?,
        None => text,
    };
    digits(text)
        .and_then(|digits| digits.parse().ok())
        .ok_or("what follows the address is not one weight from 0 to 4294967295")
}

/// Rust's integers would also take a sign.
fn digits(text: &str) -> Option<&str> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(number: u16) -> NonZeroU16 {
        NonZeroU16::new(number).expect("a port of the test is not 0")
    }

    fn all(text: &str) -> Vec<(String, u16, u32)> {
        let endpoints = parse(text, port(9000)).expect("the text of the test can be read");
        endpoints
            .iter()
            .map(|e| (e.address.as_str().to_owned(), e.port.get(), e.weight))
            .collect()
    }

    #[test]
    fn every_form_of_a_line_is_read() {
        let text = "\u{feff}# a list\r\n\r\n 10.0.0.7:8080 3\r\n10.0.0.8\n[2001:DB8::7]:8080\t10 # note\n2001:db8::8\n\
                    [fe80::1%eth0]:1\nfe80::2%eth0\nweb-1.Example.net.:80\n10.0.0.9:8080,5\n10.0.0.9:8080 ; weight=6\n1.2.3.4a 4294967295";
        let want = [
            ("10.0.0.7", 8080, 3),
            ("10.0.0.8", 9000, 0),
            ("2001:DB8::7", 8080, 10),
            ("2001:db8::8", 9000, 0),
            ("fe80::1%eth0", 1, 0),
            ("fe80::2%eth0", 9000, 0),
            ("web-1.Example.net.", 80, 0),
            ("10.0.0.9", 8080, 5),
            ("10.0.0.9", 8080, 6),
            ("1.2.3.4a", 9000, u32::MAX),
        ];
        assert_eq!(
            all(text),
            want.map(|(address, port, weight)| (address.to_owned(), port, weight))
        );
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        let bad = [
            "10.0.0.256",
            "10.0.0",
            "a<b",
            "web.123:80",
            ":80",
            "10.0.0.1:",
            "10.0.0.1:0",
            "10.0.0.1:65536",
            "10.0.0.1:8o",
            "10.0.0.1:+80",
            "[10.0.0.1]:80",
            "[2001:db8::1",
            "[2001:db8::1]80",
            "[]:80",
            "2001:db8::g",
            "2001:db8::1%",
            "a..b",
            ".",
            "a b",
            "10.0.0.1 -3",
            "10.0.0.1 +3",
            "10.0.0.1 4294967296",
            "10.0.0.1 1 2",
            "10.0.0.1,",
            "10.0.0.1 weight=",
            "10.0.0.1,,2",
            "10.0.0.1#x",
            "10.0.0.1%eth0",
            "ü.example",
            "10.0.0.1\u{a0}3",
            "10.0.0.1\r3",
            "10.0.0.1 \r3",
            "\r#",
            "\r\r",
            "\u{a0}",
        ];
        for line in bad {
            let error = parse(&format!("10.0.0.1\n{line}\n"), port(80)).expect_err(line);
            assert_eq!(error.number, 2, "{line}");
        }
        assert!(parse_line("", port(80)).is_err());
        assert!(parse_line(&format!("{}:80", "a.".repeat(127)), port(80)).is_ok());
        assert!(
            parse_line(&format!("{}aa:80", "a.".repeat(126)), port(80)).is_err(),
            "254 bytes"
        );
        assert!(
            parse_line(&format!("{}.a:80", "a".repeat(64)), port(80)).is_err(),
            "a label of 64 bytes"
        );
    }

    #[test]
    fn what_is_written_as_elsewhere_says_how_it_is_written_here() {
        for (line, right) in [
            ("http://10.0.0.1:80", "leave out http://"),
            ("https://web.example/", "leave out https://"),
            ("10.0.0.1#note", "a comment needs a blank before #"),
            ("10.0.0.1:80 3#note", "a comment needs a blank before #"),
            (
                "10.0.0.1 weight 5",
                "a weight is written weight=5, or as 5 alone",
            ),
            (
                "10.0.0.1, weight: 5",
                "a weight is written weight=5, or as 5 alone",
            ),
        ] {
            assert_eq!(parse_line(line, port(80)), Err(right), "{line}");
        }
    }

    #[test]
    fn an_error_shows_the_line_short_and_printable() {
        let error = parse(
            &format!("#\n10.0.0.1\u{1b}[2J{}", "w".repeat(200)),
            port(80),
        )
        .expect_err("an escape is no endpoint");
        assert_eq!(error.number, 2);
        assert_eq!(
            error.line,
            format!("\"10.0.0.1\\u{{1b}}[2J{}…\"", "w".repeat(68))
        );
    }

    #[test]
    fn the_first_line_that_is_one_too_many_is_refused() {
        let most = "#\n".to_owned() + &"a\n".repeat(MOST);
        let read = parse(&format!("{most}\r\n # b\n"), port(80));
        assert_eq!(read.map(|list| list.len()), Ok(MOST));
        let more = parse(&format!("{most}\nb # c\nc"), port(80)).map(|list| list.len());
        let said = more.unwrap_err().to_string();
        assert_eq!(said, format!("line 250003: {TOO_MANY}: \"b # c\""));
    }
}
