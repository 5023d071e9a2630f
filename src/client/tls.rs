//! TLS 1.2 and 1.3, and what goes wrong with it in words.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, UNIX_EPOCH};

use async_io::Async;
use futures_rustls::TlsConnector;
use futures_rustls::client::TlsStream;
use futures_rustls::pki_types::pem::PemObject;
use futures_rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use futures_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use futures_rustls::rustls::client::{ClientSessionMemoryCache, Resumption};
use futures_rustls::rustls::crypto::{CryptoProvider, ring};
use futures_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use futures_rustls::rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};
use smol::lock::OnceCell;
use url::Host;

use super::connect::failed;
use super::trust::certificates;
use super::{Failure, Kind, Target, Trust};
use crate::wording::shorten;

/// Sessions that may be resumed; one origin is asked, and where it redirects to.
const MOST_SESSIONS: usize = 4;
/// A message shows so many characters of what a certificate says.
const LONGEST_NAMES: usize = 200;

static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

/// How TLS is spoken.
pub struct Tls {
    trust: Trust,
    identity: Option<Identity>,
    server_name: Option<ServerName<'static>>,
    configs: OnceCell<Configs>,
}

/// A client certificate and its key.
#[derive(Clone)]
pub struct Identity(Arc<CertifiedKey>);

struct Configs {
    first: Arc<ClientConfig>,
    others: Arc<ClientConfig>,
}

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

impl Tls {
    /// The identity is shown to the origin that is asked first, and the name stands in for that of its host.
    pub fn new(
        trust: Trust,
        identity: Option<Identity>,
        server_name: Option<ServerName<'static>>,
    ) -> Self {
        Self {
            trust,
            identity,
            server_name,
            configs: OnceCell::new(),
        }
    }

    /// Agrees on TLS with a server.
    pub(super) async fn wrap(
        &self,
        stream: Async<TcpStream>,
        target: &Target,
        is_first: bool,
    ) -> Result<TlsStream<Async<TcpStream>>, Failure> {
        let configs = self.configs.get_or_try_init(|| self.build()).await?;
        let config = if is_first {
            &configs.first
        } else {
            &configs.others
        };
        let name = match &self.server_name {
            Some(name) if is_first => name.clone(),
            _ => name_of(target)?,
        };
        let connector = TlsConnector::from(config.clone());
        let agreed = connector.connect(name, stream).await;
        agreed.map_err(|error| failed("agreeing on TLS", Kind::Tls, &error))
    }

    async fn build(&self) -> Result<Configs, Failure> {
        let roots = match &self.trust {
            Trust::System(system) => Some(system.load().await?),
            Trust::Authorities(store) => Some(store.clone()),
            Trust::Anyone => None,
        };
        let first = config(roots.clone(), self.identity.as_ref())?;
        let others = match &self.identity {
            None => first.clone(),
            Some(_) => config(roots, None)?,
        };
        Ok(Configs { first, others })
    }
}

fn config(
    roots: Option<Arc<RootCertStore>>,
    identity: Option<&Identity>,
) -> Result<Arc<ClientConfig>, Failure> {
    let builder = ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::new(Kind::Tls, format!("TLS: {error}")))?;
    let builder = match roots {
        Some(roots) => builder.with_root_certificates(roots),
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone)),
    };
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity(key)) => {
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key.clone())))
        }
    };
    config.resumption = Resumption::store(Arc::new(ClientSessionMemoryCache::new(MOST_SESSIONS)));
    Ok(Arc::new(config))
}

fn name_of(target: &Target) -> Result<ServerName<'static>, Failure> {
    match target.host() {
        Some(Host::Ipv4(ip)) => Ok(ServerName::IpAddress(ip.into())),
        Some(Host::Ipv6(ip)) => Ok(ServerName::IpAddress(ip.into())),
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_owned();
            ServerName::try_from(name).map_err(|_| unnamed())
        }
        None => Err(unnamed()),
    }
}

fn unnamed() -> Failure {
    Failure::new(
        Kind::Tls,
        "TLS: its host is no name that a certificate can have",
    )
}

/// Takes any certificate.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// What went wrong, and what to do; `None` of an error that is not about TLS.
pub(super) fn words(error: &io::Error) -> Option<String> {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Some(
            "the connection ended without the end of TLS, so what came may be cut short".into(),
        );
    }
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(reason) => certificate(reason),
        Error::AlertReceived(alert) => said(*alert),
        Error::InvalidMessage(_) => "what the server says is no TLS; is it an http server?".into(),
        Error::NoCertificatesPresented => "the server shows no certificate".into(),
        Error::PeerIncompatible(_) => {
            "the server and Vigie have no version or cipher in common; Vigie speaks TLS 1.2 and 1.3"
                .into()
        }
        Error::PeerMisbehaved(_) => "the server breaks the protocol".into(),
        other => shorten(&other.to_string(), LONGEST_NAMES),
    })
}

fn certificate(reason: &CertificateError) -> String {
    let date = |time: &UnixTime| {
        // The last second that RFC 3339 can write.
        let time = Duration::from_secs(time.as_secs().min(253_402_300_799));
        humantime::format_rfc3339_seconds(UNIX_EPOCH + time).to_string()
    };
    match reason {
        CertificateError::UnknownIssuer => {
            "the server's certificate is signed by an unknown authority; name its authority with ca_file".into()
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the server's certificate expired at {}; renew it", date(not_after))
        }
        CertificateError::Expired => "the server's certificate has expired; renew it".into(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            let clock = "see whether the clock of this machine is right";
            format!("the server's certificate is not valid before {}; {clock}", date(not_before))
        }
        CertificateError::NotValidYet => {
            "the server's certificate is not valid yet; see whether the clock of this machine is right".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().map(|name| plain(name)).collect();
            let names = match names.is_empty() {
                true => "no name".to_owned(),
                false => shorten(&names.join(", "), LONGEST_NAMES),
            };
            let expected = shorten(&expected.to_str(), LONGEST_NAMES);
            format!("the server's certificate is not for {expected} but for {names}; correct the url, or set server_name")
        }
        CertificateError::NotValidForName => "the server's certificate is for another name".into(),
        CertificateError::BadSignature => {
            "the server's certificate is signed by an authority that has the name of a known one and another key; correct ca_file".into()
        }
        CertificateError::Revoked => "the server's certificate is revoked".into(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not made for servers".into()
        }
        other => {
            let reason = shorten(&other.to_string(), LONGEST_NAMES);
            format!("the server's certificate cannot be trusted: {reason}")
        }
    }
}

/// A name as the library writes it: `DnsName("a.example")`, `IpAddress(127.0.0.1)`.
fn plain(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

/// What the server said before it hung up.
fn said(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server asks for a client certificate; set cert_file and key_file".into()
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            format!(
                "the server does not accept the client certificate ({alert:?}); correct cert_file and key_file"
            )
        }
        AlertDescription::UnrecognisedName => {
            "the server does not know this name; correct the url, or set server_name".into()
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            format!(
                "the server refuses ({alert:?}); Vigie speaks TLS 1.2 and 1.3, and the server may ask for a client certificate"
            )
        }
        other => format!("the server refuses ({other:?})"),
    }
}
