//! Slices of real clusters, broken in every way that a seeded generator comes up with, against their reader.
//!
//! `VIGIE_MUTATIONS` says how many; a failure shows its input. The generator starts from the same seed each time.

use std::net::IpAddr;
use std::num::NonZeroU16;

use fastrand::Rng;
use miniserde::json::{self, Value};
use vigie::dns::Family;
use vigie::endpoint::Endpoint;
use vigie::slices::{Gathered, Port, Wanted};

/// What API servers send.
const CORPUS: [&str; 5] = [
    r#"{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","metadata":{"resourceVersion":"8123","continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ","remainingItemCount":3},"items":[{"metadata":{"name":"web-4xk2p","namespace":"shop","uid":"8f7b","resourceVersion":"8120","generation":4,"creationTimestamp":"2026-11-30T03:00:00Z","labels":{"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io","kubernetes.io/service-name":"web"},"ownerReferences":[{"apiVersion":"v1","kind":"Service","name":"web","controller":true}]},"addressType":"IPv4","endpoints":[{"addresses":["10.244.1.7"],"conditions":{"ready":true,"serving":true,"terminating":false},"targetRef":{"kind":"Pod","name":"web-0"},"nodeName":"a","zone":"z"},{"addresses":["10.244.2.9","10.244.2.10"],"conditions":{"ready":false,"serving":true,"terminating":true}}],"ports":[{"name":"http","protocol":"TCP","port":8080}]}]}"#,
    r#"{"kind":"EndpointSliceList","metadata":{"continue":""},"items":[{"addressType":"IPv6","endpoints":[{"addresses":["fd00:10:244::7"]},{"addresses":["2001:DB8::0:1"],"conditions":{"ready":null}}],"ports":[{"name":"","port":53,"protocol":"UDP"}]},{"addressType":"FQDN","endpoints":[{"addresses":["web.example.net"]}],"ports":null}]}"#,
    r#"{"items":[{"addressType":"IPv4","endpoints":null,"ports":null},{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"name":"http","port":null},{"name":"admin","port":9090}]}]}"#,
    r#"{"kind":"EndpointSliceList","metadata":null,"items":null}"#,
    r#"{"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"a \"b\" \u00fc \ud83d\ude00"}"#,
];

const WORDS: [&str; 34] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\u00e9",
    "\\ud83d",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e9",
    "80.0",
    "65536",
    "99999999999999999999",
    " ",
    "\n",
    "\u{fc}",
    "\0",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":",
    "\"10.0.0.9\"",
    "\"::ffff:1.2.3.4\"",
    "\"ready\":",
    "\"endpoints\":",
    "\"ports\":[],",
    "\"IPv6\"",
    "\"items\":[],",
    "{\"addresses\":[\"10.0.0.3\"]},",
    "\"port\":0,",
];

fn boundary(random: &mut Rng, text: &str) -> usize {
    text.floor_char_boundary(random.usize(..=text.len()))
}

fn mutate(random: &mut Rng) -> String {
    let mut text = random.choice(CORPUS).unwrap().to_owned();
    for _ in 0..random.usize(1..=4) {
        let at = boundary(random, &text);
        let end = text
            .floor_char_boundary((at + random.usize(..60)).min(text.len()))
            .max(at);
        match random.u8(..6) {
            0 => text.replace_range(at..end, random.choice(WORDS).unwrap()),
            1 | 2 => text.insert_str(at, random.choice(WORDS).unwrap()),
            3 => drop(text.drain(at..end)),
            4 => {
                let piece = text[at..end].to_owned();
                text.insert_str(at, &piece);
            }
            _ => text.truncate(at.max(1)),
        }
    }
    text
}

fn wanted(random: &mut Rng) -> Wanted {
    Wanted {
        port: Port::parse(random.choice(["", "http", "8080", "admin"]).unwrap()),
        family: *random
            .choice(&[Family::Any, Family::Ipv4, Family::Ipv6])
            .unwrap(),
        default_port: NonZeroU16::new(9000).unwrap(),
    }
}

fn read(wanted: &Wanted, pages: &[&str]) -> Result<Vec<Endpoint>, String> {
    let mut gathered = Gathered::new(wanted.clone());
    for page in pages {
        gathered.take(page).map_err(|bad| {
            assert!(bad.at <= page.len() + 4, "{bad}");
            bad.to_string()
        })?;
    }
    gathered.finish()
}

/// What holds of every list, whatever it was made from.
fn check(list: &[Endpoint], wanted: &Wanted, text: &str) {
    let ips: Vec<(IpAddr, NonZeroU16)> = list
        .iter()
        .map(|endpoint| {
            let ip: IpAddr = endpoint.address.as_str().parse().unwrap();
            assert_eq!(
                (endpoint.address.as_str(), endpoint.weight),
                (&*ip.to_string(), 0)
            );
            assert!(wanted.family.holds(&ip));
            (ip, endpoint.port)
        })
        .collect();
    assert!(ips.is_sorted_by(|a, b| a < b), "{list:?} of {text}");
}

#[test]
fn a_broken_list_of_slices_is_read_whole_or_not_at_all() {
    let count = std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap());
    let mut random = Rng::with_seed(8259);
    let (mut whole, mut failed) = (0, 0);
    for _ in 0..count {
        let (text, wanted) = (mutate(&mut random), wanted(&mut random));
        let is_json = json::from_str::<Value>(&text).is_ok();
        match read(&wanted, &[&text]) {
            Ok(list) => {
                whole += 1;
                assert!(is_json, "no JSON, but read: {text}");
                check(&list, &wanted, &text);
                assert_eq!(
                    read(&wanted, &[&text, &text]),
                    Ok(list),
                    "twice the same: {text}"
                );
            }
            Err(error) => {
                failed += 1;
                assert!(
                    error.len() < 2000 && !error.contains(char::is_control),
                    "{error:?}"
                );
            }
        }
    }
    assert!(
        whole > count / 100 && failed > count / 100,
        "{whole} read, {failed} refused"
    );
}

fn has_huge_number(text: &str) -> bool {
    let digits = |rest: &str| {
        let rest = rest.trim_start_matches('+');
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    text.split(['e', 'E']).skip(1).any(|rest| digits(rest) >= 3)
}

#[test]
fn what_is_json_to_one_reader_is_json_to_the_other() {
    let count = std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap());
    let mut random = Rng::with_seed(7159);
    for _ in 0..count {
        let text = mutate(&mut random);
        let mut own = vigie::json::Json::new(&text);
        let own = own.skip().and_then(|()| own.end());
        let other = json::from_str::<Value>(&text);
        let is_deep = own.as_ref().is_err_and(|bad| bad.reason.contains("deep"));
        // Only one of them minds that a number is larger than any.
        let is_huge = own.is_ok() && has_huge_number(&text);
        assert!(
            own.is_ok() == other.is_ok() || is_deep || is_huge,
            "{own:?}: {text}"
        );
    }
}
