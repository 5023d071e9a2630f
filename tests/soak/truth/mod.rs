//! What is true at each moment, and what an answer may therefore be.
//!
//! The rules compare what was seen: a list comes from an exchange that no other list comes from, so the first answer
//! that has it tells when its read had ended at the latest, and the peer tells when it can have ended at the earliest.
//! Only what nobody has seen (how long a failure is on its way, or a file that is read) is given some slack.

mod behind;
mod case;
mod dossier;
mod epochs;
mod list;
mod log;
mod place;

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use self::case::Case;
pub(crate) use self::case::TIMEOUT;
use self::epochs::Epochs;
pub(crate) use self::epochs::{Epoch, Spec};
pub(crate) use self::place::{Excuse, Give, Place};
use crate::jitter::Jitter;
use crate::support::Answer;

/// A read that has begun may take so long to reach its peer.
pub(crate) const ON_THE_WAY: Duration = Duration::from_secs(1);

/// The checker.
#[derive(Default)]
pub(crate) struct Truth {
    epochs: RwLock<Epochs>,
    pub(crate) jitter: Jitter,
}

/// One request for a list.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) service: &'a str,
    /// Before its first byte was sent.
    pub(crate) begun: Instant,
    /// From when on nothing but this request was waited for.
    pub(crate) alone: Instant,
    /// When its answer was there.
    pub(crate) ended: Instant,
    /// The body whose entity tag the answer has, when that is known and it has no body of its own.
    pub(crate) implied: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// One whose answer has just come, and that stood alone.
    pub(crate) fn answered(service: &'a str, begun: Instant) -> Self {
        Self {
            service,
            begun,
            alone: begun,
            ended: Instant::now(),
            implied: None,
        }
    }
}

/// What an answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fresh,
    Empty,
    Stale,
    Failed,
    TimedOut,
    Absent,
}

/// An answer that is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) kind: Kind,
    /// The version, where only one has the body.
    version: Option<u64>,
    /// The first and the last epoch that it may come from.
    pub(crate) epochs: (u64, u64),
}

impl Truth {
    /// A configuration whose file is about to be written.
    pub(crate) fn begin_epoch(&self, number: u64, services: HashMap<String, Spec>) -> Arc<Epoch> {
        self.epochs.write().unwrap().begin(number, services, true)
    }

    /// The configuration of before, which a reload finds again if it comes before the next one is written.
    pub(crate) fn repeat_epoch(&self, number: u64, services: HashMap<String, Spec>) -> Arc<Epoch> {
        self.epochs.write().unwrap().begin(number, services, false)
    }

    /// Whether an answer is allowed. Errors: why it is not, under each configuration that may have been in force.
    pub(crate) fn check(&self, asked: &Asked<'_>, answer: &Answer) -> Result<Allowed, String> {
        let met = self.epochs.read().unwrap().met(asked.begun, asked.ended);
        // Who waits for a read may have come long after it began.
        let read = match answer.status {
            504 => asked.begun.min(asked.ended - TIMEOUT),
            _ => asked.begun,
        };
        let slack = self.jitter.slack(read, asked.ended);
        let (mut wrong, mut allowed) = (Vec::new(), None::<Allowed>);
        for epochs in &met {
            let number = epochs[0].number;
            match (Case {
                epochs,
                asked,
                answer,
                slack,
                jitter: &self.jitter,
            })
            .check()
            {
                Ok((kind, version)) => {
                    let last = allowed.map_or(number, |allowed| allowed.epochs.1);
                    allowed = Some(Allowed {
                        kind,
                        version,
                        epochs: (number, last),
                    });
                }
                Err(why) => wrong.push(format!("configuration {number}: {why}")),
            }
        }
        let allowed = allowed.ok_or_else(|| wrong.join("; "))?;
        // Other configurations may read the service elsewhere.
        let is_its_own = |epochs: &&Vec<Arc<Epoch>>| epochs[0].number == allowed.epochs.0;
        if let (Some(epochs), Some(number)) = (met.iter().find(is_its_own), allowed.version) {
            match met.len() {
                1 => note(&epochs[0], asked, number, allowed.kind),
                _ => see(&epochs[0], asked, number),
            }
        }
        Ok(allowed)
    }

    /// A request for a list has come to its place just now.
    ///
    /// Errors: the list before it was still fresh, or its read was still under way.
    pub(crate) fn arrived(&self, place: &Arc<Place>) -> Result<Instant, String> {
        let now = Instant::now();
        let epochs = self.epochs.read().unwrap();
        let Some(epoch) = epochs.only(now, now) else {
            return Ok(now);
        };
        let Some(last) = place.log().last_fresh(epoch.number) else {
            return Ok(now);
        };
        // Who asks after a reload may be given what a read from before it gives, which is not kept.
        let begun = last.begun.unwrap_or(last.from) - ON_THE_WAY;
        let begun = begun - self.slack(begun, begun + ON_THE_WAY);
        if epochs.only(begun, now).is_none() {
            return Ok(now);
        }
        let spec = epoch
            .services
            .values()
            .find(|spec| Arc::ptr_eq(&spec.place, place));
        match spec {
            Some(spec) if now < last.from + spec.ttl => Err(format!(
                "{} was read again {:?} after a good read, though its ttl is {:?}",
                place.name,
                now - last.from,
                spec.ttl
            )),
            _ => Ok(now),
        }
    }

    /// A request has come just now from who says that this version is at hand.
    ///
    /// Errors: a later one surely was.
    pub(crate) fn has(&self, place: &Place, version: u64) -> Result<(), String> {
        let now = Instant::now();
        let epochs = self.epochs.read().unwrap();
        let log = place.log();
        let Some(epoch) = epochs.only(now - TIMEOUT, now) else {
            return Ok(());
        };
        let Some((later, give)) = log.latest_fresh(epoch.number) else {
            return Ok(());
        };
        // Reads from before a reload may end beside those of after it.
        let begun = give.begun.unwrap_or(give.from).min(now - TIMEOUT) - ON_THE_WAY;
        let begun = begun - self.slack(begun, now);
        match later > version && epochs.only(begun, now).is_some() {
            true => Err(format!(
                "{} was asked by who has version {version}, after version {later} was taken",
                place.name
            )),
            false => Ok(()),
        }
    }

    /// Whether no reload was near this time.
    pub(crate) fn is_calm(&self, from: Instant, to: Instant) -> bool {
        self.epochs
            .read()
            .unwrap()
            .only(from - ON_THE_WAY, to)
            .is_some()
    }

    /// Whether the reads from before a reload have asked all by now.
    pub(crate) fn is_settled(&self, now: Instant) -> bool {
        let slack = self.slack(now, now);
        self.epochs.read().unwrap().only(now - slack, now).is_some()
    }

    /// The slack that there is between two moments.
    pub(crate) fn slack(&self, from: Instant, to: Instant) -> Duration {
        self.jitter.slack(from, to)
    }
}

/// A version has answered a request.
fn see(epoch: &Epoch, asked: &Asked<'_>, number: u64) {
    let Some(spec) = epoch.services.get(asked.service) else {
        return;
    };
    if let Some(version) = spec.place.log().version(number) {
        let first = version
            .first_seen
            .map_or(asked.ended, |seen| seen.min(asked.ended));
        version.first_seen = Some(first);
    }
}

/// It has, and no other epoch can have given it.
fn note(epoch: &Epoch, asked: &Asked<'_>, number: u64, kind: Kind) {
    see(epoch, asked, number);
    let Some(spec) = epoch.services.get(asked.service) else {
        return;
    };
    if let Some(version) = spec.place.log().version(number) {
        match version
            .landed
            .iter_mut()
            .find(|(number, _)| *number == epoch.number)
        {
            Some((_, at)) => *at = (*at).min(asked.ended),
            None => version.landed.push((epoch.number, asked.ended)),
        }
        if kind == Kind::Fresh {
            version.fresh_in = Some(epoch.number);
        }
    }
}
