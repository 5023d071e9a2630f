//! What is sent for one request: a page, or the fault in its place.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use super::slices::object;
use super::{Fault, TAIL_IN_JSON};
use crate::chance::Chance;
use crate::lists::Endpoint;
use crate::stage::Stage;
use crate::support::Reply;
use crate::support::cluster::status;
use crate::support::peer::{Wire, answer};
use crate::truth::{Excuse, Give, Place};

/// What is sent for one request.
pub(super) struct Page {
    pub(super) stage: Arc<Stage>,
    pub(super) place: Arc<Place>,
    /// What it was asked for with.
    pub(super) token: String,
    pub(super) chance: Chance,
    pub(super) bytes: Vec<u8>,
    /// It is a part of what makes no list, or none.
    pub(super) excuse: Option<Excuse>,
    /// Set with the last page of a good list.
    pub(super) whole: Option<(u64, Instant, Vec<Endpoint>)>,
}

const NO_LISTS: [&str; 4] = [
    r#"{"kind":"Status","items":null}"#,
    r#"{"kind":"EndpointSliceList","metadata":{}}"#,
    r#"{"kind":"EndpointSliceList","items":[]}x"#,
    r#"{"kind":"EndpointSliceList","items":[null]}"#,
];

/// A page of a list, and the version and page that it says comes next.
pub(super) fn list(slices: &str, next: Option<(u64, usize)>, chance: &mut Chance) -> String {
    let next = match next {
        Some((version, page)) => format!(r#""continue":"{version}.{page}{TAIL_IN_JSON}""#),
        None => chance
            .of_these(&["", r#""continue":"""#, r#""continue":null"#])
            .to_owned(),
    };
    let metadata = object(&[&next, r#""resourceVersion":"7""#], chance);
    let metadata = format!(r#""metadata":{metadata}"#);
    let items = match (slices, chance.one_in(2)) {
        ("", true) => r#""items":null"#.to_owned(),
        _ => format!(r#""items":[{slices}]"#),
    };
    let kind = r#""kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1""#;
    object(&[kind, &metadata, &items], chance)
}

impl Page {
    pub(super) fn send(mut self, wire: &mut dyn Wire, fault: Option<Fault>) -> io::Result<bool> {
        let Some(excuse) = self.excuse else {
            return self.rest(wire, 0);
        };
        let span = self.place.begin(excuse);
        let sent = self.play(wire, fault);
        self.place.end(span);
        sent
    }

    /// What is left of the page. A read may have the list whole from now on.
    fn rest(&self, wire: &mut dyn Wire, from: usize) -> io::Result<bool> {
        if let Some((version, arrived, list)) = &self.whole {
            self.place.whole(*version, list, Give::exchanged(*arrived));
        }
        send(wire, &self.bytes[from..])
    }

    fn play(&mut self, wire: &mut dyn Wire, fault: Option<Fault>) -> io::Result<bool> {
        let cut = self.chance.number(1..self.bytes.len() - 2);
        match fault {
            None => self.rest(wire, 0),
            Some(Fault::Slow) => {
                send(wire, &self.bytes[..cut])?;
                // Three pages at most, all within the timeout.
                self.stage.pause(self.chance.ms(350..450));
                self.rest(wire, cut)
            }
            Some(Fault::Silent) => {
                while wire.read(&mut [0; 64])? > 0 {}
                Ok(false)
            }
            Some(Fault::Reset) => {
                send(wire, &self.bytes[..cut])?;
                sockopt::set_socket_linger(wire.socket(), Some(Duration::ZERO))?;
                Ok(false)
            }
            Some(Fault::CutPage) => {
                send(wire, &self.bytes[..cut])?;
                Ok(false)
            }
            Some(Fault::Forbidden) => refuse(wire, "403 Forbidden"),
            Some(Fault::SecondFails) => refuse(wire, "503 Service Unavailable"),
            Some(Fault::NoList) => no_list(wire, self.chance.of_these(&NO_LISTS)),
            Some(Fault::Echo) => no_list(wire, &format!(r#"{{"kind":"{}"}}"#, self.token)),
            _ => refuse(wire, "500 Internal Server Error"),
        }
    }
}

fn send(wire: &mut dyn Wire, bytes: &[u8]) -> io::Result<bool> {
    wire.write_all(bytes)?;
    wire.flush()?;
    Ok(true)
}

fn no_list(wire: &mut dyn Wire, text: &str) -> io::Result<bool> {
    let fields = "Content-Type: application/json\r\n";
    send(wire, &answer("200 OK", fields, text))
}

fn refuse(wire: &mut dyn Wire, words: &str) -> io::Result<bool> {
    let Reply::Keep(bytes) = status(words, "no") else {
        return Ok(false);
    };
    send(wire, &bytes)
}
