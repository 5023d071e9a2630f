//! The addresses of many targets at once.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::dns::{self, Addresses, Asker, Family, Name, plain};
use crate::endpoint::{MOST, TOO_MANY};
use crate::racing::Racing;
use crate::source::Failure;

/// So many targets are looked up at once, each with one socket a family: enough that hundreds take a few
/// round trips, and few enough for the queue of a server and the limit of open files.
const AT_ONCE: usize = 64;

/// Why a target is left out, in words.
pub(super) type Reason = &'static str;

/// What a target has: addresses, at least one, or why it is left out.
pub(super) type Outcome = Result<Vec<IpAddr>, Reason>;

/// Finds the addresses of all targets: those that came along, else those that DNS has.
///
/// Errors: the first lookup that failed, or more addresses than there may be endpoints; the other lookups are
/// given up.
pub(super) async fn find<'a>(
    asker: &Asker<'_>,
    targets: Vec<&'a Name>,
    additional: &Addresses,
    family: Family,
) -> Result<HashMap<&'a Name, Outcome>, Failure> {
    let mut found = HashMap::with_capacity(targets.len());
    let mut addresses = 0;
    let mut waiting = targets.into_iter();
    let mut racing = Racing::new();
    loop {
        let room = AT_ONCE.saturating_sub(racing.len());
        for target in waiting.by_ref().take(room) {
            let known = additional.get(target).map_or(&[][..], Vec::as_slice);
            racing.add(async move { (target, look_up(asker, target, family, known).await) });
        }
        if racing.is_empty() {
            return Ok(found);
        }
        let (target, outcome) = racing.next().await;
        let outcome = outcome?;
        addresses += outcome.as_ref().map_or(0, Vec::len);
        if addresses > MOST {
            return Err(too_many());
        }
        found.insert(target, outcome);
    }
}

pub(super) fn too_many() -> Failure {
    Failure::Unreadable(TOO_MANY.into())
}

async fn look_up(
    asker: &Asker<'_>,
    target: &Name,
    family: Family,
    known: &[IpAddr],
) -> Result<Outcome, dns::Failure> {
    if target.is_root() {
        return Ok(Err("is no host"));
    }
    if let Some(ip) = plain(target).and_then(|text| text.parse().ok()) {
        let is_kept = family.holds(&ip);
        return Ok(is_kept
            .then(|| vec![ip])
            .ok_or("is an address of another family"));
    }
    Ok(match dns::addresses(asker, target, family, known).await? {
        None => Err("does not exist"),
        Some(list) if list.is_empty() => Err("has no address"),
        Some(list) => Ok(list),
    })
}
