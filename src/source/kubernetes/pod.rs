//! The service account that Kubernetes gives to a pod.

use std::net::Ipv6Addr;
use std::path::Path;

use super::access::{Access, Trust};
use super::cluster::{Namespace, News};
use super::user::{self, User};
use crate::regular_file;
use crate::slices::is_label;
use crate::source::named_file;

/// Where its files are.
pub(super) const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// More than any bundle of authorities has.
const LARGEST: u64 = 1 << 20;

/// How the pod reaches its cluster; `None` outside of one.
pub(super) fn access() -> Option<Access> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let host = variable("KUBERNETES_SERVICE_HOST")?;
    let port = variable("KUBERNETES_SERVICE_PORT")?;
    let host = match host.parse::<Ipv6Addr>() {
        Ok(ip) => format!("[{ip}]"),
        Err(_) => host,
    };
    Some(Access {
        server: format!("https://{host}:{port}"),
        trust: Trust::Pod,
        identity: None,
        server_name: None,
        user: User::Pod,
    })
}

/// Reads what the pod is given: Kubernetes renews it while the pod runs.
pub(super) fn read() -> News {
    let folder = Path::new(FOLDER);
    News {
        token: user::read_token("token", &folder.join("token")),
        authorities: Some(named_file::read("ca.crt", &folder.join("ca.crt"), LARGEST)),
        namespace: Some(namespace(&folder.join("namespace"))),
    }
}

fn namespace(file: &Path) -> Namespace {
    let bytes = match regular_file::read_at_rest(file, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(named_file::about("namespace", file, &error.to_string())),
    };
    let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
    match is_label(text) {
        true => Ok(Some(text.into())),
        false => Err(named_file::about(
            "namespace",
            file,
            "it holds no namespace",
        )),
    }
}
