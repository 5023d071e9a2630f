//! A list as pages of slices, with what must not be served among it.

use crate::chance::Chance;
use crate::lists::Endpoint;

/// One to three pages, each with the JSON of its slices.
pub(super) fn pages(list: &[Endpoint], chance: &mut Chance) -> Vec<String> {
    let mut slices = Vec::new();
    for is_ipv4 in [true, false] {
        let of_family: Vec<&Endpoint> = list
            .iter()
            .filter(|endpoint| endpoint.ip.is_ipv4() == is_ipv4)
            .collect();
        let size = chance.number(1..80);
        slices.extend(
            of_family
                .chunks(size)
                .map(|some| slice(some, is_ipv4, chance)),
        );
        if let Some(first) = of_family.first().filter(|_| chance.one_in(3)) {
            // Twice, as while an endpoint moves from one slice to another.
            slices.push(slice(&[*first], is_ipv4, chance));
        }
    }
    if chance.one_in(3) {
        slices.push(r#"{"addressType":"FQDN","endpoints":[{"addresses":["wrong.test"]}],"ports":[{"name":"main","port":8443}]}"#.into());
    }
    if chance.one_in(3) {
        slices.push(r#"{"addressType":"IPv4","endpoints":[{"addresses":["10.9.9.8"]}],"ports":[{"name":"admin","port":1}]}"#.into());
        // Slices that all lack the port would be a failure.
        slices.push(
            r#"{"addressType":"IPv4","endpoints":[],"ports":[{"name":"main","port":8443}]}"#.into(),
        );
    }
    chance.shuffle(&mut slices);
    let count = chance.number(1..4);
    let size = slices.len().div_ceil(count).max(1);
    let pages: Vec<String> = slices.chunks(size).map(|some| some.join(",")).collect();
    if pages.is_empty() {
        vec![String::new()]
    } else {
        pages
    }
}

fn slice(endpoints: &[&Endpoint], is_ipv4: bool, chance: &mut Chance) -> String {
    let mut all: Vec<String> = Vec::new();
    for endpoint in endpoints {
        let ready = chance.of_these(&[
            r#","conditions":{"ready":true}"#,
            r#","conditions":{"ready":null}"#,
            r#","conditions":{}"#,
            "",
        ]);
        all.push(format!(r#"{{"addresses":["{}"]{ready}}}"#, endpoint.ip));
        if chance.one_in(5) {
            let unready = if is_ipv4 {
                "10.9.9.9"
            } else {
                "2001:db8::9:9:9"
            };
            all.push(format!(
                r#"{{"addresses":["{unready}"],"conditions":{{"ready":false,"serving":true}}}}"#
            ));
        }
    }
    let family = if is_ipv4 { "IPv4" } else { "IPv6" };
    format!(
        r#"{{"metadata":{{"name":"x"}},"addressType":"{family}","endpoints":[{}],"ports":[{{"name":"other","port":1}},{{"name":"main","port":8443}}]}}"#,
        all.join(",")
    )
}
