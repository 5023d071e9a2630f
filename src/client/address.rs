//! Names to addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::Host;

use super::{Deadline, Failure, Kind, Target};

/// More addresses than a host that is asked for a list has; the rest are not tried.
const MOST: usize = 64;

/// The addresses of a target, at least one, in the order in which they are to be tried.
pub(super) async fn of(target: &Target, deadline: Deadline) -> Result<Vec<SocketAddr>, Failure> {
    let ips = match target.host() {
        Some(Host::Ipv4(ip)) => vec![ip.into()],
        Some(Host::Ipv6(ip)) => vec![ip.into()],
        Some(Host::Domain(name)) => look_up(name, deadline).await?,
        None => Vec::new(),
    };
    let port = target.port();
    let mut addresses: Vec<_> = ips
        .into_iter()
        .map(|ip| SocketAddr::new(ip, port))
        .collect();
    addresses.truncate(MOST);
    Ok(addresses)
}

async fn look_up(name: &str, _deadline: Deadline) -> Result<Vec<IpAddr>, Failure> {
    match name {
        "localhost" => Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
        _ => Err(Failure::new(
            Kind::Name,
            format!("looking up {name}: not known"),
        )),
    }
}
