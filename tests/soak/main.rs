//! A soak that knows the truth: `cargo test --test soak -- [SECONDS [SEED]]`.
//!
//! Sources of all kinds are read from peers that are good, slow, silent, cut, wrong and gone as a seed says, while the
//! configuration changes, honest clients poll and bad ones do what they can. Each list that a peer gives is another one,
//! so an answer tells which read it comes from, and [`truth`] knows whether that may be.
//!
//! | part | what it does |
//! | --- | --- |
//! | [`chance`], [`mood`] | what happens, from the seed |
//! | [`lists`] | lists that no two reads share, and the bodies that clients must get |
//! | [`places`] | the peers, one file a kind of source |
//! | [`services`], [`reloads`] | the configurations, and how one follows the other |
//! | [`honest`], [`watchers`], [`behind`], [`bad`] | the clients |
//! | [`truth`] | what each place has said and when, and the rules for an answer |
//! | [`jitter`] | how late this machine is, for the few rules that need slack |
//! | [`covered`] | what must have happened |
//! | [`resources`] | memory, files, threads and metrics at quiet moments |
//! | [`turns`] | the requests that a place is answering |
//! | [`stage`], [`tally`] | what all share |

#[path = "../support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the promises need more of it")]
mod support;

mod bad;
mod behind;
mod chance;
mod covered;
mod honest;
mod jitter;
mod lists;
mod mood;
mod places;
mod reloads;
mod resources;
mod services;
mod stage;
mod tally;
mod truth;
mod turns;
mod watchers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::chance::Chance;
use crate::places::dns::{Carrier, Family, Servers, Type, Wanted};
use crate::places::file::Writer;
use crate::places::{Later, Renewal, dns, file, kubernetes, url};
use crate::resources::Resources;
use crate::services::{Living, Services};
use crate::stage::{SECRET, Stage};
use crate::support::{Hanging, Setup};
use crate::tally::Tally;
use crate::truth::Truth;

const SECONDS: u64 = 60;
/// The service that moves from one kind of source to another.
const MOVES: &str = "moves";
/// Between two quiet moments.
const ROUND: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<u64>> = arguments
        .iter()
        .map(|argument| argument.parse().ok())
        .collect();
    let Some(numbers) = numbers else {
        // Names of promises, which the test command hands to each of its programs.
        println!("soak: not run; give it seconds and a seed, or nothing");
        return ExitCode::SUCCESS;
    };
    let seconds = numbers.first().copied().unwrap_or(SECONDS);
    let seed = numbers
        .get(1)
        .copied()
        .unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("soak: {seconds} s with seed {seed}");
    let begin = Instant::now();
    let (failure, told) = soak(seed, Duration::from_secs(seconds));
    print!("{told}");
    if let Some(why) = &failure {
        println!(
            "failed after {:?}: {why}\nreplay: cargo test --test soak -- {seconds} {seed}",
            begin.elapsed()
        );
        if arguments.is_empty() {
            return replay(seconds, seed);
        }
    }
    let verdict = match &failure {
        None => "ok. 1 passed; 0 failed",
        Some(_) => "FAILED. 0 passed; 1 failed",
    };
    println!(
        "test result: {verdict}; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s",
        begin.elapsed().as_secs_f64()
    );
    if failure.is_none() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Among the other tests a failure must fail again with the same seed: what a machine under load was late with does not.
/// A process of its own finds nothing left over.
fn replay(seconds: u64, seed: u64) -> ExitCode {
    let program = std::env::current_exe().unwrap();
    let arguments = [seconds, seed].map(|number| number.to_string());
    let status = Command::new(program).args(arguments).status().unwrap();
    match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Runs it all; gives why it failed, and what was done.
fn soak(seed: u64, length: Duration) -> (Option<String>, String) {
    let later: Later = Arc::new(OnceLock::new());
    let SetUp {
        mut services,
        writers,
        files,
        renewals,
    } = set_up(&later, seed);
    let names: Vec<&'static str> = services.living.iter().map(|service| service.name).collect();
    let first = services.next();
    let crowd = lists::lines(&services::crowd(), &mut Chance::of(seed, "crowd"));
    let setup = Setup::services(&first.text)
        .addresses(&["127.0.0.1:0", "unix:vigie.sock"])
        .server("request_timeout: 2s\nwrite_timeout: 2s\nmax_connections: 2000")
        .file("token", format!("{SECRET}token-0\n"))
        .file("pair-b.txt", "10.92.0.1\n")
        .file("crowd.txt", crowd)
        .file(&first.list.0, &first.list.1);
    let vigie = files
        .iter()
        .fold(setup, |setup, (name, text)| setup.file(name, text))
        .start();
    let truth = Truth::default();
    let _ = truth
        .begin_epoch(0, first.specs.clone())
        .done
        .set(Instant::now());
    let stage = Stage::new(seed, vigie, truth, Tally::default());
    let _ = later.set(stage.clone());
    let mut resources = Resources::at_the_start(&stage);
    let watching = stage.clone();
    std::thread::spawn(move || {
        let waited = || watching.vigie.held_up();
        watching.truth.jitter.watch(|| watching.goes_on(), waited);
    });
    writers.into_iter().for_each(|writer| writer.start(&stage));
    for name in &names {
        honest::start(&stage, name, 2);
    }
    honest::start(&stage, "comes-and-goes", 1);
    honest::start_pairs(&stage);
    watchers::start(&stage);
    behind::start(&stage);
    bad::start(&stage, 3);
    reloads::start(&stage, services, first, renewals);
    let is_counted = |name: &&'static str| !behind::SERVICES.contains(name);
    let counted: Vec<&str> = names.iter().copied().filter(is_counted).collect();
    let end = Instant::now() + length;
    while stage.goes_on() && Instant::now() < end {
        stage.pause(ROUND.min(end.saturating_duration_since(Instant::now())));
        let look = AssertUnwindSafe(|| resources.look(&stage, &counted));
        if let Err(panic) = catch_unwind(look) {
            stage.fail(format!("a quiet moment: {}", stage::words(&*panic)));
        }
    }
    stage.close();
    let mut missing = covered::missing(&stage.tally);
    let unlogged = covered::unlogged(&stage.vigie.log.text());
    missing.extend(unlogged.iter().map(|words| format!("log: {words}")));
    if length >= Duration::from_secs(covered::LENGTH) && !missing.is_empty() {
        stage.conclude(format!(
            "it proves nothing, for these never happened: {missing:?}"
        ));
    }
    let told = format!("{}{}\n", stage.tally.told(), resources.told(&stage));
    (stage.failure(), told)
}

/// What stands before the server does.
struct SetUp {
    services: Services,
    writers: Vec<Writer>,
    files: Vec<(&'static str, String)>,
    renewals: Vec<Renewal>,
}

/// The peers, the services that are read from them, and the files that these need.
fn set_up(later: &Later, seed: u64) -> SetUp {
    let plain = |number| url::start(later, seed, number);
    let (over_tls, certificate, authorities) = url::start_tls(later, seed, 4);
    let name = |number, wanted| dns::start(later, seed, number, wanted);
    let of = Wanted::of;
    let (cluster, cluster_certificate, kubeconfig) = kubernetes::start(later, seed);
    let [named, numbered, only, only_of_ipv4] = cluster
        .try_into()
        .unwrap_or_else(|_| panic!("it has four services"));
    let mut writers = Vec::new();
    let mut written = |number, mount| {
        let (kept, writer) = file::new(seed, number, mount);
        writers.push(writer);
        kept
    };
    let mut living = vec![
        Living::new("url-a", vec![plain(1), plain(2)], &[0]),
        Living::new("url-b", vec![plain(3), plain(7)], &[2000, 4000]),
        Living::new("url-tls", vec![over_tls], &[0, 3000]),
        Living::new("dns-a", vec![name(10, of(Type::A))], &[0, 2000]),
        Living::new(
            "dns-tcp",
            vec![name(11, of(Type::A).carrier(Carrier::Tcp))],
            &[2000],
        ),
        Living::new(
            "dns-ipv4",
            vec![name(
                18,
                of(Type::A)
                    .family(Family::Ipv4)
                    .servers(Servers::SecondAlone),
            )],
            &[0, 3000],
        ),
        Living::new(
            "dns-two",
            vec![name(17, of(Type::A).servers(Servers::Two))],
            &[0],
        ),
        Living::new(
            "dns-srv",
            vec![name(12, of(Type::Srv)), name(19, of(Type::Srv))],
            &[0, 3000],
        ),
        Living::new(
            "dns-srv-too",
            vec![name(
                15,
                of(Type::Srv).family(Family::Ipv6).servers(Servers::Two),
            )],
            &[0],
        ),
        Living::new("dns-txt", vec![name(13, of(Type::Txt))], &[0]),
        Living::new("kubernetes-a", vec![named], &[0, 2000]),
        Living::new("kubernetes-b", vec![numbered], &[2000, 4000]),
        Living::new("kubernetes-c", vec![only], &[0]),
        Living::new("kubernetes-d", vec![only_of_ipv4], &[0]),
        Living::new("file-a", vec![written(30, None), written(31, None)], &[0]),
        Living::new(
            "file-b",
            vec![written(32, None), written(35, None)],
            &[2000],
        ),
        Living::new("behind-url", vec![plain(6)], &[0]),
        Living::new(
            "behind-dns",
            vec![name(16, of(Type::Txt).family(Family::Ipv6))],
            &[0, 2000],
        ),
        Living::new(
            MOVES,
            vec![
                plain(5),
                name(14, of(Type::A).carrier(Carrier::Consul)),
                written(33, None),
            ],
            &[0, 2000],
        ),
    ];
    if let Some(mount) = Hanging::mount(
        "a soak with a file system that hangs",
        "list.txt",
        "10.0.0.1\n",
    ) {
        living.push(Living::new(
            "file-hangs",
            vec![written(34, Some(mount))],
            &[0, 2000],
        ));
    }
    SetUp {
        services: Services::new(living, Chance::of(seed, "services")),
        writers,
        files: vec![("ca.pem", authorities), ("kube.yml", kubeconfig)],
        renewals: vec![certificate, cluster_certificate],
    }
}
