//! Endpoint lines in the forms in which people write them, and lines that are none.

use super::{DEFAULT_PORT, Endpoint, Spelling};
use crate::chance::Chance;

/// None of them is a line. What stands in them is in no list.
const BAD: [&str; 26] = [
    "10.0.0.1:80 lots",
    "10.0.0.1:0",
    "10.0.0.1:65536",
    "10.0.0.1:+80",
    "10.0.0.1:",
    ":80",
    "10.0.0.1 4294967296",
    "10.0.0.1 -3",
    "10.0.0.1 +3",
    "10.0.0.1 1 2",
    "10.0.0.1,,2",
    "10.0.0.1,",
    "10.0.0.1 weight 5",
    "10.0.0.1 weight=",
    "10.0.0.1#note",
    "10.0.0.1%eth0",
    "[10.0.0.1]:80",
    "[2001:db8::1",
    "[2001:db8::1]80",
    "2001:db8::g",
    "10.0.0.256",
    "web.123:80",
    "a..b",
    "http://10.0.0.1:80",
    "10.0.0.1\u{a0}3",
    "10.0.0.1 \r3",
];

/// One that makes its list no list.
pub(crate) fn bad_line(chance: &mut Chance) -> &'static str {
    chance.of_these(&BAD)
}

/// Gives some endpoints what only lines can say: ports and weights at their limits, addresses in other words, doubles.
pub(crate) fn vary(list: &mut Vec<Endpoint>, chance: &mut Chance) {
    for endpoint in &mut *list {
        match chance.number(0..20) {
            0..4 => endpoint.port = DEFAULT_PORT,
            4 => endpoint.port = chance.of_these(&[1, u16::MAX]),
            5..8 => endpoint.weight = 0,
            8 => endpoint.weight = u32::MAX,
            9 => endpoint.spelling = Spelling::Name,
            10..13 if endpoint.ip.is_ipv6() => endpoint.spelling = Spelling::Capitals,
            13 if endpoint.ip.is_ipv6() => endpoint.spelling = Spelling::Zone,
            _ => {}
        }
    }
    if !list.is_empty() && chance.one_in(3) {
        let double = chance.of_these(list);
        list.insert(chance.number(0..list.len()), double);
    }
}

/// The list as endpoint lines, with what may stand around them.
pub(crate) fn lines(list: &[Endpoint], chance: &mut Chance) -> String {
    let ends = chance.of_these(&[&["\n"][..], &["\r\n"], &["\n", "\r\n"]]);
    let mut text = String::new();
    if chance.one_in(4) {
        text.push('\u{feff}');
    }
    if list.is_empty() || chance.one_in(4) {
        let end = chance.of_these(ends);
        text.extend(["# nobody, or those below", end, end]);
    }
    let mut end = "";
    for endpoint in list {
        if chance.one_in(12) {
            let between = chance.of_these(&["", " ", "\t\t", "#", " # note", "#10.9.9.9:9"]);
            text.extend([between, chance.of_these(ends)]);
        }
        let before = chance.of_these(&["", "", "", "", " ", "\t"]);
        let after = chance.of_these(&["", "", "", " ", "\t ", " # note", "\t# 10.9.9.9:9", " #"]);
        end = chance.of_these(ends);
        text.extend([before, &line(endpoint, chance), after, end]);
    }
    if chance.one_in(4) {
        text.truncate(text.len() - end.len());
    }
    text
}

/// One endpoint. One that has the default port says none, whatever the service has for it.
pub(crate) fn line(endpoint: &Endpoint, chance: &mut Chance) -> String {
    let address = endpoint.address();
    let is_ipv6 = address.contains(':');
    let mut line = match endpoint.port {
        DEFAULT_PORT => match is_ipv6 && chance.one_in(2) {
            true => format!("[{address}]"),
            false => address,
        },
        port if is_ipv6 => format!("[{address}]:{port}"),
        port => format!("{address}:{port}"),
    };
    if endpoint.weight > 0 || chance.one_in(2) {
        line += chance.of_these(&[" ", "\t", ",", ";", "  \t ", " , ", ", ", " ;"]);
        line += chance.of_these(&["", "", "weight="]);
        line += &endpoint.weight.to_string();
    }
    line
}
