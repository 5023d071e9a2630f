//! The addresses of a name: A and AAAA records asked for side by side.

use std::net::IpAddr;

use hickory_proto::rr::Name;
use smol::future::zip;

use super::answer::End;
use super::ask::Asker;
use super::failure::Failure;
use super::message::Data;
use super::question::{Kind, Question};

/// Which addresses are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Both IPv4 and IPv6.
    Any,
    /// IPv4 alone.
    Ipv4,
    /// IPv6 alone.
    Ipv6,
}

impl Family {
    /// Whether an address is of the family.
    pub fn holds(self, ip: &IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Ipv4 => ip.is_ipv4(),
            Self::Ipv6 => ip.is_ipv6(),
        }
    }
}

/// The addresses of a family that a name has, perhaps none; `None` when there is no such name. A family
/// of which some are `known` already is not asked for.
///
/// Errors: one of the questions failed; the failure tells which family had an answer. A family whose
/// servers answer SERVFAIL, REFUSED or NOTIMP is left out when the other one has addresses.
pub async fn addresses(
    asker: &Asker<'_>,
    name: &Name,
    family: Family,
    known: &[IpAddr],
) -> Result<Option<Vec<IpAddr>>, Failure> {
    let find = |kind| of_kind(asker, name, kind, known);
    match family {
        Family::Ipv4 => find(Kind::A).await,
        Family::Ipv6 => find(Kind::Aaaa).await,
        Family::Any => {
            let (v4, v6) = zip(find(Kind::A), find(Kind::Aaaa)).await;
            both(v4, v6)
        }
    }
}

/// The addresses of both families, where one may be refused if the other has some.
fn both(v4: Outcome, v6: Outcome) -> Outcome {
    let has_some = |outcome: &Outcome| matches!(outcome, Ok(Some(list)) if !list.is_empty());
    match (v4, v6) {
        (Ok(v4), Ok(v6)) => Ok(match (v4, v6) {
            (None, None) => None,
            (v4, v6) => Some([v4.unwrap_or_default(), v6.unwrap_or_default()].concat()),
        }),
        (found, Err(failure)) if failure.is_refusal() && has_some(&found) => found,
        (Err(failure), found) if failure.is_refusal() && has_some(&found) => found,
        (Ok(_), Err(failure)) => Err(failure.beside(Family::Ipv4)),
        (Err(failure), Ok(_)) => Err(failure.beside(Family::Ipv6)),
        (Err(failure), Err(_)) => Err(failure),
    }
}

/// What a name has, or that there is no such name.
type Outcome = Result<Option<Vec<IpAddr>>, Failure>;

/// The addresses of one family.
async fn of_kind(asker: &Asker<'_>, name: &Name, kind: Kind, known: &[IpAddr]) -> Outcome {
    let is_of_kind = |ip: &&IpAddr| ip.is_ipv4() == (kind == Kind::A);
    let known: Vec<IpAddr> = known.iter().filter(is_of_kind).copied().collect();
    if !known.is_empty() {
        return Ok(Some(known));
    }
    let question = Question {
        name: name.clone(),
        kind,
    };
    Ok(match asker.ask(&question).await?.end {
        End::Records(records, _) => Some(records.iter().filter_map(address).collect()),
        End::NoData | End::Alias(_) => Some(Vec::new()),
        End::NoName => None,
    })
}

fn address(data: &Data) -> Option<IpAddr> {
    match data {
        Data::Address(ip) => Some(*ip),
        Data::Service { .. } | Data::Text(_) => None,
    }
}
