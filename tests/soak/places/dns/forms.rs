//! How a good answer comes.

use super::malformed::decoy;
use super::said::Said;
use super::{Read, Type, Wanted, Zone};
use crate::chance::Chance;
use crate::support::dns::{Asked, FORMERR, NOTIMP, NXDOMAIN, Reply};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// By way of CNAME records.
    Alias,
    /// By way of a CNAME record to a name that is to be asked for.
    OpenAlias,
    /// With records of other names.
    Others,
    /// In other letters, so that no name is compressed.
    Capitals,
    /// Behind datagrams that do not match.
    BehindOthers,
    /// Truncated, and whole over TCP.
    Truncated,
    /// Longer than was asked for: whole, or cut without a word.
    Overlong,
    /// An error, but for who asks without EDNS.
    NoEdns,
    NoName,
    /// SRV without the addresses of its targets.
    Bare,
    /// SRV with some addresses of its targets.
    Half,
    /// SRV with no record but these addresses, and whole over TCP.
    Trimmed,
}

const OF_ALL: [Form; 11] = [
    Form::Plain,
    Form::Plain,
    Form::Alias,
    Form::OpenAlias,
    Form::Others,
    Form::Capitals,
    Form::BehindOthers,
    Form::Truncated,
    Form::Overlong,
    Form::NoEdns,
    Form::NoName,
];
/// These are of datagrams too, or there is nothing to see.
const OF_SRV: [Form; 3] = [Form::Bare, Form::Half, Form::Trimmed];

/// The deck is of the forms that few reads can have.
pub(super) fn choose(wanted: &Wanted, deck: &mut Vec<Form>, chance: &mut Chance) -> Form {
    if wanted.kind == Type::Srv && chance.one_in(3) {
        return chance.deal(deck, &OF_SRV);
    }
    chance.of_these(&OF_ALL)
}

/// So many CNAME records are followed.
pub(super) const MOST_ALIASES: usize = 16;

/// CNAME records in a row, to `c1.test` and so on.
pub(super) fn chain(name: &str, count: usize) -> Vec<String> {
    let mut chain = vec![format!("{name} CNAME c1.test")];
    chain.extend((1..count).map(|at| format!("c{at}.test CNAME c{}.test", at + 1)));
    chain
}

/// The name that an open alias of a version stands for.
fn alias(version: u64) -> String {
    format!("www.v{version}.test")
}

/// The version whose alias this is.
pub(super) fn alias_version(name: &str) -> Option<u64> {
    let version = name.strip_prefix("www.v")?.strip_suffix(".test")?;
    version.parse().ok()
}

impl Zone {
    /// Says what there is of a kind, each as its data, in the form of the read.
    pub(super) fn give(&self, asked: &Asked, read: &mut Read, data: &[String]) -> Said {
        if read.form == Form::OpenAlias && asked.name == self.wanted.name() {
            return Said::again(open_alias(asked, read).send());
        }
        if read.form == Form::NoEdns && asked.edns {
            let code = read.chance.of_these(&[FORMERR, NOTIMP]);
            let mut reply = asked.answer(&[]).code(code);
            if read.chance.one_in(2) {
                reply.question.clear();
            }
            return Said::again(reply.send());
        }
        let reply = match data {
            [] => self.nothing(asked, read),
            _ => self.dressed(asked, read, data),
        };
        let reply = match self.wanted.kind {
            Type::Srv => self.along(reply, read, false),
            Type::A | Type::Txt => reply,
        };
        self.send(asked, read, reply)
    }

    fn dressed(&self, asked: &Asked, read: &mut Read, data: &[String]) -> Reply {
        let (kind, mut aliases) = (asked.kind, Vec::new());
        let owner = match read.form {
            Form::Alias => {
                let count = read.chance.of_these(&[1, 2, MOST_ALIASES]);
                aliases = chain(&asked.name, count);
                format!("c{count}.test")
            }
            Form::Capitals => asked.name.to_uppercase(),
            _ => asked.name.clone(),
        };
        let mut records: Vec<String> = data
            .iter()
            .map(|data| format!("{owner} {kind} {data}"))
            .chain(aliases)
            .collect();
        if read.form == Form::Others {
            records.push(format!("other.test {kind} {}", decoy(kind)));
            records.push(format!("below.{} {kind} {}", asked.name, decoy(kind)));
            records.push(format!("{} MX x", asked.name));
        }
        read.chance.shuffle(&mut records);
        // What is said twice is one record.
        if read.chance.one_in(4) {
            records.extend(records.first().cloned());
        }
        let records: Vec<&str> = records.iter().map(String::as_str).collect();
        let reply = asked.answer(&records);
        match read.form {
            Form::Others => reply
                .authority(&["test NS ns.test"])
                .additional(&["ns.test A 10.9.9.9"]),
            Form::Capitals => reply.capitals(),
            _ => reply,
        }
    }

    /// There are no such records.
    fn nothing(&self, asked: &Asked, read: &mut Read) -> Reply {
        let is_alias = read.form == Form::Alias || read.chance.one_in(3);
        let reply = match is_alias {
            // Without the zone of its end an alias is left open.
            true => asked
                .answer(&[&format!("{} CNAME b.test", asked.name)])
                .authority(&["test SOA x"]),
            false if read.chance.one_in(2) => asked.answer(&[]).authority(&["test SOA x"]),
            false => asked.answer(&[]),
        };
        // Of a name that does not exist no other family can have addresses.
        match read.list.is_empty() && read.chance.one_in(2) {
            true => reply.code(NXDOMAIN),
            false => reply,
        }
    }
}

/// Perhaps with the zone of another name, which says nothing of this one.
fn open_alias(asked: &Asked, read: &mut Read) -> Reply {
    let reply = asked.answer(&[&format!("{} CNAME {}", asked.name, alias(read.version))]);
    match read.chance.one_in(2) {
        true => reply.authority(&["elsewhere SOA x"]),
        false => reply,
    }
}
