//! Why a question has no answer.

use std::fmt;
use std::io;

use hickory_proto::op::ResponseCode;
use rustix::io::Errno;

use super::addresses::Family;
use super::answer::Cut;
use super::server::Server;
use crate::wording::{lacks_files, without_number};

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
    Cut(Cut, Box<Problem>),
    /// It could not be asked, or broke off: the step, then the reason.
    Failed(String),
    /// This host lacks what it takes to ask it: the step, then the reason.
    Unasked(Lack, String),
}

/// What this host may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Room for one more open file.
    Files,
    /// An address, an interface or a route to the server.
    Network,
}

impl Lack {
    fn of(error: &io::Error) -> Option<Self> {
        if lacks_files(error) {
            return Some(Self::Files);
        }
        match Errno::from_io_error(error)? {
            Errno::NETUNREACH
            | Errno::NETDOWN
            | Errno::ADDRNOTAVAIL
            | Errno::AFNOSUPPORT
            | Errno::NODEV => Some(Self::Network),
            _ => None,
        }
    }
}

impl Problem {
    pub(super) fn io(step: &str, error: &io::Error) -> Self {
        let how = format!("{step}: {}", without_number(error));
        match Lack::of(error) {
            Some(lack) => Self::Unasked(lack, how),
            None => Self::Failed(how),
        }
    }

    /// Whether the server said that it cannot or will not answer.
    fn is_refusal(&self) -> bool {
        use ResponseCode::{NotImp, Refused, ServFail};
        matches!(self, Self::Answered(ServFail | Refused | NotImp))
    }

    /// Whether it keeps open what the server would say: silence does not, it was waited for.
    fn is_vague(&self) -> bool {
        match self {
            Self::Answered(_) => !self.is_refusal(),
            Self::Malformed(_) | Self::Cut(..) | Self::Unasked(Lack::Files, _) => true,
            Self::Silent | Self::Failed(_) | Self::Unasked(Lack::Network, _) => false,
        }
    }

    /// Whether the server said something.
    pub(super) fn is_of_answer(&self) -> bool {
        matches!(self, Self::Answered(_) | Self::Malformed(_) | Self::Cut(..))
    }

    /// Whether the server could not be reached, or broke off.
    pub(super) fn is_of_dead(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Unasked(Lack::Network, _))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(code) => write!(f, "answered {}", word(*code)),
            Self::Silent => f.write_str("did not answer in time"),
            Self::Malformed(what) => write!(f, "gave a malformed answer: {what}"),
            Self::Cut(cut, problem) => write!(f, "gave {cut} answer, and over TCP it {problem}"),
            Self::Failed(how) => write!(f, "failed, {how}"),
            Self::Unasked(_, how) => write!(f, "could not be asked, {how}"),
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
    /// All who answered, at least one, said that they cannot or will not answer.
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
        let is_silent = |(_, problem): &(_, Problem)| *problem == Problem::Silent;
        let kind = match () {
            () if are_refusal(problems) => Kind::Refused,
            () if problems.iter().any(is_silent) => Kind::TimedOut,
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

    /// Whether servers answered SERVFAIL, REFUSED or NOTIMP, at least one, and none gave another
    /// answer, not even a malformed one.
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

/// Whether all that servers have said so far is that they cannot or will not answer.
pub(super) fn are_refusal<S>(problems: &[(S, Problem)]) -> bool {
    let any = |is: fn(&Problem) -> bool| problems.iter().any(|(_, problem)| is(problem));
    any(Problem::is_refusal) && !any(Problem::is_vague)
}

fn advice(kind: Kind, problems: &[(&Server, Problem)]) -> &'static str {
    let refused = Problem::Answered(ResponseCode::Refused);
    let lacks = |lack| move |(_, problem): &(_, Problem)| matches!(problem, Problem::Unasked(own, _) if *own == lack);
    match kind {
        _ if problems.iter().any(lacks(Lack::Files)) => {
            "raise the limit of open files of this host or of Vigie"
        }
        _ if problems.iter().all(lacks(Lack::Network)) => {
            "see whether the network of this host is up and has a route there"
        }
        Kind::TimedOut => "see whether it runs and can be reached from here, or raise timeout",
        _ if problems
            .iter()
            .all(|(_, problem)| matches!(problem, Problem::Failed(_) | Problem::Unasked(..))) =>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_host_lacks_is_not_blamed_on_the_server() {
        let of = |numbers: &[i32]| {
            let server = Server::default();
            let problem = |number: &i32| {
                let error = io::Error::from_raw_os_error(*number);
                (&server, Problem::io("opening a socket", &error))
            };
            let problems: Vec<_> = numbers.iter().map(problem).collect();
            Failure::of("A of web.test", &problems).to_string()
        };
        // EMFILE, ENFILE, ENETUNREACH, EADDRNOTAVAIL, ECONNREFUSED.
        for (numbers, advice) in [
            (
                &[24][..],
                "raise the limit of open files of this host or of Vigie",
            ),
            (
                &[23, 111],
                "raise the limit of open files of this host or of Vigie",
            ),
            (
                &[101, 99],
                "see whether the network of this host is up and has a route there",
            ),
            (
                &[101, 111],
                "see whether it runs and can be reached from here",
            ),
        ] {
            let told = of(numbers);
            assert!(told.ends_with(&format!("; {advice}")), "{told}");
        }
        assert_eq!(
            of(&[24]),
            "asking for A of web.test: 127.0.0.1:53 could not be asked, opening a socket: \
             Too many open files; raise the limit of open files of this host or of Vigie"
        );
    }
}
