//! What goes wrong with a name, and for how long that is an excuse.

use std::time::{Duration, Instant};

use super::said::Said;
use super::servers::First;
use super::{Family, Read, TIMEOUT, Type, Wanted, Zone};
use crate::support::dns::{Asked, NOTIMP, REFUSED, SERVFAIL};
use crate::truth::Excuse;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Servfail,
    Refused,
    Silent,
    /// The first datagram of each question is lost.
    Lost,
    Malformed,
    /// It says that it is truncated, and over TCP there is no whole answer.
    TruncatedForGood,
    /// One family fails while the other has addresses, which is a good answer.
    OneRefused,
    /// One family is silent.
    OneSilent,
    /// One family has an answer that is none.
    OneMalformed,
    /// SRV: addresses without SRV records, over TCP too.
    Trimmed,
    /// SRV: the look-up of one target fails.
    TargetFails,
    /// SRV: it has no answer.
    TargetSilent,
    /// SRV: no target has an address.
    AllGone,
    /// TXT: a line that cannot be read.
    BadLine,
}

const OF_ALL: [Fault; 6] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
];
const OF_BOTH: [Fault; 9] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::OneRefused,
    Fault::OneSilent,
    Fault::OneMalformed,
];
/// Over TCP nothing is lost.
const OVER_TCP: [Fault; 8] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::OneRefused,
    Fault::OneSilent,
    Fault::OneMalformed,
];
const OF_SRV: [Fault; 10] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::Trimmed,
    Fault::TargetFails,
    Fault::TargetSilent,
    Fault::AllGone,
];
const OF_TXT: [Fault; 7] = [
    Fault::Servfail,
    Fault::Refused,
    Fault::Silent,
    Fault::Lost,
    Fault::Malformed,
    Fault::TruncatedForGood,
    Fault::BadLine,
];

/// Those that a name can have.
pub(super) fn of(wanted: &Wanted) -> &'static [Fault] {
    match wanted.kind {
        Type::A if wanted.is_over_tcp() => &OVER_TCP,
        Type::A if wanted.family == Family::Any => &OF_BOTH,
        Type::A => &OF_ALL,
        Type::Srv => &OF_SRV,
        Type::Txt => &OF_TXT,
    }
}

/// Over TCP, when that was no whole answer over UDP: of this read, or of the one beside it.
const OVER_TCP_IT: &str = " answer, and over TCP it ";
/// What is said of an answer that is none: so many of a malformed one, then those of one that is cut off.
static NO_ANSWER: [&str; 9] = [
    " gave a malformed answer: ",
    "CNAME records",
    " answered response code 16",
    " answered NOTAUTH",
    OVER_TCP_IT,
    // Where nothing but TCP is spoken.
    "it closed the TCP connection before the answer was whole",
    "it is truncated over TCP",
    "it answers another question",
    "receiving over TCP: ",
];
const OF_MALFORMED: usize = 4;

impl Fault {
    /// The sentences that there are for it, as parts of them.
    fn words(self) -> &'static [&'static str] {
        match self {
            // These are lists, or nothing.
            Self::Silent | Self::Lost | Self::OneRefused => &[],
            Self::OneSilent | Self::TargetSilent => &[],
            Self::Servfail => &[" answered SERVFAIL"],
            Self::Refused => &[" answered REFUSED"],
            Self::Malformed => &NO_ANSWER[..OF_MALFORMED],
            Self::TruncatedForGood => &NO_ANSWER[OF_MALFORMED..],
            Self::OneMalformed => &NO_ANSWER,
            Self::Trimmed => &[OVER_TCP_IT],
            Self::TargetFails => &[" answered SERVFAIL", " answered REFUSED"],
            Self::AllGone => &["no target of its SRV records has an address"],
            Self::BadLine => &["the TXT record "],
        }
    }
}

impl Zone {
    /// What is said when the question for the name meets a fault.
    pub(super) fn plays(&self, asked: &Asked, read: &mut Read, is_known: bool) -> Option<Said> {
        // The family that fails alone is the same for both questions.
        let is_failing = (asked.kind == "A") == read.version.is_multiple_of(2);
        Some(match read.fault? {
            Fault::Servfail => Said::error(asked, SERVFAIL),
            Fault::Refused => Said::error(asked, REFUSED),
            Fault::Silent => Said::nothing(),
            Fault::Lost if !asked.tcp && !is_known => Said::nothing(),
            Fault::Malformed => self.malformed(asked, read),
            Fault::TruncatedForGood => self.cut_off(asked, read),
            Fault::OneSilent if is_failing => Said::nothing(),
            Fault::OneMalformed if is_failing || read.is_lost => {
                if std::mem::replace(&mut read.is_lost, true) {
                    self.excuse(read, Instant::now());
                }
                match read.version % 3 {
                    0 => self.cut_off(asked, read),
                    _ => self.malformed(asked, read),
                }
            }
            Fault::OneRefused if is_failing => {
                self.tell(asked, read);
                let code = [SERVFAIL, REFUSED, NOTIMP][read.version as usize % 3];
                Said::error(asked, code)
            }
            Fault::Trimmed => Said::answered(&self.along(asked.answer(&[]), read, true)),
            _ => return None,
        })
    }

    /// Notes the fault of a read. What comes at once has come within a moment; silence lasts until nobody waits.
    pub(super) fn excuse(&self, read: &Read, arrived: Instant) {
        let (excuse, length) = match read.fault {
            // What is sent again comes after 1.9 s.
            None if read.first == First::Late => (Excuse::Slow, Duration::from_millis(2050)),
            None if read.first == First::Silent => (Excuse::Slow, Duration::from_millis(1300)),
            None | Some(Fault::OneRefused) => return,
            Some(Fault::Silent | Fault::OneSilent | Fault::TargetSilent) => {
                (Excuse::Silent, TIMEOUT)
            }
            Some(Fault::Lost) => (Excuse::Slow, Duration::from_millis(900)),
            Some(fault) => (Excuse::Saying(fault.words()), Duration::from_millis(50)),
        };
        let span = self.place.begin_at(excuse, arrived);
        self.place.end_at(span, arrived + length);
    }
}
