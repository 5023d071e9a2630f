//! A real name server, as operators run it.

use crate::support::bind::Bind;
use crate::support::{Setup, Vigie, assert_says, endpoints};

const ZONE: &str = "web A 10.0.0.2\nweb A 10.0.0.1\nweb AAAA 2001:db8::1\nalias CNAME web\nv4 A 10.0.0.3\n\
    away CNAME web.elsewhere.test.\n\
    _http._tcp SRV 0 5 8080 web\n_http._tcp SRV 10 7 8081 v4\nnosvc SRV 0 0 0 .\nviaalias SRV 1 2 90 alias\n\
    partly SRV 0 1 80 web\npartly SRV 0 1 80 absent\n\
    list TXT \"eds=10.1.0.1:70 4\"\nlist TXT \"eds=10.1.0.2\"\nlist TXT \"v=spf1 -all\"\nlong TXT \"eds=10.1.0.\" \"3:71 6\"\n\
    onlytxt TXT \"x\"";

/// Services of these names, each with its name in the zone and more keys, which begin with a comma.
fn serve(bind: &Bind, services: &[(&str, &str, &str)]) -> Vigie {
    let lines: Vec<String> = services
        .iter()
        .map(|(service, name, keys)| {
            let servers = bind.servers();
            format!("{service}: {{dns: {{name: {name}, {servers}{keys}}}, default_port: 8000, cache_ttl: 0s}}")
        })
        .collect();
    Setup::services(&lines.join("\n")).start()
}

#[test]
fn every_kind_of_record_is_read_whole() {
    let big: Vec<String> = (0..600)
        .map(|i| format!("big A 10.9.{}.{}", i / 200, i % 200 + 1))
        .collect();
    let bind = Bind::start(&format!("{ZONE}\n{}", big.join("\n")));
    let web = ["10.0.0.1 8000 0", "10.0.0.2 8000 0", "2001:db8::1 8000 0"];
    let srv = [
        "10.0.0.1 8080 5",
        "10.0.0.2 8080 5",
        "10.0.0.3 8081 7",
        "2001:db8::1 8080 5",
    ];
    let via = ["10.0.0.1 90 2", "10.0.0.2 90 2", "2001:db8::1 90 2"];
    let some = ["10.0.0.1 80 1", "10.0.0.2 80 1", "2001:db8::1 80 1"];
    let all: Vec<String> = big
        .iter()
        .map(|line| format!("{} 8000 0", &line[6..]))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let cases: [(&str, &str, &str, &[&str]); 15] = [
        ("a", "web.bind.test", "", &web),
        ("case", "WEB.Bind.Test.", "", &web),
        ("v4", "web.bind.test", ", family: ipv4", &web[..2]),
        ("v6", "web.bind.test", ", family: ipv6", &web[2..]),
        ("tcp", "web.bind.test", ", protocol: tcp", &web),
        ("alias", "alias.bind.test", "", &web),
        ("srv", "_http._tcp.bind.test", "", &srv),
        ("nosvc", "nosvc.bind.test", ", type: srv", &[]),
        ("via", "viaalias.bind.test", ", type: srv", &via),
        ("partly", "partly.bind.test", ", type: srv", &some),
        (
            "txt",
            "list.bind.test",
            ", type: txt",
            &["10.1.0.1 70 4", "10.1.0.2 8000 0"],
        ),
        ("long", "long.bind.test", ", type: txt", &["10.1.0.3 71 6"]),
        ("nodata", "onlytxt.bind.test", "", &[]),
        ("nx", "absent.bind.test", "", &[]),
        ("big", "big.bind.test", "", &all),
    ];
    let vigie = serve(
        &bind,
        &cases.map(|(service, name, keys, _)| (service, name, keys)),
    );
    for (service, _, _, list) in cases {
        assert_eq!(endpoints(&vigie.list(service)), list, "{service}");
    }
}

#[test]
fn a_name_outside_its_zones_is_refused_and_that_is_a_failure() {
    let bind = Bind::start(ZONE);
    let vigie = serve(
        &bind,
        &[
            ("other", "web.other.test", ""),
            ("away", "away.bind.test", ""),
        ],
    );
    for (service, name) in [("other", "web.other.test"), ("away", "web.elsewhere.test")] {
        let answer = vigie.list(service);
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &[name, "REFUSED"]);
    }
}

#[test]
fn a_change_of_the_zone_a_stop_and_a_start_are_seen_at_once() {
    let mut bind = Bind::start(ZONE);
    let vigie = serve(&bind, &[("web", "web.bind.test", ", family: ipv4")]);
    assert_eq!(
        endpoints(&vigie.list("web")),
        ["10.0.0.1 8000 0", "10.0.0.2 8000 0"]
    );
    bind.change("web A 10.0.0.77");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.77 8000 0"]);
    bind.stop();
    let down = vigie.list("web");
    assert_eq!(down.status, 502);
    assert_says(&down.error(), &["Connection refused"]);
    bind.go_on();
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.77 8000 0"]);
    bind.change("web TXT none");
    assert_eq!(vigie.list("web").summary(), (200, "[]\n"));
}
