//! How the API server of a cluster is reached, and where that is written.

use std::path::PathBuf;

use super::kubeconfig::{self, Context};
use super::user::User;
use super::{Kubernetes, pod};
use crate::client::ServerName;
use crate::yaml::Diagnostic;

/// How an API server is reached. Two are equal when they reach the same server in the same way.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// `SCHEME://HOST[:PORT]`, and perhaps a path; no slash at its end.
    pub(super) server: String,
    pub(super) trust: Trust,
    /// The certificate and the key of the client, in PEM.
    pub(super) identity: Option<(Vec<u8>, Vec<u8>)>,
    /// The name to verify, instead of that of the host.
    pub(super) server_name: Option<ServerName<'static>>,
    pub(super) user: User,
}

/// Whose certificates are believed.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that the system's authorities have signed.
    System,
    /// Those that these authorities have signed, in PEM.
    Authorities(Vec<u8>),
    /// Those that the authorities have signed which the pod is given, read for each list.
    Pod,
    /// Any certificate.
    Anyone,
}

/// What a service needs to know of its cluster.
pub(super) enum Place {
    /// The cluster, and the namespace that its context has.
    There(Access, Option<Box<str>>),
    /// There is none; why and what to do.
    Nowhere(String),
}

/// Finds the cluster: where the settings say, else that of the pod, else that of the user.
///
/// Errors: what the settings name cannot be used. Of what they do not name, a failure is told when the
/// list is asked for.
pub(super) fn find(settings: &Kubernetes) -> Result<Place, Vec<Diagnostic>> {
    let context = settings.context.as_ref();
    let at = |place, message| vec![Diagnostic::at(place, message)];
    if let Some(named) = &settings.kubeconfig {
        let files = [named.value.clone()];
        let chosen = kubeconfig::read(&files, context.map(|context| &*context.value));
        return match chosen {
            Ok(chosen) => Ok(there(chosen)),
            Err(wrong) => Err(at(wrong.place(named.position, context), wrong.message)),
        };
    }
    match context {
        None => Ok(pod::access().map_or_else(nearby, |access| Place::There(access, None))),
        Some(named) => match kubeconfig::read(&user_files(), Some(&named.value)) {
            Ok(chosen) => Ok(there(chosen)),
            Err(wrong) => Err(at(named.position, wrong.message)),
        },
    }
}

fn there(context: Context) -> Place {
    Place::There(context.access, context.namespace)
}

/// The cluster of the user's own kubeconfig.
fn nearby() -> Place {
    match kubeconfig::read(&user_files(), None) {
        Ok(chosen) => there(chosen),
        Err(wrong) => {
            let outside = "this is no pod, for KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, and";
            Place::Nowhere(format!("{outside} {}; then reload", wrong.message))
        }
    }
}

/// The files of `$KUBECONFIG`, else `~/.kube/config`. As kubectl has it, those of them that are missing
/// count for nothing.
fn user_files() -> Vec<PathBuf> {
    let named = std::env::var_os("KUBECONFIG").unwrap_or_default();
    let mut files: Vec<PathBuf> = std::env::split_paths(&named)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if files.is_empty() {
        let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
        files.extend(home.map(|home| PathBuf::from(home).join(".kube/config")));
    }
    files.retain(|file| {
        !std::fs::metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    });
    files
}
