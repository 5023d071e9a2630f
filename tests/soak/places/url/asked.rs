//! A request, and whether it holds what belongs to the server that gets it, and nothing else.

use std::sync::Arc;

use super::login::Login;
use super::redirect::NOWHERE;
use super::servers::LIST;
use crate::chance::Chance;
use crate::stage::Stage;
use crate::support::peer::header;

/// One request.
pub(super) struct Asked<'a> {
    pub(super) head: &'a str,
    pub(super) path: &'a str,
    /// Whether the server was asked that the configuration names.
    pub(super) is_first: bool,
}

impl Asked<'_> {
    /// Whether the request holds what belongs to this server, and nothing else.
    pub(super) fn check(&self, key: &str) -> Result<(), String> {
        let sent = header(self.head, "x-key");
        let at = self.at();
        if sent.as_deref() != self.is_first.then_some(key) {
            return Err(format!("{at} was asked with the key {sent:?}"));
        }
        if NOWHERE.contains(&self.path) {
            return Err(format!("a redirect to {at} was followed"));
        }
        match header(self.head, "if-none-match") {
            Some(tag) if tag.contains("bad") => Err(format!(
                "{at} was asked with {tag}, the entity tag of what was no list"
            )),
            Some(tag) if !tag.ends_with(&format!("@{at}\"")) => Err(format!(
                "{at} was asked with {tag}, an entity tag of elsewhere"
            )),
            _ => Ok(()),
        }
    }

    /// Whether it says who asks, as this server is to know it.
    pub(super) fn check_login(
        &self,
        stage: &Stage,
        login: Option<&Arc<Login>>,
    ) -> Result<(), String> {
        let at = self.at();
        match (header(self.head, "authorization"), login) {
            (None, None) => Ok(()),
            (Some(sent), None) => Err(format!(
                "{at} was asked as {sent:?}, which is for another server or stood in a Location"
            )),
            (None, Some(_)) => Err(format!("{at} was not told who asks")),
            (Some(sent), Some(login)) => login.check(stage, &sent, self.begins()),
        }
    }

    /// The token or the password that it has.
    pub(super) fn secret(&self) -> Option<String> {
        header(self.head, "authorization").and_then(|sent| Login::secret_in(&sent))
    }

    /// Whether it is the first of its read.
    fn begins(&self) -> bool {
        self.path == LIST
    }

    /// The version whose entity tag it has.
    pub(super) fn version_at_hand(&self) -> Option<u64> {
        let tag = header(self.head, "if-none-match")?;
        let (version, _) = tag
            .trim_start_matches("W/\"")
            .trim_start_matches('"')
            .split_once('@')?;
        version.parse().ok()
    }

    /// The server and the path: who an entity tag belongs to.
    pub(super) fn at(&self) -> String {
        let server = if self.is_first { "first" } else { "elsewhere" };
        format!("{server}{}", self.path)
    }

    /// An entity tag that says where it belongs.
    pub(super) fn tag(&self, name: &str, chance: &mut Chance) -> String {
        let weak = chance.of_these(&["", "W/"]);
        format!("{weak}\"{name}@{}\"", self.at())
    }
}
