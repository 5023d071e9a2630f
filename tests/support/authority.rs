//! An authority of the test's own, and the certificates that it signs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_rustls::pki_types::{CertificateDer, PrivateKeyDer};
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::server::WebPkiClientVerifier;
use futures_rustls::rustls::{RootCertStore, ServerConfig};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, SanType, date_time_ymd,
};

/// Signs certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub(crate) struct Signed {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    /// One of a name that no other has.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        Self::named(&format!(
            "authority {}",
            COUNT.fetch_add(1, Ordering::Relaxed)
        ))
    }

    pub(crate) fn named(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// Its own certificate, for `ca_file`.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names, in this millennium.
    pub(crate) fn sign(&self, names: &[&str]) -> Signed {
        self.sign_for(names, 2001, 2999)
    }

    /// A certificate for these names, from the begin of one year to the begin of another.
    pub(crate) fn sign_for(&self, names: &[&str], from: i32, to: i32) -> Signed {
        self.sign_with(names, |params| {
            params.not_before = date_time_ymd(from, 1, 1);
            params.not_after = date_time_ymd(to, 1, 1);
        })
    }

    /// A certificate of an authority, for these names.
    pub(crate) fn sign_authority(&self, names: &[&str]) -> Signed {
        self.sign_with(names, |params| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        })
    }

    /// A certificate for names, though they look like addresses.
    pub(crate) fn sign_names(&self, names: &[&str]) -> Signed {
        let name = |name: &&str| SanType::DnsName((*name).try_into().unwrap());
        self.sign_with(&[], |params| {
            params.subject_alt_names = names.iter().map(name).collect();
        })
    }

    fn sign_with(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Signed {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Signed { certificate, key }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        Arc::new(roots)
    }
}

impl Signed {
    pub(crate) fn pem(&self) -> String {
        self.certificate.pem()
    }

    pub(crate) fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// How a server speaks that has this certificate; one with `clients` asks for a certificate that they signed.
    pub(crate) fn server(&self, clients: Option<&Authority>) -> Arc<ServerConfig> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(clients) => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(clients.roots(), provider)
                    .build()
                    .unwrap(),
            ),
        };
        let chain: Vec<CertificateDer<'static>> = vec![self.certificate.der().clone()];
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        Arc::new(builder.with_single_cert(chain, key).unwrap())
    }
}
