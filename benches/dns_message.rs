//! From the bytes of a DNS message to endpoints: 600 addresses, and 2,000 SRV records with the addresses of their
//! 100 targets along with them; and what a message made to be slow costs.

use std::hint::black_box;
use std::net::IpAddr;
use std::num::NonZeroU16;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vigie::dns::{Addresses, Data, End, Kind, Question, Read, Wanted, read};
use vigie::endpoint::Endpoint;
use vigie::source::dns::sorted;

const ID: u16 = 7;
const A: u16 = 1;
const SRV: u16 = 33;
/// A pointer to the question.
const NAME: [u8; 2] = [0xc0, 12];

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("a record is short");
    [
        owner,
        &kind.to_be_bytes(),
        &[0, 1, 0, 0, 0, 0],
        &length.to_be_bytes(),
        data,
    ]
    .concat()
}

fn message(question: &Question, answers: &[Vec<u8>], additional: &[Vec<u8>]) -> Vec<u8> {
    let asked = question
        .encode(ID, false)
        .expect("a name that can be asked for");
    let count = |records: &[Vec<u8>]| {
        u16::try_from(records.len())
            .expect("they can be counted")
            .to_be_bytes()
    };
    let mut bytes = [&asked[..], &answers.concat(), &additional.concat()].concat();
    bytes[2..4].copy_from_slice(&[0x81, 0x80]);
    bytes[6..8].copy_from_slice(&count(answers));
    bytes[10..12].copy_from_slice(&count(additional));
    bytes
}

/// A label below `web.example.net`, which begins after `_http._tcp` in the question.
fn target(i: u16) -> Vec<u8> {
    let label = format!("t{i}");
    [&[label.len() as u8], label.as_bytes(), &[0xc0, 23]].concat()
}

fn endpoints(bytes: &[u8], question: &Question) -> Vec<Endpoint> {
    let Some(Ok(Read::Whole(answer))) = read(bytes, question, ID) else {
        panic!("the message is good");
    };
    let End::Records(records, additional) = answer.end else {
        panic!("it has records");
    };
    sorted(
        records
            .iter()
            .flat_map(|data| of_record(data, &additional))
            .collect(),
    )
}

fn of_record(data: &Data, additional: &Addresses) -> Vec<Endpoint> {
    let endpoint = |ip: &IpAddr, port: u16, weight: u16| Endpoint {
        address: (*ip).into(),
        port: NonZeroU16::new(port).unwrap_or(NonZeroU16::MIN),
        weight: weight.into(),
    };
    match data {
        Data::Address(ip) => vec![endpoint(ip, 80, 0)],
        Data::Service {
            port,
            weight,
            target,
        } => additional[target]
            .iter()
            .map(|ip| endpoint(ip, *port, *weight))
            .collect(),
        Data::Text(_) => Vec::new(),
    }
}

fn bench(criterion: &mut Criterion) {
    let wanted = Wanted::parse("_http._tcp.web.example.net").expect("a name");
    let question = |kind| Question {
        name: wanted.name().clone(),
        kind,
    };
    let address = |i: u16| [&[10, 9], &i.to_be_bytes()[..]].concat();
    let service = |i: u16| [&[0, 0, 0, 5], &i.to_be_bytes()[..], &target(i % 100)].concat();
    let a: Vec<_> = (0..600).map(|i| record(&NAME, A, &address(i))).collect();
    let srv: Vec<_> = (1..=2000)
        .map(|i| record(&NAME, SRV, &service(i)))
        .collect();
    let glue: Vec<_> = (0..100)
        .map(|i| record(&target(i), A, &address(i)))
        .collect();
    let mut group = criterion.benchmark_group("dns_message");
    for (kind, answers, additional) in [(Kind::A, &a, &Vec::new()), (Kind::Srv, &srv, &glue)] {
        let question = question(kind);
        let bytes = message(&question, answers, additional);
        assert_eq!(endpoints(&bytes, &question).len(), answers.len());
        group.throughput(Throughput::Elements(answers.len() as u64));
        group.bench_function(format!("{} {kind:?} records", answers.len()), |bencher| {
            bencher.iter(|| endpoints(black_box(&bytes), &question));
        });
    }
    let question = question(Kind::A);
    let bytes = slow(&question);
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("pointers to pointers, 64 KiB", |bencher| {
        bencher.iter(|| read(black_box(&bytes), &question, ID).is_some());
    });
}

/// The largest message, its records named by the end of the longest row of pointers.
fn slow(question: &Question) -> Vec<u8> {
    let begin = question
        .encode(ID, false)
        .expect("a name that can be asked for")
        .len()
        + 11;
    let mut row: Vec<u8> = NAME.to_vec();
    while begin + row.len() < 0x3ffe {
        let before = u16::try_from(begin + row.len() - 2).expect("a place in a message") | 0xc000;
        row.extend(before.to_be_bytes());
    }
    let last = u16::try_from(begin + row.len() - 2).expect("a place in a message") | 0xc000;
    let begin = record(&[0], 65_280, &row);
    let more = (65_535 - 44 - begin.len()) / 12;
    let record = record(&last.to_be_bytes(), 65_280, &[]);
    message(question, &[vec![begin], vec![record; more]].concat(), &[])
}

criterion_group!(benches, bench);
criterion_main!(benches);
