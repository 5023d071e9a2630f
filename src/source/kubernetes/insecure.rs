//! Clusters of which any certificate is taken.

use super::Kubernetes;
use super::access::{Access, Trust};
use crate::yaml::Diagnostic;

/// A warning for each, once, however many services are listed there.
#[derive(Default)]
pub(in crate::source) struct Insecure(Vec<(String, Diagnostic)>);

impl Insecure {
    /// Warns of the cluster, at the place in the settings that names its kubeconfig.
    pub(super) fn note(&mut self, access: &Access, settings: &Kubernetes) {
        let is_known = self.0.iter().any(|(server, _)| *server == access.server);
        if access.trust != Trust::Anyone || is_known {
            return;
        }
        let message = format!(
            "the cluster {} has insecure-skip-tls-verify, which takes any certificate, so whoever is on the way can read and change the list: set certificate-authority instead",
            access.server
        );
        let kubeconfig = settings.kubeconfig.as_ref().map(|named| named.position);
        let context = settings.context.as_ref().map(|named| named.position);
        let warning = Diagnostic {
            position: kubeconfig.or(context),
            message,
        };
        self.0.push((access.server.clone(), warning));
    }

    /// All warnings so far.
    pub(in crate::source) fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        self.0.iter().map(|(_, warning)| warning.clone())
    }
}
