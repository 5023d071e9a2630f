//! Redirects: good ones of every status and form, and those that lead too far or nowhere.

use std::sync::Arc;

use super::ending::Ending;
use super::exchange::{converse, send};
use super::{Asked, Host};
use crate::chance::Chance;
use crate::stage::Stage;
use crate::support::Reply;
use crate::support::peer::answer;
use crate::turns::Turn;

/// What nobody is to ask for: behind redirects that must not be followed.
pub(super) const NOWHERE: [&str; 2] = ["/nowhere", "/far-0"];
const STATUSES: [&str; 5] = [
    "301 Moved Permanently",
    "302 Found",
    "303 See Other",
    "307 Temporary Redirect",
    "308 Permanent Redirect",
];
/// So many are followed.
const MOST: usize = 5;

/// Where a good redirect leads from here, if there is to be one: to the end of a chain, after so many more.
pub(super) fn next(asked: &Asked<'_>, chance: &mut Chance) -> Option<String> {
    match asked.path.strip_prefix("/moved-") {
        Some(left) => {
            let left: usize = left.parse().ok()?;
            Some(format!("moved-{}", left.checked_sub(1)?))
        }
        None => chance
            .one_in(6)
            .then(|| format!("moved-{}", chance.number(0..MOST))),
    }
}

impl Asked<'_> {
    /// Whether it stands in a chain that is one too long.
    pub(super) fn leads_too_far(&self) -> bool {
        self.path.starts_with("/far-")
    }
}

impl Host {
    pub(super) fn redirect(
        &self,
        stage: &Arc<Stage>,
        turn: Turn,
        asked: &Asked<'_>,
        next: &str,
        chance: &mut Chance,
    ) -> Reply {
        let (kind, location) = self.location(asked.is_first, next, chance);
        let status = chance.of_these(&STATUSES);
        stage.tally.count("peers: url", format!("redirect {kind}"));
        stage.tally.count("redirects", status);
        let words = ["", "elsewhere", "# elsewhere\n10.0.0.1:80\n"];
        let fields = format!("Location: {location}\r\nETag: \"bad\"\r\n");
        let answer = answer(status, &fields, chance.of_these(&words));
        let ending = Ending::any(stage, chance);
        converse(turn, move |wire| {
            send(wire, &answer)?;
            Ok(ending)
        })
    }

    /// A way to write where a path is, here or at the other server (RFC 3986, section 4.2).
    fn location(&self, is_first: bool, path: &str, chance: &mut Chance) -> (&'static str, String) {
        let servers = self.servers();
        let scheme = servers.scheme();
        let (here, there) = (servers.authority(is_first), servers.authority(!is_first));
        match chance.number(0..8) {
            0 => ("by path", format!("/{path}")),
            1 => ("by name", path.to_owned()),
            2 => ("by steps", format!("../x/.././{path}#part")),
            3 => ("by host", format!("//{here}/{path}")),
            4 => ("with a login", format!("{scheme}://me:pw@{here}/{path}")),
            5 => ("by URL", format!("{scheme}://{here}/{path}")),
            _ => ("elsewhere", format!("{scheme}://{there}/{path}")),
        }
    }

    /// One that is to be refused: what it leads to would be a list.
    pub(super) fn wrong_redirect(&self, chance: &mut Chance) -> Vec<u8> {
        let body = "10.66.66.66:80\n";
        let [nowhere, _] = NOWHERE;
        let good = format!("Location: {nowhere}\r\n");
        let down = self.servers().down();
        let (status, fields) = match chance.number(0..5) {
            0 => (chance.of_these(&STATUSES), String::new()),
            1 => (chance.of_these(&STATUSES), format!("{good}{good}")),
            2 => (
                chance.of_these(&STATUSES),
                format!("Location: {down}{nowhere}\r\n"),
            ),
            3 => (
                chance.of_these(&STATUSES),
                "Location: http://[::1/\r\n".into(),
            ),
            _ => (
                chance.of_these(&["300 Multiple Choices", "305 Use Proxy", "306 Unused"]),
                good,
            ),
        };
        answer(status, &fields, body)
    }

    /// The next step of a chain that is one too long.
    pub(super) fn too_far(&self, path: &str, chance: &mut Chance) -> Vec<u8> {
        let left = path
            .strip_prefix("/far-")
            .and_then(|left| left.parse().ok());
        let left = left.unwrap_or(MOST + 1).saturating_sub(1);
        let fields = format!("Location: /far-{left}\r\n");
        answer(chance.of_these(&STATUSES), &fields, "")
    }
}
