//! Reloads with changing files, by request and by SIGHUP; and with files that must change nothing.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::sync::Arc;
use std::time::Instant;

use rustix::process::Signal;

use crate::services::{Configuration, Services};
use crate::stage::Stage;
use crate::support::wait_until;
use crate::truth::Spec;

/// What no configuration may say.
const BAD: [(&str, &str); 5] = [
    ("unknown key", "sevrice: 1"),
    (
        "missing CA",
        "bad: {url: {url: 'https://127.0.0.1/', ca_file: missing.pem}}",
    ),
    ("bad ttl", "bad: {file: x, cache_ttl: 5}"),
    ("no source", "bad: {default_port: 80}"),
    ("bad YAML", "bad: {file: [x"),
];
/// Lists of so many configurations are left where they are: requests for them may be under way.
const KEPT: usize = 20;

/// Starts the reloads; `first` is in force, and is the first of all.
pub(crate) fn start(stage: &Arc<Stage>, mut services: Services, first: Configuration) {
    let shared = stage.clone();
    let (mut chance, mut deck) = (stage.chance("reloads"), Vec::new());
    let (mut present, mut number, mut old) = (first, 0, VecDeque::new());
    stage.run("reloads", move || {
        shared.pause(chance.ms(300..3500));
        match chance.number(0..8) {
            0 | 2 => fail(&shared, &present, chance.deal(&mut deck, &BAD)),
            // The same file: the cache is emptied, and nothing else changes.
            1 => {
                number += 1;
                let epoch = shared.truth.begin_epoch(number, present.specs.clone());
                by_request(&shared, present.specs.len());
                let _ = epoch.done.set(Instant::now());
                shared.tally.count("reloads", "of the same file");
            }
            _ => {
                number += 1;
                let next = services.next();
                shared.vigie.setup.write(&next.list.0, &next.list.1);
                let epoch = shared.truth.begin_epoch(number, next.specs.clone());
                shared.vigie.setup.write_services(&next.text);
                match chance.one_in(2) {
                    true => by_request(&shared, next.specs.len()),
                    false => by_signal(&shared, &next),
                }
                let _ = epoch.done.set(Instant::now());
                check_log(&shared, &present.specs, &next);
                old.push_back(std::mem::replace(&mut present, next).list.0);
                if old.len() > KEPT
                    && let Some(file) = old.pop_front()
                {
                    fs::remove_file(shared.vigie.setup.path(&file)).unwrap();
                }
            }
        }
    });
}

fn by_request(stage: &Stage, services: usize) {
    let answer = stage.vigie.reload();
    assert_eq!(
        answer.summary(),
        (200, &*format!("{{\"services\":{services}}}\n"))
    );
    stage.tally.count("reloads", "by request");
}

fn by_signal(stage: &Stage, next: &Configuration) {
    stage.vigie.signal(Signal::HUP);
    wait_until("SIGHUP has reloaded", || {
        stage.vigie.list(&next.own).status != 404
    });
    stage.tally.count("reloads", "by SIGHUP");
}

/// The log says what has changed.
fn check_log(stage: &Stage, before: &HashMap<String, Spec>, next: &Configuration) {
    let now = &next.specs;
    let added = now.keys().filter(|name| !before.contains_key(*name));
    let removed = before.keys().filter(|name| !now.contains_key(*name));
    let is_changed = |name: &&String| before.get(*name).is_some_and(|old| !old.is(&now[*name]));
    let changed = now.keys().filter(is_changed);
    let words = format!(
        "reloaded: {} services; {}; {}; {}",
        now.len(),
        told("added", added),
        told("removed", removed),
        told("changed", changed)
    );
    // No other line has the end of that list.
    let line = stage.vigie.log.wait_for(&format!("{});", next.own));
    assert!(
        line.contains(&words),
        "{words:?} is not what is said: {line:?}"
    );
}

/// How many names there are, and the first of them.
fn told<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> String {
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    let first = names[..names.len().min(10)].join(", ");
    let more = if names.len() > 10 { ", …" } else { "" };
    match names.len() {
        0 => format!("0 {what}"),
        count => format!("{count} {what} ({first}{more})"),
    }
}

/// A file that is refused with words, and changes nothing.
fn fail(stage: &Stage, present: &Configuration, (what, line): (&str, &str)) {
    stage
        .vigie
        .setup
        .write_services(&format!("{}{line}\n", present.text));
    let answer = stage.vigie.reload();
    assert_eq!(answer.status, 500, "{what}: {answer:?}");
    assert!(answer.error().contains("config.yml"), "{what}: {answer:?}");
    stage.vigie.setup.write_services(&present.text);
    stage.tally.count("reloads", "refused");
}
