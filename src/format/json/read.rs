//! The JSON list, read back. It may come from anyone, so its nesting is bounded.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU16;

use miniserde::de::{Map, Seq, Visitor};
use miniserde::{Deserialize, Error, Result, json, make_place};

use super::DEEPEST;
use super::value::{Ignored, Value, take};
use crate::endpoint::{Endpoint, MOST, TOO_MANY};
use crate::json::Json;

make_place!(Place);

/// Why a text is no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadList {
    /// It is no JSON, or goes deeper than [`DEEPEST`].
    NoJson(Option<Broken>),
    /// It is something else than a list.
    NoList,
    /// It has more than [`MOST`] endpoints.
    TooMany,
    /// An endpoint is wrong.
    Item {
        /// Counted from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// Where a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: Cow<'static, str>,
}

/// Reads it again to find the place, which the reader that stopped does not tell.
fn broken(text: &str) -> Option<Broken> {
    let mut json = Json::new(text);
    let bad = json.skip().and_then(|()| json.end()).err()?;
    let before = text.as_bytes().get(..bad.at).unwrap_or_default();
    Some(Broken {
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
        reason: bad.reason,
    })
}

impl fmt::Display for BadList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoJson(Some(Broken { line, reason })) => {
                write!(f, "the list is no JSON: line {line}: {reason}")
            }
            Self::NoJson(None) => write!(
                f,
                "the list is no JSON, or is nested more than {DEEPEST} deep"
            ),
            Self::NoList => f.write_str("the JSON is not a list of endpoints"),
            Self::TooMany => f.write_str(TOO_MANY),
            Self::Item { number, reason } => write!(f, "endpoint {number} of the list: {reason}"),
        }
    }
}

/// Reads a list: an array of objects with the fields `ip`, `port` and `load_balancing_weight`, within
/// the bounds of endpoint lines. Each is required, and others are ignored. The order is kept.
pub fn parse(text: &str) -> std::result::Result<Vec<Endpoint>, BadList> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let list: List = json::from_str(text).map_err(|Error| BadList::NoJson(broken(text)))?;
    match list.bad {
        Some(bad) => Err(bad),
        None if !list.is_array => Err(BadList::NoList),
        None => Ok(list.endpoints),
    }
}

/// What has been read. Errors of the reader carry neither place nor reason, so the first thing that is
/// wrong is noted, and the rest is read for its syntax only.
#[derive(Default)]
struct List {
    is_array: bool,
    endpoints: Vec<Endpoint>,
    bad: Option<BadList>,
    other: Ignored,
}

impl Deserialize for List {
    fn begin(out: &mut Option<Self>) -> &mut dyn Visitor {
        *out = Some(<Self as Default>::default());
        Place::new(out)
    }
}

impl Visitor for Place<List> {
    take! {null; boolean: bool, string: &str, negative: i64, nonnegative: u64, float: f64}

    fn seq(&mut self) -> Result<Box<dyn Seq + '_>> {
        let list = self.out.insert(<List as Default>::default());
        list.is_array = true;
        Ok(Box::new(Items {
            list,
            item: Item::default(),
            begun: false,
        }))
    }

    fn map(&mut self) -> Result<Box<dyn Map + '_>> {
        self.out.insert(<List as Default>::default()).other.map()
    }
}

struct Items<'a> {
    list: &'a mut List,
    item: Item,
    begun: bool,
}

impl Items<'_> {
    /// Takes over the endpoint that has been read.
    fn end_item(&mut self) {
        if !std::mem::replace(&mut self.begun, true) || self.list.bad.is_some() {
            return;
        }
        let read = self.list.endpoints.len();
        match self.item.endpoint() {
            Ok(_) if read == MOST => self.refuse(BadList::TooMany),
            Ok(endpoint) => self.list.endpoints.push(endpoint),
            Err(reason) => self.refuse(BadList::Item {
                number: read + 1,
                reason,
            }),
        }
    }

    fn refuse(&mut self, bad: BadList) {
        // What is there of a list that cannot be read whole is worth nothing.
        self.list.endpoints = Vec::new();
        self.list.bad = Some(bad);
    }
}

impl Seq for Items<'_> {
    fn element(&mut self) -> Result<&mut dyn Visitor> {
        self.end_item();
        self.item = Item::default();
        Ok(&mut self.item)
    }

    fn finish(&mut self) -> Result<()> {
        self.end_item();
        Ok(())
    }
}

/// One endpoint, as far as it has been read.
#[derive(Default)]
struct Item {
    is_object: bool,
    ip: Value,
    port: Value,
    weight: Value,
    other: Ignored,
}

impl Item {
    fn endpoint(&mut self) -> std::result::Result<Endpoint, String> {
        if !self.is_object {
            return Err("it is no object".into());
        }
        let port = self.port.number("port", 1, u64::from(u16::MAX))?;
        let weight = self
            .weight
            .number("load_balancing_weight", 0, u64::from(u32::MAX))?;
        Ok(Endpoint {
            address: self.ip.address()?,
            port: u16::try_from(port)
                .ok()
                .and_then(NonZeroU16::new)
                .unwrap_or(NonZeroU16::MAX),
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
        })
    }
}

/// Anything but an object is no endpoint, which is told when it ends.
impl Visitor for Item {
    take! {null; boolean: bool, string: &str, negative: i64, nonnegative: u64, float: f64}

    fn seq(&mut self) -> Result<Box<dyn Seq + '_>> {
        self.other.seq()
    }

    fn map(&mut self) -> Result<Box<dyn Map + '_>> {
        self.is_object = true;
        Ok(Box::new(Fields(self)))
    }
}

struct Fields<'a>(&'a mut Item);

impl Map for Fields<'_> {
    fn key(&mut self, key: &str) -> Result<&mut dyn Visitor> {
        let value = match key {
            "ip" => &mut self.0.ip,
            "port" => &mut self.0.port,
            "load_balancing_weight" => &mut self.0.weight,
            _ => return Ok(&mut self.0.other),
        };
        value.times += 1;
        Ok(value)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<String>, String> {
        let read = parse(text).map_err(|bad| bad.to_string());
        read.map(|list| {
            list.iter()
                .map(|one| format!("{one} {}", one.weight))
                .collect()
        })
    }

    fn item(fields: &str) -> String {
        format!("[{{{fields}}}]")
    }

    #[test]
    fn what_is_rendered_is_read_back() {
        let list = crate::lines::parse(
            "10.0.0.7:1 3\n[2001:db8::7]:65535 4294967295\nfe80::1%eth0\nweb.example",
            NonZeroU16::MIN,
        )
        .unwrap();
        let body = String::from_utf8(super::super::render(&list)).unwrap();
        assert_eq!(parse(&body), Ok(list));
        assert_eq!(parse("[]\n"), Ok(Vec::new()));
    }

    #[test]
    fn other_fields_and_blanks_mean_nothing() {
        let text = "\u{feff} [ {\"zone\":{\"a\":[1,{\"ip\":\"x\"}]}, \"load_balancing_weight\":0,\r\n\"port\" : 80,\"ip\":\"\\u0031.1.1.1\",\"up\":null,\"x\":[[]]} ] ";
        assert_eq!(read(text), Ok(vec!["1.1.1.1:80 0".into()]));
    }

    #[test]
    fn a_list_with_one_wrong_endpoint_is_no_list() {
        let good = r#""ip":"::1","port":1,"load_balancing_weight":2"#;
        for (fields, reason) in [
            (r#""port":1,"load_balancing_weight":2"#, "it has no ip"),
            (r#""ip":"::1","load_balancing_weight":2"#, "it has no port"),
            (r#""ip":"::1","port":1"#, "it has no load_balancing_weight"),
            (
                r#""ip":"::1","port":1,"load_balancing_weight":2,"port":2"#,
                "it has port more than once",
            ),
            (
                r#""ip":"<b>","port":1,"load_balancing_weight":2"#,
                "its ip is not an IP address and not a host name: \"<b>\"",
            ),
            (
                r#""ip":7,"port":1,"load_balancing_weight":2"#,
                "its ip is not text",
            ),
            (
                r#""ip":["::1"],"port":1,"load_balancing_weight":2"#,
                "its ip is not text",
            ),
            (
                r#""ip":"::1","port":0,"load_balancing_weight":2"#,
                "its port is not a number from 1 to 65535",
            ),
            (
                r#""ip":"::1","port":65536,"load_balancing_weight":2"#,
                "its port is not a number from 1 to 65535",
            ),
            (
                r#""ip":"::1","port":"1","load_balancing_weight":2"#,
                "its port is not a number from 1 to 65535",
            ),
            (
                r#""ip":"::1","port":1.0,"load_balancing_weight":2"#,
                "its port is not a number from 1 to 65535",
            ),
            (
                r#""ip":"::1","port":null,"load_balancing_weight":2"#,
                "its port is not a number from 1 to 65535",
            ),
            (
                r#""ip":"::1","port":1,"load_balancing_weight":-1"#,
                "its load_balancing_weight is not a number from 0 to 4294967295",
            ),
            (
                r#""ip":"::1","port":1,"load_balancing_weight":4294967296"#,
                "its load_balancing_weight is not a number from 0 to 4294967295",
            ),
            ("", "it has no port"),
        ] {
            let text = format!("[{{{good}}},{{{good}}},{{{fields}}},{{}}]");
            assert_eq!(
                read(&text),
                Err(format!("endpoint 3 of the list: {reason}")),
                "{fields}"
            );
        }
        for other in ["1", "null", "\"10.0.0.1\"", "[]", "[{}]"] {
            assert_eq!(
                read(&format!("[{other}]")),
                Err("endpoint 1 of the list: it is no object".into())
            );
        }
    }

    #[test]
    fn a_list_of_more_endpoints_than_there_may_be_is_refused() {
        let list = |count: usize| {
            let item = r#"{"ip":"a","port":1,"load_balancing_weight":0},"#.repeat(count);
            parse(&format!("[{}]", item.trim_end_matches(',')))
        };
        assert_eq!(list(MOST).map(|list| list.len()), Ok(MOST));
        assert_eq!(list(MOST + 1), Err(BadList::TooMany));
    }

    #[test]
    fn what_is_no_list_is_told() {
        for text in [
            "{}",
            "null",
            "1",
            "true",
            "\"x\"",
            "-1.5",
            "{\"error\":\"x\"}",
        ] {
            assert_eq!(parse(text), Err(BadList::NoList), "{text}");
        }
        for text in [
            "",
            "[",
            "[{]",
            "[}",
            "[1,]",
            "[]]",
            "[] []",
            "{\"a\"}",
            "\u{1}",
            "10.0.0.1:80\n",
        ] {
            assert!(matches!(parse(text), Err(BadList::NoJson(_))), "{text}");
        }
    }

    #[test]
    fn nesting_has_its_bound() {
        let nested = |depth: usize| {
            item(&format!(
                r#""ip":"::1","port":1,"load_balancing_weight":2,"x":{}{}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            ))
        };
        assert!(parse(&nested(DEEPEST)).is_ok());
        let deep = parse(&nested(DEEPEST + 1)).unwrap_err();
        assert_eq!(
            deep.to_string(),
            "the list is no JSON: line 1: nested more than 64 deep"
        );
        for endless in [
            "[".repeat(4 << 20),
            "[{\"x\":".repeat(1 << 19),
            format!("[{{\"x\":{}", "[".repeat(4 << 20)),
            "{\"x\":".repeat(1 << 19),
        ] {
            assert!(matches!(parse(&endless), Err(BadList::NoJson(_))));
        }
    }
}
