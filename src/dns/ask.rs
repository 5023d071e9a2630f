//! A question to servers in their order, within a deadline.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hickory_proto::rr::Name;

use super::answer::{Answer, End, MOST_ALIASES};
use super::exchange;
use super::failure::{Failure, Problem};
use super::question::Question;
use super::server::Server;
use crate::clock::{self, Clock};
use crate::racing::Racing;

/// How questions are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// In datagrams; over TCP where the answer does not fit in one.
    Udp,
    /// Over TCP alone.
    Tcp,
}

/// A silent server has the question to itself for so long.
const PATIENCE: Duration = Duration::from_secs(1);
/// An unanswered datagram is sent again after so long, or sooner where little time is left.
const PACE: Duration = Duration::from_millis(400);
const QUICKEST_PACE: Duration = Duration::from_millis(20);

/// Servers, and until when they may be asked: what one read asks its questions with.
#[derive(Debug)]
pub struct Asker<'a> {
    servers: &'a [Server],
    protocol: Option<Protocol>,
    deadline: Instant,
    /// Which server comes first, so that one read waits for a dead one once, not at each question.
    first: AtomicUsize,
}

impl<'a> Asker<'a> {
    /// Asks these servers in their order until `deadline`. Without a protocol it is UDP, but TCP for names
    /// under `consul`, whose agent trims its datagrams without saying so.
    pub fn new(servers: &'a [Server], protocol: Option<Protocol>, deadline: Instant) -> Self {
        Self {
            servers,
            protocol,
            deadline,
            first: AtomicUsize::new(0),
        }
    }

    /// The answer to a question, which never is [`End::Alias`]: the name at the end of CNAME records
    /// is asked for in turn.
    ///
    /// Errors: no server gave an answer in time; CNAME records that form a loop, or too many of them.
    pub async fn ask(&self, question: &Question) -> Result<Answer, Failure> {
        let mut question = question.clone();
        let mut path = vec![question.name.clone()];
        let mut aliases = 0;
        loop {
            let answer = self.ask_each(&question).await?;
            aliases += answer.aliases;
            let wrong = |what| Failure::new(format!("asking for {question}: {what}"));
            if aliases > MOST_ALIASES {
                return Err(wrong(
                    "there are more than 16 CNAME records in a row; shorten them",
                ));
            }
            let End::Alias(target) = answer.end else {
                return Ok(Answer { aliases, ..answer });
            };
            if path.contains(&target) {
                return Err(wrong("the CNAME records form a loop; correct them"));
            }
            path.push(target.clone());
            question.name = target;
        }
    }

    /// The first answer. The next server is asked as well when one fails or has been silent for a
    /// while; one that answers late still counts.
    async fn ask_each(&self, question: &Question) -> Result<Answer, Failure> {
        let mut waiting = self.order();
        let mut asked: Vec<usize> = Vec::new();
        let mut problems: Vec<(usize, Problem)> = Vec::new();
        let mut racing = Racing::new();
        let patience = self.patience();
        loop {
            match waiting.next() {
                Some((at, server)) => {
                    asked.push(at);
                    racing.add(async move { (at, self.exchange(server, question).await) });
                }
                None if racing.is_empty() => return Err(self.failure(question, problems)),
                None => {}
            }
            let until = match waiting.len() {
                0 => self.deadline,
                _ => self.deadline.min(Clock::System.now() + patience),
            };
            match clock::until(until, racing.next()).await {
                Some((at, Ok(answer))) => {
                    self.prefer(at, &problems);
                    return Ok(answer);
                }
                Some((at, Err(problem))) => problems.push((at, problem)),
                None if self.left().is_zero() => break,
                None => {}
            }
        }
        asked.retain(|at| !problems.iter().any(|(failed, _)| failed == at));
        problems.extend(asked.into_iter().map(|at| (at, Problem::Silent)));
        Err(self.failure(question, problems))
    }

    /// The servers with their places, from the one that comes first.
    fn order(&self) -> std::vec::IntoIter<(usize, &'a Server)> {
        let mut order: Vec<_> = self.servers.iter().enumerate().collect();
        if !order.is_empty() {
            order.rotate_left(self.first.load(Ordering::Relaxed) % self.servers.len());
        }
        order.into_iter()
    }

    /// The server that answered comes first from now on, if those before it are dead. One that said
    /// anything at all is not.
    fn prefer(&self, at: usize, problems: &[(usize, Problem)]) {
        if problems.iter().all(|(_, problem)| problem.is_of_dead()) {
            self.first.store(at, Ordering::Relaxed);
        }
    }

    fn failure(&self, question: &Question, problems: Vec<(usize, Problem)>) -> Failure {
        let named: Vec<(&Server, Problem)> = problems
            .into_iter()
            .filter_map(|(at, problem)| Some((self.servers.get(at)?, problem)))
            .collect();
        Failure::of(question, &named)
    }

    /// How long a silent server has a question to itself.
    fn patience(&self) -> Duration {
        let servers = u32::try_from(self.servers.len()).unwrap_or(u32::MAX);
        PATIENCE.min(self.left() / servers.max(1))
    }

    async fn exchange(&self, server: &Server, question: &Question) -> Result<Answer, Problem> {
        let pace = PACE.min(self.left() / 3).max(QUICKEST_PACE);
        exchange::ask(server, question, self.protocol_for(&question.name), pace).await
    }

    fn protocol_for(&self, name: &Name) -> Protocol {
        let last = name.iter().next_back();
        match last.is_some_and(|label| label.eq_ignore_ascii_case(b"consul")) {
            true => self.protocol.unwrap_or(Protocol::Tcp),
            false => self.protocol.unwrap_or(Protocol::Udp),
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Clock::System.now())
    }
}
