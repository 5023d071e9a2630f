//! One slice, as far as it has been read: its fields come in any order.

use std::borrow::Cow;
use std::net::IpAddr;
use std::num::NonZeroU16;

use super::gathered::Slice;
use crate::dns::Family;
use crate::json::{Json, Read};
use crate::wording::{quote, shorten};

/// The API server allows no more.
const MOST_PORTS: usize = 20_000;
/// A name that is valid is no longer (RFC 1123, section 2.1).
pub(super) const LONGEST_NAME: usize = 253;

/// The family of the addresses; `None` for host names, which are not served.
pub(super) fn family(json: &mut Json<'_>) -> Read<Option<Family>> {
    match &*json.text()? {
        "IPv4" => Ok(Some(Family::Ipv4)),
        "IPv6" => Ok(Some(Family::Ipv6)),
        "FQDN" => Ok(None),
        other => {
            let reason = format!("the addressType {} is unknown", quote(other));
            Err(json.bad(reason))
        }
    }
}

/// A slice as far as it has been read.
#[derive(Default)]
pub(super) struct Draft {
    name: String,
    /// Of the addresses; see [`family`].
    pub(super) family: Option<Option<Family>>,
    slice: Slice,
    /// The first that is no IP address.
    strange: Option<String>,
}

impl Draft {
    pub(super) fn metadata(&mut self, json: &mut Json<'_>) -> Read<()> {
        json.fields(&["name"], |json, _| {
            self.name = shorten(&json.text()?, LONGEST_NAME);
            Ok(())
        })
    }

    /// Keeps its first address if it is ready.
    pub(super) fn endpoint(&mut self, json: &mut Json<'_>) -> Read<()> {
        let (mut address, mut is_ready) = (None, true);
        json.fields(&["addresses", "conditions"], |json, key| {
            match key {
                "addresses" => address = json.or_null(first)?.flatten(),
                _ => is_ready = json.or_null(ready)?.unwrap_or(true),
            }
            Ok(())
        })?;
        self.slice.endpoints += 1;
        if let Some(address) = address.filter(|_| is_ready) {
            match address.parse::<IpAddr>() {
                Ok(ip) => self.slice.addresses.push(ip),
                Err(_) => drop(self.strange.get_or_insert_with(|| quote(&address))),
            }
        }
        Ok(())
    }

    /// How many of its endpoints are ready so far.
    pub(super) fn ready(&self) -> usize {
        self.slice.addresses.len()
    }

    pub(super) fn port(&mut self, json: &mut Json<'_>) -> Read<()> {
        let (mut name, mut number) = (None, None);
        json.fields(&["name", "port"], |json, key| {
            match key {
                "name" => name = json.or_null(Json::text)?,
                _ => number = json.or_null(port_number)?.flatten(),
            }
            Ok(())
        })?;
        let ports = &mut self.slice.ports;
        let name = name.unwrap_or_default();
        match ports.get(&*name) {
            Some(known) if *known != number => {
                let reason = format!(
                    "the slice {} has the port {} twice",
                    self.name,
                    quote(&name)
                );
                Err(json.bad(reason))
            }
            Some(_) => Ok(()),
            None if ports.len() == MOST_PORTS => {
                Err(json.bad(format!("the slice {} has too many ports", self.name)))
            }
            None => {
                ports.insert(name.into(), number);
                Ok(())
            }
        }
    }

    /// The slice, unless its addresses are not wanted.
    pub(super) fn check(self, wanted: Family) -> Result<Option<Slice>, String> {
        let Some(family) = self.family else {
            return Err(format!("the slice {} has no addressType", self.name));
        };
        let Some(family) = family.filter(|family| wanted == Family::Any || wanted == *family)
        else {
            return Ok(None);
        };
        let mut addresses = self.slice.addresses.iter();
        let foreign = addresses
            .find(|ip| !family.holds(ip))
            .map(|ip| format!("\"{ip}\""));
        match self.strange.or(foreign) {
            None => Ok(Some(self.slice)),
            Some(address) => {
                let family = if family == Family::Ipv4 {
                    "IPv4"
                } else {
                    "IPv6"
                };
                let name = self.name;
                Err(format!(
                    "the address {address} of the slice {name} is not {family}"
                ))
            }
        }
    }
}

/// Whether an endpoint is ready: it is unless its conditions say no.
fn ready(json: &mut Json<'_>) -> Read<bool> {
    let mut is_ready = true;
    json.fields(&["ready"], |json, _| {
        is_ready = json.or_null(Json::boolean)?.unwrap_or(true);
        Ok(())
    })?;
    Ok(is_ready)
}

/// The first of the addresses: the others mean the same endpoint.
fn first<'a>(json: &mut Json<'a>) -> Read<Option<Cow<'a, str>>> {
    let mut first = None;
    json.array(|json| {
        let address = json.text()?;
        first.get_or_insert(address);
        Ok(())
    })?;
    Ok(first)
}

/// 0 is none.
fn port_number(json: &mut Json<'_>) -> Read<Option<NonZeroU16>> {
    match u16::try_from(json.whole()?) {
        Ok(number) => Ok(NonZeroU16::new(number)),
        Err(_) => Err(json.bad("a port is not a number from 1 to 65535")),
    }
}
