//! The rules for a list.

use std::time::{Duration, Instant};

use super::Kind;
use super::case::{Case, PATIENCE};
use super::epochs::Spec;
use super::log::{Log, Version};
use super::place::{Excuse, Give, Span};

/// With so much slack a read of a place that is well may take longer than is waited for it.
const HELD_UP: Duration = Duration::from_millis(650);

/// What the answer is, and which version it has, where only one has the body.
pub(super) fn check(
    case: &Case<'_>,
    spec: &Spec,
    log: &Log,
) -> Result<(Kind, Option<u64>), String> {
    let body = match case.asked.implied {
        Some(body) => body,
        None => std::str::from_utf8(&case.answer.body).map_err(|_| "a body that is not UTF-8")?,
    };
    let candidates = log.with_body(&spec.as_logged(body));
    if candidates.is_empty() {
        return Err(format!("a wrong list: {}", shown(body)));
    }
    let is_stale = case.answer.header("vigie-stale").is_some();
    let mut wrong = Vec::new();
    for version in &candidates {
        let rules = Rules {
            case,
            spec,
            log,
            version,
        };
        match if is_stale {
            rules.stale()
        } else {
            rules.fresh()
        } {
            Ok(()) => {
                let kind = match (is_stale, body) {
                    (true, _) => Kind::Stale,
                    (false, "[]\n") => Kind::Empty,
                    (false, _) => Kind::Fresh,
                };
                return Ok((kind, (body != "[]\n").then_some(version.number)));
            }
            Err(why) => wrong.push(format!(
                "version {} of {}: {why}",
                version.number, spec.place.name
            )),
        }
    }
    wrong.truncate(3);
    Err(wrong.join("; "))
}

struct Rules<'a> {
    case: &'a Case<'a>,
    spec: &'a Spec,
    log: &'a Log,
    version: &'a Version,
}

impl Rules<'_> {
    fn fresh(&self) -> Result<(), String> {
        self.is_the_latest()?;
        let age = self.seconds("age")?;
        let epoch = self.case.epochs[0].begun;
        let mut wrong = "it was not given yet".to_owned();
        for give in self.gives() {
            let until = self.ended_by(give);
            wrong = match () {
                () if give.begun.is_some_and(|begun| begun < epoch) && !self.is_joined(give) => {
                    "it was read before the reload".into()
                }
                () if self.case.asked.begun >= until + self.spec.ttl => {
                    format!(
                        "it was read {:?} before, and its ttl is {:?}",
                        self.case.asked.begun - until,
                        self.spec.ttl
                    )
                }
                () if !self.agrees(age, give, Duration::ZERO) => {
                    format!(
                        "its age is said to be {age} s, but it was read {:?} to {:?} before the answer",
                        self.case.asked.begun.saturating_duration_since(until),
                        self.case.asked.ended - give.from
                    )
                }
                () => return Ok(()),
            };
        }
        Err(wrong)
    }

    fn stale(&self) -> Result<(), String> {
        self.is_the_latest()?;
        self.is_excused()?;
        let (past, age) = (self.seconds("vigie-stale")?, self.seconds("age")?);
        let (ttl, max_stale) = (self.spec.ttl, self.spec.max_stale);
        if Duration::from_secs(past) >= max_stale {
            return Err(format!(
                "it is {past} s past its ttl, and max_stale is {max_stale:?}"
            ));
        }
        let chain = self.case.since(self.spec);
        let since = chain[chain.len() - 1].begun;
        // The configuration may have been read twice, and a list of the first time handed over to the second.
        let done = chain[0].done.get().filter(|_| chain.len() == 1);
        let is_its_own =
            |give: &Give| done.is_some_and(|done| give.begun.unwrap_or(give.from) > *done);
        let mut wrong = "it was not given yet".to_owned();
        for give in self.gives() {
            let until = self.ended_by(give);
            wrong = match () {
                () if give.begun.is_some_and(|begun| begun < since) => {
                    "it was read from another source".into()
                }
                () if self.given_at() >= until + ttl + max_stale => {
                    format!(
                        "it was read {:?} before; ttl {ttl:?}, max_stale {max_stale:?}",
                        self.given_at() - until
                    )
                }
                () if self.case.asked.ended < give.from + ttl && is_its_own(give) => {
                    "it is called stale, and is fresh".into()
                }
                () if !self.agrees(past, give, ttl) => {
                    format!("it is said to be {past} s past its ttl, and is not")
                }
                () if !self.agrees(age, give, Duration::ZERO) => {
                    format!("it is said to be {age} s old, and is not")
                }
                () => return Ok(()),
            };
        }
        Err(wrong)
    }

    /// The gives that may be meant, the last first.
    fn gives(&self) -> impl Iterator<Item = &Give> {
        self.version
            .gives
            .iter()
            .rev()
            .filter(|give| give.from <= self.case.asked.ended)
    }

    /// Whether the request may have waited for it, though it is from before its configuration.
    fn is_joined(&self, give: &Give) -> bool {
        self.case.may_be_joined(self.spec, give) && self.case.asked.begun <= self.ended_by(give)
    }

    /// The earliest moment at which the answer can have been given.
    fn given_at(&self) -> Instant {
        let asked = self.case.asked;
        asked.begun.max(asked.ended - self.case.slack)
    }

    /// By when such a read had ended.
    fn ended_by(&self, give: &Give) -> Instant {
        let ended = self.case.asked.ended;
        let until = give.until;
        let until = until.map_or(ended, |until| until + self.case.slack_after(until));
        match self.version.first_seen {
            Some(seen) if give.once && self.version.gives.len() == 1 => until.min(seen),
            _ => until,
        }
    }

    /// Whether so many whole seconds had passed since a moment after such a read.
    fn agrees(&self, seconds: u64, give: &Give, after: Duration) -> bool {
        let longest = self
            .case
            .asked
            .ended
            .saturating_duration_since(give.from + after);
        let shortest = self
            .case
            .asked
            .begun
            .saturating_duration_since(self.ended_by(give) + after);
        (shortest.as_secs()..=longest.as_secs()).contains(&seconds)
    }

    /// No later version was in the memory of the service already.
    fn is_the_latest(&self) -> Result<(), String> {
        match self.case.at_hand(self.spec, self.log) {
            Some((later, _)) if later > self.version.number => {
                Err(format!("version {later} was at hand"))
            }
            _ => Ok(()),
        }
    }

    /// The place was not well, and that is what is said of it.
    fn is_excused(&self) -> Result<(), String> {
        let reason = self
            .case
            .answer
            .header("vigie-error")
            .ok_or("stale without a reason")?;
        let is_awaited = |span: &Span| matches!(span.excuse, Excuse::Slow | Excuse::Silent);
        let took = self.case.asked.ended - self.case.asked.begun;
        match reason == "the source has not answered yet" {
            true if took < PATIENCE => Err(format!("stale after only {took:?}")),
            true if self.case.faults(self.log).any(is_awaited) => Ok(()),
            // Held up as much, a good read takes as long.
            true if self.case.slack > HELD_UP => Ok(()),
            false
                if !reason.starts_with(&format!(
                    "service {}: {} ",
                    self.case.asked.service, self.spec.kind
                )) =>
            {
                Err(format!("stale because of {reason:?}"))
            }
            false if self.case.faults(self.log).any(|span| span.explains(reason)) => Ok(()),
            false if self.case.is_late(self.log, reason) => Ok(()),
            _ => Err(format!(
                "no fault of its place, and no slack of {:?}, explains {reason:?}",
                self.case.slack
            )),
        }
    }

    fn seconds(&self, header: &str) -> Result<u64, String> {
        let value = self.case.answer.header(header);
        let seconds = value.and_then(|value| value.parse().ok());
        seconds.ok_or_else(|| format!("{header} is {value:?}"))
    }
}

/// The begin and the end of a body, and how many endpoints it has.
fn shown(body: &str) -> String {
    let ips: Vec<&str> = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"ip\": "))
        .collect();
    let (first, last) = (ips.first().unwrap_or(&""), ips.last().unwrap_or(&""));
    format!("{} endpoints, {first} to {last}", ips.len())
}
