//! What an answer says about its question: CNAME records followed, nothing left open.

use std::fmt;

use hickory_proto::rr::Name;

use super::failure::Problem;
use super::message::{self, Addresses, Data, Message, Reply};
use super::question::{Kind, Question};

/// So many CNAME records are followed for one question, whether they come in one answer or in several.
pub(super) const MOST_ALIASES: usize = 16;

/// An answer that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How many CNAME records led to its end.
    pub aliases: usize,
    /// What it ends in.
    pub end: End,
}

/// What an answer ends in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Records, at least one, and the addresses that came along.
    Records(Vec<Data>, Addresses),
    /// The name has no records of the kind.
    NoData,
    /// The name does not exist.
    NoName,
    /// The name stands for another one, of which the answer says nothing.
    Alias(Name),
}

/// With its article.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "a truncated",
            Self::Trimmed => "a trimmed",
            Self::Overlong => "an overlong",
        })
    }
}

/// An answer that belongs to its question.
#[derive(Debug)]
pub enum Read {
    /// It may be relied on.
    Whole(Answer),
    /// It is not whole: it is to be asked for over TCP.
    Cut(Cut),
}

/// In which way an answer is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It says so itself.
    Truncated,
    /// It has the addresses of SRV records, and none of these.
    Trimmed,
    /// It is a datagram longer than was asked for, and ends in the middle.
    Overlong,
}

/// Reads the bytes of an answer to the question that was asked under this id; `None` when they do not
/// belong to it (RFC 5452, section 9.1).
pub fn read(bytes: &[u8], question: &Question, id: u16) -> Option<Result<Read, Problem>> {
    let reply = message::read(bytes, question, id)?;
    Some(reply.and_then(|reply| match reply {
        Reply::Truncated => Ok(Read::Cut(Cut::Truncated)),
        Reply::Whole(message) => conclude(*message, question),
    }))
}

fn conclude(message: Message, question: &Question) -> Result<Read, Problem> {
    if message.is_referral {
        return Err(Problem::Malformed(
            "it only refers to other servers, so ask one that resolves names",
        ));
    }
    let path = follow(&message, &question.name)?;
    let (name, aliases) = (path.end().clone(), path.aliases());
    let has_others = path.is_beside(&message);
    let records: Vec<Data> = message
        .records
        .into_iter()
        .filter_map(|(owner, data)| (owner == name).then_some(data))
        .collect();
    let is_settled = |zone: &Name| zone.zone_of(&name);
    let end = match () {
        () if !records.is_empty() && !message.exists => {
            return Err(Problem::Malformed(
                "it has records of a name that does not exist",
            ));
        }
        () if !records.is_empty() => End::Records(records, message.additional),
        () if has_others => {
            return Err(Problem::Malformed(
                "its records are of other names or kinds",
            ));
        }
        () if !message.exists => End::NoName,
        () if aliases > 0 && !message.soa.as_ref().is_some_and(is_settled) => End::Alias(name),
        () if question.kind == Kind::Srv && !message.additional.is_empty() => {
            return Ok(Read::Cut(Cut::Trimmed));
        }
        () => End::NoData,
    };
    Ok(Read::Whole(Answer { aliases, end }))
}

/// The names that CNAME records lead through, the one that was asked for first.
struct Path<'a> {
    passed: Vec<&'a Name>,
    end: &'a Name,
}

impl Path<'_> {
    fn end(&self) -> &Name {
        self.end
    }

    fn aliases(&self) -> usize {
        self.passed.len()
    }

    /// Whether anything in the answer section is neither of the name at the end nor of the path: then
    /// it is no word about the question that there are no records.
    fn is_beside(&self, message: &Message) -> bool {
        let is_passed = |owner: &Name| self.passed.contains(&owner);
        let renames = |zone: &Name| {
            let is_below = |name: &&Name| zone.zone_of(name) && zone != *name;
            self.passed.iter().any(is_below)
        };
        message.has_others
            || message.records.iter().any(|(owner, _)| owner != self.end)
            || !message.aliases.iter().all(|(owner, _)| is_passed(owner))
            || !message.renamed.iter().all(renames)
    }
}

/// Follows the CNAME records that begin at `name`.
fn follow<'a>(message: &'a Message, name: &'a Name) -> Result<Path<'a>, Problem> {
    let mut path = vec![name];
    let mut name = name;
    while !message.records.iter().any(|(owner, _)| owner == name) {
        let mut targets = message
            .aliases
            .iter()
            .filter_map(|(owner, target)| (owner == name).then_some(target));
        let Some(target) = targets.next() else { break };
        if targets.any(|other| other != target) {
            return Err(Problem::Malformed("one name has two CNAME records"));
        }
        if path.contains(&target) {
            return Err(Problem::Malformed("its CNAME records form a loop"));
        }
        if path.len() > MOST_ALIASES {
            return Err(Problem::Malformed(
                "it has more than 16 CNAME records in a row",
            ));
        }
        path.push(target);
        name = target;
    }
    path.pop();
    Ok(Path {
        passed: path,
        end: name,
    })
}
