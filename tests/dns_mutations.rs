//! Answers of DNS servers, broken in every way that a seeded generator comes up with, against their reader.
//!
//! `VIGIE_MUTATIONS` says how many; a failure shows its input. The generator starts from the same seed each time.

use fastrand::Rng;
use vigie::dns::{Data, End, Kind, Question, Read, Wanted, read};

use crate::support::Shown;
use crate::support::dns::{Asked, NXDOMAIN, Reply, SERVFAIL, record};

const ID: u16 = 0x5649;
const NAME: &str = "_http._tcp.web.test";

fn question(kind: Kind) -> Question {
    let name = Wanted::parse(NAME).unwrap().name().clone();
    Question { name, kind }
}

/// What servers answer to each kind of question.
fn corpus() -> Vec<(Kind, Vec<u8>)> {
    let kinds = [
        (Kind::A, "A"),
        (Kind::Aaaa, "AAAA"),
        (Kind::Srv, "SRV"),
        (Kind::Txt, "TXT"),
    ];
    let mut corpus = Vec::new();
    for (kind, word) in kinds {
        let asked = Asked::of(NAME, word, ID);
        let data = match kind {
            Kind::A => ["10.0.0.1", "10.0.0.2", "192.0.2.33"],
            Kind::Aaaa => ["2001:db8::1", "2001:db8::2", "fe80::7"],
            Kind::Srv => [
                "0 5 8080 a.web.test",
                "10 7 8081 b.other",
                "0 0 0 c.web.test",
            ],
            Kind::Txt => ["eds=10.0.0.1:80 3", "v=spf1| -all", "eds=10.0.0.|2"],
        };
        let records = data.map(|data| format!("{NAME} {word} {data}"));
        let aliased = data.map(|data| format!("x.test {word} {data}"));
        let all: Vec<&str> = records.iter().map(String::as_str).collect();
        let mut behind: Vec<&str> = aliased.iter().map(String::as_str).collect();
        let chain = [
            format!("{NAME} CNAME w.web.test"),
            "w.web.test CNAME x.test".into(),
        ];
        behind.extend(chain.iter().map(String::as_str));
        let opt = [&[0, 0, 41, 4, 208][..], &[0; 6]].concat();
        let replies: [Reply; 7] = [
            asked.answer(&all),
            asked
                .answer(&behind)
                .authority(&["test NS ns.test"])
                .additional(&["ns.test A 10.9.9.9"]),
            asked
                .answer(&all)
                .additional(&["a.web.test A 10.0.0.1", "b.other AAAA 2001:db8::1"])
                .raw(2, opt),
            asked.answer(&[]).authority(&["test SOA x"]),
            asked.answer(&all[..1]).truncated(),
            asked
                .answer(&chain.each_ref().map(String::as_str))
                .code(NXDOMAIN),
            asked.answer(&[]).code(SERVFAIL),
        ];
        corpus.extend(replies.map(|reply| (kind, reply.bytes())));
    }
    corpus
}

/// What is put in, whole, between other bytes: pointers, lengths and counts of every kind.
const WORDS: [&[u8]; 22] = [
    &[0],
    &[0xc0, 0x0c],
    &[0xc0, 0],
    &[0xff, 0xff],
    &[0xc0, 0x2d],
    &[0x3f],
    &[0x40],
    &[0x80],
    &[0xc0],
    &[0, 1],
    &[0, 2],
    &[0, 4],
    &[0, 5, 0, 1],
    &[0, 16],
    &[0, 28, 0, 1],
    &[0, 33, 0, 1],
    &[0, 41],
    &[0xff, 0xff, 0xff, 0xff],
    &[3, b'w', b'e', b'b'],
    &[1, b'x', 4, b't', b'e', b's', b't', 0],
    &[0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 10, 6, 6, 6],
    &[0xc0, 0x0c, 0, 5, 0, 1, 0, 0, 0, 0, 0, 2, 0xc0, 0x0c],
];

fn range(random: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let from = random.usize(..=bytes.len());
    from..from + random.usize(..=(bytes.len() - from).min(24))
}

fn mutate(random: &mut Rng, pool: &[(Kind, Vec<u8>)]) -> (Kind, Vec<u8>) {
    let (kind, mut bytes) = random.choice(pool).unwrap().clone();
    for _ in 0..random.usize(1..=3) {
        let place = range(random, &bytes);
        let word = random.choice(WORDS).unwrap();
        match random.u8(..9) {
            0 | 1 => {
                let end = (place.start + word.len()).min(bytes.len());
                drop(bytes.splice(place.start..end, word.iter().copied()));
            }
            2 => drop(bytes.splice(place.start..place.start, word.iter().copied())),
            3 => drop(bytes.drain(place)),
            4 => bytes.truncate(place.start),
            5 => drop(bytes.splice(place.start..place.start, bytes[place].to_vec())),
            6 => {
                // The counts of the sections.
                let at = 7 + 2 * random.usize(..3);
                if let Some(count) = bytes.get_mut(at) {
                    *count = count.wrapping_add(random.u8(..3)).wrapping_sub(1);
                }
            }
            7 => bytes.extend_from_slice(&random.choice(pool).unwrap().1),
            _ if place.start < bytes.len() => bytes[place.start] ^= 1 << random.u8(..8),
            _ => bytes.push(random.u8(..)),
        }
    }
    bytes.truncate(2048);
    (kind, bytes)
}

/// What holds of every list that is read.
fn check(kind: Kind, records: &[Data], bytes: &[u8]) {
    let counted = usize::from(u16::from_be_bytes([bytes[6], bytes[7]]));
    assert!((1..=counted).contains(&records.len()));
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    for record in records {
        match record {
            Data::Address(std::net::IpAddr::V4(ip)) => {
                assert!(kind == Kind::A && holds(&ip.octets()))
            }
            Data::Address(std::net::IpAddr::V6(ip)) => {
                assert!(kind == Kind::Aaaa && holds(&ip.octets()))
            }
            Data::Service {
                port,
                weight,
                target,
            } => {
                let numbers = [weight.to_be_bytes(), port.to_be_bytes()].concat();
                assert!(kind == Kind::Srv && holds(&numbers) && target.is_fqdn());
                assert!(target.iter().all(&holds));
            }
            Data::Text(text) => {
                assert!(kind == Kind::Txt && text.iter().all(|byte| bytes.contains(byte)))
            }
        }
    }
}

#[test]
fn a_broken_answer_gives_no_list_that_its_bytes_do_not_hold() {
    let count = std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap());
    let mut random = Rng::with_seed(1035);
    let mut pool = corpus();
    let originals = pool.len();
    let (mut lists, mut failures, mut ignored) = (0, 0, 0);
    for _ in 0..count {
        let (kind, bytes) = mutate(&mut random, &pool);
        let shown = Shown(&bytes);
        match read(&bytes, &question(kind), ID) {
            Some(Ok(Read::Whole(answer))) => {
                assert!(answer.aliases <= 16);
                if let End::Records(records, _) = &answer.end {
                    check(kind, records, &bytes);
                    lists += 1;
                }
                // What is still read breaks in more interesting ways.
                if bytes.len() < 1000 && random.u8(..50) == 0 {
                    match pool.len() < 500 {
                        true => pool.push((kind, bytes.clone())),
                        false => pool[random.usize(originals..500)] = (kind, bytes.clone()),
                    }
                }
            }
            Some(Ok(Read::Cut(_))) => {}
            Some(Err(_)) => failures += 1,
            None => ignored += 1,
        }
        shown.was_fine();
    }
    let least = count / 50;
    assert!(
        lists > least && failures > least && ignored > least,
        "{lists} {failures} {ignored} of {count}"
    );
}

#[test]
fn an_answer_cut_anywhere_is_never_whole() {
    for (kind, bytes) in corpus() {
        let is_error = !matches!(read(&bytes, &question(kind), ID), Some(Ok(_)));
        for end in 0..bytes.len() {
            let outcome = read(&bytes[..end], &question(kind), ID);
            assert!(
                is_error || !matches!(outcome, Some(Ok(Read::Whole(_)))),
                "{kind:?} cut at {end}"
            );
        }
    }
}

#[test]
fn an_answer_whose_counts_are_wrong_is_never_whole() {
    for (kind, bytes) in corpus() {
        for section in 0..3 {
            for difference in [1, u16::MAX] {
                let mut wrong = bytes.clone();
                let at = 6 + 2 * section;
                let count = u16::from_be_bytes([bytes[at], bytes[at + 1]]).wrapping_add(difference);
                wrong[at..at + 2].copy_from_slice(&count.to_be_bytes());
                let outcome = read(&wrong, &question(kind), ID);
                assert!(
                    !matches!(outcome, Some(Ok(Read::Whole(_)))),
                    "{kind:?}: {outcome:?}"
                );
            }
        }
    }
}

#[test]
fn a_name_may_be_pointed_to_in_a_row_but_not_without_end() {
    let asked = Asked::of(NAME, "A", ID);
    let begin = asked.answer(&[]).bytes().len() + 11;
    for (length, is_whole) in [(1, true), (126, true), (127, false), (5000, false)] {
        // Each pointer points to the one before, the first to the question.
        let place = |at: usize| u16::try_from(0xc000 | at).unwrap().to_be_bytes();
        let row: Vec<u8> = (0..length)
            .flat_map(|i| place(if i == 0 { 12 } else { begin + 2 * (i - 1) }))
            .collect();
        let last = place(begin + 2 * (length - 1));
        let reply = asked
            .answer(&[])
            .raw(0, record(&[0], 65_280, &row))
            .raw(0, record(&last, 1, &[10, 0, 0, 1]));
        let outcome = read(&reply.bytes(), &question(Kind::A), ID).unwrap();
        assert_eq!(outcome.is_ok(), is_whole, "{length}: {outcome:?}");
    }
}
