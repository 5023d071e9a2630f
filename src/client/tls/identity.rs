//! What Vigie shows of itself.

use std::sync::Arc;

use futures_rustls::pki_types::PrivateKeyDer;
use futures_rustls::pki_types::pem::PemObject;
use futures_rustls::rustls::Error;
use futures_rustls::rustls::sign::CertifiedKey;

use super::PROVIDER;
use crate::client::trust::certificates;

/// A client certificate and its key.
#[derive(Clone)]
pub struct Identity(pub(super) Arc<CertifiedKey>);

impl Identity {
    /// Reads both from PEM.
    ///
    /// Errors say which of them is wrong and what about it; they quote nothing.
    pub fn pem(certificate: &[u8], key: &[u8]) -> Result<Self, WrongIdentity> {
        let chain = certificates(certificate).map_err(WrongIdentity::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| {
            WrongIdentity::Key("it holds no private key in PEM that can be read".into())
        })?;
        let identity =
            CertifiedKey::from_der(chain, key, &PROVIDER).map_err(|error| match error {
                Error::InconsistentKeys(_) => {
                    WrongIdentity::Key("it is not the key of the certificate".into())
                }
                Error::InvalidCertificate(_) => {
                    WrongIdentity::Certificate("its certificate cannot be read".into())
                }
                _ => WrongIdentity::Key(
                    "it is no key that TLS can use: RSA, ECDSA P-256 or P-384, or Ed25519".into(),
                ),
            })?;
        Ok(Self(Arc::new(identity)))
    }
}

/// Why a client certificate cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub enum WrongIdentity {
    /// For a reason that lies with the certificate.
    Certificate(String),
    /// For one that lies with the key.
    Key(String),
}
