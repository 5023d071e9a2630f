//! Which questions belong to one read. Beside a reload two reads may be under way at once, and their questions come in
//! any order: then both get the same list, for nobody can tell whose question is whose.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::TIMEOUT;
use crate::support::dns::Asked;

/// A silent question is given up after the timeout, and another read may begin a little before this is seen here.
const GIVEN_UP: Duration = TIMEOUT.saturating_sub(Duration::from_millis(200));

/// The questions for the name of a place since a version of its list began.
#[derive(Default)]
pub(super) struct Questions(Vec<Question>);

struct Question {
    kind: &'static str,
    /// Who asked, and under which number: the same again is the same question.
    of: (SocketAddr, u16),
    at: Instant,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing was said yet.
    Open,
    /// It is to be asked in another way.
    Again,
    Answered,
}

/// What a question is to the reads before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It begins a read, which may have another list.
    Begins,
    /// It begins a read while another is under way.
    Joins,
    /// It goes on with a read.
    GoesOn,
}

impl Questions {
    /// Where a question belongs; `kinds` of questions make a read. Beside a reload, as many of each kind may be of reads of
    /// which each has asked but one: the one from before it may be overtaken by several.
    pub(super) fn place(
        &self,
        asked: &Asked,
        is_second_try: bool,
        kinds: usize,
        is_settled: impl Fn() -> bool,
    ) -> Place {
        let count = |kind: &str| {
            self.0
                .iter()
                .filter(|question| question.kind == kind)
                .count()
        };
        let others = self
            .0
            .iter()
            .filter(|question| question.kind != asked.kind)
            .count();
        match () {
            () if self.0.is_empty() => Place::Begins,
            () if is_second_try || self.is_known(asked) => Place::GoesOn,
            () if kinds == 2 && count(asked.kind) < others => Place::GoesOn,
            () if self.is_given_up() => Place::Begins,
            () if self.is_complete(kinds) && (kinds == 1 || is_settled()) => Place::Begins,
            () => Place::Joins,
        }
    }

    /// Whether the same was asked before.
    pub(super) fn is_known(&self, asked: &Asked) -> bool {
        self.0.iter().any(|question| question.is(asked))
    }

    /// When one of its kind came first.
    pub(super) fn first(&self, kind: &str) -> Option<Instant> {
        let mut of_kind = self.0.iter().filter(|question| question.kind == kind);
        of_kind.next().map(|question| question.at)
    }

    /// Notes a question, and what was done about it.
    pub(super) fn note(&mut self, asked: &Asked, is_second_try: bool, state: State) {
        let is_meant = |question: &&mut Question| match is_second_try {
            true => question.kind == asked.kind && question.state == State::Again,
            false => question.is(asked),
        };
        match self.0.iter_mut().find(is_meant) {
            Some(question) => question.state = state,
            None if is_second_try => {}
            None => self.0.push(Question {
                kind: asked.kind,
                of: (asked.peer, asked.id),
                at: Instant::now(),
                state,
            }),
        }
    }

    /// Whether each read has asked all, and waits for nothing.
    fn is_complete(&self, kinds: usize) -> bool {
        let is_over = |question: &Question| {
            question.state == State::Answered || question.at.elapsed() > GIVEN_UP
        };
        let of_a = self
            .0
            .iter()
            .filter(|question| question.kind == "A")
            .count();
        self.0.iter().all(is_over) && (kinds == 1 || 2 * of_a == self.0.len())
    }

    fn is_given_up(&self) -> bool {
        let mut all = self.0.iter();
        all.all(|question| question.at.elapsed() > GIVEN_UP)
    }
}

impl Question {
    fn is(&self, asked: &Asked) -> bool {
        self.kind == asked.kind && self.of == (asked.peer, asked.id)
    }
}
