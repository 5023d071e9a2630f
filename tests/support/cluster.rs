//! An API server of Kubernetes that answers as a test says, over TLS, and pods beside it.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;
use url::Url;

use super::peer::{answer, header};
use super::{Authority, Peer, Reply, Setup, skip, write_at_rest};

pub(crate) struct Cluster {
    pub(crate) peer: Peer,
    pub(crate) authority: Authority,
}

/// One request.
pub(crate) struct Asked<'a>(&'a str);

impl Asked<'_> {
    /// The path without the query.
    pub(crate) fn path(&self) -> String {
        self.url().path().to_owned()
    }

    /// The value of a key of the query.
    pub(crate) fn query(&self, key: &str) -> Option<String> {
        let url = self.url();
        let mut pairs = url.query_pairs();
        pairs
            .find(|(found, _)| found == key)
            .map(|(_, value)| value.into_owned())
    }

    /// What says who asks.
    pub(crate) fn authorization(&self) -> Option<String> {
        header(self.0, "authorization")
    }

    fn url(&self) -> Url {
        let target = self.0.split(' ').nth(1).unwrap();
        Url::parse(&format!("http://x{target}")).unwrap()
    }
}

/// A page of a list: what is asked for next, nothing at the end.
pub(crate) fn page(slices: &[String], next: &str) -> Reply {
    let items = slices.join(",");
    let list = format!(
        r#"{{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","metadata":{{"resourceVersion":"7","continue":"{next}"}},"items":[{items}]}}"#
    );
    Reply::Keep(answer("200 OK", "Content-Type: application/json\r\n", list))
}

/// A whole list of one slice, with these addresses and port 80.
pub(crate) fn list(addresses: &[&str]) -> Reply {
    page(&[slice(addresses)], "")
}

/// A slice with these addresses and port 80.
pub(crate) fn slice(addresses: &[&str]) -> String {
    let endpoints: Vec<_> = addresses
        .iter()
        .map(|address| format!(r#"{{"addresses":["{address}"],"conditions":{{"ready":true}}}}"#))
        .collect();
    format!(
        r#"{{"metadata":{{"name":"web-x"}},"addressType":"IPv4","endpoints":[{}],"ports":[{{"name":"http","port":80}}]}}"#,
        endpoints.join(",")
    )
}

/// A failure as the API server writes it, with words of the server's own.
pub(crate) fn status(status: &str, message: &str) -> Reply {
    let body = format!(r#"{{"kind":"Status","status":"Failure","message":"{message}"}}"#);
    Reply::Keep(answer(status, "Content-Type: application/json\r\n", body))
}

impl Cluster {
    pub(crate) fn start(reply: impl Fn(&Asked<'_>) -> Reply + Send + Sync + 'static) -> Self {
        let authority = Authority::new();
        let signed = authority.sign(&["127.0.0.1"]);
        let peer = Peer::tls(signed.server(None), move |head| reply(&Asked(head)));
        Self { peer, authority }
    }

    /// Takes a certificate of another authority.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn renew(&mut self) {
        self.authority = Authority::new();
        let signed = self.authority.sign(&["127.0.0.1"]);
        self.peer.renew(signed.server(None));
    }

    /// A kubeconfig with this user. Its context has the namespace `shop`.
    pub(crate) fn kubeconfig(&self, user: &str) -> String {
        let authority = STANDARD.encode(self.authority.pem());
        kubeconfig(
            &self.peer,
            &format!("certificate-authority-data: {authority}"),
            user,
        )
    }

    /// What serves these services, with `kube.yml` for a token.
    pub(crate) fn setup(&self, services: &str) -> Setup {
        Setup::services(services).file("kube.yml", self.kubeconfig("{token: hunter2}"))
    }
}

/// A kubeconfig for an API server, with these keys of its cluster and this user.
pub(crate) fn kubeconfig(peer: &Peer, cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\npreferences: {{}}\n\
         clusters:\n- name: c\n  cluster: {{server: \"{}\", {cluster}}}\n\
         users:\n- name: u\n  user: {user}\n\
         contexts:\n- name: here\n  context: {{cluster: c, user: u, namespace: shop}}\n",
        peer.url("")
    )
}

/// The folder that Kubernetes gives to a pod.
pub(crate) struct Pod(TempDir);

impl Pod {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes a file, as if a minute ago.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let new = self.path(".new");
        write_at_rest(&new, content);
        std::fs::rename(new, self.path(name)).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// A server that runs in the pod, whose cluster is this one; `None`, with a word about it, where the kernel lets
    /// nobody mount.
    pub(crate) fn setup(&self, promise: &str, peer: &Peer, services: &str) -> Option<Setup> {
        let ways = [&["-m"][..], &["-r", "-m"]];
        let can = |way: &&&[&str]| {
            let tried = Command::new("unshare").args(**way).arg("true").output();
            tried.is_ok_and(|output| output.status.success())
        };
        let Some(way) = ways.iter().find(can) else {
            skip(promise, "unshare -m: the kernel lets nobody mount");
            return None;
        };
        let folder = "/var/run/secrets/kubernetes.io/serviceaccount";
        let shell = format!(
            "export KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT={}\n\
             exec unshare {} sh -c 'mount -t tmpfs none /var/run && mkdir -p {folder} && mount --bind {} {folder} && exec \"$@\"' sh \"$@\"",
            peer.port(),
            way.join(" "),
            self.0.path().display()
        );
        Some(Setup::services(services).after(&shell))
    }
}

/// `check-config` of a file, outside of a pod and without a kubeconfig of the user's own.
pub(crate) fn vigie_outside(arguments: &[&str], file: &Path) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(arguments)
        .arg("-c")
        .arg(file)
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env_remove("KUBERNETES_SERVICE_PORT")
        .env_remove("KUBECONFIG")
        .env("HOME", "/nowhere")
        .output()
        .unwrap()
}
