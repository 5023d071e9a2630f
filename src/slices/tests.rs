//! Parts of tests of this room.

use std::fmt::Write;
use std::num::NonZeroU16;
use std::time::Instant;

use super::{Gathered, Port, Wanted};
use crate::dns::Family;
use crate::endpoint::Endpoint;

const DEFAULT: NonZeroU16 = NonZeroU16::new(9000).unwrap();

fn wanted(port: &str) -> Wanted {
    Wanted {
        port: Port::parse(port),
        family: Family::Any,
        default_port: DEFAULT,
    }
}

fn gather(wanted: Wanted, pages: &[&str]) -> Result<Vec<Endpoint>, String> {
    let mut gathered = Gathered::new(wanted);
    for page in pages {
        gathered.take(page).map_err(|bad| bad.to_string())?;
    }
    gathered.finish()
}

/// What slices give of which this port is wanted, `ADDRESS:PORT` each.
fn read(port: &str, slices: &[&str]) -> Result<String, String> {
    let list = format!(r#"{{"items":[{}]}}"#, slices.join(","));
    let endpoints = gather(wanted(port), &[&list])?;
    let shown: Vec<_> = endpoints.iter().map(ToString::to_string).collect();
    Ok(shown.join(" "))
}

fn slice(kind: &str, endpoints: &str, ports: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"s"}},"addressType":"{kind}","endpoints":{endpoints},"ports":{ports}}}"#
    )
}

const HTTP: &str = r#"[{"name":"http","port":8080,"protocol":"TCP","appProtocol":null}]"#;

fn http(addresses: &[&str]) -> String {
    let endpoints: Vec<_> = addresses
        .iter()
        .map(|address| format!(r#"{{"addresses":["{address}"]}}"#))
        .collect();
    slice("IPv4", &format!("[{}]", endpoints.join(",")), HTTP)
}

#[test]
fn whoever_is_not_said_to_be_unready_is_ready() {
    let conditions = [
        ("1", ""),
        ("2", r#","conditions":null"#),
        ("3", r#","conditions":{}"#),
        ("4", r#","conditions":{"ready":null,"terminating":true}"#),
        ("5", r#","conditions":{"ready":true,"serving":false}"#),
        ("6", r#","conditions":{"ready":false}"#),
        (
            "7",
            r#","conditions":{"serving":true,"terminating":true,"ready":false}"#,
        ),
    ];
    let endpoints = conditions
        .map(|(ip, conditions)| format!(r#"{{"addresses":["10.0.0.{ip}"]{conditions}}}"#));
    let slice = slice("IPv4", &format!("[{}]", endpoints.join(",")), HTTP);
    assert_eq!(
        read("", &[&slice]).as_deref(),
        Ok("10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:8080 10.0.0.4:8080 10.0.0.5:8080")
    );
}

#[test]
fn only_the_first_address_counts_and_unknown_fields_mean_nothing() {
    let endpoint = r#"{"zone":"a","hints":{"forZones":[{"name":"b"}]},"targetRef":{"addresses":["10.9.9.9"]},"nodeName":null,"addresses":["10.0.0.2","10.0.0.1","x"]}"#;
    let unlisted = r#"{"addresses":[]},{"addresses":null},{}"#;
    let slice = slice("IPv4", &format!("[{endpoint},{unlisted}]"), HTTP);
    assert_eq!(read("", &[&slice]).as_deref(), Ok("10.0.0.2:8080"));
}

#[test]
fn what_stands_twice_and_matters_is_no_list() {
    let page = |keys: &str| Gathered::new(wanted("")).take(&format!("{{{keys}}}"));
    let slice = |keys: &str| page(&format!(r#""items":[{{"addressType":"IPv4",{keys}}}]"#));
    for (key, page) in [
        (
            "metadata",
            page(r#""metadata":{"continue":"x"},"items":[],"metadata":{}"#),
        ),
        (
            "continue",
            page(r#""metadata":{"continue":"x","continue":""},"items":[]"#),
        ),
        ("items", page(r#""items":[],"items":[]"#)),
        ("addressType", slice(r#""addressType":"IPv4""#)),
        ("endpoints", slice(r#""endpoints":[],"endpoints":null"#)),
        ("ports", slice(r#""ports":[],"ports":[]"#)),
        ("port", slice(r#""ports":[{"port":1,"port":2}]"#)),
        (
            "addresses",
            slice(r#""endpoints":[{"addresses":["10.0.0.1"],"addresses":[]}]"#),
        ),
        (
            "ready",
            slice(
                r#""endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":false,"ready":true}}]"#,
            ),
        ),
    ] {
        let error = page.unwrap_err().to_string();
        assert!(error.ends_with(&format!(": {key} stands twice")), "{error}");
    }
    assert_eq!(
        slice(r#""x":1,"x":2,"metadata":{"labels":{},"labels":{}}"#),
        Ok(None)
    );
}

#[test]
fn endpoints_are_sorted_and_come_once_whatever_slices_and_pages_they_stand_in() {
    let page = |slices: &[String], next: &str| {
        format!(
            r#"{{"kind":"EndpointSliceList","metadata":{{"continue":"{next}"}},"items":[{}]}}"#,
            slices.join(",")
        )
    };
    let first = page(
        &[http(&["10.0.0.10", "10.0.0.9"]), http(&["10.0.0.9"])],
        "a",
    );
    let second = page(&[http(&["10.0.0.2", "10.0.0.10"])], "");
    let mut gathered = Gathered::new(wanted(""));
    assert_eq!(gathered.take(&first), Ok(Some("a".into())));
    assert_eq!(gathered.take(&second), Ok(None));
    let list: Vec<_> = gathered
        .finish()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(list, ["10.0.0.2:8080", "10.0.0.9:8080", "10.0.0.10:8080"]);
}

#[test]
fn addresses_are_those_of_the_family_that_the_slice_says() {
    let six = slice("IPv6", r#"[{"addresses":["2001:DB8:0::0:1"]}]"#, HTTP);
    let names = slice(
        "FQDN",
        r#"[{"addresses":["web.example"]}]"#,
        r#"[{"name":"other"}]"#,
    );
    let all = [&*http(&["10.0.0.1"]), &six, &names];
    assert_eq!(
        read("", &all).as_deref(),
        Ok("10.0.0.1:8080 [2001:db8::1]:8080")
    );
    for (family, want) in [(Family::Ipv4, "10.0.0.1"), (Family::Ipv6, "2001:db8::1")] {
        let list = format!(r#"{{"items":[{}]}}"#, all.join(","));
        let wanted = Wanted {
            family,
            ..wanted("")
        };
        let found = gather(wanted, &[&list]).unwrap();
        let [one] = &*found else { panic!("{found:?}") };
        assert_eq!((one.address.as_str(), one.weight), (want, 0));
    }
    for (kind, address, shown) in [
        (
            "IPv4",
            "2001:db8::1",
            "\"2001:db8::1\" of the slice s is not IPv4",
        ),
        (
            "IPv6",
            "10.0.0.1",
            "\"10.0.0.1\" of the slice s is not IPv6",
        ),
        (
            "IPv4",
            "10.0.0.256",
            "\"10.0.0.256\" of the slice s is not IPv4",
        ),
        (
            "IPv4",
            "web.example",
            "\"web.example\" of the slice s is not IPv4",
        ),
        (
            "IPv6",
            "fe80::1%eth0",
            "\"fe80::1%eth0\" of the slice s is not IPv6",
        ),
    ] {
        let slice = slice(kind, &format!(r#"[{{"addresses":["{address}"]}}]"#), HTTP);
        let error = read("", &[&http(&["10.0.0.1"]), &slice]).unwrap_err();
        assert!(error.ends_with(shown), "{error}");
    }
}

#[test]
fn a_port_is_found_by_its_name_or_its_number() {
    let ports =
        r#"[{"name":"http","port":8080},{"name":"admin","port":9090},{"name":"dns","port":null}]"#;
    let both = slice("IPv4", r#"[{"addresses":["10.0.0.1"]}]"#, ports);
    let other = slice(
        "IPv4",
        r#"[{"addresses":["10.0.0.2"]}]"#,
        r#"[{"name":"http","port":8081}]"#,
    );
    let all = [&*both, &other];
    for (port, want) in [
        ("http", "10.0.0.1:8080 10.0.0.2:8081"),
        ("admin", "10.0.0.1:9090"),
        ("dns", "10.0.0.1:9000"),
        ("8081", "10.0.0.2:8081"),
        ("9090", "10.0.0.1:9090"),
    ] {
        assert_eq!(read(port, &all).as_deref(), Ok(want), "{port}");
    }
    assert_eq!(
        read("", &all),
        Err("the slices have several ports: admin (9090), dns (without a number), http (8080), http (8081); name one with port".into())
    );
    assert_eq!(
        read("https", &all),
        Err("no slice has the port https; the slices have admin (9090), dns (without a number), http (8080), http (8081); correct port".into())
    );
    assert_eq!(
        read("80", &[&other]),
        Err("no slice has the port 80; the slices have http (8081); correct port: a number is that of the pods, not of the Service".into())
    );
}

#[test]
fn without_a_port_or_its_number_the_default_port_stands_in() {
    for ports in [
        "null",
        "[]",
        "[{}]",
        r#"[{"name":"http"}]"#,
        r#"[{"name":null,"port":null}]"#,
        r#"[{"port":0}]"#,
    ] {
        let slice = slice("IPv4", r#"[{"addresses":["10.0.0.1"]}]"#, ports);
        assert_eq!(
            read("", &[&slice]).as_deref(),
            Ok("10.0.0.1:9000"),
            "{ports}"
        );
    }
    let bare = slice("IPv4", r#"[{"addresses":["10.0.0.1"]}]"#, "null");
    assert_eq!(
        read("http", &[&bare]),
        Err("no slice has the port http, and none has any; leave out port".into())
    );
    assert_eq!(
        read("http", &[&bare, &http(&["10.0.0.2"])]).as_deref(),
        Ok("10.0.0.2:8080")
    );
}

#[test]
fn a_service_without_pods_is_empty_whatever_port_is_wanted() {
    let placeholders = [
        slice("IPv4", "null", "null"),
        slice("IPv4", "[]", "[]"),
        r#"{"addressType":"IPv6"}"#.to_owned(),
    ];
    for placeholder in &placeholders {
        for port in ["", "http", "80"] {
            assert_eq!(
                read(port, &[placeholder]).as_deref(),
                Ok(""),
                "{placeholder}"
            );
        }
    }
    for list in [r#"{"items":[]}"#, r#"{"metadata":null,"items":null}"#] {
        assert_eq!(gather(wanted("http"), &[list]), Ok(Vec::new()), "{list}");
    }
}

#[test]
fn what_is_no_list_of_slices_is_never_an_empty_one() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        "<html>",
        r#"{"kind":"Status","items":[]}"#,
        r#"{"items":[],"kind":"PodList"}"#,
        r#"{"items":{}}"#,
        r#"{"items":[null]}"#,
        r#"{"items":[{}]}"#,
        r#"{"items":[{"addressType":"IPX"}]}"#,
        r#"{"items":[{"addressType":"IPv4","endpoints":[null]}]}"#,
        r#"{"items":[{"addressType":"IPv4","endpoints":[{"conditions":{"ready":"true"}}]}]}"#,
        r#"{"items":[{"addressType":"IPv4","endpoints":[{"addresses":[1]}]}]}"#,
        r#"{"items":[{"addressType":"IPv4","ports":[{"port":65536}]}]}"#,
        r#"{"items":[{"addressType":"IPv4","ports":[{"port":"80"}]}]}"#,
        r#"{"items":[{"addressType":"IPv4","ports":[{"port":80},{"port":81}]}]}"#,
        r#"{"items":[]} x"#,
        r#"{"items":[]"#,
    ] {
        assert!(gather(wanted(""), &[text]).is_err(), "{text}");
    }
    let nested = format!(r#"{{"items":[{{"x":{}"#, "[".repeat(1 << 20));
    let error = gather(wanted(""), &[&nested]).unwrap_err();
    assert!(error.contains("nested more than 64 deep"), "{error}");
}

#[test]
fn a_slice_with_the_most_ports_is_read_in_no_time() {
    let ports = (0..20_000).fold(String::new(), |mut ports, number| {
        let _ = write!(ports, r#"{{"name":"p{number}"}},"#);
        ports
    });
    let slice = |more: &str| slice("IPv4", "[]", &format!("[{ports}{more}]"));
    let begin = Instant::now();
    let most = slice(r#"{"name":"p0"}"#);
    assert_eq!(read("p7", &[&*most; 20]).as_deref(), Ok(""));
    // Far more than it takes; what is quadratic takes longer still.
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
    let error = read("p7", &[&slice(r#"{"name":"q"}"#)]).unwrap_err();
    assert!(error.ends_with("the slice s has too many ports"), "{error}");
}

#[test]
fn no_more_than_250_000_endpoints_are_taken() {
    let endpoints = |count: usize| {
        let endpoints = r#"{"addresses":["10.0.0.1"]},"#.repeat(count);
        slice(
            "IPv4",
            &format!("[{}]", endpoints.trim_end_matches(',')),
            HTTP,
        )
    };
    assert_eq!(
        read("", &[&endpoints(200_000), &endpoints(50_000)]).as_deref(),
        Ok("10.0.0.1:8080")
    );
    for slices in [
        vec![endpoints(250_001)],
        vec![endpoints(200_000), endpoints(50_001)],
    ] {
        let slices: Vec<&str> = slices.iter().map(String::as_str).collect();
        let error = read("", &slices).unwrap_err();
        assert!(
            error.ends_with("more than 250000 endpoints are ready; split the Service"),
            "{error}"
        );
    }
}

#[test]
fn a_failure_lists_16_ports_at_most() {
    let ports = (10..60).fold(String::new(), |mut ports, number| {
        let _ = write!(ports, r#"{{"name":"p{number}","port":{number}}},"#);
        ports
    });
    let slice = slice("IPv4", "[]", &format!("[{}]", ports.trim_end_matches(',')));
    let error = read("x", &[&slice]).unwrap_err();
    assert!(
        error.contains("p10 (10), ") && error.contains("p25 (25) and more;"),
        "{error}"
    );
}
