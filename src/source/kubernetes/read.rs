//! One read: find the credentials, and list the slices.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Kubernetes;
use super::cluster::{Cluster, Clusters};
use super::insecure::Insecure;
use super::kubeconfig::Kubeconfigs;
use super::pages::Pages;
use super::place::{self, Place};
use crate::client::{System, Trusted};
use crate::clock::Clock;
use crate::slices::Wanted;
use crate::source::{Failure, Found, Reader, Reading};
use crate::yaml::Diagnostic;

const DEFAULT_NAMESPACE: &str = "default";

/// A Service that can be read.
pub struct KubernetesReader {
    settings: Kubernetes,
    /// Or why there is none, and what to do.
    cluster: Result<Arc<Cluster>, Arc<str>>,
    /// Whom it believes where no authority is named.
    system: System,
    /// Whether its pages are large, as far as is known: it spares asking twice.
    is_large: AtomicBool,
}

impl KubernetesReader {
    /// Reads the kubeconfig and the files that it names; opens no connection.
    ///
    /// Errors: what the settings name cannot be used.
    pub(in crate::source) fn build(
        settings: &Kubernetes,
        clusters: &mut Clusters,
        kubeconfigs: &mut Kubeconfigs,
        insecure: &mut Insecure,
        trusted: &Trusted,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut settings = settings.clone();
        let cluster = match place::find(&settings, kubeconfigs)? {
            Place::There(access, namespace) => {
                insecure.note(&access, &settings);
                settings.namespace = settings.namespace.or(namespace);
                Ok(clusters.get(access))
            }
            Place::Nowhere(why) => Err(why.into()),
        };
        Ok(Self {
            settings,
            cluster,
            system: trusted.system(),
            is_large: AtomicBool::new(false),
        })
    }

    async fn read_whole(&self, default_port: NonZeroU16) -> Found {
        let begun = Clock::System.now();
        let settings = &self.settings;
        let cluster = self.cluster.as_ref();
        let cluster = cluster.map_err(|why| Failure::Unreadable(why.clone()))?;
        let unreadable = |why: String| Failure::Unreadable(why.into());
        let ready = cluster
            .ready(begun + settings.timeout, &self.system)
            .await?;
        let namespace = match &settings.namespace {
            Some(namespace) => Some(namespace.clone()),
            None => ready.namespace.clone().map_err(unreadable)?,
        };
        let pages = Pages {
            cluster,
            system: &self.system,
            namespace: namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE),
            service: &settings.service,
            wanted: &Wanted {
                port: settings.port.clone(),
                family: settings.family,
                default_port,
            },
            is_large: &self.is_large,
            begun,
            timeout: settings.timeout,
        };
        pages.read(ready).await
    }

    fn subject(&self) -> String {
        let service = &self.settings.service;
        match &self.settings.namespace {
            Some(namespace) => format!("kubernetes {namespace}/{service}"),
            None => format!("kubernetes {service}"),
        }
    }
}

impl Reader for KubernetesReader {
    fn read(&self, default_port: NonZeroU16) -> Reading<'_> {
        Box::pin(async move {
            let found = self.read_whole(default_port).await;
            found.map_err(|failure| failure.of(self.subject()))
        })
    }

    fn place(&self) -> Option<String> {
        let server = self.cluster.as_ref().ok()?.server();
        let namespace = self.settings.namespace.as_deref().unwrap_or_default();
        Some(format!("{server} {namespace}"))
    }
}
