//! A and AAAA records: two questions a read, and the list is of both or of none.

use super::faults::Fault;
use super::questions::State as Told;
use super::said::Said;
use super::{Read, Zone};
use crate::lists::Endpoint;
use crate::support::dns::Asked;

impl Zone {
    pub(super) fn addresses(&self, asked: &Asked, read: &mut Read) -> Said {
        let is_of_kind = |endpoint: &&Endpoint| endpoint.ip.is_ipv4() == (asked.kind == "A");
        let mine = read.list.iter().filter(is_of_kind);
        let data: Vec<String> = mine.map(|endpoint| endpoint.ip.to_string()).collect();
        let said = self.give(asked, read, &data);
        if said.told == Told::Answered {
            self.tell(asked, read);
        }
        said
    }

    /// One family is told; with all that are wanted the list is whole.
    pub(super) fn tell(&self, asked: &Asked, read: &mut Read) {
        if read.told.contains(&asked.kind) {
            return;
        }
        read.told.push(asked.kind);
        let is_list = matches!(read.fault, None | Some(Fault::Lost | Fault::OneRefused));
        if is_list && read.told.len() == self.wanted.kinds() {
            let is_kept = |endpoint: &&Endpoint| {
                read.fault != Some(Fault::OneRefused)
                    || endpoint.ip.is_ipv4() != read.version.is_multiple_of(2)
            };
            let list: Vec<Endpoint> = read.list.iter().filter(is_kept).copied().collect();
            self.whole(read, &list);
        }
    }
}
