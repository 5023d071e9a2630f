//! The hosts of urls are looked up as the dns source looks up its names.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use crate::support::dns::{Asked, DnsServer, NXDOMAIN, SERVFAIL};
use crate::support::peer::list;
use crate::support::resolv_conf::{instead, may_mount};
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

/// An address that is silent: the few connections that its queue has room for are there already.
fn silent(address: SocketAddr) -> Vec<OwnedFd> {
    let socket = || {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap()
    };
    let listener = socket();
    net::bind(&listener, &address).unwrap();
    net::listen(&listener, 0).unwrap();
    let mut sockets = vec![listener];
    for _ in 0..3 {
        let client = socket();
        let connected = net::connect(&client, &address);
        assert!(matches!(connected, Ok(()) | Err(Errno::INPROGRESS)));
        sockets.push(client);
    }
    sockets
}

#[test]
fn every_address_of_a_name_has_its_share_of_the_time() {
    let promise = "every address of a name has its share of the time";
    if !may_mount(promise) {
        return;
    }
    let peer = Peer::at("127.0.1.1:0", None, |_| Reply::Keep(list("10.0.0.1")));
    let at = |ip: String| format!("{ip}:{}", peer.port());
    let holes: Vec<_> = (10..30)
        .map(|last| silent(at(format!("127.0.1.{last}")).parse().unwrap()))
        .collect();
    let mut hosts = String::from("127.0.0.1 localhost\n");
    let mut name = |name: &str, ips: &mut dyn Iterator<Item = String>| {
        ips.for_each(|ip| hosts.push_str(&format!("{ip} {name}\n")));
    };
    let silent = |count| (10..10 + count).map(|last| format!("127.0.1.{last}"));
    let refused = |count| (1..=count).map(|last| format!("127.0.2.{last}"));
    let good = || std::iter::once("127.0.1.1".to_owned());
    name("silent8.test", &mut silent(8).chain(good()));
    name("silent20.test", &mut silent(20).chain(good()));
    name("refused70.test", &mut refused(70).chain(good()));
    name("none.test", &mut silent(6));
    name("short.test", &mut silent(20).chain(good()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hosts");
    fs::write(&path, hosts).unwrap();
    let service = |name: &str, timeout: &str| {
        let url = peer.url_as(&format!("{name}.test"), "/");
        format!("{name}: {{url: {{url: \"{url}\", timeout: {timeout}}}}}\n")
    };
    let services = [
        service("silent8", "5s"),
        service("silent20", "5s"),
        service("refused70", "5s"),
        service("short", "1s"),
        service("none", "300ms"),
    ];
    let mount = format!("mount --bind {} /etc/hosts", path.display());
    let vigie = Setup::services(&services.concat())
        .after(&format!(
            "exec unshare -m sh -c '{mount} && exec \"$@\"' sh \"$@\""
        ))
        .start();
    for name in ["silent8", "silent20", "refused70", "short"] {
        let answer = vigie.list(name);
        let want = only("10.0.0.1");
        assert_eq!(answer.summary(), (200, want.as_str()), "{name}");
    }
    let late = vigie.list("none");
    assert_eq!(late.status, 504);
    let words = [10, 11, 12, 13].map(|last| at(format!("127.0.1.{last}")));
    let words = format!(
        "connecting to {}, and 2 more addresses: not done within 300ms",
        words.join(", ")
    );
    assert_says(&late.error(), &[&words]);
    drop(holes);
}
