//! TLS 1.2 and 1.3.

mod anyone;
mod dated;
mod identity;
mod words;

use std::io;
use std::sync::{Arc, LazyLock};

use futures_rustls::TlsConnector;
use futures_rustls::client::TlsStream;
use futures_rustls::pki_types::ServerName;
use futures_rustls::rustls::client::{ClientSessionMemoryCache, Resumption};
use futures_rustls::rustls::crypto::{CryptoProvider, ring};
use futures_rustls::rustls::sign::SingleCertAndKey;
use futures_rustls::rustls::{ClientConfig, RootCertStore};
use smol::lock::OnceCell;
use smol::net::TcpStream;
use url::Host;

use self::anyone::Anyone;
use self::dated::Dated;
pub use self::identity::{Identity, WrongIdentity};
pub(super) use self::words::words;
use super::connect::failed;
use super::{Deadline, Failure, Kind, Target, Trust};

/// Sessions that may be resumed; one origin is asked, and where it redirects to.
const MOST_SESSIONS: usize = 4;
const CLOSED: &str = "TLS: the server closed the connection while both agreed on it; see whether it speaks TLS there";
static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(ring::default_provider()));

/// How TLS is spoken.
pub struct Tls {
    trust: Trust,
    identity: Option<Identity>,
    server_name: Option<ServerName<'static>>,
    configs: OnceCell<Configs>,
}

struct Configs {
    first: Arc<ClientConfig>,
    others: Arc<ClientConfig>,
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
        stream: TcpStream,
        target: &Target,
        is_first: bool,
        deadline: Deadline,
    ) -> Result<TlsStream<TcpStream>, Failure> {
        let build = || self.build(deadline);
        let configs = self.configs.get_or_try_init(build).await?;
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
        agreed.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Failure::new(Kind::Tls, CLOSED),
            _ => failed("agreeing on TLS", Kind::Tls, &error),
        })
    }

    async fn build(&self, deadline: Deadline) -> Result<Configs, Failure> {
        let roots = match &self.trust {
            Trust::System(system) => Some(system.load(deadline).await?),
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
    let builder = ClientConfig::builder_with_details(PROVIDER.clone(), Arc::new(Dated))
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
