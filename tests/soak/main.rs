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
//! | [`scene`] | which peers and services there are |
//! | [`services`], [`reloads`] | the configurations, and how one follows the other |
//! | [`honest`], [`watchers`], [`behind`], [`bad`] | the clients |
//! | [`truth`] | what each place has said and when, and the rules for an answer |
//! | [`jitter`] | how late this machine is, for the few rules that need slack |
//! | [`covered`] | what must have happened |
//! | [`resources`] | memory, files, threads and metrics at quiet moments |
//! | [`turns`] | the requests that a place is answering |
//! | [`holds`] | an answer that is held across a reload |
//! | [`stage`], [`tally`] | what all share |

#[path = "../support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "the promises need more of it")]
mod support;

mod bad;
mod behind;
mod chance;
mod covered;
mod holds;
mod honest;
mod jitter;
mod lists;
mod mood;
mod places;
mod reloads;
mod resources;
mod scene;
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
use crate::places::Later;
use crate::resources::Resources;
use crate::scene::{SetUp, set_up};
use crate::stage::{SECRET, Stage};
use crate::support::Setup;
use crate::tally::Tally;
use crate::truth::Truth;

const SECONDS: u64 = 60;
const RESOLV_CONF: &str = "resolv.conf";
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
        resolv_conf,
        renewals,
    } = set_up(&later, seed);
    let names: Vec<&'static str> = services.living.iter().map(|service| service.name).collect();
    let first = services.next();
    let crowd = lists::lines(&services::crowd(), &mut Chance::of(seed, "crowd"));
    let setup = Setup::services(&first.text)
        .addresses(&["127.0.0.1:0", "unix:vigie.sock"])
        .top(&first.cache)
        .server("request_timeout: 2s\nwrite_timeout: 2s\nmax_connections: 2000")
        .file("token", format!("{SECRET}0-token\n"))
        .file("pair-b.txt", "10.92.0.1\n")
        .file("crowd.txt", crowd)
        .file(&first.list.0, &first.list.1);
    let setup = files
        .iter()
        .fold(setup, |setup, (name, text)| setup.file(name, text));
    let vigie = match resolv_conf {
        None => setup.start(),
        Some(text) => {
            let path = setup.path(RESOLV_CONF);
            let instead = support::resolv_conf::instead(&path);
            setup.file(RESOLV_CONF, text).after(&instead).start()
        }
    };
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
        let folder = watching.vigie.setup.path("");
        watching
            .truth
            .jitter
            .watch(|| watching.goes_on(), waited, &folder);
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
    let log = stage.vigie.log.text();
    if let Some(line) = covered::repeated(&log) {
        stage.conclude(format!("the log says again: {line}"));
    }
    let unlogged = covered::unlogged(&log);
    missing.extend(unlogged.iter().map(|words| format!("log: {words}")));
    if length >= Duration::from_secs(covered::LENGTH) && !missing.is_empty() {
        stage.conclude(format!(
            "it proves nothing, for these never happened: {missing:?}"
        ));
    }
    let told = format!("{}{}\n", stage.tally.told(), resources.told(&stage));
    (stage.failure(), told)
}
