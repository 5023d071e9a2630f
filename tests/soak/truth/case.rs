//! One answer under one configuration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::epochs::{Epoch, Spec};
use super::list;
use super::log::{Log, Version};
use super::place::{Excuse, Give, LATE, Span};
use super::{Asked, Kind, ON_THE_WAY};
use crate::jitter::Jitter;
use crate::support::Answer;

/// What takes no time takes so long at most, before slack.
const QUICK: Duration = Duration::from_millis(800);
/// While a list may stand in, a read is waited for so long.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);
/// Of every source here.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(2500);

/// An answer, and the configuration under which it is looked at.
pub(super) struct Case<'a> {
    /// The configuration, and those before it, the latest first.
    pub(super) epochs: &'a [Arc<Epoch>],
    pub(super) asked: &'a Asked<'a>,
    pub(super) answer: &'a Answer,
    pub(super) slack: Duration,
    pub(super) jitter: &'a Jitter,
}

impl Case<'_> {
    /// What the answer is, and which version it has. Errors: why it is not allowed.
    pub(super) fn check(&self) -> Result<(Kind, Option<u64>), String> {
        let service = self.asked.service;
        let Some(spec) = self.epochs[0].services.get(service) else {
            let is_absent = self.answer.status == 404 && self.answer.error().contains(service);
            let wrong = || {
                format!(
                    "there is no such service, but the answer is {}",
                    self.answer.status
                )
            };
            return is_absent.then_some((Kind::Absent, None)).ok_or_else(wrong);
        };
        let log = spec.place.log();
        self.check_time(spec, &log)?;
        match self.answer.status {
            200 | 304 => list::check(self, spec, &log),
            502 => self
                .check_failure(spec, &log)
                .map(|()| (Kind::Failed, None)),
            504 => self
                .check_failure(spec, &log)
                .map(|()| (Kind::TimedOut, None)),
            other => Err(format!("status {other}")),
        }
    }

    /// The slack that there is for what ends shortly after a moment: the machine may have been held up then, and not now.
    pub(super) fn slack_after(&self, moment: Instant) -> Duration {
        let soon = (moment + QUICK).min(self.asked.ended);
        self.jitter.slack(moment, soon).max(self.slack)
    }

    /// Faults that a read may have met that this request has waited for.
    pub(super) fn faults<'a>(&'a self, log: &'a Log) -> impl Iterator<Item = &'a Span> {
        let from = self.asked.begun - self.slack;
        let is_met = move |span: &&Span| {
            span.begin <= self.asked.ended && span.end.is_none_or(|end| end >= from)
        };
        log.spans.iter().filter(is_met)
    }

    /// The latest version that surely was in the memory of the service when the request came, and the first exchange that
    /// gave it: of another one nobody knows whether it was taken.
    pub(super) fn at_hand(&self, spec: &Spec, log: &Log) -> Option<(u64, Give)> {
        let chain = self.chain(spec);
        let is_there = |(number, at): &(u64, Instant)| match chain
            .iter()
            .position(|epoch| epoch.number == *number)
        {
            Some(0) => *at <= self.asked.begun,
            // It was there when the next one began, and was taken over from one to the next since.
            Some(later) => spec.max_stale > Duration::ZERO && *at <= chain[later - 1].begun,
            None => false,
        };
        let is_kept = |version: &Version| {
            let may_be_joined = |give: &Give| self.may_be_joined(spec, give);
            !spec.max_stale.is_zero() || !version.gives.iter().all(may_be_joined)
        };
        let is_had = |version: &&Version| {
            version.landed.iter().any(is_there) && is_kept(version)
                || self.is_handed_over(spec, &chain, version)
        };
        let mut there = log.last_first().filter(is_had);
        there
            .next()
            .and_then(|version| Some((version.number, *version.gives.first()?)))
    }

    /// Whether a request in the configuration may have waited for such a read from before it: that of the configuration
    /// before, while another one from before that was under way as well. What it gives is not kept for its ttl.
    pub(super) fn may_be_joined(&self, spec: &Spec, give: &Give) -> bool {
        let [present, before, first, ..] = self.epochs else {
            return false;
        };
        let is_same = |epoch: &Epoch| {
            let old = epoch.services.get(self.asked.service);
            old.is_some_and(|old| old.same_source(spec))
        };
        let done = present.done.get();
        is_same(before)
            && is_same(first)
            && give
                .begun
                .is_some_and(|begun| done.is_none_or(|done| begun < *done))
            && give.from < before.begun + TIMEOUT + self.slack
    }

    /// Whether a version was surely handed over to the first configuration of the chain by the one before it, where none
    /// may stand in, but which kept it for its ttl.
    fn is_handed_over(&self, spec: &Spec, chain: &[&Epoch], version: &Version) -> bool {
        let (Some(before), Some(first)) = (self.epochs.get(chain.len()), chain.last()) else {
            return false;
        };
        let Some(old) = before.services.get(self.asked.service) else {
            return false;
        };
        let (&[give], Some(done), Some(handed)) =
            (&version.gives[..], before.done.get(), first.done.get())
        else {
            return false;
        };
        let was_there =
            |(number, at): &(u64, Instant)| *number == before.number && *at <= first.begun;
        // By a read of its own, which began after the reload.
        let is_its_own = |begun| begun > *done + ON_THE_WAY + self.slack;
        old.same_source(spec)
            && old.max_stale.is_zero()
            && !spec.max_stale.is_zero()
            && version.landed.iter().any(was_there)
            && give.begun.is_some_and(is_its_own)
            && *handed < give.from + old.ttl
    }

    /// The configuration and those right before it in which the source of the service is the same, and whose last good
    /// lists are surely taken over.
    fn chain(&self, spec: &Spec) -> Vec<&Epoch> {
        let mut chain = self.since(spec);
        let keeps = |epoch: &&Epoch| {
            let spec = epoch.services.get(self.asked.service);
            spec.is_some_and(|spec| spec.max_stale > Duration::ZERO)
        };
        let sure = chain[1..].iter().take_while(|epoch| keeps(epoch)).count();
        chain.truncate(1 + sure);
        chain
    }

    /// The same with those whose last good lists may be taken over: without `max_stale` the list that is kept for its ttl
    /// is, but none from before.
    pub(super) fn since(&self, spec: &Spec) -> Vec<&Epoch> {
        let mut since = vec![&*self.epochs[0]];
        for epoch in &self.epochs[1..] {
            let Some(before) = epoch.services.get(self.asked.service) else {
                break;
            };
            if !before.same_source(spec) {
                break;
            }
            since.push(&**epoch);
            if before.max_stale.is_zero() && epoch.is_sure {
                break;
            }
        }
        since
    }

    fn check_time(&self, spec: &Spec, log: &Log) -> Result<(), String> {
        let took = self.asked.ended.saturating_duration_since(self.asked.alone);
        let stands_in = self
            .at_hand(spec, log)
            .is_some_and(|(_, give)| self.stands_in(spec, &give));
        let limit = match () {
            () if self.faults(log).next().is_none() => QUICK,
            () if stands_in => PATIENCE + QUICK,
            () => TIMEOUT + QUICK,
        };
        match took <= limit + self.slack {
            true => Ok(()),
            false => Err(format!(
                "it took {took:?}, and {:?} are allowed ({} faults)",
                limit + self.slack,
                self.faults(log).count()
            )),
        }
    }

    /// Whether a list from such a read may still stand in when the request has ended.
    fn stands_in(&self, spec: &Spec, give: &Give) -> bool {
        spec.max_stale > Duration::ZERO && self.asked.ended < give.from + spec.ttl + spec.max_stale
    }

    fn check_failure(&self, spec: &Spec, log: &Log) -> Result<(), String> {
        let sentence = self.answer.error();
        let begin = format!("service {}: {} ", self.asked.service, spec.kind);
        if !sentence.starts_with(&begin) {
            return Err(format!(
                "an error that does not begin with {begin:?}: {sentence:?}"
            ));
        }
        if let Some((version, give)) = self.at_hand(spec, log)
            && (self.stands_in(spec, &give) || self.asked.ended < give.from + spec.ttl)
        {
            return Err(format!(
                "version {version} was at hand, but the answer is {sentence:?}"
            ));
        }
        let is_explained = match self.answer.status {
            504 => self.is_late(log, &sentence),
            _ => self.faults(log).any(|span| span.explains(&sentence)),
        };
        match is_explained {
            true => Ok(()),
            false => Err(format!(
                "no fault of its place, and no slack of {:?}, explains {} {sentence:?}",
                self.slack, self.answer.status
            )),
        }
    }

    /// Whether these words say that there was no answer in time, and there need not have been one: its peer was silent, or
    /// slow, or a good answer may take as long here.
    pub(super) fn is_late(&self, log: &Log, reason: &str) -> bool {
        let is_late = |span: &Span| {
            let end = span.end.unwrap_or(self.asked.ended);
            let lasted = end.saturating_duration_since(span.begin);
            match span.excuse {
                Excuse::Silent => true,
                Excuse::Slow => lasted + self.slack > TIMEOUT,
                Excuse::Failing | Excuse::Saying(_) => false,
            }
        };
        LATE.iter().any(|words| reason.contains(words))
            && (QUICK + self.slack > TIMEOUT || self.faults(log).any(is_late))
    }
}
