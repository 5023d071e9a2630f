//! A question to servers in their order, within a deadline.

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

/// Servers, and until when they may be asked.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// In the order in which they are asked.
    pub servers: &'a [Server],
    /// `None` for UDP, but TCP for names under `consul`, whose agent trims its datagrams without
    /// saying so.
    pub protocol: Option<Protocol>,
    /// When every question has failed that is not answered yet.
    pub deadline: Instant,
}

impl Asker<'_> {
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
        let mut waiting = self.servers.iter();
        let mut asked: Vec<&Server> = Vec::new();
        let mut problems: Vec<(&Server, Problem)> = Vec::new();
        let mut racing = Racing::new();
        let patience =
            PATIENCE.min(self.left() / u32::try_from(self.servers.len()).unwrap_or(1).max(1));
        loop {
            match waiting.next() {
                Some(server) => {
                    asked.push(server);
                    racing.add(async move { (server, self.exchange(server, question).await) });
                }
                None if racing.is_empty() => return Err(Failure::of(question, &problems)),
                None => {}
            }
            let until = match waiting.len() {
                0 => self.deadline,
                _ => self.deadline.min(Clock::System.now() + patience),
            };
            match clock::until(until, racing.next()).await {
                Some((_, Ok(answer))) => return Ok(answer),
                Some((server, Err(problem))) => problems.push((server, problem)),
                None if self.left().is_zero() => break,
                None => {}
            }
        }
        let has_failed = |server: &&Server| problems.iter().any(|(failed, _)| failed == server);
        let silent: Vec<_> = asked
            .into_iter()
            .filter(|server| !has_failed(server))
            .collect();
        problems.extend(silent.into_iter().map(|server| (server, Problem::Silent)));
        Err(Failure::of(question, &problems))
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
