//! Datagrams and messages over TCP, as the form of a read has them.

use std::time::Duration;

use super::forms::Form;
use super::malformed::decoy;
use super::said::Said;
use super::{Read, Zone};
use crate::chance::Chance;
use crate::support::dns::{Act, Asked, Reply, record};

/// An answer with more bytes goes over TCP; Vigie takes 1232 in a datagram, and 512 where it does not say so.
const LARGEST_DATAGRAM: usize = 1200;
const LARGEST_WITHOUT_EDNS: usize = 512;
/// No message has more bytes.
const LARGEST_MESSAGE: usize = 65_535;

impl Zone {
    /// Sends a reply, over TCP if it does not fit in a datagram.
    pub(super) fn send(&self, asked: &Asked, read: &mut Read, reply: Reply) -> Said {
        let reply = reply.lasting(read.chance.of_these(&[0, 1, 3600]));
        if asked.tcp {
            return Said::acts(self.over_tcp(read, reply));
        }
        let room = match asked.edns {
            true => LARGEST_DATAGRAM,
            false => LARGEST_WITHOUT_EDNS,
        };
        let chance = &mut read.chance;
        match read.form {
            Form::Trimmed if !reply.sections[2].is_empty() => {
                let [_, _, additional] = reply.sections.clone();
                let mut trimmed = asked.answer(&[]);
                trimmed.sections[2] = additional.into_iter().take(10).collect();
                Said::again(trimmed.send())
            }
            Form::Overlong => {
                let length = reply.bytes().len();
                let bytes = filled(reply, chance.number(1500..4000).max(length + 11)).bytes();
                match bytes.len() <= 4000 && chance.one_in(2) {
                    true => Said::acts(vec![Act::Send(bytes)]),
                    false => {
                        let cut = chance.number(1232..bytes.len().min(4000));
                        Said::again(vec![Act::Send(bytes[..cut].to_vec())])
                    }
                }
            }
            form if form == Form::Truncated || reply.bytes().len() > room => {
                Said::again(truncated(asked, reply, chance).send())
            }
            Form::BehindOthers => Said::acts([others(asked), reply.send()].concat()),
            _ => Said::answered(&reply),
        }
    }

    /// At times as large as a message can be, or in pieces.
    fn over_tcp(&self, read: &mut Read, reply: Reply) -> Vec<Act> {
        let (tally, chance) = (&self.stage().tally, &mut read.chance);
        let bytes = match chance.one_in(6) {
            true => {
                tally.count("peers: dns", "as large as can be");
                filled(reply, LARGEST_MESSAGE).bytes()
            }
            false => reply.bytes(),
        };
        if !chance.one_in(3) {
            return vec![Act::Send(bytes)];
        }
        tally.count("peers: dns", "in pieces");
        let length = u16::try_from(bytes.len()).expect("it fits in a message");
        let framed = [&length.to_be_bytes(), &bytes[..]].concat();
        // Within the length, behind it, and within the message.
        let mut cuts = vec![0, 1, 2, chance.number(3..framed.len()), framed.len()];
        if chance.one_in(2) {
            cuts.remove(2);
        }
        let pieces = cuts.windows(2).flat_map(|cut| {
            let piece = framed[cut[0]..cut[1]].to_vec();
            [Act::Raw(piece), Act::Pause(Duration::from_millis(3))]
        });
        pieces.collect()
    }
}

/// Some of the records, or none.
fn truncated(asked: &Asked, reply: Reply, chance: &mut Chance) -> Reply {
    let cut = match chance.one_in(2) {
        true => asked.answer(&[]),
        false => {
            let [some, _, _] = reply.sections.clone();
            let sections = [some.into_iter().take(3).collect(), Vec::new(), Vec::new()];
            Reply { sections, ..reply }
        }
    };
    cut.truncated()
}

/// So many bytes, by a record that nobody asked for.
fn filled(reply: Reply, size: usize) -> Reply {
    const EMPTY: usize = 11;
    let room = size - reply.bytes().len() - EMPTY;
    reply.raw(2, record(&[0], 65_280, &vec![0; room]))
}

/// Datagrams that do not belong to a question, each with an answer to it.
fn others(asked: &Asked) -> Vec<Act> {
    let forged = asked.answer(&[&format!(
        "{} {} {}",
        asked.name,
        asked.kind,
        decoy(asked.kind)
    )]);
    let of = |question: Asked| Reply {
        question: question.answer(&[]).question,
        ..forged.clone()
    };
    let other_kind = if asked.kind == "A" { "AAAA" } else { "A" };
    let mut other_class = forged.clone();
    *other_class.question.last_mut().expect("it has a class") = 3;
    let wrong = [
        Reply {
            id: !asked.id,
            ..forged.clone()
        },
        of(Asked::of("other.test", asked.kind, asked.id)),
        of(Asked::of(&asked.name, other_kind, asked.id)),
        other_class,
        // No question, a query, and another operation.
        Reply {
            question: Vec::new(),
            ..forged.clone()
        },
        Reply {
            flags: 0x0100,
            ..forged.clone()
        },
        Reply {
            flags: 0xa180,
            ..forged.clone()
        },
    ];
    let mut acts: Vec<Act> = wrong.iter().map(|reply| Act::Send(reply.bytes())).collect();
    acts.push(Act::Send(forged.bytes()[..11].to_vec()));
    acts.push(Act::Foreign(forged.bytes()));
    acts
}
