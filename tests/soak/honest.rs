//! Honest clients, in every way in which one may ask. Each has all its answers checked, and loses none.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::chance::Chance;
use crate::stage::{SECRET, Stage};
use crate::support::{Answer, Connection};
use crate::truth::{Allowed, Asked, Kind};

/// Entity tags that are remembered of a service.
const TAGS: usize = 12;

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Kept,
    Alone,
    Socket,
    OldHttp,
    Head,
    Conditional,
    WithBody,
    Pipelined,
}

const WAYS: [Way; 8] = [
    Way::Kept,
    Way::Alone,
    Way::Socket,
    Way::OldHttp,
    Way::Head,
    Way::Conditional,
    Way::WithBody,
    Way::Pipelined,
];

/// Connections of honest clients that are open.
pub(crate) static OPEN: AtomicUsize = AtomicUsize::new(0);

/// One of them.
struct Line(Connection);

impl Line {
    fn over(connection: Connection) -> Self {
        OPEN.fetch_add(1, Ordering::SeqCst);
        Self(connection)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Who polls one service.
struct Poller {
    stage: Arc<Stage>,
    service: String,
    chance: Chance,
    kept: Option<Line>,
    tags: VecDeque<(String, String)>,
}

/// Starts so many pollers of a service.
pub(crate) fn start(stage: &Arc<Stage>, service: &str, count: usize) {
    for number in 0..count {
        let name = format!("poller {number} of {service}");
        let mut poller = Poller {
            stage: stage.clone(),
            service: service.into(),
            chance: stage.chance(&name),
            kept: None,
            tags: VecDeque::new(),
        };
        stage.run(&name, move || {
            poller.stage.pause(poller.chance.ms(5..90));
            // In bursts now and then, so that a list is met at each age.
            for _ in 0..if poller.chance.one_in(8) { 10 } else { 1 } {
                poller.poll();
            }
        });
    }
}

/// Starts who asks for two services in turn, which are of one configuration at any time.
pub(crate) fn start_pairs(stage: &Arc<Stage>) {
    let mut connection = Line::over(stage.vigie.connect());
    let shared = stage.clone();
    let (mut lowest, mut chance) = (0, stage.chance("pairs"));
    stage.run("pairs", move || {
        for service in ["pair-a", "pair-b"] {
            if let Some((allowed, _)) = ask_over(&mut connection, &shared, service, "pair") {
                let (first, last) = allowed.epochs;
                if last < lowest {
                    shared.fail(format!("{service} is of configuration {last} at most, after an answer of {lowest} at least"));
                }
                lowest = lowest.max(first);
            }
        }
        shared.pause(chance.ms(0..8));
    });
}

/// Asks once; gives what the answer was, if it was allowed, and how many endpoints it has.
pub(crate) fn ask(stage: &Stage, service: &str) -> Option<(Kind, usize)> {
    let mut line = Line::over(stage.vigie.connect());
    let (allowed, answer) = ask_over(&mut line, stage, service, "one")?;
    Some((allowed.kind, answer.text().matches("\"ip\": ").count()))
}

fn ask_over(line: &mut Line, stage: &Stage, service: &str, way: &str) -> Option<(Allowed, Answer)> {
    let begun = Instant::now();
    let target = format!("/services?service_name={service}");
    let answer = line.0.ask("GET", &target, &[]);
    let asked = Asked::answered(service, begun);
    judge(stage, &asked, &answer, way).map(|allowed| (allowed, answer))
}

/// Holds an answer against the truth.
fn judge(stage: &Stage, asked: &Asked<'_>, answer: &Answer, way: &str) -> Option<Allowed> {
    let told = match answer.status {
        400.. => answer.error(),
        _ => answer.header("vigie-error").unwrap_or_default().to_owned(),
    };
    if told.contains(SECRET) {
        stage.fail(format!("{} tells a secret: {told}", asked.service));
    }
    match stage.truth.check(asked, answer) {
        Ok(allowed) => {
            let part = match (answer.status, allowed.kind) {
                (304, _) => "304".to_owned(),
                (_, kind) => format!("{kind:?}"),
            };
            stage.tally.count("answers", part);
            stage.tally.count("requests", way);
            let outcome = match allowed.kind {
                Kind::Fresh | Kind::Empty => "fresh",
                Kind::Stale => "stale",
                Kind::Failed | Kind::TimedOut => "error",
                Kind::Absent => return Some(allowed),
            };
            stage
                .tally
                .count("outcomes", format!("{} {outcome}", asked.service));
            Some(allowed)
        }
        Err(why) => {
            let took = asked.ended - asked.begun;
            let headers = &answer.headers;
            stage.fail_with(
                asked.service,
                format!(
                    "{} ({way}), answered {} after {took:?}: {why}\n  {headers:?}",
                    asked.service, answer.status
                ),
            );
            None
        }
    }
}

impl Poller {
    fn poll(&mut self) {
        let way = self.chance.of_these(&WAYS);
        let begun = Instant::now();
        let mut line = match way {
            Way::Kept | Way::Conditional | Way::Head | Way::WithBody | Way::Pipelined => self
                .kept
                .take()
                .unwrap_or_else(|| Line::over(self.stage.vigie.connect())),
            Way::Socket => Line::over(self.stage.vigie.connect_to_socket("vigie.sock")),
            Way::Alone | Way::OldHttp => Line::over(self.stage.vigie.connect()),
        };
        let target = format!("/services?service_name={}", self.service);
        let (method, head, body) = match way {
            Way::OldHttp => ("GET", format!("GET {target} HTTP/1.0\r\n"), ""),
            Way::Head => ("HEAD", format!("HEAD {target} HTTP/1.1\r\nHost: x\r\n"), ""),
            Way::Conditional => (
                "GET",
                format!("GET {target} HTTP/1.1\r\nHost: x\r\n{}", self.condition()),
                "",
            ),
            Way::WithBody => (
                "GET",
                format!("GET {target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"),
                "5\r\nhello\r\n0\r\n\r\n",
            ),
            Way::Alone => (
                "GET",
                format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"),
                "",
            ),
            _ => ("GET", format!("GET {target} HTTP/1.1\r\nHost: x\r\n"), ""),
        };
        let count = if way == Way::Pipelined {
            self.chance.number(2..6)
        } else {
            1
        };
        line.0
            .send(format!("{head}\r\n{body}").repeat(count).as_bytes());
        let mut alone = begun;
        for _ in 0..count {
            let answer = line.0.receive_to(method);
            let ended = Instant::now();
            self.check(way, &answer, begun, alone, ended);
            alone = ended;
        }
        match way {
            Way::OldHttp | Way::Alone => line.0.wait_for_close(),
            Way::Socket => {}
            _ if self.chance.one_in(50) => {}
            _ => self.kept = Some(line),
        }
    }

    /// Asks whether one of the lists of before is still the one.
    fn condition(&mut self) -> String {
        let tags: Vec<&str> = self.tags.iter().map(|(tag, _)| tag.as_str()).collect();
        match &tags[..] {
            [] => String::new(),
            all => format!("If-None-Match: {}\r\n", all.join(", ")),
        }
    }

    fn check(&mut self, way: Way, answer: &Answer, begun: Instant, alone: Instant, ended: Instant) {
        let tag = answer.header("etag").unwrap_or_default();
        let known = self
            .tags
            .iter()
            .find(|(known, _)| *known == tag)
            .map(|(_, body)| body.clone());
        let has_no_body = way == Way::Head || answer.status == 304;
        if way == Way::Head && (answer.status != 200 || known.is_none()) {
            // What it is about cannot be told.
            self.stage.tally.count("requests", "Head");
            let outcome = match (answer.status, answer.header("vigie-stale")) {
                (200, None) => "fresh",
                (200, Some(_)) => "stale",
                (404, _) => return,
                _ => "error",
            };
            self.stage
                .tally
                .count("outcomes", format!("{} {outcome}", self.service));
            return;
        }
        if answer.status == 304 && known.is_none() {
            return self.stage.fail(format!(
                "{}: a 304 with the tag {tag:?}, which nobody asked for",
                self.service
            ));
        }
        let implied = known.as_deref().filter(|_| has_no_body);
        let asked = Asked {
            service: &self.service,
            begun,
            alone,
            ended,
            implied,
        };
        judge(&self.stage, &asked, answer, &format!("{way:?}"));
        if answer.status == 200 && !has_no_body {
            self.tags.retain(|(known, _)| known != tag);
            self.tags
                .push_back((tag.to_owned(), answer.text().to_owned()));
            if self.tags.len() > TAGS {
                self.tags.pop_front();
            }
        }
    }
}
