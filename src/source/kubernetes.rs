//! The kubernetes source: the ready endpoints of a Service, as its EndpointSlices list them.

mod access;
mod cluster;
mod context;
mod fields;
mod insecure;
mod keys;
mod kubeconfig;
mod large;
mod pages;
mod place;
mod pod;
mod read;
mod refusal;
mod user;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub(super) use cluster::Clusters;
pub(super) use insecure::Insecure;
pub(super) use keys::KEYS;
pub(super) use kubeconfig::Kubeconfigs;
pub use read::KubernetesReader;

use crate::dns::Family;
use crate::slices::Port;
use crate::yaml::Placed;

/// A Service of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kubernetes {
    /// Its name.
    pub service: Box<str>,
    /// Its namespace; `None` for that of the pod or of the context.
    pub namespace: Option<Box<str>>,
    /// Which of its ports; `None` for the only one.
    pub port: Option<Port>,
    /// A kubeconfig file; `None` for the service account of the pod, or the user's own kubeconfig.
    pub kubeconfig: Option<Placed<PathBuf>>,
    /// The context of the kubeconfig; `None` for its current one.
    pub context: Option<Placed<Box<str>>>,
    /// Which addresses are kept.
    pub family: Family,
    /// For the whole read, from reading the token to the last page.
    pub timeout: Duration,
}

/// As the short form has it; without the namespace where that is the cluster's to say.
impl fmt::Display for Kubernetes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.service)?;
        match &self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}
