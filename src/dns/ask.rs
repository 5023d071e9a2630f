//! A question to servers in their order, within a deadline.

use std::time::{Duration, Instant};

use hickory_proto::rr::Name;

use super::answer::{Answer, End, MOST_ALIASES};
use super::exchange;
use super::failure::{Failure, Problem, are_refusal};
use super::question::Question;
use super::server::Server;
use super::standing::Standings;
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
    standings: Standings,
}

impl<'a> Asker<'a> {
    /// Asks these servers in their order until `deadline`. Without a protocol it is UDP, but TCP for names
    /// under `consul`, whose agent trims its datagrams without saying so.
    pub fn new(servers: &'a [Server], protocol: Option<Protocol>, deadline: Instant) -> Self {
        Self {
            servers,
            protocol,
            deadline,
            standings: Standings::of_live(servers.len()),
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
    /// while; one that answers late still counts, until all others have refused to answer.
    async fn ask_each(&self, question: &Question) -> Result<Answer, Failure> {
        let mut waiting = self.standings.order().into_iter();
        let mut asked = Vec::new();
        let mut problems = Vec::new();
        let mut racing = Racing::new();
        let patience = self.patience();
        loop {
            let is_refused = are_refusal(&problems);
            let is_over =
                |at: &usize| is_refused && self.standings.was_waited_for(*at, question.kind);
            if let Some(at) = waiting.find(|at| !is_over(at)) {
                asked.push((at, Clock::System.now() + patience));
                racing.add(async move { (at, self.exchange(at, question).await) });
            }
            if racing.is_empty() {
                break;
            }
            let until = match waiting.len() == 0 && !is_refused {
                true => self.deadline,
                false => self.last_patience(&asked),
            };
            match clock::until(until, racing.next()).await {
                Some((at, outcome)) => {
                    self.standings.has_ended(at, question.kind, &outcome);
                    asked.retain(|(other, _)| *other != at);
                    match outcome {
                        Ok(answer) => return Ok(answer),
                        Err(problem) => problems.push((at, problem)),
                    }
                }
                None => {
                    self.note_silent(&asked);
                    if waiting.len() == 0 || self.left().is_zero() {
                        break;
                    }
                }
            }
        }
        Err(self.failure(question, problems, &asked))
    }

    /// When the last of these has been silent for long enough.
    fn last_patience(&self, asked: &[(usize, Instant)]) -> Instant {
        let last = asked.iter().map(|(_, until)| *until).max();
        last.unwrap_or(self.deadline).min(self.deadline)
    }

    fn note_silent(&self, asked: &[(usize, Instant)]) {
        let now = Clock::System.now();
        for (at, _) in asked.iter().filter(|(_, until)| *until <= now) {
            self.standings.is_silent(*at);
        }
    }

    /// What the servers did, and that those said nothing which are still asked, or are no longer.
    fn failure(
        &self,
        question: &Question,
        mut problems: Vec<(usize, Problem)>,
        asked: &[(usize, Instant)],
    ) -> Failure {
        for at in 0..self.servers.len() {
            let is_told = problems.iter().any(|(told, _)| *told == at);
            let is_asked = asked.iter().any(|(asked, _)| *asked == at);
            if !is_told && (is_asked || self.standings.was_waited_for(at, question.kind)) {
                problems.push((at, Problem::Silent));
            }
        }
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

    async fn exchange(&self, at: usize, question: &Question) -> Result<Answer, Problem> {
        let Some(server) = self.servers.get(at) else {
            return Err(Problem::Silent);
        };
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
