//! A context of a kubeconfig: it names a cluster and a user.

use super::access::Access;
use super::fields::{self, Kubeconfig};
use crate::slices::is_label;
use crate::wording::{quote, shorten};
use crate::yaml::{Placed, Position};

/// An error names so many contexts, in so many characters.
const MOST_NAMED: usize = 16;
const LONGEST_NAMES: usize = 255;

/// A context: how its cluster is reached, and its namespace.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) access: Access,
    pub(super) namespace: Option<Box<str>>,
}

/// Why a kubeconfig cannot be used: one sentence that quotes no secret.
#[derive(Clone)]
pub(super) struct Wrong {
    pub(super) message: String,
    is_about_context: bool,
}

impl Wrong {
    /// The same with what it is about put before it.
    pub(super) fn of(self, subject: &str) -> Self {
        Self {
            message: format!("{subject}: {}", self.message),
            ..self
        }
    }

    /// Where it is to be corrected: at the kubeconfig, or at the context that is not in it.
    pub(super) fn place(
        &self,
        kubeconfig: Position,
        context: Option<&Placed<Box<str>>>,
    ) -> Position {
        match context.filter(|_| self.is_about_context) {
            Some(context) => context.position,
            None => kubeconfig,
        }
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self {
            message,
            is_about_context: false,
        }
    }
}

/// The context of that name, or the current one.
///
/// Errors: the first thing that is wrong with it, without the name of the file.
pub(super) fn choose(config: &Kubeconfig, named: Option<&str>) -> Result<Context, Wrong> {
    let name = named.or(config.current_context.as_deref());
    let name = name.ok_or_else(|| "it has no current-context; name one with context".to_owned())?;
    let context = config.contexts.get(name).ok_or_else(|| Wrong {
        message: missing(name, config.contexts.keys().map(|known| &**known)),
        is_about_context: true,
    })?;
    let used = used(config, context);
    used.map_err(|wrong| format!("the context {}: {wrong}", quote(name)).into())
}

fn used(config: &Kubeconfig, context: &fields::Context) -> Result<Context, String> {
    let cluster = context.cluster.as_deref();
    let cluster = cluster.and_then(|name| config.clusters.get(name));
    let cluster = cluster.ok_or("it names a cluster that is not there")?;
    let nobody = fields::User::default();
    let user = match &context.user {
        None => &nobody,
        Some(name) => config
            .users
            .get(name)
            .ok_or("it names a user that is not there")?,
    };
    let namespace = context.namespace.as_deref();
    if namespace.is_some_and(|name| !is_label(name)) {
        return Err("its namespace is no name of one".into());
    }
    Ok(Context {
        access: Access::of(cluster, user)?,
        namespace: namespace.map(Into::into),
    })
}

fn missing<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.take(MOST_NAMED).collect();
    let known = match known.is_empty() {
        true => "it has none".into(),
        false => format!("it has {}", shorten(&known.join(", "), LONGEST_NAMES)),
    };
    format!("there is no context {}; {known}", quote(name))
}
