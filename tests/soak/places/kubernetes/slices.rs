//! A list as pages of slices, with what must not be served among it.

use std::net::IpAddr;

use super::ports::Numbers;
use crate::chance::Chance;
use crate::lists::Endpoint;

/// What makes an endpoint ready, and what does not.
const READY: [&str; 9] = [
    "",
    "",
    r#""conditions":null"#,
    r#""conditions":{}"#,
    r#""conditions":{"ready":true}"#,
    r#""conditions":{"ready":null}"#,
    r#""conditions":{"serving":false}"#,
    r#""conditions":{"serving":null,"terminating":true}"#,
    r#""conditions":{"ready":true,"serving":false,"terminating":true}"#,
];
const UNREADY: [&str; 3] = [
    r#""conditions":{"ready":false}"#,
    r#""conditions":{"ready":false,"serving":true}"#,
    r#""conditions":{"terminating":true,"serving":true,"ready":false}"#,
];
/// What means nothing here, though it looks like what does.
const MORE: [&str; 3] = [
    "",
    r#""nodeName":"n","zone":"z","hostname":null"#,
    r#""targetRef":{"kind":"Pod","addresses":["10.9.9.6"]},"deprecatedTopology":{"ready":"false"}"#,
];
const METADATA: &str =
    r#""metadata":{"name":"x","continue":"y","managedFields":[{"fieldsV1":{"f:ports":{}}}]}"#;
/// What no list can be made of.
const WRONG: [&str; 6] = [
    r#"{"endpoints":[{"addresses":["10.9.9.5"]}],"ports":[{"name":"main","port":8443}]}"#,
    r#"{"addressType":"IPv5","endpoints":[],"ports":[]}"#,
    r#"{"addressType":"IPv4","endpoints":[{"addresses":["2001:db8::5"]}],"ports":[{"name":"main","port":8443}]}"#,
    r#"{"addressType":"IPv4","endpoints":[{"addresses":["10.9.9"]}],"ports":[{"name":"main","port":8443}]}"#,
    r#"{"addressType":"IPv4","endpoints":[{"addresses":["10.9.9.5"]}],"ports":[{"name":"main","port":73979}]}"#,
    r#"{"addressType":"IPv4","endpoints":[{"addresses":["10.9.9.5"],"conditions":{"ready":"no"}}],"ports":[{"name":"main","port":8443}]}"#,
];

/// One to three pages, each with the JSON of its slices. Each slice has a port of its own, which its endpoints get.
pub(super) fn pages(
    list: &mut [Endpoint],
    mut numbers: Numbers,
    chance: &mut Chance,
) -> Vec<String> {
    let mut slices = Vec::new();
    for is_ipv4 in [true, false] {
        let mut of_family: Vec<&mut Endpoint> = list
            .iter_mut()
            .filter(|endpoint| endpoint.ip.is_ipv4() == is_ipv4)
            .collect();
        let size = chance.number(1..80);
        for some in of_family.chunks_mut(size) {
            let (number, ports) = numbers.good(chance);
            let ips: Vec<IpAddr> = some.iter().map(|endpoint| endpoint.ip).collect();
            some.iter_mut().for_each(|endpoint| endpoint.port = number);
            slices.push(slice(&ips, is_ipv4, &ports, chance));
            if chance.one_in(3) {
                // Twice, as while endpoints move from one slice to another.
                slices.push(slice(&ips[..1], is_ipv4, &ports, chance));
            }
        }
    }
    slices.extend(numbers.unwanted(chance));
    chance.shuffle(&mut slices);
    in_pages(&slices, chance)
}

/// Pages of a list of which a part makes no sense.
pub(super) fn wrong_pages(pages: &[String], chance: &mut Chance) -> Vec<String> {
    let wrong = chance.of_these(&WRONG);
    let with_it = pages
        .iter()
        .enumerate()
        .map(|(number, page)| match (number, page.as_str()) {
            (0, "") => wrong.to_owned(),
            (0, _) => format!("{page},{wrong}"),
            _ => page.clone(),
        });
    with_it.collect()
}

fn in_pages(slices: &[String], chance: &mut Chance) -> Vec<String> {
    let count = chance.number(1..4);
    let size = slices.len().div_ceil(count).max(1);
    let pages: Vec<String> = slices.chunks(size).map(|some| some.join(",")).collect();
    match pages.is_empty() {
        true => vec![String::new()],
        false => pages,
    }
}

fn slice(ips: &[IpAddr], is_ipv4: bool, ports: &str, chance: &mut Chance) -> String {
    let (unready, other) = match is_ipv4 {
        true => ("10.9.9.9", "10.9.9.7"),
        false => ("2001:db8::9:9:9", "2001:db8::9:9:7"),
    };
    let mut all = Vec::new();
    for ip in ips {
        let ready = chance.of_these(&READY);
        all.push(endpoint(&written(*ip, chance), other, ready, chance));
        if chance.one_in(5) {
            // One that is ready elsewhere is there all the same.
            let unready = match chance.one_in(4) {
                true => &ip.to_string(),
                false => unready,
            };
            let conditions = chance.of_these(&UNREADY);
            all.push(endpoint(unready, other, conditions, chance));
        }
    }
    let family = if is_ipv4 { "IPv4" } else { "IPv6" };
    render(family, &all, ports, chance)
}

/// One endpoint. Other addresses beside the first mean the same one.
fn endpoint(ip: &str, other: &str, conditions: &str, chance: &mut Chance) -> String {
    let addresses = match chance.one_in(4) {
        true => format!(r#""addresses":["{ip}","{other}"]"#),
        false => format!(r#""addresses":["{ip}"]"#),
    };
    object(&[&addresses, conditions, chance.of_these(&MORE)], chance)
}

/// A slice, its fields in any order.
pub(super) fn render(
    family: &str,
    endpoints: &[String],
    ports: &str,
    chance: &mut Chance,
) -> String {
    let family = format!(r#""addressType":"{family}""#);
    let endpoints = match endpoints {
        [] => chance
            .of_these(&[r#""endpoints":[]"#, r#""endpoints":null"#, ""])
            .to_owned(),
        all => format!(r#""endpoints":[{}]"#, all.join(",")),
    };
    object(&[METADATA, &family, &endpoints, ports], chance)
}

/// An object of these fields, of which some are nothing.
pub(super) fn object(fields: &[&str], chance: &mut Chance) -> String {
    let mut fields: Vec<&str> = fields
        .iter()
        .copied()
        .filter(|field| !field.is_empty())
        .collect();
    chance.shuffle(&mut fields);
    format!("{{{}}}", fields.join(","))
}

/// An address in one of the ways to write it.
fn written(ip: IpAddr, chance: &mut Chance) -> String {
    match ip {
        IpAddr::V6(ip) if chance.one_in(4) => {
            let groups = ip.segments().map(|group| format!("{group:04X}"));
            groups.join(":")
        }
        _ => ip.to_string(),
    }
}
