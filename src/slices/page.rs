//! One page of a list, as the API server writes it.

use std::borrow::Cow;
use std::net::IpAddr;
use std::num::NonZeroU16;

use super::Gathered;
use super::gathered::Slice;
use crate::dns::Family;
use crate::json::{Json, Read};
use crate::wording::{quote, shorten};

/// The API server allows no more.
const MOST_PORTS: usize = 20_000;
/// A name that is valid is no longer (RFC 1123, section 2.1).
const LONGEST_NAME: usize = 253;
const KIND: &str = "EndpointSliceList";

impl Gathered {
    /// Takes the slices of one page, and gives what to ask the next one with, if there is more.
    ///
    /// Errors: it is no list of slices, or a part of it makes no sense. Then there is no list at all.
    pub fn take(&mut self, text: &str) -> Read<Option<Box<str>>> {
        let (mut more, mut has_items) = (None, false);
        let mut json = Json::new(text);
        json.object(|json, key| match key {
            "kind" => kind(json),
            "metadata" => {
                more = json.or_null(next)?.flatten();
                Ok(())
            }
            "items" => {
                has_items = true;
                let items = json.or_null(|json| json.array(|json| self.slice(json)));
                items.map(|_| ())
            }
            _ => json.skip(),
        })?;
        match has_items {
            true => json.end().map(|()| more),
            false => Err(json.bad("it has no items, so it is no list")),
        }
    }

    fn slice(&mut self, json: &mut Json<'_>) -> Read<()> {
        let mut draft = Draft::default();
        json.object(|json, key| match key {
            "metadata" => json.or_null(|json| draft.metadata(json)).map(|_| ()),
            "addressType" => {
                draft.family = Some(family(json)?);
                Ok(())
            }
            "endpoints" => {
                let endpoints = json.or_null(|json| json.array(|json| draft.endpoint(json)));
                endpoints.map(|_| ())
            }
            "ports" => {
                let ports = json.or_null(|json| json.array(|json| draft.port(json)));
                ports.map(|_| ())
            }
            _ => json.skip(),
        })?;
        let checked = draft.check(self.wanted.family);
        match checked.map_err(|reason| json.bad(reason))? {
            Some(slice) => self.add(slice),
            None => {}
        }
        Ok(())
    }
}

fn kind(json: &mut Json<'_>) -> Read<()> {
    match json.text()? {
        kind if kind == KIND => Ok(()),
        kind => {
            let reason = format!("it is a {}, not a {KIND}", shorten(&kind, LONGEST_NAME));
            Err(json.bad(reason))
        }
    }
}

fn next(json: &mut Json<'_>) -> Read<Option<Box<str>>> {
    let mut next = None;
    json.object(|json, key| match key {
        "continue" => {
            next = json.or_null(Json::text)?.filter(|token| !token.is_empty());
            Ok(())
        }
        _ => json.skip(),
    })?;
    Ok(next.map(|token| Box::from(&*token)))
}

/// The family of the addresses; `None` for host names, which are not served.
fn family(json: &mut Json<'_>) -> Read<Option<Family>> {
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

/// A slice as far as it has been read: its fields come in any order.
#[derive(Default)]
struct Draft {
    name: String,
    /// Of the addresses; see [`family`].
    family: Option<Option<Family>>,
    slice: Slice,
    /// The first that is no IP address.
    strange: Option<String>,
}

impl Draft {
    fn metadata(&mut self, json: &mut Json<'_>) -> Read<()> {
        json.object(|json, key| match key {
            "name" => {
                self.name = shorten(&json.text()?, LONGEST_NAME);
                Ok(())
            }
            _ => json.skip(),
        })
    }

    /// Keeps its first address if it is ready.
    fn endpoint(&mut self, json: &mut Json<'_>) -> Read<()> {
        let (mut address, mut is_ready) = (None, true);
        json.object(|json, key| match key {
            "addresses" => {
                address = json.or_null(first)?.flatten();
                Ok(())
            }
            "conditions" => {
                is_ready = json.or_null(ready)?.unwrap_or(true);
                Ok(())
            }
            _ => json.skip(),
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

    fn port(&mut self, json: &mut Json<'_>) -> Read<()> {
        let (mut name, mut number) = (None, None);
        json.object(|json, key| match key {
            "name" => {
                name = json.or_null(Json::text)?;
                Ok(())
            }
            "port" => {
                number = json.or_null(port_number)?.flatten();
                Ok(())
            }
            _ => json.skip(),
        })?;
        let ports = &mut self.slice.ports;
        let name = name.unwrap_or_default();
        match ports.iter().find(|(known, _)| **known == *name) {
            Some((_, known)) if *known != number => {
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
                ports.push((name.into(), number));
                Ok(())
            }
        }
    }

    /// The slice, unless its addresses are not wanted.
    fn check(self, wanted: Family) -> Result<Option<Slice>, String> {
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
    json.object(|json, key| match key {
        "ready" => {
            is_ready = json.or_null(Json::boolean)?.unwrap_or(true);
            Ok(())
        }
        _ => json.skip(),
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
