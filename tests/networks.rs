//! The network goes away, or swallows everything: sources fail in words and in time, clients wait, and with the network
//! all is back at the first request.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::dns::DnsServer;
use crate::support::peer::list;
use crate::support::{Connection, Network, Peer, Setup, Vigie, assert_says, only, skip};

/// A server that answers at a unix socket, which is there whatever becomes of the network, and its sources.
struct Host {
    vigie: Vigie,
    _peer: Peer,
    _server: DnsServer,
    network: Network,
}

fn serve(promise: &str) -> Option<Host> {
    let network = Network::new(promise)?;
    let peer = network.within(|| Peer::always(list("10.0.0.1")));
    let server = network.within(|| DnsServer::start(|asked| asked.only("10.0.0.2")));
    let services = format!(
        "url: {{url: {{url: \"{}\", timeout: 300ms}}, cache_ttl: 0s}}\n\
         stale: {{url: {{url: \"{0}\", timeout: 300ms}}, cache_ttl: 0s, max_stale: 1h}}\n\
         dns: {{dns: {{name: web.test, servers: '{}', timeout: 300ms}}, cache_ttl: 0s}}\n\
         tcp: {{dns: {{name: web.test, servers: '{1}', timeout: 300ms, protocol: tcp}}, cache_ttl: 0s}}",
        peer.url("/"),
        server.address()
    );
    let vigie = Setup::services(&services)
        .addresses(&["unix:vigie.sock", "127.0.0.1:0"])
        .after(&network.enter())
        .start();
    Some(Host {
        vigie,
        _peer: peer,
        _server: server,
        network,
    })
}

impl Host {
    #[track_caller]
    fn all_is_well(&self) {
        for (service, address) in [
            ("url", "10.0.0.1"),
            ("stale", "10.0.0.1"),
            ("dns", "10.0.0.2"),
            ("tcp", "10.0.0.2"),
        ] {
            let answer = self.vigie.list(service);
            assert_eq!(answer.summary(), (200, &*only(address)), "{service}");
            assert_eq!(answer.header("vigie-stale"), None);
        }
    }

    /// Every read fails with one of these statuses, in words and in its time, and the last good list stands in.
    fn all_fail(&self, statuses: &[u16]) {
        let silent = "did not answer in time; see whether it runs";
        for (service, words) in [
            ("url", ["connecting to", "waiting for the answer"]),
            ("dns", ["Network is unreachable", silent]),
            ("tcp", ["Network is unreachable", silent]),
        ] {
            let begin = Instant::now();
            let answer = self.vigie.list(service);
            assert!(
                begin.elapsed() < Duration::from_secs(4),
                "{:?}",
                begin.elapsed()
            );
            let error = answer.error();
            assert!(statuses.contains(&answer.status), "{error}");
            assert!(words.iter().any(|words| error.contains(words)), "{error}");
            assert_says(&error, &[&format!("service {service}: ")]);
        }
        let stale = self.vigie.list("stale");
        assert_eq!(stale.summary(), (200, &*only("10.0.0.1")));
        assert!(stale.header("vigie-stale").is_some());
    }

    /// A client over the network.
    fn connect(&self) -> Connection {
        let port = self.vigie.log.wait_for_port("127.0.0.1");
        let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
        Connection::over(self.network.within(connect))
    }
}

const REQUEST: &[u8] = b"GET /services?service_name=url HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn a_network_that_goes_down_and_comes_back_is_served_again_at_once() {
    let Some(host) = serve("the network goes down") else {
        return;
    };
    for _ in 0..2 {
        host.all_is_well();
        let mut client = host.connect();
        assert_eq!(client.send(REQUEST).receive().status, 200);
        host.network.run("ip link set lo down");
        client.send(REQUEST);
        // The first request may go out on a connection that was kept, and stays without an answer.
        for _ in 0..2 {
            host.all_fail(&[502, 504]);
        }
        host.network.run("ip link set lo up");
        host.all_is_well();
        assert_eq!(client.receive().summary(), (200, &*only("10.0.0.1")));
        assert_eq!(host.connect().send(REQUEST).receive().status, 200);
    }
}

#[test]
fn a_connection_that_the_network_has_forgotten_costs_no_answer() {
    let promise = "the network forgets a connection";
    let Some(network) = Network::new(promise) else {
        return;
    };
    let peer = network.within(|| Peer::always(list("10.0.0.1")));
    let url = peer.url("/");
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{url}\", timeout: 3s}}, cache_ttl: 0s}}"
    ))
    .addresses(&["unix:vigie.sock"])
    .after(&network.enter())
    .start();
    let is_read = || assert_eq!(vigie.list("web").summary(), (200, &*only("10.0.0.1")));
    let kept = || {
        let to_peer = format!("ss -tnH state established dport = :{}", peer.port());
        let said = network.try_to_run(&to_peer).unwrap();
        let own = said.split_whitespace().nth(2).unwrap_or_default();
        own.rsplit(':').next().unwrap_or_default().to_owned()
    };
    is_read();
    let port = kept();
    let forget = format!(
        "nft add table inet vigie && nft add chain inet vigie into '{{ type filter hook input priority 0; }}' && \
         nft add rule inet vigie into tcp sport {port} drop && nft add rule inet vigie into tcp dport {port} drop"
    );
    if let Err(why) = network.try_to_run(&forget) {
        return skip(promise, &why);
    }
    is_read();
    assert_ne!(kept(), port);
}

#[test]
fn a_firewall_that_drops_everything_is_a_time_out_and_its_end_is_seen_at_once() {
    let promise = "a firewall drops everything";
    if std::process::Command::new("nft")
        .arg("-v")
        .output()
        .is_err()
    {
        return skip(promise, "nft is not installed");
    }
    let Some(host) = serve(promise) else {
        return;
    };
    host.all_is_well();
    let mut client = host.connect();
    let drop = "nft add table inet vigie && nft add chain inet vigie into '{ type filter hook input priority 0; policy drop; }'";
    for _ in 0..2 {
        if let Err(why) = host.network.try_to_run(drop) {
            return skip(promise, &why);
        }
        client.send(REQUEST);
        host.all_fail(&[504]);
        host.network.run("nft delete table inet vigie");
        host.all_is_well();
        assert_eq!(client.receive().summary(), (200, &*only("10.0.0.1")));
    }
}
