//! What SRV records give: each address of each target, nothing missing and nothing foreign.

use std::sync::{Arc, Mutex};

use crate::support::dns::{
    Act, Asked, DnsServer, NXDOMAIN, REFUSED, SERVFAIL, encode, record, serve,
};
use crate::support::{Answer, assert_says, endpoints, wait_until};

const NAME: &str = "_http._tcp.web.test";

/// What a read of the name gives from a server that answers so.
fn read(keys: &str, script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Answer {
    let server = DnsServer::start(script);
    serve(&[&server], NAME, keys).list("web")
}

/// SRV records as `PRIORITY WEIGHT PORT TARGET`.
fn srv(data: &[&str]) -> Vec<String> {
    data.iter()
        .map(|data| format!("{NAME} SRV {data}"))
        .collect()
}

fn strs(records: &[String]) -> Vec<&str> {
    records.iter().map(String::as_str).collect()
}

/// Answers the name with these SRV records, and hosts with these records of theirs.
fn zone(data: &[&str], hosts: &[&str]) -> impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static {
    let (services, hosts): (_, Vec<String>) =
        (srv(data), hosts.iter().map(ToString::to_string).collect());
    move |asked| {
        let begin = format!("{} {} ", asked.name, asked.kind);
        let own: Vec<&str> = hosts
            .iter()
            .map(String::as_str)
            .filter(|host| host.starts_with(&begin))
            .collect();
        let is_known = hosts
            .iter()
            .any(|host| host.starts_with(&format!("{} ", asked.name)));
        match asked.kind {
            "SRV" => asked.answer(&strs(&services)).send(),
            _ if is_known => asked.answer(&own).send(),
            _ => asked.error(NXDOMAIN),
        }
    }
}

#[test]
fn each_address_of_each_target_is_an_endpoint_with_port_and_weight_of_its_record() {
    let answer = read(
        "",
        zone(
            &["0 5 8080 a.test", "10 65535 8081 b.test", "0 0 8082 a.test"],
            &[
                "a.test A 10.0.0.2",
                "a.test A 10.0.0.1",
                "a.test AAAA 2001:db8::1",
                "b.test A 10.0.0.3",
            ],
        ),
    );
    let list = [
        "10.0.0.1 8080 5",
        "10.0.0.1 8082 0",
        "10.0.0.2 8080 5",
        "10.0.0.2 8082 0",
        "10.0.0.3 8081 65535",
        "2001:db8::1 8080 5",
        "2001:db8::1 8082 0",
    ];
    assert_eq!(endpoints(&answer), list);
}

#[test]
fn srv_is_the_default_only_where_the_first_label_begins_with_an_underscore() {
    for (name, keys, kind) in [
        ("_x.web.test", "", "SRV"),
        ("web.test", ", type: srv", "SRV"),
        ("web._x.test", ", family: ipv4", "A"),
        ("_x.web.test", ", type: a, family: ipv4", "A"),
        ("_x.web.test", ", type: txt", "TXT"),
    ] {
        let server = DnsServer::start(|asked| asked.error(NXDOMAIN));
        assert_eq!(serve(&[&server], name, keys).list("web").text(), "[]\n");
        assert_eq!(
            server.questions(),
            [format!("{name} {kind}")],
            "no silent step to another type"
        );
    }
}

#[test]
fn a_lone_target_that_is_the_root_is_an_empty_list() {
    assert_eq!(read("", zone(&["0 0 0 ."], &[])).summary(), (200, "[]\n"));
}

#[test]
fn addresses_that_come_along_are_used_for_their_target_and_family_and_the_rest_is_asked_for() {
    let records = srv(&["0 1 80 a.test", "0 2 81 b.test", "0 3 82 c.test"]);
    let server = DnsServer::start(move |asked| match (asked.kind, &*asked.name) {
        // Other records stand between them, in every section.
        ("SRV", _) => asked
            .answer(&strs(&records))
            .authority(&["test NS ns.test"])
            .additional(&["A.test A 10.0.0.1", "ns.test A 10.9.9.9"])
            .raw(2, [&[0, 0, 41, 4, 208][..], &[0; 6]].concat())
            .additional(&[
                "x.test TXT hello",
                "b.test AAAA 2001:db8::2",
                "b.test A 10.0.0.2",
                "b.test A 10.0.0.22",
            ])
            .send(),
        ("A", "c.test") => asked.answer(&["c.test A 10.0.0.3"]).send(),
        ("AAAA", "a.test") => asked.answer(&["a.test AAAA 2001:db8::1"]).send(),
        _ => asked.answer(&[]).send(),
    });
    let list = [
        "10.0.0.1 80 1",
        "10.0.0.2 81 2",
        "10.0.0.3 82 3",
        "10.0.0.22 81 2",
        "2001:db8::1 80 1",
        "2001:db8::2 81 2",
    ];
    assert_eq!(endpoints(&serve(&[&server], NAME, "").list("web")), list);
    let asked = [
        &format!("{NAME} SRV"),
        "a.test AAAA",
        "c.test A",
        "c.test AAAA",
    ];
    assert_eq!(server.questions(), asked);
}

#[test]
fn the_family_counts_for_additional_addresses_too() {
    let records = srv(&["0 1 80 a.test"]);
    let script = move |asked: &Asked| match asked.kind {
        "SRV" => asked
            .answer(&strs(&records))
            .additional(&["a.test A 10.0.0.1"])
            .send(),
        "AAAA" => asked.answer(&["a.test AAAA 2001:db8::1"]).send(),
        _ => asked.error(SERVFAIL),
    };
    let server = DnsServer::start(script.clone());
    assert_eq!(
        endpoints(&serve(&[&server], NAME, ", family: ipv6").list("web")),
        ["2001:db8::1 80 1"]
    );
    let server = DnsServer::start(script);
    assert_eq!(
        endpoints(&serve(&[&server], NAME, ", family: ipv4").list("web")),
        ["10.0.0.1 80 1"]
    );
    assert_eq!(server.questions(), [format!("{NAME} SRV")]);
}

#[test]
fn a_target_that_is_an_alias_is_followed() {
    let records = srv(&["1 2 90 alias.test"]);
    let answer = read(", family: ipv4", move |asked| match &*asked.name {
        "alias.test" => asked.answer(&["alias.test CNAME a.test"]).send(),
        "a.test" => asked.answer(&["a.test A 10.0.0.1"]).send(),
        _ => asked.answer(&strs(&records)).send(),
    });
    assert_eq!(endpoints(&answer), ["10.0.0.1 90 2"]);
}

#[test]
fn the_name_itself_may_be_an_alias() {
    let answer = read(", family: ipv4", |asked| match asked.kind {
        "SRV" => asked
            .answer(&[&format!("{NAME} CNAME x.test"), "x.test SRV 0 1 80 a.test"])
            .send(),
        _ => asked.answer(&["a.test A 10.0.0.1"]).send(),
    });
    assert_eq!(endpoints(&answer), ["10.0.0.1 80 1"]);
}

#[test]
fn a_target_that_is_an_ip_address_is_taken_as_one() {
    let server = DnsServer::start(|asked| {
        let target = |text: &str| {
            [
                &[0, 0, 0, 7, 0, 80, text.len() as u8][..],
                text.as_bytes(),
                &[0],
            ]
            .concat()
        };
        let reply = asked.answer(&strs(&srv(&["0 1 80 10.0.0.1"])));
        reply
            .raw(0, record(&encode(NAME), 33, &target("2001:db8::7")))
            .send()
    });
    let list = ["10.0.0.1 80 1", "2001:db8::7 80 7"];
    assert_eq!(endpoints(&serve(&[&server], NAME, "").list("web")), list);
    assert_eq!(
        endpoints(&serve(&[&server], NAME, ", family: ipv4").list("web")),
        list[..1]
    );
    assert_eq!(server.questions(), [format!("{NAME} SRV")]);
}

#[test]
fn port_0_counts_as_no_port() {
    let answer = read(
        ", family: ipv4",
        zone(&["0 1 0 a.test"], &["a.test A 10.0.0.1"]),
    );
    assert_eq!(endpoints(&answer), ["10.0.0.1 9000 1"]);
}

#[test]
fn a_target_without_addresses_is_left_out_and_the_log_says_when_that_begins_and_ends() {
    let is_back = Arc::new(Mutex::new(false));
    let back = is_back.clone();
    let records = srv(&["0 1 80 a.test", "0 2 81 gone.test", "0 3 82 bare.test"]);
    let server = DnsServer::start(move |asked| match (asked.kind, &*asked.name) {
        ("SRV", _) => asked.answer(&strs(&records)).send(),
        ("A", "a.test") => asked.answer(&["a.test A 10.0.0.1"]).send(),
        ("A", "gone.test") if *back.lock().unwrap() => {
            asked.answer(&["gone.test A 10.0.0.2"]).send()
        }
        (_, "gone.test") => asked.error(NXDOMAIN),
        _ => asked.answer(&[]).send(),
    });
    let vigie = serve(&[&server], NAME, "");
    let told = |words: &str| {
        vigie
            .log
            .lines()
            .iter()
            .filter(|line| line.contains(words))
            .count()
    };
    for _ in 0..2 {
        assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
    }
    vigie
        .log
        .wait_for("leaves out bare.test, which has no address; gone.test, which does not exist");
    *is_back.lock().unwrap() = true;
    for _ in 0..2 {
        assert_eq!(
            endpoints(&vigie.list("web")),
            ["10.0.0.1 80 1", "10.0.0.2 81 2"]
        );
    }
    vigie.log.wait_for("no longer leaves out gone.test");
    assert_eq!(
        (told("leaves out bare.test"), told("no longer leaves out")),
        (1, 1),
        "{}",
        vigie.log.text()
    );
}

/// A service one of whose targets is gone, until it answers otherwise.
fn with_one_gone() -> (DnsServer, Arc<Mutex<&'static str>>) {
    let mode = Arc::new(Mutex::new("gone"));
    let now = mode.clone();
    let records = srv(&["0 1 80 a.test", "0 2 81 gone.test"]);
    let server = DnsServer::start(move |asked| match (asked.kind, &*asked.name) {
        ("SRV", _) => match *now.lock().unwrap() {
            "no name" => asked.error(NXDOMAIN),
            "no data" => asked.answer(&[]).send(),
            "root" => asked.answer(&strs(&srv(&["0 0 0 ."]))).send(),
            _ => asked.answer(&strs(&records)).send(),
        },
        (_, "gone.test") => asked.error(NXDOMAIN),
        _ => asked.only("10.0.0.1"),
    });
    (server, mode)
}

#[test]
fn a_list_that_becomes_empty_ends_what_was_left_out() {
    for empty in ["no name", "no data", "root"] {
        let (server, mode) = with_one_gone();
        let vigie = serve(&[&server], NAME, "");
        assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
        vigie.log.wait_for(": leaves out gone.test");
        *mode.lock().unwrap() = empty;
        assert_eq!(vigie.list("web").text(), "[]\n");
        let line = vigie.log.wait_for("no longer leaves out gone.test");
        assert!(
            line.ends_with(&format!(
                "INFO  service web: dns {NAME}: no longer leaves out gone.test"
            )),
            "{line}"
        );
        *mode.lock().unwrap() = "gone";
        assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
        let begun = || {
            let lines = vigie.log.lines();
            lines
                .iter()
                .filter(|line| line.contains(": leaves out gone.test"))
                .count()
        };
        wait_until("it is told again", || begun() == 2);
    }
}

#[test]
fn what_is_left_out_is_told_once_across_reloads() {
    let (server, _) = with_one_gone();
    let vigie = serve(&[&server], NAME, "");
    for _ in 0..3 {
        assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
        assert_eq!(vigie.reload().status, 200);
    }
    let lines = vigie.log.lines();
    let told = lines.iter().filter(|line| line.contains("leaves out"));
    assert_eq!(told.count(), 1, "{}", vigie.log.text());
}

#[test]
fn unusual_bytes_of_a_name_are_escaped_once() {
    let server = DnsServer::start(|asked| {
        let host = [&[8][..], b"-.\\\"\n\xffa:", &[4], b"test", &[0]].concat();
        match asked.kind {
            "SRV" => asked
                .answer(&[])
                .raw(
                    0,
                    record(
                        &encode(NAME),
                        33,
                        &[&[0, 0, 0, 1, 0, 80][..], &host].concat(),
                    ),
                )
                .send(),
            _ => asked.error(SERVFAIL),
        }
    });
    let answer = serve(&[&server], NAME, ", family: ipv4").list("web");
    assert_says(
        &answer.error(),
        &[r#"asking for A of -\.\\"\010\255a:.test: "#],
    );
}

#[test]
fn many_targets_that_are_left_out_make_one_short_line() {
    let records: Vec<String> = (0..40)
        .map(|i| format!("0 1 80 gone{i}.test"))
        .chain(["0 1 80 a.test".into()])
        .collect();
    let server = DnsServer::start(zone(&strs(&records), &["a.test A 10.0.0.1"]));
    let vigie = serve(&[&server], NAME, "");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
    assert_says(
        &vigie.log.wait_for("leaves out"),
        &["gone0.test", "and 30 more targets"],
    );
}

#[test]
fn when_every_target_is_left_out_the_read_fails() {
    let answer = read("", zone(&["0 1 80 a.test", "0 1 80 b.test"], &[]));
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["no target", "a.test does not exist", "1 more"],
    );
    let of_other_family = read(
        ", family: ipv6",
        zone(&["0 1 80 a.test"], &["a.test A 10.0.0.1"]),
    );
    assert_eq!(of_other_family.status, 502);
    assert_says(&of_other_family.error(), &["a.test has no address"]);
}

#[test]
fn a_target_whose_lookup_fails_fails_the_read() {
    let hosts = || {
        zone(
            &["0 1 80 a.test", "0 1 80 b.test"],
            &["a.test A 10.0.0.1", "a.test AAAA 2001:db8::1"],
        )
    };
    for code in [SERVFAIL, REFUSED] {
        let others = hosts();
        let answer = read("", move |asked| match &*asked.name {
            "b.test" => asked.error(code),
            _ => others(asked),
        });
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["b.test"]);
    }
    let others = hosts();
    let silent = read(", timeout: 300ms", move |asked| match &*asked.name {
        "b.test" => Vec::new(),
        _ => others(asked),
    });
    assert_eq!(silent.status, 504);
    let others = hosts();
    let malformed = read("", move |asked| match &*asked.name {
        "b.test" => asked.answer(&[]).raw(0, vec![0xff]).send(),
        _ => others(asked),
    });
    assert_eq!(malformed.status, 502);
}

#[test]
fn a_family_of_a_target_that_is_refused_leaves_the_other_and_one_that_is_lost_does_not() {
    let records = srv(&["0 1 80 a.test"]);
    let script = move |lost: fn(&Asked) -> Vec<Act>| {
        let records = records.clone();
        move |asked: &Asked| match asked.kind {
            "SRV" => asked
                .answer(&strs(&records))
                .additional(&["a.test A 10.0.0.1"])
                .send(),
            _ => lost(asked),
        }
    };
    assert_eq!(
        endpoints(&read("", script(|asked| asked.error(SERVFAIL)))),
        ["10.0.0.1 80 1"]
    );
    let answer = read(", timeout: 300ms", script(|_| Vec::new()));
    assert_eq!(answer.status, 504);
    assert_says(&answer.error(), &["AAAA of a.test", "family: ipv4"]);
}

#[test]
fn an_answer_that_was_trimmed_to_its_addresses_is_asked_for_over_tcp() {
    let records = srv(&["0 1 80 a.test"]);
    let trimmed = |asked: &Asked| asked.answer(&[]).additional(&["a.test A 10.0.0.1"]).send();
    let better = read(", family: ipv4", move |asked| match asked.tcp {
        true => asked
            .answer(&strs(&records))
            .additional(&["a.test A 10.0.0.1"])
            .send(),
        false => trimmed(asked),
    });
    assert_eq!(endpoints(&better), ["10.0.0.1 80 1"]);
    for keys in ["", ", protocol: tcp"] {
        let no_better = read(keys, trimmed);
        assert_eq!(no_better.status, 502);
        assert_says(&no_better.error(), &["no SRV record"]);
    }
    for code in [0, NXDOMAIN] {
        let nothing = read("", move |asked| match asked.tcp {
            true => asked.error(code),
            false => trimmed(asked),
        });
        assert_eq!(nothing.status, 502, "{}", nothing.text());
        assert_says(&nothing.error(), &["trimmed", "over TCP", "no SRV record"]);
    }
    let server = DnsServer::without_tcp(trimmed);
    assert_eq!(serve(&[&server], NAME, "").list("web").status, 502);
}

#[test]
fn a_consul_agent_is_asked_over_tcp_unless_the_protocol_is_set() {
    // As an agent answers: targets below .addr. and .node., TXT and addresses along with them.
    let script = |asked: &Asked| {
        let node = "edge-1.node.dc1.consul";
        match (asked.kind, asked.tcp) {
            ("SRV", true) => asked
                .answer(&[
                    "web.service.consul SRV 1 1 8080 0a000001.addr.dc1.consul",
                    &format!("web.service.consul SRV 1 1 8080 {node}"),
                ])
                .additional(&[
                    "0a000001.addr.dc1.consul A 10.0.0.1",
                    &format!("{node} A 10.0.0.2"),
                    &format!("{node} TXT consul-network-segment="),
                ])
                .send(),
            // It trims its datagrams and does not say so.
            ("SRV", false) => asked
                .answer(&["web.service.consul SRV 1 1 8080 0a000001.addr.dc1.consul"])
                .additional(&["0a000001.addr.dc1.consul A 10.0.0.1"])
                .send(),
            _ => asked.answer(&[]).authority(&["consul SOA x"]).send(),
        }
    };
    for (name, keys, list) in [
        (
            "web.service.consul",
            "",
            &["10.0.0.1 8080 1", "10.0.0.2 8080 1"][..],
        ),
        (
            "web.service.CONSUL.",
            "",
            &["10.0.0.1 8080 1", "10.0.0.2 8080 1"],
        ),
        (
            "web.service.consul",
            ", protocol: udp",
            &["10.0.0.1 8080 1"],
        ),
    ] {
        let server = DnsServer::start(script);
        let vigie = serve(&[&server], name, &format!(", type: srv{keys}"));
        assert_eq!(endpoints(&vigie.list("web")), list);
        assert!(
            server
                .asked()
                .iter()
                .all(|asked| asked.tcp == keys.is_empty())
        );
    }
    let server = DnsServer::start(|asked| asked.error(NXDOMAIN));
    assert_eq!(
        serve(&[&server], "web.service.consul", "")
            .list("web")
            .text(),
        "[]\n",
        "no instances"
    );
    assert_eq!(server.asked().len(), 2, "no other name is tried");
}

#[test]
fn two_thousand_records_come_over_tcp_whole() {
    let data: Vec<String> = (0..2000)
        .map(|i| format!("0 {i} {} t{}.web.test", 1000 + i, i % 100))
        .collect();
    let records = srv(&strs(&data));
    let answer = read(", family: ipv4", move |asked| {
        match (asked.kind, asked.tcp) {
            ("SRV", false) => asked.answer(&strs(&records)[..10]).truncated().send(),
            ("SRV", true) => asked.answer(&strs(&records)).send(),
            _ => {
                let number = asked.name[1..].split('.').next().unwrap();
                asked
                    .answer(&[&format!("{} A 10.0.1.{number}", asked.name)])
                    .send()
            }
        }
    });
    let mut want: Vec<String> = (0..2000)
        .map(|i| format!("10.0.1.{} {} {i}", i % 100, 1000 + i))
        .collect();
    let key = |line: &String| {
        let words: Vec<u32> = line
            .split([' ', '.'])
            .map(|word| word.parse().unwrap())
            .collect();
        words
    };
    want.sort_by_key(key);
    assert_eq!(endpoints(&answer), want);
}

/// Questions that have come and are not answered yet.
#[derive(Default)]
struct UnderWay {
    all: usize,
    now: usize,
    most: usize,
}

impl UnderWay {
    fn begin(&mut self) {
        self.all += 1;
        self.now += 1;
        self.most = self.most.max(self.now);
    }
}

#[test]
fn three_hundred_targets_are_looked_up_side_by_side_and_at_most_64_at_once() {
    const TARGETS: usize = 300;
    let data: Vec<String> = (0..TARGETS)
        .map(|i| format!("0 1 80 t{i}.web.test"))
        .collect();
    let records = srv(&strs(&data));
    // Nothing is answered until 64 have been asked for.
    let under_way: Arc<Mutex<UnderWay>> = Arc::default();
    let shared = under_way.clone();
    let server = DnsServer::start(move |asked| {
        if asked.kind == "SRV" {
            return asked.answer(&strs(&records)).send();
        }
        shared.lock().unwrap().begin();
        wait_until("64 have been asked for", || {
            shared.lock().unwrap().all >= 64
        });
        shared.lock().unwrap().now -= 1;
        let number: usize = asked.name[1..].split('.').next().unwrap().parse().unwrap();
        asked
            .answer(&[&format!(
                "{} A 10.0.{}.{}",
                asked.name,
                number / 250,
                number % 250
            )])
            .send()
    });
    let vigie = serve(
        &[&server],
        NAME,
        ", protocol: tcp, family: ipv4, timeout: 15s",
    );
    let before = vigie.count("fd");
    let list = endpoints(&vigie.list("web"));
    assert_eq!(list.len(), TARGETS);
    assert_eq!(under_way.lock().unwrap().most, 64);
    wait_until("no socket is left", || vigie.count("fd") <= before);
}

#[test]
fn one_read_waits_for_a_dead_server_once_not_for_each_target() {
    let records: Vec<String> = (0..70).map(|i| format!("0 1 80 t{i}.web.test")).collect();
    let data = srv(&strs(&records));
    let silent = DnsServer::silent();
    let good = DnsServer::start(move |asked| match asked.kind {
        "SRV" => asked.answer(&strs(&data)).send(),
        _ => asked.only("10.0.0.1"),
    });
    let vigie = serve(&[&silent, &good], NAME, "");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
    assert!(silent.questions().len() == 1, "{:?}", silent.questions());
    let begun = silent.asked().len();
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 1"]);
    assert!(
        silent.asked().len() > begun,
        "the next read begins with the first server again"
    );
}

#[test]
fn more_endpoints_than_a_list_may_have_are_refused() {
    let hosts = |count: usize| -> Vec<String> {
        let host = |n: usize| format!("a.test A 10.0.{}.{}", n >> 8, n & 255);
        (0..count).map(host).collect()
    };
    let read = |hosts: Vec<String>| {
        let services: Vec<String> = (1..=1000)
            .map(|port| format!("{NAME} SRV 0 0 {port} a.test"))
            .collect();
        read(
            ", protocol: tcp, family: ipv4, timeout: 15s",
            move |asked| {
                let reply = asked.answer(&strs(&services));
                reply.additional(&strs(&hosts)).send()
            },
        )
    };
    assert_eq!(endpoints(&read(hosts(250))).len(), 250_000);
    let answer = read(hosts(251));
    assert_eq!(answer.status, 502);
    let want = format!(
        "service web: dns {NAME}: the list has more than 250000 endpoints; split it over several services"
    );
    assert_eq!(answer.error(), want);
}

#[test]
fn nor_are_more_addresses_of_all_targets_kept() {
    let targets: Vec<String> = (0..120).map(|n| format!("0 0 80 t{n}.test")).collect();
    let services = srv(&strs(&targets));
    let answer = read(
        ", protocol: tcp, family: ipv4, timeout: 15s",
        move |asked| {
            if asked.kind == "SRV" {
                return asked.answer(&strs(&services)).send();
            }
            let host = |n: usize| format!("{} A 10.0.{}.{}", asked.name, n >> 8, n & 255);
            let hosts: Vec<String> = (0..2500).map(host).collect();
            asked.answer(&strs(&hosts)).send()
        },
    );
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["the list has more than 250000 endpoints"],
    );
}
