//! The keys of the dns source, and which of several sources wins.

use std::path::Path;
use std::time::Duration;

use vigie::config::{self, Config};
use vigie::dns::{Family, Protocol, Server};
use vigie::source::Source;
use vigie::source::dns::{Dns, Records};

use crate::support::dns::{DnsServer, serve};
use crate::support::{Setup, endpoints, only};

fn read(text: &str) -> Result<Config, String> {
    config::parse(text, Path::new("c.yml")).map_err(|errors| errors.to_string())
}

/// The source of a service with this value under `dns`.
fn dns(value: &str) -> Dns {
    let config = read(&format!("services: {{a: {{dns: {value}}}}}")).unwrap();
    match config.services.into_iter().next().unwrap().source {
        Source::Dns(dns) => dns,
        other => panic!("{other:?}"),
    }
}

/// The errors of such a service.
fn errors(value: &str) -> String {
    read(&format!("services: {{a: {{dns: {value}}}}}")).unwrap_err()
}

#[test]
fn a_name_alone_has_the_default_of_every_other_key() {
    for value in ["web.test", "{name: web.test}", "'web.test'"] {
        let dns = dns(value);
        assert_eq!(
            (&*dns.name, dns.records, dns.family),
            ("web.test", Records::A, Family::Any)
        );
        assert_eq!(
            (&dns.servers[..], dns.protocol, dns.timeout),
            (&[][..], None, Duration::from_secs(5))
        );
    }
    assert_eq!(dns("_http._tcp.web.test").records, Records::Srv);
}

#[test]
fn every_key_is_read() {
    let all = "{name: _x.test, type: txt, family: ipv6, servers: [10.0.0.53, '[fe80::1%eth0]:5353'], protocol: tcp, timeout: 300ms}";
    let dns = dns(all);
    assert_eq!(
        (dns.records, dns.family, dns.protocol),
        (Records::Txt, Family::Ipv6, Some(Protocol::Tcp))
    );
    let servers: Vec<String> = dns.servers.iter().map(Server::to_string).collect();
    assert_eq!(servers, ["10.0.0.53:53", "[fe80::1%eth0]:5353"]);
    assert_eq!(dns.timeout, Duration::from_millis(300));
}

#[test]
fn one_server_needs_no_list() {
    for server in ["127.0.0.1:8600", "'[::1]:8600'", "\"::1\""] {
        assert_eq!(
            dns(&format!("{{name: web.test, servers: {server}}}"))
                .servers
                .len(),
            1
        );
    }
}

#[test]
fn what_is_wrong_says_where_and_what_would_be_right() {
    let name = |value: &str| format!("{{name: web.test, {value}}}");
    for (value, error) in [
        (
            "",
            ":1:19: dns has no value: write a name to look up, or {name: NAME}",
        ),
        (
            "[web.test]",
            ":1:21: dns: a list is wrong here: write a name to look up, or {name: NAME}",
        ),
        (
            "web..test",
            ":1:21: dns: web..test is wrong here: a name has 1 to 63 bytes between its dots, as in web.example.net",
        ),
        (
            "10.0.0.1",
            ":1:21: dns: 10.0.0.1 is wrong here: write a name, not a number or an IP address",
        ),
        ("{}", ":1:21: dns has no name: add name: NAME"),
        ("{type: srv}", ":1:21: dns has no name: add name: NAME"),
        (
            "{nam: web.test}",
            ":1:22: unknown key \"nam\": did you mean name? Known are name, type, family, servers, protocol, timeout",
        ),
        (
            "{name: }",
            ":1:26: name has no value: write a name to look up",
        ),
        (
            "{name: bücher.test}",
            ":1:28: name: bücher.test is wrong here: write it in its ASCII form, as in xn--bcher-kva.example",
        ),
        (
            &name("type: aaaa"),
            ":1:44: type: aaaa is wrong here: known are a, srv, txt",
        ),
        (
            &name("type: SRV"),
            ":1:44: type: SRV is wrong here: write srv",
        ),
        (
            &name("family: 4"),
            ":1:46: family: 4 is wrong here: known are any, ipv4, ipv6",
        ),
        (
            &name("protocol: tls"),
            ":1:48: protocol: tls is wrong here: known are udp, tcp",
        ),
        (
            &name("timeout: 5"),
            ":1:47: timeout: 5 is wrong here: a bare number is no duration, write 5s, 300ms or 1m30s (units d, h, m, s, ms)",
        ),
        (
            &name("timeout: 0s"),
            ":1:47: timeout: 0s is wrong here: write a duration from 1ms to 365d",
        ),
        (
            &name("servers: localhost"),
            ":1:47: servers: localhost is wrong here: write IP or IP:PORT, as in 10.0.0.53, 127.0.0.1:8600 or \"[::1]:8600\"",
        ),
        (
            &name("servers: [10.0.0.53:0]"),
            ":1:48: servers: 10.0.0.53:0 is wrong here: write IP or IP:PORT, as in 10.0.0.53, 127.0.0.1:8600 or \"[::1]:8600\"",
        ),
        (
            &name("servers: []"),
            ":1:47: servers names 1 to 16 servers: write IP or IP:PORT, as in 10.0.0.53, 127.0.0.1:8600 or \"[::1]:8600\"",
        ),
        (
            &name("servers: [10.0.0.53, '10.0.0.53:53']"),
            ":1:59: the server 10.0.0.53:53 is named twice: remove one",
        ),
    ] {
        assert_eq!(errors(value), format!("c.yml{error}"), "{value}");
    }
    let many = format!("{{name: web.test, servers: [{}]}}", "10.0.0.1, ".repeat(17));
    assert!(errors(&many).contains("servers names 1 to 16 servers"));
}

#[test]
fn a_label_may_begin_and_end_with_a_hyphen() {
    for name in ["-a.test", "a-.test", "-", "_-x.-y-.test."] {
        let records = dns(&format!("{{name: '{name}'}}"));
        assert_eq!(&*records.name, name);
    }
    let server = DnsServer::start(|asked| asked.only("10.0.0.1"));
    let vigie = serve(&[&server], "-a-.test", ", family: ipv4");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 9000 0"]);
    assert_eq!(server.questions(), ["-a-.test A"]);
}

#[test]
fn of_file_and_dns_the_file_wins_whatever_their_order() {
    for (first, second) in [
        ("file: web.txt", "dns: web.test"),
        ("dns: web.test", "file: web.txt"),
    ] {
        let vigie = Setup::services(&format!("web: {{{first}, {second}}}"))
            .file("web.txt", "10.0.0.1\n")
            .start();
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
        vigie
            .log
            .wait_for("the service \"web\" has file, so its dns is ignored");
    }
}

#[test]
fn a_source_that_is_ignored_is_warned_of_and_only_checked_for_spelling() {
    let warnings = |text: &str| -> Vec<String> {
        read(text)
            .unwrap()
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(
        warnings("services:\n  two: {dns: web.test, file: x}\n  single: {file: x}"),
        [":2:14: the service \"two\" has file, so its dns is ignored: remove one of them"]
    );
    assert_eq!(
        warnings("services: {a: {file: x, dns: {name: '..', servers: nonsense, timeout: 5}}}")
            .len(),
        1
    );
    assert_eq!(
        read("services: {a: {file: x, dns: {nam: web.test}}}").unwrap_err(),
        "c.yml:1:31: unknown key \"nam\": did you mean name? Known are name, type, family, servers, protocol, timeout"
    );
    assert!(
        read("services: {a: {file: x, dns: {name: a, name: b}}}")
            .unwrap_err()
            .contains("set twice")
    );
}
