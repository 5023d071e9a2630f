//! What A, AAAA and TXT records give, and which answers are empty lists and which are failures.

use std::time::{Duration, Instant};

use crate::support::dns::{
    Act, Asked, DnsServer, FORMERR, NOTIMP, NXDOMAIN, REFUSED, Reply, SERVFAIL, encode, record,
    serve, service,
};
use crate::support::{Answer, Setup, assert_says, endpoints, wait_until};

/// What a read of `web.test` gives from a server that answers so.
fn read(keys: &str, script: impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static) -> Answer {
    let server = DnsServer::start(script);
    serve(&[&server], "web.test", keys).list("web")
}

fn is_empty(answer: &Answer) -> bool {
    (answer.status, answer.text()) == (200, "[]\n")
}

/// Two addresses of each family.
fn dual(asked: &Asked) -> Reply {
    asked.answer(match asked.kind {
        "A" => &["web.test A 10.0.0.2", "web.test A 10.0.0.1"],
        _ => &["web.test AAAA 2001:db8::2", "web.test AAAA 2001:db8:0::1"],
    })
}

#[test]
fn a_name_gives_the_addresses_of_both_families_sorted() {
    let list = endpoints(&read("", |asked| dual(asked).send()));
    assert_eq!(
        list,
        [
            "10.0.0.1 9000 0",
            "10.0.0.2 9000 0",
            "2001:db8::1 9000 0",
            "2001:db8::2 9000 0"
        ]
    );
}

#[test]
fn addresses_are_sorted_as_numbers_and_doubles_come_once() {
    let list = endpoints(&read(", family: ipv4", |asked| {
        let addresses = [
            "web.test A 10.0.0.10",
            "web.test A 9.0.0.1",
            "web.test A 10.0.0.9",
            "web.test A 10.0.0.10",
        ];
        asked.answer(&addresses).send()
    }));
    assert_eq!(
        list,
        ["9.0.0.1 9000 0", "10.0.0.9 9000 0", "10.0.0.10 9000 0"]
    );
}

#[test]
fn only_the_family_that_is_wanted_is_asked_for() {
    for (family, kind, list) in [
        ("ipv4", "A", ["10.0.0.1 9000 0", "10.0.0.2 9000 0"]),
        ("ipv6", "AAAA", ["2001:db8::1 9000 0", "2001:db8::2 9000 0"]),
    ] {
        let server = DnsServer::start(|asked| dual(asked).send());
        let vigie = serve(&[&server], "web.test", &format!(", family: {family}"));
        assert_eq!(endpoints(&vigie.list("web")), list);
        assert_eq!(server.questions(), [format!("web.test {kind}")]);
    }
}

#[test]
fn both_families_are_asked_for_side_by_side() {
    // Neither is answered before both have been asked.
    let all = std::sync::Arc::new(std::sync::Barrier::new(2));
    let answer = read(", protocol: tcp, timeout: 15s", move |asked| {
        all.wait();
        dual(asked).send()
    });
    assert_eq!(endpoints(&answer).len(), 4);
}

#[test]
fn no_data_and_no_such_name_are_empty_lists() {
    let soa = ["test SOA x"];
    assert!(is_empty(&read("", |asked| asked.answer(&[]).send())));
    assert!(is_empty(&read("", move |asked| asked
        .answer(&[])
        .authority(&soa)
        .send())));
    assert!(is_empty(&read("", |asked| asked.error(NXDOMAIN))));
    assert!(is_empty(&read("", |asked| asked
        .answer(&["web.test CNAME x.test"])
        .code(NXDOMAIN)
        .send())));
    for kind in ["srv", "txt"] {
        let keys = format!(", type: {kind}");
        assert!(is_empty(&read(&keys, |asked| asked.answer(&[]).send())));
        assert!(is_empty(&read(&keys, |asked| asked.error(NXDOMAIN))));
    }
}

#[test]
fn an_answer_that_is_an_error_is_a_failure_that_names_server_and_code() {
    for (code, word) in [
        (FORMERR, "FORMERR"),
        (SERVFAIL, "SERVFAIL"),
        (NOTIMP, "NOTIMP"),
        (REFUSED, "REFUSED"),
        (6, "response code 6"),
        (9, "NOTAUTH"),
    ] {
        for kind in ["a", "srv", "txt"] {
            let server = DnsServer::start(move |asked| asked.error(code));
            let answer = serve(&[&server], "web.test", &format!(", type: {kind}")).list("web");
            assert_eq!(answer.status, 502);
            let address = server.address().to_string();
            assert_says(
                &answer.error(),
                &["service web", "dns web.test", &address, word],
            );
        }
    }
}

#[test]
fn an_extended_error_code_is_one_too() {
    // The upper bits of code 23 stand in the TTL of the OPT record.
    let opt = [&[0, 0, 41, 4, 208][..], &[1, 0, 0, 0, 0, 0]].concat();
    let answer = read("", move |asked| {
        dual(asked).code(0).raw(2, opt.clone()).send()
    });
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["response code 16"]);
}

#[test]
fn a_family_that_is_refused_does_not_fail_the_other_one_that_has_addresses() {
    for code in [SERVFAIL, REFUSED, NOTIMP] {
        for (refused, list) in [
            ("AAAA", ["10.0.0.1 9000 0", "10.0.0.2 9000 0"]),
            ("A", ["2001:db8::1 9000 0", "2001:db8::2 9000 0"]),
        ] {
            let answer = read("", move |asked| match asked.kind == refused {
                true => asked.error(code),
                false => dual(asked).send(),
            });
            assert_eq!(endpoints(&answer), list);
        }
    }
}

#[test]
fn a_family_that_is_refused_fails_a_read_that_would_be_empty() {
    for empty in [0, NXDOMAIN] {
        let answer = read("", move |asked| match asked.kind {
            "A" => asked.error(empty),
            _ => asked.error(SERVFAIL),
        });
        assert_eq!(answer.status, 502);
        assert_says(
            &answer.error(),
            &["AAAA of web.test", "SERVFAIL", "family: ipv4"],
        );
    }
}

#[test]
fn a_family_that_is_silent_or_malformed_fails_the_read_and_the_error_suggests_the_other() {
    for (lost, other) in [("AAAA", "ipv4"), ("A", "ipv6")] {
        let answer = read(", timeout: 300ms", move |asked| match asked.kind == lost {
            true => Vec::new(),
            false => dual(asked).send(),
        });
        assert_eq!(answer.status, 504);
        assert_says(
            &answer.error(),
            &[&format!("{lost} of web.test"), &format!("family: {other}")],
        );
        let answer = read("", move |asked| match asked.kind == lost {
            true => asked.answer(&[]).raw(0, vec![0xff; 12]).send(),
            false => dual(asked).send(),
        });
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["malformed", &format!("family: {other}")]);
    }
}

#[test]
fn a_family_that_one_server_refuses_and_another_garbles_fails_the_read() {
    let garbles = DnsServer::start(|asked| match asked.kind {
        "AAAA" => asked.answer(&[]).raw(0, vec![0xff]).send(),
        _ => dual(asked).send(),
    });
    let refuses = DnsServer::start(|asked| asked.error(REFUSED));
    let answer = serve(&[&garbles, &refuses], "web.test", "").list("web");
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["malformed", "REFUSED", "family: ipv4"]);
}

#[test]
fn one_family_without_records_leaves_the_other_whole() {
    for code in [0, NXDOMAIN] {
        let answer = read("", move |asked| match asked.kind {
            "A" => dual(asked).send(),
            _ => asked.error(code),
        });
        assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0", "10.0.0.2 9000 0"]);
    }
}

#[test]
fn aliases_are_followed_within_an_answer_whatever_its_order_and_case() {
    let answer = read(", family: ipv4", |asked| {
        let records = [
            "C.test A 10.0.0.1",
            "b.TEST CNAME c.test",
            "WEB.test CNAME B.test",
            "c.test A 10.0.0.2",
        ];
        asked.answer(&records).send()
    });
    assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0", "10.0.0.2 9000 0"]);
}

#[test]
fn an_alias_whose_target_is_not_told_is_asked_for() {
    let server = DnsServer::start(|asked| match &*asked.name {
        "web.test" => asked.answer(&["web.test CNAME b.test"]).send(),
        "b.test" => asked.answer(&["b.test CNAME c.test"]).send(),
        _ => asked.answer(&["c.test A 10.0.0.1"]).send(),
    });
    let vigie = serve(&[&server], "web.test", ", family: ipv4");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 9000 0"]);
    assert_eq!(server.questions(), ["b.test A", "c.test A", "web.test A"]);
}

#[test]
fn an_alias_to_a_name_without_records_is_empty_once_that_is_known() {
    let server = DnsServer::start(|asked| match &*asked.name {
        "web.test" => asked
            .answer(&["web.test CNAME b.test"])
            .authority(&["test SOA x"])
            .send(),
        _ => asked.answer(&["b.test A 10.0.0.1"]).send(),
    });
    assert!(is_empty(
        &serve(&[&server], "web.test", ", family: ipv4").list("web")
    ));
    assert_eq!(
        server.questions(),
        ["web.test A"],
        "the zone of the target has said that there is nothing"
    );
    let foreign = read(", family: ipv4", |asked| match &*asked.name {
        "web.test" => asked
            .answer(&["web.test CNAME b.other"])
            .authority(&["test SOA x"])
            .send(),
        _ => asked.answer(&["b.other A 10.0.0.1"]).send(),
    });
    assert_eq!(
        endpoints(&foreign),
        ["10.0.0.1 9000 0"],
        "another zone says nothing of it"
    );
}

/// A chain of so many aliases, and an address at its end.
fn chain(length: usize) -> Vec<String> {
    let name = |at: usize| {
        if at == 0 {
            "web.test".into()
        } else {
            format!("c{at}.test")
        }
    };
    let alias = |at| format!("{} CNAME {}", name(at), name(at + 1));
    (0..length)
        .map(alias)
        .chain([format!("{} A 10.0.0.1", name(length))])
        .collect()
}

#[test]
fn sixteen_aliases_are_followed_and_no_more_in_one_answer_or_in_many() {
    for in_one_answer in [true, false] {
        for (length, status) in [(16, 200), (17, 502)] {
            let records = chain(length);
            let answer = read(", family: ipv4", move |asked| {
                let all: Vec<&str> = records.iter().map(String::as_str).collect();
                let own = all
                    .iter()
                    .filter(|record| record.starts_with(&format!("{} ", asked.name)));
                match in_one_answer {
                    true => asked.answer(&all).send(),
                    false => asked.answer(&own.copied().collect::<Vec<_>>()).send(),
                }
            });
            assert_eq!(answer.status, status, "{length}: {}", answer.text());
            if status == 502 {
                assert_says(&answer.error(), &["16 CNAME"]);
            }
        }
    }
}

#[test]
fn aliases_in_a_loop_are_a_failure_in_one_answer_and_in_many() {
    let one = read(", family: ipv4", |asked| {
        asked
            .answer(&["web.test CNAME b.test", "b.test CNAME web.test"])
            .send()
    });
    let own = read(", family: ipv4", |asked| {
        asked.answer(&["web.test CNAME web.test"]).send()
    });
    let many = read(", family: ipv4", |asked| match &*asked.name {
        "web.test" => asked.answer(&["web.test CNAME b.test"]).send(),
        _ => asked.answer(&["b.test CNAME web.test"]).send(),
    });
    for answer in [one, own, many] {
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["loop"]);
    }
}

#[test]
fn two_aliases_of_one_name_are_malformed_and_the_same_twice_is_not() {
    let two = read(", family: ipv4", |asked| {
        asked
            .answer(&[
                "web.test CNAME b.test",
                "web.test CNAME c.test",
                "b.test A 10.0.0.1",
            ])
            .send()
    });
    assert_eq!(two.status, 502);
    let same = read(", family: ipv4", |asked| {
        asked
            .answer(&[
                "web.test CNAME b.test",
                "web.test CNAME b.test",
                "b.test A 10.0.0.1",
            ])
            .send()
    });
    assert_eq!(endpoints(&same), ["10.0.0.1 9000 0"]);
}

#[test]
fn records_of_other_names_classes_and_types_are_not_the_answer() {
    let chaos = |asked: &Asked| {
        let mut record = record(&encode("web.test"), 1, &[10, 0, 0, 9]);
        record[encode("web.test").len() + 3] = 3;
        asked
            .answer(&["web.test A 10.0.0.1", "other.test A 10.0.0.8"])
            .raw(0, record)
    };
    let answer = read(", family: ipv4", move |asked| {
        chaos(asked)
            .raw(0, record(&encode("web.test"), 65280, b"private"))
            .send()
    });
    assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0"]);
    let foreign = read(", family: ipv4", |asked| {
        asked.answer(&["other.test A 10.0.0.8"]).send()
    });
    assert_eq!(foreign.status, 502);
    assert_says(&foreign.error(), &["other names or kinds"]);
}

#[test]
fn an_answer_whose_records_say_nothing_about_the_question_is_no_empty_list() {
    let of_class = |class: u8| {
        let mut bytes = record(&encode("web.test"), 1, &[10, 0, 0, 9]);
        bytes[encode("web.test").len() + 3] = class;
        bytes
    };
    type Change = Box<dyn Fn(Reply) -> Reply + Send + Sync>;
    let alias = || record(&encode("other.test"), 5, &encode("x.test"));
    let dname = || record(&encode("test"), 39, &encode("example"));
    let cases: [(&str, Change); 8] = [
        (
            "an alias of another name",
            Box::new(move |reply| reply.raw(0, alias())),
        ),
        (
            "thousands of them",
            Box::new(move |reply| (0..2000).fold(reply, |reply, _| reply.raw(0, alias()))),
        ),
        (
            "the class CH",
            Box::new(move |reply| reply.raw(0, of_class(3))),
        ),
        (
            "the class ANY",
            Box::new(move |reply| reply.raw(0, of_class(255))),
        ),
        (
            "another type",
            Box::new(|reply| reply.raw(0, record(&encode("web.test"), 15, b"\0\x05\0"))),
        ),
        (
            "a DNAME alone",
            Box::new(move |reply| reply.raw(0, dname())),
        ),
        (
            "an alias beside the chain",
            Box::new(move |reply| {
                reply
                    .raw(0, record(&encode("web.test"), 5, &encode("b.test")))
                    .raw(0, alias())
            }),
        ),
        (
            "a DNAME of another zone beside the chain",
            Box::new(|reply| {
                reply
                    .raw(0, record(&encode("web.test"), 5, &encode("b.test")))
                    .raw(0, record(&encode("b.test"), 39, &encode("c.test")))
            }),
        ),
    ];
    for (what, change) in cases {
        let change = std::sync::Arc::new(change);
        for code in [0, NXDOMAIN] {
            let change = change.clone();
            let answer = read(", type: a, protocol: tcp", move |asked| {
                match &*asked.name {
                    "web.test" => change(asked.answer(&[]).code(code)).send(),
                    _ => asked.answer(&[]).send(),
                }
            });
            assert_eq!(answer.status, 502, "{what}, {code}: {}", answer.text());
            assert_says(&answer.error(), &["malformed", "other names or kinds"]);
        }
    }
    for (kind, wrong) in [
        ("srv", "web.test A 10.0.0.1"),
        ("txt", "other.test CNAME x.test"),
    ] {
        let answer = read(&format!(", type: {kind}"), move |asked| {
            asked.answer(&[wrong]).send()
        });
        assert_eq!(answer.status, 502, "{kind}: {}", answer.text());
    }
}

#[test]
fn a_signature_says_nothing_and_a_dname_with_its_alias_belongs_to_the_chain() {
    let signature = || record(&encode("web.test"), 46, &[0; 20]);
    assert!(is_empty(&read("", move |asked| {
        asked.answer(&[]).raw(0, signature()).send()
    })));
    for code in [0, NXDOMAIN] {
        assert!(is_empty(&read("", move |asked| {
            asked
                .answer(&[])
                .raw(0, record(&encode("test"), 39, &encode("example")))
                .raw(0, signature())
                .raw(0, record(&encode("web.test"), 5, &encode("web.example")))
                .authority(&["example SOA x"])
                .code(code)
                .send()
        })));
    }
}

#[test]
fn a_name_that_does_not_exist_and_has_records_is_malformed() {
    for records in [
        &["web.test A 10.0.0.1"][..],
        &["web.test CNAME b.test", "b.test A 10.0.0.1"],
    ] {
        let answer = read(", family: ipv4", move |asked| {
            asked.answer(records).code(NXDOMAIN).send()
        });
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["malformed", "does not exist"]);
    }
}

#[test]
fn what_nobody_asked_for_may_be_broken_inside() {
    let answer = read(", family: ipv4", |asked| {
        let broken = |kind| record(&encode("web.test"), kind, &[0xc0, 0xff, 0xff]);
        let reply = asked.answer(&["web.test A 10.0.0.1"]);
        let sections = [0, 1, 2].into_iter();
        sections
            .fold(reply, |reply, section| {
                [15, 46, 64, 65, 257, 41]
                    .into_iter()
                    .fold(reply, |reply, kind| match (section, kind) {
                        (2, 41) => reply.raw(
                            2,
                            [&[0, 0, 41, 4, 208][..], &[0, 0, 0, 0, 0, 3, 0, 8, 0xff]].concat(),
                        ),
                        (_, 41) => reply,
                        _ => reply.raw(section, broken(kind)),
                    })
            })
            .send()
    });
    assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0"]);
}

#[test]
fn a_referral_is_no_answer() {
    let answer = read("", |asked| {
        asked
            .answer(&[])
            .not_recursive()
            .authority(&["test NS ns.test"])
            .additional(&["ns.test A 10.0.0.9"])
            .send()
    });
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["refers to other servers"]);
}

#[test]
fn an_answer_that_is_malformed_is_a_failure() {
    let name = || encode("web.test");
    type Break = fn(Reply, Vec<u8>) -> Vec<u8>;
    let breaks: [(&str, Break); 11] = [
        ("an address of three bytes", |reply, name| {
            reply.raw(0, record(&name, 1, &[10, 0, 0])).bytes()
        }),
        ("an address of five bytes", |reply, name| {
            reply.raw(0, record(&name, 1, &[10, 0, 0, 1, 2])).bytes()
        }),
        ("an address of no bytes", |reply, name| {
            reply.raw(0, record(&name, 1, &[])).bytes()
        }),
        ("an alias to nothing", |reply, name| {
            reply.raw(0, record(&name, 5, &[])).bytes()
        }),
        ("an alias that goes on", |reply, name| {
            reply.raw(0, record(&name, 5, &[1, b'x', 0, 0])).bytes()
        }),
        ("a pointer to itself", |reply, _| {
            reply
                .raw(0, vec![0xc0, 0x1a, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
                .bytes()
        }),
        ("a pointer beyond the end", |reply, _| {
            reply
                .raw(0, vec![0xff, 0xff, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
                .bytes()
        }),
        ("a label of an unknown form", |reply, _| {
            reply
                .raw(0, vec![0x80, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
                .bytes()
        }),
        ("fewer records than are counted", |reply, _| {
            Reply {
                counts: Some([2, 0, 0]),
                ..reply
            }
            .bytes()
        }),
        ("more records than are counted", |reply, name| {
            let more = reply.raw(0, record(&name, 1, &[10, 0, 0, 2]));
            Reply {
                counts: Some([1, 0, 0]),
                ..more
            }
            .bytes()
        }),
        ("a record that is cut", |reply, _| {
            let whole = reply.bytes();
            whole[..whole.len() - 1].to_vec()
        }),
    ];
    for (what, broken) in breaks {
        for tcp in ["", ", protocol: tcp"] {
            let keys = format!(", family: ipv4{tcp}");
            let answer = read(&keys, move |asked| {
                vec![Act::Send(broken(
                    asked.answer(&["web.test A 10.0.0.1"]),
                    name(),
                ))]
            });
            assert_eq!(answer.status, 502, "{what}: {}", answer.text());
            assert_says(&answer.error(), &["malformed"]);
        }
    }
}

#[test]
fn a_txt_record_that_begins_with_eds_is_an_endpoint_line() {
    let answer = read(", type: txt", |asked| {
        let records = [
            "web.test TXT eds=10.1.0.2:70 4",
            "web.test TXT eds=10.1.0.1",
            "web.test TXT v=spf1 -all",
            "web.test TXT eds=[2001:DB8::1]:71,5 # five",
            "web.test TXT EDS=10.9.9.9",
            "web.test TXT |",
            "web.test TXT eds=web-1.test",
            "web.test TXT eds=10.1.0.|3:7|2",
            "web.test TXT eds=10.1.0.1",
        ];
        asked
            .answer(&records)
            .raw(0, record(&encode("web.test"), 16, &[2, 0xff, 0xfe]))
            .send()
    });
    let list = [
        "10.1.0.1 9000 0",
        "10.1.0.2 70 4",
        "10.1.0.3 72 0",
        "2001:DB8::1 71 5",
        "web-1.test 9000 0",
    ];
    assert_eq!(endpoints(&answer), list);
}

#[test]
fn a_txt_record_of_many_strings_is_joined_without_a_blank() {
    let comment = "x".repeat(250);
    let answer = read(", type: txt", move |asked| {
        let record = format!("web.test TXT eds=10.1.0|.1:70 #|{comment}|{comment}");
        asked.answer(&[&record]).send()
    });
    assert_eq!(endpoints(&answer), ["10.1.0.1 70 0"]);
}

#[test]
fn one_bad_endpoint_line_in_a_txt_record_fails_the_read() {
    for line in [
        "",
        " # nobody",
        "10.0.0.256",
        "10.0.0.1:0",
        "10.0.0.1 -3",
        "10.0.0.1\n10.0.0.2",
    ] {
        let answer = read(", type: txt", move |asked| {
            asked
                .answer(&[
                    "web.test TXT eds=10.1.0.1",
                    &format!("web.test TXT eds={line}"),
                ])
                .send()
        });
        assert_eq!(answer.status, 502, "{line}");
        assert_says(&answer.error(), &["TXT record", "eds="]);
    }
    let answer = read(", type: txt", |asked| {
        asked
            .answer(&[])
            .raw(0, record(&encode("web.test"), 16, b"\x0ceds=10.1.0.\xff"))
            .send()
    });
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["UTF-8"]);
}

#[test]
fn the_family_filters_txt_records_too_and_keeps_host_names() {
    for (family, list) in [
        ("ipv4", &["10.1.0.1 9000 0", "web-1.test 9000 0"]),
        ("ipv6", &["2001:db8::1 9000 0", "web-1.test 9000 0"]),
    ] {
        let answer = read(&format!(", type: txt, family: {family}"), |asked| {
            asked
                .answer(&[
                    "web.test TXT eds=10.1.0.1",
                    "web.test TXT eds=2001:db8::1",
                    "web.test TXT eds=web-1.test",
                ])
                .send()
        });
        assert_eq!(endpoints(&answer), list);
    }
}

#[test]
fn the_next_server_is_asked_when_one_fails() {
    let good = || DnsServer::start(|asked| dual(asked).send());
    let bad = [
        DnsServer::start(|asked| asked.error(SERVFAIL)),
        DnsServer::start(|asked| asked.error(REFUSED)),
        DnsServer::start(|asked| asked.answer(&[]).raw(0, vec![0xff; 3]).send()),
        DnsServer::start(|asked| asked.answer(&["web.test CNAME web.test"]).send()),
        DnsServer::without_tcp(|asked| asked.answer(&[]).truncated().send()),
    ];
    for bad in bad {
        let good = good();
        let vigie = serve(&[&bad, &good], "web.test", "");
        let begin = Instant::now();
        assert_eq!(endpoints(&vigie.list("web")).len(), 4);
        assert!(
            begin.elapsed() < Duration::from_millis(900),
            "it waited for nothing"
        );
        assert_eq!(good.questions(), ["web.test A", "web.test AAAA"]);
    }
}

#[test]
fn the_next_server_is_not_asked_when_one_answers_that_there_is_nothing() {
    for code in [0, NXDOMAIN] {
        let (first, second) = (
            DnsServer::start(move |asked| asked.error(code)),
            DnsServer::start(|asked| dual(asked).send()),
        );
        assert!(is_empty(
            &serve(&[&first, &second], "web.test", "").list("web")
        ));
        assert_eq!(second.asked(), []);
    }
}

#[test]
fn a_silent_server_gets_a_second_before_the_next_is_asked() {
    let (silent, good) = (
        DnsServer::silent(),
        DnsServer::start(|asked| dual(asked).send()),
    );
    let vigie = serve(&[&silent, &good], "web.test", "");
    let begin = Instant::now();
    assert_eq!(endpoints(&vigie.list("web")).len(), 4);
    let took = begin.elapsed();
    assert!(
        (Duration::from_millis(900)..Duration::from_secs(4)).contains(&took),
        "{took:?}"
    );
    assert!(
        silent.asked().len() > 2,
        "it was asked again: {:?}",
        silent.asked()
    );
}

#[test]
fn a_server_that_answers_late_still_counts_while_the_next_is_silent() {
    let next = std::sync::Arc::new(DnsServer::silent());
    let is_asked = next.clone();
    let late = DnsServer::start(move |asked| {
        wait_until("the next server is asked", || !is_asked.asked().is_empty());
        dual(asked).send()
    });
    let vigie = serve(&[&late, &next], "web.test", ", timeout: 15s");
    assert_eq!(endpoints(&vigie.list("web")).len(), 4);
}

#[test]
fn when_every_server_fails_the_error_says_what_each_did() {
    let (first, second) = (
        DnsServer::start(|asked| asked.error(SERVFAIL)),
        DnsServer::start(|asked| asked.error(REFUSED)),
    );
    let answer = serve(&[&first, &second], "web.test", "").list("web");
    assert_eq!(answer.status, 502);
    let told = [
        format!("{} answered SERVFAIL", first.address()),
        format!("{} answered REFUSED", second.address()),
    ];
    assert_says(&answer.error(), &[&told[0], &told[1]]);
    let silent = DnsServer::silent();
    let answer = serve(&[&first, &silent], "web.test", ", timeout: 200ms").list("web");
    assert_eq!(answer.status, 502);
    let told = [
        format!("{} answered SERVFAIL", first.address()),
        format!("{} did not answer in time", silent.address()),
    ];
    assert_says(&answer.error(), &[&told[0], &told[1], "see the log"]);
}

#[test]
fn a_change_shows_at_the_next_read_and_a_failure_keeps_nothing_back() {
    let server = DnsServer::start(|asked| match asked.before {
        0 => asked.answer(&["web.test A 10.0.0.1"]).send(),
        1 => asked.error(SERVFAIL),
        2 => asked.error(NXDOMAIN),
        _ => asked
            .answer(&["web.test A 10.0.0.2", "web.test A 10.0.0.3"])
            .send(),
    });
    let vigie = serve(&[&server], "web.test", ", family: ipv4");
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 9000 0"]);
    assert_eq!(vigie.list("web").status, 502);
    assert!(is_empty(&vigie.list("web")));
    assert_eq!(
        endpoints(&vigie.list("web")),
        ["10.0.0.2 9000 0", "10.0.0.3 9000 0"]
    );
}

#[test]
fn the_ttl_of_records_neither_shortens_nor_lengthens_how_long_a_list_is_kept() {
    // Every record of the scripted server has a TTL of 0.
    let server = DnsServer::start(|asked| dual(asked).send());
    let kept =
        service(&[&server], "web.test", ", family: ipv4").replace("cache_ttl: 0s", "cache_ttl: 1h");
    let vigie = Setup::services(&kept).start();
    for _ in 0..3 {
        assert_eq!(endpoints(&vigie.list("web")).len(), 2);
    }
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn the_same_records_in_another_order_are_the_same_answer() {
    let server = DnsServer::start(|asked| match asked.before {
        0 => asked
            .answer(&["web.test A 10.0.0.1", "web.test A 10.0.0.2"])
            .send(),
        _ => asked
            .answer(&["web.test A 10.0.0.2", "web.test A 10.0.0.1"])
            .send(),
    });
    let vigie = serve(&[&server], "web.test", ", family: ipv4");
    let [first, second] = [(); 2].map(|()| vigie.list("web"));
    assert_eq!(first.text(), second.text());
    assert_eq!(first.header("etag"), second.header("etag"));
}

#[test]
fn a_silent_server_holds_up_neither_other_services_nor_livez() {
    let (silent, good) = (
        DnsServer::silent(),
        DnsServer::start(|asked| dual(asked).send()),
    );
    let slow = service(&[&silent], "web.test", ", timeout: 1m");
    let other = service(&[&good], "web.test", "").replace("web: ", "other: ");
    let vigie = Setup::services(&format!("{slow}\n{other}")).start();
    let mut waiting = vigie.connect();
    waiting.send(b"GET /services?service_name=web HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("the silent server is asked", || !silent.asked().is_empty());
    for _ in 0..20 {
        assert_eq!(endpoints(&vigie.list("other")).len(), 4);
        assert_eq!(vigie.get("/livez").status, 200);
    }
    assert!(
        waiting.is_silent(),
        "it should have been waiting all the while"
    );
}
