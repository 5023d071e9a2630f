//! Swapping 10,000 services while others read them.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use vigie::catalog::{Catalog, Current};
use vigie::config;

const SERVICES: usize = 10_000;
const READERS: usize = 2;

fn text() -> String {
    let mut text = String::from("services:\n");
    for n in 0..SERVICES {
        writeln!(text, "  s{n}: {{file: lists/s{n}.txt, max_stale: 1h}}")
            .expect("a String takes every byte");
    }
    text
}

fn catalog(text: &str, old: Option<&Catalog>) -> Catalog {
    let config = config::parse(text, Path::new("config.yml")).expect("the configuration is good");
    Catalog::build(config.services, old).expect("the services can be built")
}

/// Looks up services until it is told to stop; how many it found.
fn read(current: &Current, stop: &AtomicBool) -> usize {
    let names: Vec<_> = (0..SERVICES).map(|n| format!("s{n}")).collect();
    let mut found = 0;
    while !stop.load(Ordering::Relaxed) {
        found += names
            .iter()
            .filter(|name| current.load().get(name).is_some())
            .count();
    }
    found
}

fn bench(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("reload 10,000 services");
    group.sample_size(20);
    group.bench_function("parse and build", |bencher| {
        bencher.iter(|| catalog(&text, None))
    });

    let (current, stop) = (
        Arc::new(Current::new(catalog(&text, None))),
        Arc::new(AtomicBool::new(false)),
    );
    let reader = |_| {
        let (current, stop) = (current.clone(), stop.clone());
        thread::spawn(move || read(&current, &stop))
    };
    let readers: Vec<_> = (0..READERS).map(reader).collect();
    group.bench_function("swap under readers", |bencher| {
        bencher.iter_batched(
            || catalog(&text, Some(&current.load())),
            |catalog| current.replace(catalog),
            BatchSize::PerIteration,
        );
    });
    stop.store(true, Ordering::Relaxed);
    for reader in readers {
        assert!(
            reader.join().expect("a reader ends well") > 0,
            "a reader found nothing"
        );
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
