//! How the API server of a cluster is reached.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::fields::{self, Cluster};
use super::user::User;
use crate::client::{Identity, ServerName, Target, Trusted, WrongIdentity};
use crate::source::named_file;

/// More than any certificate or key has.
const LARGEST_PEM: u64 = 1 << 20;

/// A text of PEM.
type Pem = Vec<u8>;

/// How an API server is reached. Two are equal when they reach the same server in the same way.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Access {
    /// `SCHEME://HOST[:PORT]`, and perhaps a path; no slash at its end.
    pub(super) server: String,
    pub(super) trust: Trust,
    /// The certificate and the key of the client, in PEM.
    pub(super) identity: Option<(Pem, Pem)>,
    /// The name to verify, instead of that of the host.
    pub(super) server_name: Option<ServerName<'static>>,
    pub(super) user: User,
}

/// Whose certificates are believed.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Trust {
    /// Those that the system's authorities have signed.
    System,
    /// Those that these authorities have signed, in PEM.
    Authorities(Pem),
    /// Those that the authorities have signed which the pod is given, read for each list.
    Pod,
    /// Any certificate.
    Anyone,
}

impl Access {
    /// Reads a cluster and a user of a kubeconfig, and the files that they name.
    ///
    /// Errors: what cannot be used, without a secret.
    pub(super) fn of(cluster: &Cluster, user: &fields::User) -> Result<Self, String> {
        let server = server(cluster)?;
        let user_of = |wrong| format!("its user {wrong}");
        let trust = trust(cluster)?;
        let server_name = cluster.tls_server_name.clone();
        let server_name = server_name.map(ServerName::try_from).transpose();
        Ok(Self {
            server,
            trust,
            identity: identity(user).map_err(user_of)?,
            server_name: server_name.map_err(|_| "its tls-server-name is no name of a host")?,
            user: User::of(user).map_err(|wrong| user_of(wrong.into()))?,
        })
    }
}

fn server(cluster: &Cluster) -> Result<String, String> {
    if cluster.proxy_url.is_some() {
        return Err("its cluster has a proxy-url, and Vigie uses no proxy: remove it".into());
    }
    let server = cluster.server.as_deref().unwrap_or_default().trim();
    match Target::parse(server) {
        Ok((_, None)) if !server.contains(['?', '#']) => Ok(server.trim_end_matches('/').into()),
        _ => Err("its cluster has no server that can be used: write https://HOST:PORT".into()),
    }
}

fn trust(cluster: &Cluster) -> Result<Trust, String> {
    if cluster.insecure_skip_tls_verify {
        return Ok(Trust::Anyone);
    }
    let pem = pem(
        "certificate-authority",
        cluster.certificate_authority.as_deref(),
        cluster.certificate_authority_data.as_deref(),
    )?;
    let Some(pem) = pem else {
        return Ok(Trust::System);
    };
    match Trusted::default().pem(pem.clone()) {
        Ok(_) => Ok(Trust::Authorities(pem)),
        Err(wrong) => Err(format!("certificate-authority: {wrong}")),
    }
}

fn identity(user: &fields::User) -> Result<Option<(Pem, Pem)>, String> {
    let certificate = pem(
        "client-certificate",
        user.client_certificate.as_deref(),
        user.client_certificate_data.as_deref(),
    )?;
    let key = pem(
        "client-key",
        user.client_key.as_deref(),
        user.client_key_data.as_deref(),
    )?;
    let (certificate, key) = match (certificate, key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err("has a client-certificate without client-key".into()),
        (None, Some(_)) => return Err("has a client-key without client-certificate".into()),
    };
    match Identity::pem(&certificate, &key) {
        Ok(_) => Ok(Some((certificate, key))),
        Err(WrongIdentity::Certificate(wrong)) => Err(format!("client-certificate: {wrong}")),
        Err(WrongIdentity::Key(wrong)) => Err(format!("client-key: {wrong}")),
    }
}

/// What stands in the kubeconfig in base64, else in the file that it names.
fn pem(key: &str, file: Option<&str>, data: Option<&str>) -> Result<Option<Pem>, String> {
    if let Some(data) = data {
        let unbroken: String = data.split_ascii_whitespace().collect();
        let decoded = STANDARD.decode(unbroken);
        return match decoded {
            Ok(decoded) => Ok(Some(decoded)),
            Err(_) => Err(format!("{key}-data: it is not base64")),
        };
    }
    let file = file.map(Path::new);
    file.map(|file| named_file::read(key, file, LARGEST_PEM))
        .transpose()
}
