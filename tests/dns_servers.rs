//! Several servers in one read: who is asked first, who is waited for, and how long.

use std::time::{Duration, Instant};

use crate::support::dns::{Act, Asked, DnsServer, NOTIMP, REFUSED, SERVFAIL, serve};
use crate::support::{Answer, assert_says, endpoints};

const NAME: &str = "_http._tcp.web.test";

/// A service of 200 hosts, each with one IPv4 address; what is asked for IPv6 addresses gets this.
fn large(asked: &Asked, v6: fn(&Asked) -> Vec<Act>) -> Vec<Act> {
    match asked.kind {
        "SRV" => {
            let records: Vec<String> = (0..200)
                .map(|i| format!("{NAME} SRV 0 0 {} t{i}.test", 1000 + i))
                .collect();
            let records: Vec<&str> = records.iter().map(String::as_str).collect();
            match asked.tcp {
                true => asked.answer(&records).send(),
                false => asked.answer(&[]).truncated().send(),
            }
        }
        "A" => asked.only("10.0.0.1"),
        _ => v6(asked),
    }
}

/// A host with an IPv4 address, whose IPv6 addresses nobody may know.
fn half(code: u16) -> impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static {
    move |asked| match asked.kind {
        "A" => asked.only("10.0.0.1"),
        _ => asked.error(code),
    }
}

fn timed(servers: &[&DnsServer], name: &str, keys: &str) -> (Answer, Duration) {
    let vigie = serve(servers, name, keys);
    let begin = Instant::now();
    let answer = vigie.list("web");
    (answer, begin.elapsed())
}

#[test]
fn one_read_waits_for_a_silent_server_once_whatever_stands_before_it() {
    let firsts = [
        DnsServer::start(|asked| asked.error(REFUSED)),
        DnsServer::start(|asked| asked.error(SERVFAIL)),
        DnsServer::start(|asked| asked.answer(&[]).raw(0, vec![0xff; 3]).send()),
    ];
    for first in &firsts {
        let (silent, good) = (
            DnsServer::silent(),
            DnsServer::start(|asked| large(asked, |asked| asked.answer(&[]).send())),
        );
        let servers = [first, &silent, &good];
        let (answer, took) = timed(&servers, NAME, ", timeout: 15s");
        assert_eq!(endpoints(&answer).len(), 200);
        assert!(took < Duration::from_millis(2800), "{took:?}");
        assert_eq!(silent.questions(), [format!("{NAME} SRV")]);
        assert!(first.asked().len() > 400, "it stays in its place");
    }
}

#[test]
fn one_read_waits_for_a_silent_server_once_where_the_others_refuse_a_family() {
    let (silent, good) = (
        DnsServer::silent(),
        DnsServer::start(|asked| large(asked, |asked| asked.error(SERVFAIL))),
    );
    let (answer, took) = timed(&[&silent, &good], NAME, ", timeout: 15s");
    assert_eq!(endpoints(&answer).len(), 200);
    assert!(took < Duration::from_millis(2800), "{took:?}");
}

#[test]
fn a_server_that_answers_others_of_the_kind_is_waited_for_before_a_family_counts_as_refused() {
    // More are silent than are asked for at once, so that the rest is asked for when that is known.
    let number = |asked: &Asked| asked.name[1..asked.name.len() - 5].parse::<u8>();
    let spotty = DnsServer::start(move |asked| {
        large(asked, |_| Vec::new())
            .into_iter()
            .chain(match (asked.kind, number(asked)) {
                ("AAAA", Ok(0 | 65..)) => {
                    let record = format!("{} AAAA 2001:db8::1", asked.name);
                    asked.answer(&[&record]).send()
                }
                _ => Vec::new(),
            })
            .collect()
    });
    let refusing = DnsServer::start(|asked| large(asked, |asked| asked.error(SERVFAIL)));
    let (answer, _) = timed(&[&spotty, &refusing], NAME, ", timeout: 15s");
    let list = endpoints(&answer);
    let v6 = list
        .iter()
        .filter(|endpoint| endpoint.starts_with("2001:db8::1 "));
    assert_eq!((list.len(), v6.count()), (200 + 136, 136));
}

#[test]
fn every_silent_server_is_waited_for_once_and_one_that_is_late_comes_before_them() {
    let (silent, other) = (DnsServer::silent(), DnsServer::silent());
    let good = DnsServer::start(|asked| large(asked, |asked| asked.answer(&[]).send()));
    let (answer, took) = timed(&[&silent, &other, &good], NAME, ", timeout: 15s");
    assert_eq!(endpoints(&answer).len(), 200);
    assert!(
        (Duration::from_millis(1800)..Duration::from_millis(3800)).contains(&took),
        "{took:?}"
    );
}

#[test]
fn a_family_that_one_server_refuses_while_the_others_are_silent_is_left_out() {
    for code in [SERVFAIL, REFUSED, NOTIMP] {
        for silent_first in [true, false] {
            let (silent, good) = (DnsServer::silent(), DnsServer::start(half(code)));
            let mut servers = [&silent, &good];
            if !silent_first {
                servers.reverse();
            }
            let (answer, took) = timed(&servers, "web.test", ", timeout: 10s");
            assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0"]);
            assert!(
                (Duration::from_millis(900)..Duration::from_millis(2500)).contains(&took),
                "{took:?}"
            );
        }
    }
    let (silent, good) = (DnsServer::silent(), DnsServer::start(half(SERVFAIL)));
    let (answer, _) = timed(&[&good, &silent], "web.test", ", timeout: 300ms");
    assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0"]);
}

#[test]
fn a_family_that_all_servers_leave_silent_or_that_one_answers_malformed_fails_the_read() {
    let half_silent = || {
        DnsServer::start(|asked| match asked.kind {
            "A" => asked.only("10.0.0.1"),
            _ => Vec::new(),
        })
    };
    let servers = [half_silent(), half_silent()];
    let (answer, _) = timed(&[&servers[0], &servers[1]], "web.test", ", timeout: 600ms");
    assert_eq!(answer.status, 504);
    assert_says(&answer.error(), &["AAAA of web.test", "family: ipv4"]);
    let (refusing, malformed) = (
        DnsServer::start(half(SERVFAIL)),
        DnsServer::start(|asked| match asked.kind {
            "A" => asked.only("10.0.0.1"),
            _ => asked.answer(&[]).raw(0, vec![0xff; 3]).send(),
        }),
    );
    let silent = DnsServer::silent();
    for servers in [[&refusing, &malformed], [&malformed, &refusing]] {
        let (answer, _) = timed(&servers, "web.test", "");
        assert_eq!(answer.status, 502);
        let [first, second] = servers;
        let (answer, _) = timed(&[first, second, &silent], "web.test", ", timeout: 600ms");
        assert_eq!(answer.status, 504);
        assert_says(&answer.error(), &["AAAA of web.test", "malformed"]);
    }
}

#[test]
fn when_one_server_refuses_and_the_rest_is_silent_the_read_ends_with_their_patience() {
    let (refusing, silent) = (
        DnsServer::start(|asked| asked.error(REFUSED)),
        DnsServer::silent(),
    );
    for servers in [[&refusing, &silent], [&silent, &refusing]] {
        let (answer, took) = timed(&servers, "web.test", ", timeout: 10s");
        assert_eq!(answer.status, 502);
        let told = [
            format!("{} answered REFUSED", refusing.address()),
            format!("{} did not answer in time", silent.address()),
        ];
        assert_says(&answer.error(), &[&told[0], &told[1]]);
        assert!(took < Duration::from_millis(2500), "{took:?}");
    }
}
