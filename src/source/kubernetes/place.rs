//! Where a cluster is described: in the settings, in the pod, or in the user's own kubeconfig.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::access::Access;
use super::context::Context;
use super::kubeconfig::Kubeconfigs;
use super::{Kubernetes, pod};
use crate::yaml::Diagnostic;

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
pub(super) fn find(
    settings: &Kubernetes,
    kubeconfigs: &mut Kubeconfigs,
) -> Result<Place, Vec<Diagnostic>> {
    let context = settings.context.as_ref();
    let at = |place, message| vec![Diagnostic::at(place, message)];
    if let Some(named) = &settings.kubeconfig {
        let files = vec![named.value.clone()];
        let chosen = kubeconfigs.context(files, context.map(|context| &*context.value));
        return match chosen {
            Ok(chosen) => Ok(there(chosen)),
            Err(wrong) => Err(at(wrong.place(named.position, context), wrong.message)),
        };
    }
    match context {
        None => Ok(match pod::access() {
            Some(access) => Place::There(access, None),
            None => nearby(kubeconfigs),
        }),
        Some(named) => match kubeconfigs.context(user_files(), Some(&named.value)) {
            Ok(chosen) => Ok(there(chosen)),
            Err(wrong) => Err(at(named.position, wrong.message)),
        },
    }
}

fn there(context: Context) -> Place {
    Place::There(context.access, context.namespace)
}

/// The cluster of the user's own kubeconfig.
fn nearby(kubeconfigs: &mut Kubeconfigs) -> Place {
    match kubeconfigs.context(user_files(), None) {
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
        !std::fs::metadata(file).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    });
    files
}
