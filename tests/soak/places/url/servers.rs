//! The servers of a place: where they listen, and how they are named.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::Host;
use crate::chance::Chance;
use crate::support::peer::reserve;
use crate::support::{Peer, Signed};

/// Where the list is.
pub(super) const LIST: &str = "/list";

/// The first server of this place is named `localhost`, and listens at the second of its addresses alone.
const AT_LOCALHOST: u8 = 2;

/// The servers of one place.
pub(super) struct Servers {
    first: Peer,
    elsewhere: Peer,
    /// Without TLS, where the others have it: nobody is to be led here.
    below: Option<Peer>,
    /// Nobody listens at the other address of `localhost`, and nobody else is given its port.
    reserved: Option<OwnedFd>,
}

impl Servers {
    /// Starts those of a place, over TLS when they have a certificate.
    pub(super) fn start(host: &Arc<Host>, chance: &mut Chance, signed: Option<&Signed>) -> Self {
        let serve = |address: &str, is_first| {
            let asked = host.clone();
            let tls = signed.map(|signed| signed.server(None));
            Peer::at(address, tls, move |head| asked.reply(head, is_first)).forgetting()
        };
        let mut own_address = || match signed {
            Some(_) => "127.0.0.1:0".to_owned(),
            // Its port nobody else is given while it refuses connections.
            None => format!(
                "127.{}.{}.{}:0",
                chance.number(1..255),
                chance.number(0..255),
                chance.number(1..255)
            ),
        };
        let reserved = (host.style.place == AT_LOCALHOST).then(reserve);
        let first = match &reserved {
            Some((_, port)) => serve(&format!("[::1]:{port}"), true),
            None => serve(&own_address(), true),
        };
        let elsewhere = serve(&own_address(), false);
        let asked = host.clone();
        let below = move || Peer::start(move |head| asked.reply(head, false));
        Self {
            first,
            elsewhere,
            below: signed.map(|_| below()),
            reserved: reserved.map(|(held, _)| held),
        }
    }

    pub(super) fn url_of_first(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme(), self.authority(true))
    }

    /// How the first server is named, or the other one.
    pub(super) fn authority(&self, is_first: bool) -> String {
        match (is_first, &self.reserved) {
            (true, Some(_)) => format!("localhost:{}", self.first.port()),
            (true, None) => self.first.address.to_string(),
            (false, _) => self.elsewhere.address.to_string(),
        }
    }

    pub(super) fn scheme(&self) -> &'static str {
        if self.is_plain() { "http" } else { "https" }
    }

    /// Whether they speak no TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.below.is_none()
    }

    /// Whether nobody else is given the port of the first one while it refuses connections.
    pub(super) fn may_refuse(&self) -> bool {
        self.is_plain() && self.reserved.is_none()
    }

    /// Where nobody is to be led: a step down from https to http, or what is no HTTP.
    pub(super) fn down(&self) -> String {
        match &self.below {
            None => format!("ftp://{}", self.first.address),
            Some(below) => below.url(""),
        }
    }

    /// Both speak TLS so from now on.
    pub(super) fn renew(&self, signed: &Signed) {
        self.first.renew(signed.server(None));
        self.elsewhere.renew(signed.server(None));
    }

    /// Takes no connections for a while.
    pub(super) fn refuse(&self, pause: impl FnOnce(), goes_on: impl Fn() -> bool) {
        let peer = &self.first;
        peer.shut();
        pause();
        peer.open();
        while std::net::TcpStream::connect(peer.address).is_err() && goes_on() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
