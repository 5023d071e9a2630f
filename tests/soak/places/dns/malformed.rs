//! Answers that are none.

use super::forms::{MOST_ALIASES, chain};
use super::said::Said;
use super::{Read, Zone};
use crate::support::dns::{Act, Asked, NXDOMAIN, Reply, SERVFAIL, encode, record};

/// In which way an answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// It has fewer records than it says.
    FewerRecords,
    /// It has more.
    MoreRecords,
    /// The data of a record are too short.
    ShortData,
    /// They are too long.
    LongData,
    /// A name has no end.
    PointerLoop,
    /// It has records of a name that does not exist.
    NoNameWithRecords,
    TwoAliases,
    AliasLoop,
    /// A loop of CNAME records in many answers.
    OpenLoop,
    /// More CNAME records in a row than anyone has.
    LongChain,
    /// Records of other names alone.
    OnlyOthers,
    /// Records of other kinds alone.
    OtherKinds,
    /// Records of another class alone.
    OtherClass,
    Referral,
    /// The upper bits of its response code say that it is an error.
    ExtendedCode,
    /// A response code that nobody knows.
    OtherCode,
}

const WAYS: [Way; 16] = [
    Way::FewerRecords,
    Way::MoreRecords,
    Way::ShortData,
    Way::LongData,
    Way::PointerLoop,
    Way::NoNameWithRecords,
    Way::TwoAliases,
    Way::AliasLoop,
    Way::OpenLoop,
    Way::LongChain,
    Way::OnlyOthers,
    Way::OtherKinds,
    Way::OtherClass,
    Way::Referral,
    Way::ExtendedCode,
    Way::OtherCode,
];

/// The data of a record that must be in no list.
pub(super) fn decoy(kind: &str) -> &'static str {
    match kind {
        "A" => "10.9.9.9",
        "AAAA" => "2001:db8:9::9",
        "SRV" => "0 0 9 10.9.9.9",
        _ => "eds=10.9.9.9:9",
    }
}

impl Zone {
    pub(super) fn malformed(&self, asked: &Asked, read: &mut Read) -> Said {
        let way = read.chance.of_these(&WAYS);
        self.stage()
            .tally
            .count("peers: malformed dns", format!("{way:?}"));
        let kind = asked.kind;
        let of = |owner: &str| format!("{owner} {kind} {}", decoy(kind));
        let good = || asked.answer(&[&of(&asked.name)]);
        let name = encode(&asked.name);
        let alias = |target: &str| format!("{} CNAME {target}", asked.name);
        Said::answered(&match way {
            Way::FewerRecords => counting(good(), 3),
            Way::MoreRecords => counting(asked.answer(&[&of(&asked.name), &of("other.test")]), 1),
            Way::ShortData => good().raw(0, record(&name, number(kind), &[5, 0, 0])),
            Way::LongData => {
                let data: &[u8] = match kind {
                    "A" => &[10, 9, 9, 8, 0],
                    "AAAA" => &[0; 17],
                    "SRV" => &[0, 0, 0, 0, 0, 9, 1, b'x', 0, 0],
                    _ => &[1, b'x', 200],
                };
                good().raw(0, record(&name, number(kind), data))
            }
            Way::PointerLoop => {
                let here = u16::try_from(good().bytes().len()).unwrap() | 0xc000;
                good().raw(0, record(&here.to_be_bytes(), number(kind), &[10, 9, 9, 8]))
            }
            Way::NoNameWithRecords => good().code(NXDOMAIN),
            Way::TwoAliases => asked.answer(&[
                &alias("a.test"),
                &alias("b.test"),
                &of("a.test"),
                &of("b.test"),
            ]),
            Way::AliasLoop => {
                asked.answer(&[&alias("a.test"), &format!("a.test CNAME {}", asked.name)])
            }
            // The name at its end stands for the first one in turn.
            Way::OpenLoop => asked.answer(&[&alias("loop.test")]),
            Way::LongChain => {
                let mut chain = chain(&asked.name, MOST_ALIASES + 1);
                chain.push(of(&format!("c{}.test", MOST_ALIASES + 1)));
                let chain: Vec<&str> = chain.iter().map(String::as_str).collect();
                asked.answer(&chain)
            }
            Way::OnlyOthers => {
                asked.answer(&[&of("other.test"), &of(&format!("below.{}", asked.name))])
            }
            Way::OtherKinds => asked.answer(&[
                &format!("{} MX x", asked.name),
                &format!("{} NS ns.test", asked.name),
            ]),
            Way::OtherClass => {
                let mut bytes = record(&name, number(kind), &[10, 9, 9, 9]);
                bytes[name.len() + 3] = 3;
                asked.answer(&[]).raw(0, bytes)
            }
            Way::Referral => asked
                .answer(&[])
                .not_recursive()
                .authority(&["test NS ns.test"])
                .additional(&["ns.test A 10.9.9.9"]),
            Way::ExtendedCode => good().raw(2, vec![0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0]),
            Way::OtherCode => good().code(9),
        })
    }

    /// Truncated over UDP, and over TCP no whole answer either.
    pub(super) fn cut_off(&self, asked: &Asked, read: &mut Read) -> Said {
        let good = asked.answer(&[&format!(
            "{} {} {}",
            asked.name,
            asked.kind,
            decoy(asked.kind)
        )]);
        if !asked.tcp {
            return Said::again(good.truncated().send());
        }
        let bytes = good.bytes();
        let framed = [&[0, bytes.len() as u8], &bytes[..]].concat();
        // Where nothing but TCP is spoken, an error is no more than that.
        let ways = if self.wanted.is_over_tcp() {
            0..5
        } else {
            0..6
        };
        Said::acts(match read.chance.number(ways) {
            0 => vec![Act::Raw(framed[..framed.len() - 1].to_vec()), Act::Close],
            1 => vec![Act::Raw(vec![0]), Act::Close],
            2 => vec![Act::Close],
            3 => good.truncated().send(),
            4 => Reply {
                id: !asked.id,
                ..good
            }
            .send(),
            _ => asked.error(SERVFAIL),
        })
    }
}

fn counting(reply: Reply, records: u16) -> Reply {
    Reply {
        counts: Some([records, 0, 0]),
        ..reply
    }
}

fn number(kind: &str) -> u16 {
    match kind {
        "A" => 1,
        "AAAA" => 28,
        "SRV" => 33,
        _ => 16,
    }
}
