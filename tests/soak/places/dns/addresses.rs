//! A and AAAA records: two questions a read, and the list is of both or of none.

use super::{Fault, Form, Read, Zone};
use crate::lists::{Endpoint, sorted};
use crate::support::dns::{Act, Asked, NOTIMP, NXDOMAIN, REFUSED, SERVFAIL};

impl Zone {
    pub(super) fn addresses(&self, asked: &Asked, read: &mut Read) -> Vec<Act> {
        let is_of_kind = |endpoint: &&Endpoint| endpoint.ip.is_ipv4() == (asked.kind == "A");
        let mine: Vec<Endpoint> = read.list.iter().filter(is_of_kind).copied().collect();
        // The family that fails alone is the same for both questions.
        let is_failing = |read: &Read| (asked.kind == "A") == read.version.is_multiple_of(2);
        match read.fault {
            Some(Fault::Servfail) => return asked.error(SERVFAIL),
            Some(Fault::Refused) => return asked.error(REFUSED),
            Some(Fault::Silent) => return Vec::new(),
            Some(Fault::OneSilent) if is_failing(read) => return Vec::new(),
            Some(Fault::OneRefused) if is_failing(read) => {
                self.tell(asked, read);
                return asked.error([SERVFAIL, REFUSED, NOTIMP][read.version as usize % 3]);
            }
            Some(Fault::Malformed) => return malformed(asked),
            Some(Fault::TruncatedForGood) => return cut_off(asked, &records(asked, &mine)),
            _ => {}
        }
        if read.form == Form::NoName && read.list.is_empty() && read.fault.is_none() {
            self.tell(asked, read);
            return match read.version % 2 {
                0 => asked.error(NXDOMAIN),
                _ => asked.answer(&[]).send(),
            };
        }
        let mut reply = match read.form {
            Form::Alias => asked.answer(&["web.test CNAME www.test"]),
            _ => asked.answer(&[]),
        };
        let owner = if read.form == Form::Alias {
            "www.test"
        } else {
            "web.test"
        };
        let mut texts: Vec<String> = mine
            .iter()
            .map(|endpoint| format!("{owner} {} {}", asked.kind, endpoint.ip))
            .collect();
        read.chance.shuffle(&mut texts);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        reply.sections[0].extend(asked.answer(&texts).sections[0].clone());
        if read.form == Form::Alias && mine.is_empty() {
            // Without the zone of its end an alias is left open.
            reply = reply.authority(&["test SOA x"]);
        }
        let acts = self.send(asked, read, reply);
        let is_cut = !asked.tcp && acts.iter().any(is_truncated);
        if !is_cut {
            self.tell(asked, read);
        }
        acts
    }

    /// One family is told; with both the list is whole.
    fn tell(&self, asked: &Asked, read: &mut Read) {
        if !read.told.contains(&asked.kind) {
            read.told.push(asked.kind);
            if read.told.len() == 2 && !matches!(read.fault, Some(Fault::OneSilent)) {
                let is_kept = |endpoint: &&Endpoint| {
                    read.fault != Some(Fault::OneRefused)
                        || endpoint.ip.is_ipv4() != read.version.is_multiple_of(2)
                };
                let list = read.list.iter().filter(is_kept).copied().collect();
                self.whole(read, &sorted(list));
            }
        }
    }
}

/// Whether a message says that it is truncated.
pub(super) fn is_truncated(act: &Act) -> bool {
    matches!(act, Act::Send(bytes) if bytes[2] & 2 != 0)
}

fn records(asked: &Asked, list: &[Endpoint]) -> Vec<String> {
    list.iter()
        .map(|endpoint| format!("web.test {} {}", asked.kind, endpoint.ip))
        .collect()
}

/// An answer that ends in the middle of its records.
pub(super) fn malformed(asked: &Asked) -> Vec<Act> {
    let mut reply = asked.answer(&[&format!("{} A 10.9.9.9", asked.name)]);
    reply.counts = Some([3, 0, 0]);
    reply.send()
}

/// Truncated over UDP, and closed over TCP before an answer is whole.
pub(super) fn cut_off(asked: &Asked, records: &[String]) -> Vec<Act> {
    let some: Vec<&str> = records.iter().take(2).map(String::as_str).collect();
    match asked.tcp {
        true => vec![Act::Raw(vec![0, 200, 1, 2, 3]), Act::Close],
        false => asked.answer(&some).truncated().send(),
    }
}
