//! What a server says to a question, and what that makes of the question.

use super::questions::State as Told;
use crate::support::dns::{Act, Asked, FORMERR, NOTIMP, Reply};

pub(super) struct Said {
    pub(super) acts: Vec<Act>,
    pub(super) told: Told,
}

impl Said {
    pub(super) fn answered(reply: &Reply) -> Self {
        Self::acts(vec![Act::Send(reply.bytes())])
    }

    pub(super) fn acts(acts: Vec<Act>) -> Self {
        Self {
            acts,
            told: Told::Answered,
        }
    }

    /// The question is to be asked in another way.
    pub(super) fn again(acts: Vec<Act>) -> Self {
        Self {
            acts,
            told: Told::Again,
        }
    }

    pub(super) fn nothing() -> Self {
        Self {
            acts: Vec::new(),
            told: Told::Open,
        }
    }

    /// An error, after which some are asked once more without EDNS.
    pub(super) fn error(asked: &Asked, code: u16) -> Self {
        match asked.edns && matches!(code, FORMERR | NOTIMP) {
            true => Self::again(asked.error(code)),
            false => Self::acts(asked.error(code)),
        }
    }
}
