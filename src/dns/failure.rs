//! Why a question has no answer.

use std::fmt;
use std::io;

use hickory_proto::op::ResponseCode;

use super::addresses::Family;
use super::server::Server;
use crate::wording::without_number;

/// What kept one server from answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It answered with an error.
    Answered(ResponseCode),
    /// It did not answer in time.
    Silent,
    /// It answered something that is no whole answer; the words say what.
    Malformed(&'static str),
    /// Its answer was cut; over TCP this came instead of the whole.
    Cut(&'static str, Box<Problem>),
    /// It could not be asked, or broke off: the step, then the reason.
    Failed(String),
}

impl Problem {
    pub(super) fn io(step: &str, error: &io::Error) -> Self {
        Self::Failed(format!("{step}: {}", without_number(error)))
    }

    /// Whether the server said that it cannot or will not answer.
    fn is_refusal(&self) -> bool {
        use ResponseCode::{NotImp, Refused, ServFail};
        matches!(self, Self::Answered(ServFail | Refused | NotImp))
    }

    /// Whether nothing came from the server at all.
    pub(super) fn is_of_dead(&self) -> bool {
        matches!(self, Self::Silent | Self::Failed(_))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(code) => write!(f, "answered {}", word(*code)),
            Self::Silent => f.write_str("did not answer in time"),
            Self::Malformed(what) => write!(f, "gave a malformed answer: {what}"),
            Self::Cut(how, problem) => write!(f, "gave {how} answer, and over TCP it {problem}"),
            Self::Failed(how) => write!(f, "failed, {how}"),
        }
    }
}

/// The name of a response code as people know it (RFC 6895, section 2.3).
fn word(code: ResponseCode) -> String {
    match code {
        ResponseCode::FormErr => "FORMERR".into(),
        ResponseCode::ServFail => "SERVFAIL".into(),
        ResponseCode::NotImp => "NOTIMP".into(),
        ResponseCode::Refused => "REFUSED".into(),
        ResponseCode::NotAuth => "NOTAUTH".into(),
        code => format!("response code {}", u16::from(code)),
    }
}

/// Why there is no answer: one sentence that names what was asked, which server did what, and what to
/// do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    reason: String,
    kind: Kind,
    answered: Option<Family>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nobody answered in time.
    TimedOut,
    /// All who answered said that they cannot or will not answer, and nobody was silent.
    Refused,
    Failed,
}

impl Failure {
    /// A failure that is about no server.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            kind: Kind::Failed,
            answered: None,
        }
    }

    /// A time-out that is about no server.
    pub(super) fn timed_out(reason: impl Into<String>) -> Self {
        Self {
            kind: Kind::TimedOut,
            ..Self::new(reason)
        }
    }

    /// What all servers that were asked did.
    pub(super) fn of(asked: impl fmt::Display, problems: &[(&Server, Problem)]) -> Self {
        let any = |is: fn(&Problem) -> bool| problems.iter().any(|(_, problem)| is(problem));
        let is_vague =
            |problem: &Problem| !matches!(problem, Problem::Failed(_)) && !problem.is_refusal();
        let kind = match () {
            () if any(|problem| *problem == Problem::Silent) => Kind::TimedOut,
            () if any(Problem::is_refusal) && !any(is_vague) => Kind::Refused,
            () => Kind::Failed,
        };
        let told: Vec<String> = problems
            .iter()
            .map(|(server, problem)| format!("{server} {problem}"))
            .collect();
        let reason = format!(
            "asking for {asked}: {}; {}",
            told.join("; "),
            advice(kind, problems)
        );
        Self {
            kind,
            ..Self::new(reason)
        }
    }

    /// Whether the time ran out.
    pub fn is_timeout(&self) -> bool {
        self.kind == Kind::TimedOut
    }

    /// Whether servers answered SERVFAIL, REFUSED or NOTIMP, and none was silent or gave a malformed
    /// answer.
    pub fn is_refusal(&self) -> bool {
        self.kind == Kind::Refused
    }

    /// The family that had an answer, where the question for the other one failed.
    pub fn answered(&self) -> Option<Family> {
        self.answered
    }

    pub(super) fn beside(self, answered: Family) -> Self {
        Self {
            answered: Some(answered),
            ..self
        }
    }
}

fn advice(kind: Kind, problems: &[(&Server, Problem)]) -> &'static str {
    let refused = Problem::Answered(ResponseCode::Refused);
    match kind {
        Kind::TimedOut => "see whether it runs and can be reached from here, or raise timeout",
        _ if problems
            .iter()
            .all(|(_, problem)| matches!(problem, Problem::Failed(_))) =>
        {
            "see whether it runs and can be reached from here"
        }
        _ if problems.iter().any(|(_, problem)| *problem == refused) => {
            "ask a server that serves this name, or let it serve this host"
        }
        _ => "see the log of the server",
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Failure {}
