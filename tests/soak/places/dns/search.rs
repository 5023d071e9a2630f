//! A name that the search list of resolv.conf makes whole, on the server that resolv.conf names.

use std::sync::Arc;

use super::{Type, Wanted, Zone, zone};
use crate::chance::Chance;
use crate::places::{Kept, Later};
use crate::support::dns::{Act, Asked, DnsServer, NXDOMAIN};
use crate::support::resolv_conf::may_mount;
use crate::truth::Place;

/// What is asked for before and after the name that is meant: there are no such names.
const PASSED_OVER: [&str; 2] = ["web.nowhere.test", "web"];

/// It has no records in the first domain, which is an answer. In the other it has some that are nothing to it.
const EMPTY: &str = "empty.nowhere.test";
const NOTHING_TO_IT: [&str; 2] = ["empty.test", "empty"];

/// Starts one and one that is always empty, and gives resolv.conf; `None`, with a word about it, where that cannot be put in the place of the
/// system's.
pub(crate) fn start_with_search(
    stage: &Later,
    seed: u64,
    number: u8,
) -> Option<([Kept; 2], String)> {
    let promise = "a soak with a search list";
    let zone = Arc::new(zone(stage, seed, number, Wanted::of(Type::A).searched()));
    let place = zone.place.clone();
    let script = move |asked: &Asked| match &*asked.name {
        EMPTY => asked.answer(&[]).send(),
        name if NOTHING_TO_IT.contains(&name) => asked.only("10.66.66.66"),
        _ => zone.answer(asked, 0),
    };
    let server = DnsServer::at_port_53(promise, script)?.forgetting();
    let ip = server.address().ip();
    std::mem::forget(server);
    let options = Chance::of(seed, "options").of_these(&["", "options ndots:1 rotate\n"]);
    let resolv_conf = format!("nameserver {ip}\nsearch nowhere.test test\n{options}");
    let kept = Kept {
        place,
        kind: "dns",
        source: "{name: web, timeout: 2500ms}".into(),
    };
    let empty = Kept {
        place: Place::still("an empty name", &[]),
        kind: "dns",
        source: "{name: empty, timeout: 2500ms}".into(),
    };
    may_mount(promise).then_some(([kept, empty], resolv_conf))
}

impl Zone {
    /// What is said of another name that the search list makes of it.
    pub(super) fn passes_over(&self, asked: &Asked) -> Option<Vec<Act>> {
        let is_passed_over = self.wanted.is_searched && PASSED_OVER.contains(&&*asked.name);
        is_passed_over.then(|| asked.error(NXDOMAIN))
    }
}
