//! Hosts to addresses.

use std::net::SocketAddr;

use url::Host;

use super::{Deadline, Failure, Kind, Target};
use crate::dns;

/// The addresses of a target, at least one, in the order in which they are to be tried.
pub(super) async fn of(
    target: &Target,
    names: &dns::System,
    deadline: Deadline,
) -> Result<Vec<SocketAddr>, Failure> {
    let found = match target.host() {
        Some(Host::Ipv4(ip)) => Ok(vec![ip.into()]),
        Some(Host::Ipv6(ip)) => Ok(vec![ip.into()]),
        Some(Host::Domain(name)) => names.addresses(name, deadline).await,
        None => Ok(Vec::new()),
    };
    let ips = found.map_err(|failure| match failure.is_timeout() {
        true => Failure::new(Kind::TimedOut, failure.to_string()),
        false => Failure::new(Kind::Name, failure.to_string()),
    })?;
    let port = target.port();
    let addresses = ips.into_iter();
    Ok(addresses.map(|ip| SocketAddr::new(ip, port)).collect())
}
