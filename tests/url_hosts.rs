//! The hosts of urls are looked up as the dns source looks up its names.

use std::fs;

use crate::dns_resolv_conf::{instead, may_mount};
use crate::support::dns::{Asked, DnsServer, NXDOMAIN, SERVFAIL};
use crate::support::peer::list;
use crate::support::{Authority, Peer, Reply, Setup, assert_says, only};

#[test]
fn a_host_is_looked_up_by_dns_and_verified_by_its_name() {
    let promise = "the host of a url is looked up";
    let script = |asked: &Asked| match &*asked.name {
        "lists.test" => asked.only("127.0.0.1"),
        "down.test" => asked.error(SERVFAIL),
        _ => asked.error(NXDOMAIN),
    };
    let Some(server) = DnsServer::at_port_53(promise, script).filter(|_| may_mount(promise)) else {
        return;
    };
    let authority = Authority::new();
    let signed = authority.sign(&["lists.test"]);
    let peer = Peer::tls(signed.server(None), |_| Reply::Keep(list("10.0.0.1")));
    let service = |name: &str, host: &str| {
        let url = peer.url_as(host, "/list");
        format!("{name}: {{url: {{url: \"{url}\", ca_file: ca.pem}}, cache_ttl: 0s}}\n")
    };
    let services = [
        service("web", "Lists.test"),
        service("dotted", "lists.test."),
        service("gone", "gone.test"),
        service("down", "down.test"),
        service("number", "127.0.0.1"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let resolv_conf = folder.path().join("resolv.conf");
    fs::write(
        &resolv_conf,
        format!("nameserver {}\n", server.address().ip()),
    )
    .unwrap();
    let vigie = Setup::services(&services.concat())
        .file("ca.pem", authority.pem())
        .after(&instead(&resolv_conf))
        .start();
    for name in ["web", "dotted"] {
        assert_eq!(
            vigie.list(name).summary(),
            (200, only("10.0.0.1").as_str()),
            "{name}"
        );
    }
    for (name, words) in [
        ("gone", "there is no host gone.test"),
        ("down", "SERVFAIL"),
        ("number", "not for 127.0.0.1 but for lists.test"),
    ] {
        let answer = vigie.list(name);
        assert_eq!(answer.status, 502, "{name}");
        assert_says(
            &answer.error(),
            &[&format!("service {name}: url https://"), words],
        );
    }
}
