//! Reading a text of endpoint lines, and rendering it for clients.

use std::hint::black_box;
use std::num::NonZeroU16;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vigie::lines;
use vigie::service::Listing;

fn text(count: usize) -> String {
    let line = |n: usize| {
        format!(
            "10.{}.{}.{}:8080 {}\n",
            n >> 16,
            (n >> 8) & 255,
            n & 255,
            n % 100
        )
    };
    (0..count).map(line).collect()
}

fn bench(criterion: &mut Criterion) {
    let port = NonZeroU16::MIN;
    for count in [10, 1_000, 100_000] {
        let text = text(count);
        let endpoints = lines::parse(&text, port).expect("the lines are good");
        let mut group = criterion.benchmark_group("lines");
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("parse {count}"), |bencher| {
            bencher.iter(|| lines::parse(black_box(&text), port));
        });
        group.bench_function(format!("render {count}"), |bencher| {
            bencher.iter(|| Listing::new(black_box(&endpoints)));
        });
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
