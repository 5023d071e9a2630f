//! Whose certificates are believed.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_rustls::pki_types::CertificateDer;
use futures_rustls::pki_types::pem::PemObject;
use futures_rustls::rustls::RootCertStore;
use smol::lock::OnceCell;

use super::{Deadline, Failure, Kind};
use crate::blocking::{Lane, Stuck};
use crate::clock;
use crate::wording::shorten;

/// All read the same files of the system, whose file system may hang: one read at a time.
static LANE: LazyLock<Lane> = LazyLock::new(Lane::default);

/// Whose certificates are believed.
#[derive(Clone)]
pub enum Trust {
    /// Those that the system's authorities have signed.
    System(System),
    /// Those that these authorities have signed.
    Authorities(Arc<RootCertStore>),
    /// Any certificate: whoever is on the way can read and change what is sent.
    Anyone,
}

/// The authorities of the system, read when they are first needed. Where there are none, as in an empty
/// container image, those that Mozilla trusts stand in.
#[derive(Clone, Default)]
pub struct System(Arc<OnceCell<Arc<RootCertStore>>>);

/// Authorities that have been read, so that many services share one copy of them.
#[derive(Default)]
pub struct Trusted {
    system: System,
    read: HashMap<Vec<u8>, Arc<RootCertStore>>,
}

impl Trusted {
    /// The authorities of the system.
    pub fn system(&self) -> Trust {
        Trust::System(self.system.clone())
    }

    /// The authorities of a text of PEM, at least one.
    ///
    /// Errors say what is wrong with the text.
    pub fn pem(&mut self, pem: Vec<u8>) -> Result<Trust, String> {
        if let Some(store) = self.read.get(&pem) {
            return Ok(Trust::Authorities(store.clone()));
        }
        let mut store = RootCertStore::empty();
        for (index, certificate) in certificates(&pem)?.into_iter().enumerate() {
            let added = store.add(certificate);
            added.map_err(|_| format!("certificate {} in it cannot be read", index + 1))?;
        }
        let store = Arc::new(store);
        self.read.insert(pem, store.clone());
        Ok(Trust::Authorities(store))
    }
}

/// The certificates of a text of PEM, at least one.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(read) if read.is_empty() => Err("it holds no certificate in PEM".into()),
        Ok(read) => Ok(read),
        Err(_) => Err("it is not good PEM".into()),
    }
}

impl System {
    /// Reads the files of the system, off the executor, once one could read them.
    pub(super) async fn load(&self, deadline: Deadline) -> Result<Arc<RootCertStore>, Failure> {
        let load = async || {
            let loaded = clock::until(deadline, LANE.run(Duration::MAX, load)).await;
            match loaded.unwrap_or(Err(Stuck::TimedOut)) {
                Ok(loaded) => loaded.map_err(|reason| unread(Kind::Tls, &reason)),
                Err(stuck @ Stuck::TimedOut) => Err(unread(Kind::TimedOut, &stuck.to_string())),
                Err(stuck) => Err(unread(Kind::Tls, &stuck.to_string())),
            }
        };
        self.0.get_or_try_init(load).await.cloned()
    }
}

fn unread(kind: Kind, reason: &str) -> Failure {
    Failure::new(
        kind,
        format!("TLS: reading the system's authorities: {reason}"),
    )
}

fn load() -> Result<Arc<RootCertStore>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    let (good, _) = store.add_parsable_certificates(found.certs);
    match found.errors.first() {
        // Those of Mozilla do not stand in for authorities that somebody meant to be there.
        Some(error) if good == 0 && is_named() => Err(shorten(&error.to_string(), 200)),
        _ if good == 0 => {
            store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            Ok(Arc::new(store))
        }
        _ => Ok(Arc::new(store)),
    }
}

/// Whether the environment says where they are.
fn is_named() -> bool {
    ["SSL_CERT_FILE", "SSL_CERT_DIR"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
}
