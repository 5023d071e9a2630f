//! SRV and TXT records.

use super::faults::Fault;
use super::forms::Form;
use super::questions::State as Told;
use super::said::Said;
use super::{Read, Type, Zone};
use crate::lists::{self, Endpoint};
use crate::support::dns::Asked;

impl Zone {
    pub(super) fn records(&self, asked: &Asked, read: &mut Read) -> Said {
        let data = match self.wanted.kind {
            Type::Srv => self.srv(read),
            _ => self.txt(read),
        };
        let said = self.give(asked, read, &data);
        let is_good = matches!(read.fault, None | Some(Fault::Lost));
        if is_good && said.told == Told::Answered {
            let list = read.list.clone();
            self.whole(read, &list);
        }
        said
    }

    /// Of all priorities. Targets without an address stand among the others, and alone where there is no other.
    fn srv(&self, read: &mut Read) -> Vec<String> {
        let version = read.version;
        let gone = || (0..2).map(move |at| format!("{at} 7 77 {}", gone(version, at)));
        if read.fault == Some(Fault::AllGone) {
            return gone().collect();
        }
        let mut data: Vec<String> = read
            .targets
            .iter()
            .enumerate()
            .flat_map(|(at, target)| target.data(at % 3))
            .collect();
        match data.is_empty() {
            true if read.form != Form::NoName && read.chance.one_in(2) => {
                data.push("0 0 0 .".into());
            }
            false if read.chance.one_in(3) => {
                self.stage().tally.count("peers: dns", "targets left out");
                data.extend(gone());
                data.push("1 5 55 .".into());
            }
            _ => {}
        }
        data
    }

    fn txt(&self, read: &mut Read) -> Vec<String> {
        let chance = &mut read.chance;
        let of = |endpoint: &Endpoint, chance: &mut crate::chance::Chance| {
            let mut line = lists::line(endpoint, chance);
            // Two strings of one record.
            line.insert(chance.number(0..line.len()), '|');
            format!("eds={line}")
        };
        let mut data: Vec<String> = read.list.iter().map(|one| of(one, chance)).collect();
        if read.fault == Some(Fault::BadLine) {
            data.push(match chance.one_in(6) {
                true => "eds=".into(),
                false => format!("eds={}", lists::bad_line(chance)),
            });
        }
        if read.form != Form::NoName && chance.one_in(2) {
            let others = [
                "for somebody else",
                "EDS=10.9.9.9:9",
                "v=eds=10.9.9.9:9",
                "eds",
            ];
            data.extend(others.map(String::from));
        }
        data
    }
}

/// A target of a version that has no address, or does not exist.
fn gone(version: u64, at: usize) -> String {
    format!("{}.v{version}.test", ["gone", "bare"][at])
}
