//! Whose certificates are believed.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_rustls::pki_types::CertificateDer;
use futures_rustls::pki_types::pem::PemObject;
use futures_rustls::rustls::RootCertStore;
use rustls_native_certs::{CertificateResult, load_certs_from_paths, load_native_certs};
use smol::lock::OnceCell;

use super::{Deadline, Failure, Kind};
use crate::blocking::{Lane, Stuck};
use crate::clock;
use crate::regular_file;
use crate::wording::shorten;

/// What names the authorities instead of the system: a file of them, and folders of such files.
const FILE: &str = "SSL_CERT_FILE";
const FOLDERS: &str = "SSL_CERT_DIR";
/// The file has at most so many bytes; that of all that Mozilla trusts has a fifth of a MiB.
const LARGEST_FILE: u64 = 16 << 20;
/// More of its path is not shown.
const LONGEST_PATH: usize = 255;
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
    pub fn system(&self) -> System {
        self.system.clone()
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
    /// Whether both were read at once, or are to be.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

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
    let file = env::var_os(FILE);
    let found = match &file {
        Some(file) => named(Path::new(file))?,
        None => load_native_certs(),
    };
    let mut store = RootCertStore::empty();
    let (good, _) = store.add_parsable_certificates(found.certs);
    if good == 0 {
        // Those of Mozilla do not stand in for authorities that somebody meant to be there.
        if file.is_some() || env::var_os(FOLDERS).is_some() {
            let none = || format!("{FILE} and {FOLDERS} lead to no certificate that can be read");
            let wrong = found.errors.first().map(ToString::to_string);
            return Err(shorten(&wrong.unwrap_or_else(none), 200));
        }
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(Arc::new(store))
}

/// What the environment names. Its file is read at rest, since the half of a bundle looks like a whole one.
fn named(file: &Path) -> Result<CertificateResult, String> {
    let mut found = CertificateResult::default();
    let folders = env::var_os(FOLDERS).unwrap_or_default();
    for folder in env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty()) {
        let more = load_certs_from_paths(None, Some(&folder));
        found.certs.extend(more.certs);
        found.errors.extend(more.errors);
    }
    let wrong = match regular_file::read_at_rest(file, LARGEST_FILE) {
        Ok(pem) => match certificates(&pem) {
            Ok(certificates) => {
                found.certs.extend(certificates);
                // A file often holds what lies in the folders too.
                found.certs.sort_unstable_by(|one, other| one.cmp(other));
                found.certs.dedup();
                return Ok(found);
            }
            Err(wrong) => wrong,
        },
        Err(missing) if missing.is_missing() && !found.certs.is_empty() => return Ok(found),
        Err(unreadable) => unreadable.to_string(),
    };
    let path = shorten(&file.to_string_lossy(), LONGEST_PATH);
    Err(format!("{FILE} {path}: {wrong}"))
}
