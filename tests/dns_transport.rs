//! How questions travel: what is ignored, what is asked again, and that nothing is left behind.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::support::dns::{
    Act, Asked, DnsServer, FORMERR, NOTIMP, NXDOMAIN, REFUSED, Reply, SERVFAIL, serve,
};
use crate::support::{assert_says, endpoints, wait_until};

const ONE: [&str; 1] = ["10.0.0.1 9000 0"];
const V4: &str = ", family: ipv4";

fn good(asked: &Asked) -> Reply {
    asked.answer(&["web.test A 10.0.0.1"])
}

/// What would be served if a datagram were taken that must be ignored.
fn forged(asked: &Asked) -> Reply {
    asked.answer(&["web.test A 10.6.6.6"])
}

#[test]
fn datagrams_that_do_not_match_are_ignored() {
    let other_question = |asked: &Asked, name: &str, kind: &str| {
        let question = Asked::of(name, kind, asked.id).answer(&[]).question;
        Reply {
            question,
            ..forged(asked)
        }
    };
    let server = DnsServer::start(move |asked| {
        let forgeries = [
            Reply {
                id: asked.id.wrapping_add(1),
                ..forged(asked)
            },
            Reply {
                flags: forged(asked).flags & 0x7fff,
                ..forged(asked)
            },
            Reply {
                flags: forged(asked).flags | 0x2800,
                ..forged(asked)
            },
            other_question(asked, "wob.test", "A"),
            other_question(asked, "web.test", "TXT"),
            Reply {
                question: Vec::new(),
                ..forged(asked)
            },
            Reply {
                question: Vec::new(),
                ..forged(asked).code(NXDOMAIN)
            },
        ];
        let mut acts: Vec<Act> = forgeries
            .iter()
            .map(|reply| Act::Send(reply.bytes()))
            .collect();
        let whole = forged(asked).bytes();
        acts.extend(
            [&b""[..], b"x", &whole[..11], &whole[..20]].map(|bytes| Act::Send(bytes.to_vec())),
        );
        acts.push(Act::Send([&whole[..4], &[0, 2], &whole[6..]].concat()));
        acts.push(Act::Send(vec![0xff; 4096]));
        acts.push(Act::Foreign(whole));
        acts.push(Act::Send(good(asked).bytes()));
        acts
    });
    assert_eq!(
        endpoints(&serve(&[&server], "web.test", V4).list("web")),
        ONE
    );
    assert_eq!(server.asked().len(), 1, "nothing was asked again");
}

#[test]
fn a_flood_of_datagrams_that_do_not_match_holds_up_nobody() {
    let server = DnsServer::start(|asked| {
        let junk = Reply {
            id: asked.id.wrapping_add(1),
            ..forged(asked)
        }
        .bytes();
        (0..20_000).map(|_| Act::Send(junk.clone())).collect()
    });
    let vigie = serve(&[&server], "web.test", ", family: ipv4, timeout: 1s");
    let mut waiting = vigie.connect();
    waiting.send(b"GET /services?service_name=web HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("it is asked", || !server.asked().is_empty());
    for _ in 0..20 {
        let begin = Instant::now();
        assert_eq!(vigie.get("/livez").status, 200);
        assert!(begin.elapsed() < Duration::from_secs(1));
    }
    assert_eq!(waiting.receive().status, 504);
}

#[test]
fn the_question_may_come_back_in_other_letters() {
    let server = DnsServer::start(|asked| {
        let question = Asked::of("WEB.teST", "A", asked.id).answer(&[]).question;
        Reply {
            question,
            ..good(asked)
        }
        .send()
    });
    assert_eq!(
        endpoints(&serve(&[&server], "Web.Test", V4).list("web")),
        ONE
    );
}

#[test]
fn an_unanswered_datagram_is_sent_again_until_the_time_is_over() {
    for lost in [1, 2, 4] {
        let server = DnsServer::start(move |asked| match asked.before < lost {
            true => Vec::new(),
            false => good(asked).send(),
        });
        assert_eq!(
            endpoints(&serve(&[&server], "web.test", V4).list("web")),
            ONE,
            "{lost} were lost"
        );
        assert_eq!(server.asked().len(), lost + 1);
        let ids: HashSet<u16> = server.asked().iter().map(|asked| asked.id).collect();
        assert_eq!(ids.len(), 1, "a late answer to the first would still count");
    }
}

#[test]
fn a_silent_server_is_504_when_the_time_is_over_and_names_it() {
    for protocol in ["udp", "tcp"] {
        let server = DnsServer::silent();
        let vigie = serve(
            &[&server],
            "web.test",
            &format!(", protocol: {protocol}, timeout: 400ms"),
        );
        let begin = Instant::now();
        let answer = vigie.list("web");
        let took = begin.elapsed();
        assert_eq!(answer.status, 504);
        assert_says(
            &answer.error(),
            &[&server.address().to_string(), "did not answer in time"],
        );
        assert!(
            (Duration::from_millis(400)..Duration::from_secs(2)).contains(&took),
            "{took:?}"
        );
    }
}

#[test]
fn a_port_where_nobody_listens_is_a_failure_at_once() {
    for protocol in ["udp", "tcp"] {
        let gone = DnsServer::start(|_| Vec::new()).address();
        let good = DnsServer::start(|asked| good(asked).send());
        let services = format!(
            "web: {{dns: {{name: web.test, servers: ['{gone}'], protocol: {protocol}}}}}\n\
             two: {{dns: {{name: web.test, servers: ['{gone}', '{}'], protocol: {protocol}, family: ipv4}}, default_port: 9000}}",
            good.address()
        );
        // The server has gone; its threads may need a moment to leave their port.
        wait_until("nobody listens", || {
            std::net::UdpSocket::bind(gone).is_ok() && std::net::TcpListener::bind(gone).is_ok()
        });
        let vigie = crate::support::Setup::services(&services).start();
        let begin = Instant::now();
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &[&gone.to_string(), "Connection refused"]);
        assert_eq!(endpoints(&vigie.list("two")), ONE);
        assert!(begin.elapsed() < Duration::from_secs(1));
    }
}

#[test]
fn a_truncated_answer_is_asked_for_over_tcp_for_every_type() {
    for (kind, record, list) in [
        ("a", "web.test A 10.0.0.1", "10.0.0.1 9000 0"),
        ("srv", "web.test SRV 0 1 80 10.0.0.1", "10.0.0.1 80 1"),
        ("txt", "web.test TXT eds=10.0.0.1", "10.0.0.1 9000 0"),
    ] {
        let server = DnsServer::start(move |asked| match asked.tcp {
            // Cut in the middle of a record, as some servers do.
            false => {
                let bytes = asked.answer(&[record]).truncated().bytes();
                vec![Act::Send(bytes[..bytes.len() - 3].to_vec())]
            }
            true => asked.answer(&[record]).send(),
        });
        let vigie = serve(
            &[&server],
            "web.test",
            &format!(", type: {kind}, family: ipv4"),
        );
        assert_eq!(endpoints(&vigie.list("web")), [list]);
    }
}

#[test]
fn a_truncated_answer_whose_tcp_retry_fails_is_a_failure_and_never_a_short_list() {
    let truncated = |asked: &Asked| forged(asked).truncated().send();
    type Script = fn(&Asked) -> Vec<Act>;
    let retries: [(&str, Script); 7] = [
        ("SERVFAIL", |asked| asked.error(SERVFAIL)),
        ("truncated", |asked| good(asked).truncated().send()),
        ("malformed", |asked| {
            vec![Act::Send(good(asked).bytes()[..40].to_vec())]
        }),
        ("another question", |asked| {
            Reply {
                id: asked.id ^ 1,
                ..good(asked)
            }
            .send()
        }),
        ("closed the TCP connection", |_| vec![Act::Close]),
        ("closed the TCP connection", |_| {
            vec![Act::Raw(vec![0, 50, 1, 2, 3]), Act::Close]
        }),
        ("did not answer in time", |_| Vec::new()),
    ];
    for (words, retry) in retries {
        let server = DnsServer::start(move |asked| match asked.tcp {
            true => retry(asked),
            false => truncated(asked),
        });
        let answer = serve(&[&server], "web.test", ", timeout: 700ms").list("web");
        let status = if words == "did not answer in time" {
            504
        } else {
            502
        };
        assert_eq!(answer.status, status, "{words}: {}", answer.text());
        assert_says(&answer.error(), &[words]);
    }
    let server = DnsServer::without_tcp(truncated);
    let answer = serve(&[&server], "web.test", "").list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["truncated", "over TCP", "Connection refused"],
    );
}

#[test]
fn a_family_truncated_and_then_refused_over_tcp_does_not_pass_for_one_without_addresses() {
    let server = DnsServer::start(|asked| match (asked.kind, asked.tcp) {
        ("A", _) => good(asked).send(),
        (_, false) => asked.answer(&[]).truncated().send(),
        (_, true) => asked.error(SERVFAIL),
    });
    assert_eq!(serve(&[&server], "web.test", "").list("web").status, 502);
}

#[test]
fn an_answer_in_pieces_over_tcp_is_whole() {
    let server = DnsServer::start(|asked| {
        let bytes = good(asked).bytes();
        let framed = [
            &u16::try_from(bytes.len()).unwrap().to_be_bytes(),
            &bytes[..],
        ]
        .concat();
        framed
            .into_iter()
            .map(|byte| Act::Raw(vec![byte]))
            .collect()
    });
    assert_eq!(
        endpoints(&serve(&[&server], "web.test", ", family: ipv4, protocol: tcp").list("web")),
        ONE
    );
    assert_eq!(server.questions(), ["web.test A over TCP"]);
}

#[test]
fn a_message_as_large_as_one_can_be_is_read() {
    let server = DnsServer::start(|asked| {
        let room = 65_535 - good(asked).bytes().len();
        let filler = crate::support::dns::record(&[0], 65_280, &vec![0; room - 11]);
        good(asked).raw(2, filler).send()
    });
    assert_eq!(
        endpoints(&serve(&[&server], "web.test", ", family: ipv4, protocol: tcp").list("web")),
        ONE
    );
}

#[test]
fn edns_is_offered_and_done_without_where_a_server_does_not_know_it() {
    let large: Vec<String> = (1..=70).map(|i| format!("web.test A 10.0.0.{i}")).collect();
    let records = large.clone();
    let knows = DnsServer::start(move |asked| {
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        assert!(asked.edns);
        asked.answer(&records).send()
    });
    assert_eq!(
        endpoints(&serve(&[&knows], "web.test", V4).list("web")).len(),
        70,
        "over 512 bytes"
    );
    assert_eq!(knows.questions(), ["web.test A"]);
    for code in [FORMERR, NOTIMP] {
        for bare in [true, false] {
            for protocol in ["udp", "tcp"] {
                let server = DnsServer::start(move |asked| match (asked.edns, bare) {
                    (false, _) => good(asked).send(),
                    (true, true) => Reply {
                        question: Vec::new(),
                        ..asked.answer(&[])
                    }
                    .code(code)
                    .send(),
                    // The question as it came, counts and all, but for its OPT record.
                    (true, false) => Reply {
                        counts: Some([0, 0, 1]),
                        ..asked.answer(&[])
                    }
                    .code(code)
                    .send(),
                });
                let keys = format!(", family: ipv4, protocol: {protocol}");
                assert_eq!(
                    endpoints(&serve(&[&server], "web.test", &keys).list("web")),
                    ONE
                );
                assert_eq!(
                    server
                        .asked()
                        .iter()
                        .map(|asked| asked.edns)
                        .collect::<Vec<_>>(),
                    [true, false]
                );
            }
        }
    }
}

#[test]
fn a_bare_header_with_an_error_is_that_error_at_once() {
    for (code, word) in [(SERVFAIL, "SERVFAIL"), (REFUSED, "REFUSED")] {
        for protocol in ["udp", "tcp"] {
            let server = DnsServer::start(move |asked| {
                Reply {
                    question: Vec::new(),
                    ..asked.answer(&[])
                }
                .code(code)
                .send()
            });
            let vigie = serve(&[&server], "web.test", &format!(", protocol: {protocol}"));
            let answer = vigie.list("web");
            assert_eq!(answer.status, 502);
            assert_says(&answer.error(), &[&format!("answered {word}")]);
        }
    }
}

#[test]
fn a_datagram_longer_than_was_asked_for_that_ends_in_the_middle_is_asked_for_over_tcp() {
    let records: Vec<String> = (0..300)
        .map(|i| format!("web.test A 10.0.{}.{}", i / 256, i % 256))
        .collect();
    let whole = move |asked: &Asked| {
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        asked.answer(&records).bytes()
    };
    // One that fits in no buffer of ours, one that the server cut where it was asked to, one cut later.
    for cut in [4800, 4096, 1232, 1500] {
        let whole = whole.clone();
        let server = DnsServer::start(move |asked| {
            let bytes = whole(asked);
            let length = if asked.tcp {
                bytes.len()
            } else {
                cut.min(bytes.len())
            };
            vec![Act::Send(bytes[..length].to_vec())]
        });
        let list = serve(&[&server], "web.test", V4).list("web");
        assert_eq!(endpoints(&list).len(), 300, "{cut}");
        assert_eq!(server.questions(), ["web.test A", "web.test A over TCP"]);
    }
    let cut = move |asked: &Asked| vec![Act::Send(whole(asked)[..1300].to_vec())];
    let server = DnsServer::without_tcp(cut);
    let answer = serve(&[&server], "web.test", V4).list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["overlong", "over TCP", "Connection refused"],
    );
}

#[test]
fn ids_are_random_and_each_question_has_a_port_of_its_own() {
    let server = DnsServer::start(|asked| asked.error(NXDOMAIN));
    let vigie = serve(&[&server], "web.test", "");
    for _ in 0..50 {
        vigie.list("web");
    }
    let ids: Vec<u16> = server.asked().iter().map(|asked| asked.id).collect();
    let distinct: HashSet<u16> = ids.iter().copied().collect();
    assert!(
        ids.len() == 100 && distinct.len() > 95,
        "{} of {}",
        distinct.len(),
        ids.len()
    );
    let steps: HashSet<u16> = ids
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    assert!(steps.len() > 90, "they follow no rule");
    let ports: HashSet<u16> = server
        .asked()
        .iter()
        .map(|asked| asked.peer.port())
        .collect();
    assert!(ports.len() > 80, "{}", ports.len());
}

#[test]
fn servers_are_reached_over_ipv6_too() {
    let server = DnsServer::start_ipv6(|asked| match asked.tcp {
        true => good(asked).send(),
        false => good(asked).truncated().send(),
    });
    assert_eq!(
        endpoints(&serve(&[&server], "web.test", V4).list("web")),
        ONE
    );
}

#[test]
fn no_socket_and_no_thread_is_left_after_a_read_whether_it_ended_failed_or_timed_out() {
    let servers = [
        DnsServer::start(|asked| good(asked).send()),
        DnsServer::start(|asked| asked.error(SERVFAIL)),
        DnsServer::silent(),
        DnsServer::start(|asked| match asked.tcp {
            true => Vec::new(),
            false => good(asked).truncated().send(),
        }),
        DnsServer::start(|asked| {
            vec![Act::Send(
                Reply {
                    id: asked.id ^ 1,
                    ..good(asked)
                }
                .bytes(),
            )]
        }),
    ];
    for server in &servers {
        let vigie = serve(&[server], "web.test", ", family: ipv4, timeout: 300ms");
        assert_eq!(vigie.get("/livez").status, 200);
        let counts = || ["fd", "task"].map(|what| vigie.count(what));
        vigie.list("web");
        wait_until("it is at rest", || vigie.count("task") <= 2);
        let before = counts();
        for _ in 0..3 {
            vigie.list("web");
        }
        wait_until("nothing is left", || {
            counts()
                .iter()
                .zip(before)
                .all(|(now, before)| *now <= before)
        });
    }
}
