//! Reloads with changing files, by request and by SIGHUP; and with files that must change nothing.

mod handed_over;
mod overtaken;

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;

use self::handed_over::Way;

use crate::chance::Chance;
use crate::places::Renewal;
use crate::resources::value;
use crate::services::{Configuration, Services};
use crate::stage::Stage;
use crate::support::wait_until;
use crate::truth::{Epoch, Excuse, Place, Spec};

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
/// Files that services are built from, which may be broken when they are read again.
const BUILT_FROM: [&str; 2] = ["ca.pem", "kube.yml"];
/// What is said of a server that has another certificate; a connection that it took before ends.
const RENEWED: [&str; 2] = ["TLS: ", "the server ended the connection"];
/// Lists of so many configurations are left where they are: requests for them may be under way.
const KEPT: usize = 20;

#[derive(Clone, Copy)]
enum Kind {
    Next,
    Same,
    /// The same, while a read goes on that is overtaken by the next one.
    Overtaking,
    /// One in which the list of a service may stand in that is only kept for its ttl before.
    HandingOver,
    Refused,
    OfABrokenFile,
}

const KINDS: [Kind; 14] = [
    Kind::Next,
    Kind::Next,
    Kind::Next,
    Kind::Next,
    Kind::Next,
    Kind::Same,
    Kind::Overtaking,
    Kind::Overtaking,
    Kind::HandingOver,
    Kind::HandingOver,
    Kind::HandingOver,
    Kind::Refused,
    Kind::Refused,
    Kind::OfABrokenFile,
];

/// Who reloads.
struct Reloads {
    stage: Arc<Stage>,
    services: Services,
    renewals: Vec<Renewal>,
    chance: Chance,
    /// What is in force, and its number.
    present: Configuration,
    number: u64,
    /// The lists of configurations from before.
    old: VecDeque<String>,
    /// How long the last reload took.
    took: Duration,
    /// How the next lists are handed over.
    ways: Vec<Way>,
}

/// Starts the reloads; `first` is in force, and is the first of all.
pub(crate) fn start(
    stage: &Arc<Stage>,
    services: Services,
    first: Configuration,
    renewals: Vec<Renewal>,
) {
    let mut reloads = Reloads {
        stage: stage.clone(),
        services,
        renewals,
        chance: stage.chance("reloads"),
        present: first,
        number: 0,
        old: VecDeque::new(),
        took: Duration::from_millis(12),
        ways: Vec::new(),
    };
    let (mut kinds, mut bad) = (Vec::new(), Vec::new());
    stage.run("reloads", move || {
        let chance = &mut reloads.chance;
        reloads.stage.pause(chance.ms(300..3500));
        match chance.deal(&mut kinds, &KINDS) {
            Kind::OfABrokenFile => break_file(&reloads.stage, chance.of_these(&BUILT_FROM)),
            Kind::Refused => {
                let bad = chance.deal(&mut bad, &BAD);
                fail(&reloads.stage, &reloads.present, bad);
            }
            Kind::Overtaking => reloads.overtaking(),
            Kind::HandingOver => reloads.handing_over(),
            Kind::Same => reloads.same(),
            Kind::Next => reloads.next(),
        }
    });
}

impl Reloads {
    /// The same file: the cache is emptied, and nothing else changes.
    fn same(&mut self) {
        let renewed = self.renew();
        self.again();
        drop(renewed);
        self.stage.tally.count("reloads", "of the same file");
    }

    /// The same file by request.
    fn again(&mut self) {
        self.number += 1;
        let specs = &self.present.specs;
        let epoch = self.stage.truth.begin_epoch(self.number, specs.clone());
        by_request(&self.stage, specs.len());
        let _ = epoch.done.set(Instant::now());
    }

    fn next(&mut self) {
        let next = self.services.next();
        let renewed = self.renew();
        let is_requested = self.chance.one_in(2);
        // It may find either file, and may be under way when the next one is asked for.
        let mut other = (is_requested && !self.chance.one_in(4)).then(|| {
            self.number += 1;
            let (number, specs) = (self.number, self.present.specs.clone());
            let epoch = self.stage.truth.repeat_epoch(number, specs);
            (epoch, self.stage.vigie.connect())
        });
        if let Some((_, other)) = &mut other {
            other.send(b"POST /reload HTTP/1.1\r\nHost: x\r\n\r\n");
            std::thread::sleep(self.chance.share_of(self.took));
        }
        let epoch = self.begin(&next);
        match is_requested {
            true => {
                self.took = by_request(&self.stage, next.specs.len());
                // It was not the outcome of another one, which was under way.
                assert_ne!(self.stage.vigie.list(&next.own).status, 404);
            }
            false => by_signal(&self.stage, &next),
        }
        if let Some((before, mut other)) = other {
            assert_eq!(other.receive().status, 200);
            let _ = before.done.set(Instant::now());
        }
        let _ = epoch.done.set(Instant::now());
        drop(renewed);
        self.is_in_force(next);
    }

    /// The next configuration, in which the last good list of a service may stand in.
    fn next_standing_in(&mut self, service: &str) {
        let next = self.services.next_with(Some(service));
        let epoch = self.begin(&next);
        self.took = by_request(&self.stage, next.specs.len());
        let _ = epoch.done.set(Instant::now());
        self.is_in_force(next);
    }

    /// Writes the next configuration.
    fn begin(&mut self, next: &Configuration) -> Arc<Epoch> {
        let (list, text) = &next.list;
        self.stage.vigie.setup.write(list, text);
        self.number += 1;
        let specs = next.specs.clone();
        let epoch = self.stage.truth.begin_epoch(self.number, specs);
        write(&self.stage, next, "");
        epoch
    }

    /// The next configuration was reloaded.
    fn is_in_force(&mut self, next: Configuration) {
        check_log(&self.stage, &self.present.specs, &next);
        let before = std::mem::replace(&mut self.present, next);
        self.old.push_back(before.list.0);
        if self.old.len() > KEPT
            && let Some(file) = self.old.pop_front()
        {
            fs::remove_file(self.stage.vigie.setup.path(&file)).unwrap();
        }
    }

    /// A service of the present configuration.
    fn one_of(&mut self, is_meant: impl Fn(&Spec) -> bool) -> Option<(String, Spec)> {
        let specs = self.present.specs.iter();
        let mut meant: Vec<_> = specs.filter(|(_, spec)| is_meant(spec)).collect();
        meant.sort_unstable_by_key(|(service, _)| *service);
        let (service, spec) = (!meant.is_empty()).then(|| self.chance.of_these(&meant))?;
        Some((service.clone(), spec.clone()))
    }

    /// Some servers get other certificates.
    fn renew(&mut self) -> Vec<Renewed> {
        let (chance, stage) = (&mut self.chance, &self.stage);
        let some = self.renewals.iter_mut().filter(|_| chance.one_in(2));
        some.map(|renewal| renew(stage, renewal)).collect()
    }
}

/// From when a server has another certificate until whoever reads it believes that one, it may fail.
struct Renewed(Vec<(Arc<Place>, u64)>);

impl Drop for Renewed {
    fn drop(&mut self) {
        for (place, span) in &self.0 {
            place.end(*span);
        }
    }
}

fn renew(stage: &Stage, renewal: &mut Renewal) -> Renewed {
    let begin = |place: &Arc<Place>| (place.clone(), place.begin(Excuse::Saying(&RENEWED)));
    let renewed = Renewed(renewal.places.iter().map(begin).collect());
    stage.vigie.setup.write(renewal.file, (renewal.renew)());
    stage
        .tally
        .count("reloads", format!("with another {}", renewal.file));
    renewed
}

/// Gives how long it took.
fn by_request(stage: &Stage, services: usize) -> Duration {
    let (begin, begun) = (Instant::now(), SystemTime::now());
    let answer = stage.vigie.reload();
    assert_eq!(
        answer.summary(),
        (200, &*format!("{{\"services\":{services}}}\n"))
    );
    let took = begin.elapsed();
    check_metrics(stage, begun);
    stage.tally.count("reloads", "by request");
    took
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

/// Writes a configuration, with one more line among its services.
fn write(stage: &Stage, Configuration { cache, text, .. }: &Configuration, line: &str) {
    let services = format!("{text}{line}\n");
    stage.vigie.setup.write_services_and(cache, &services);
}

/// A file that is refused with words, and changes nothing.
fn fail(stage: &Stage, present: &Configuration, (what, line): (&str, &str)) {
    write(stage, present, line);
    refused(stage, "config.yml", what);
    write(stage, present, "");
    stage.tally.count("reloads", "refused");
}

/// A reload that fails for this file, and is no success in the metrics.
fn refused(stage: &Stage, file: &str, what: &str) {
    let (_, before) = last_reload(stage);
    let answer = stage.vigie.reload();
    assert_eq!(answer.status, 500, "{what}: {answer:?}");
    assert!(answer.error().contains(file), "{what}: {answer:?}");
    assert_eq!(last_reload(stage), (0.0, before), "{what} in the metrics");
}

/// Whether the last reload was successful, and when the last successful one was, by the metrics.
fn last_reload(stage: &Stage) -> (f64, f64) {
    let text = stage.vigie.get("/metrics");
    let value = |metric: &str| value(text.text(), metric).unwrap();
    (
        value("vigie_config_last_reload_successful"),
        value("vigie_config_last_reload_success_timestamp_seconds"),
    )
}

/// The metrics say that there was a reload since.
fn check_metrics(stage: &Stage, begun: SystemTime) {
    let (successful, at) = last_reload(stage);
    let since = seconds(begun)..=seconds(SystemTime::now());
    assert!(
        successful == 1.0 && since.contains(&at),
        "the metrics say {successful}, at {at}, which is not in {since:?}"
    );
}

/// A date as the metrics have it, to the thousandth of a second.
fn seconds(date: SystemTime) -> f64 {
    let since = date.duration_since(UNIX_EPOCH).unwrap();
    since.as_millis() as f64 / 1000.0
}

/// A file that services are built from is broken: that is refused with words, and changes nothing.
fn break_file(stage: &Stage, file: &str) {
    let setup = &stage.vigie.setup;
    let good = fs::read(setup.path(file)).unwrap();
    setup.write(file, "x");
    refused(stage, file, file);
    setup.write(file, good);
    stage.tally.count("reloads", "of a broken file");
}
