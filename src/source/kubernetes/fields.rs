//! The fields of a kubeconfig that mean something here, read from our own YAML. Others are passed over.

use std::collections::BTreeMap;
use std::path::Path;

use crate::yaml::{Diagnostic, Entry, Field, MERGE_KEY, NO_MERGING, Node, Reader, Value};

/// What a kubeconfig holds, or several together.
#[derive(Default)]
pub(super) struct Kubeconfig {
    pub(super) clusters: Named<Cluster>,
    pub(super) users: Named<User>,
    pub(super) contexts: Named<Context>,
    pub(super) current_context: Option<String>,
}

/// Values by the name that others know them by; of several with one name the first.
pub(super) type Named<T> = BTreeMap<String, T>;

/// Where an API server is, and whose certificate it has.
#[derive(Default)]
pub(super) struct Cluster {
    pub(super) server: Option<String>,
    pub(super) insecure_skip_tls_verify: bool,
    pub(super) certificate_authority: Option<String>,
    pub(super) certificate_authority_data: Option<String>,
    pub(super) tls_server_name: Option<String>,
    pub(super) proxy_url: Option<String>,
}

/// Who asks. It has no debug output: it holds secrets.
#[derive(Default)]
pub(super) struct User {
    pub(super) token: Option<String>,
    pub(super) token_file: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) client_certificate: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key: Option<String>,
    pub(super) client_key_data: Option<String>,
    pub(super) has_exec: bool,
    pub(super) has_auth_provider: bool,
    pub(super) acts_as_another: bool,
}

/// A cluster and a user.
#[derive(Default)]
pub(super) struct Context {
    pub(super) cluster: Option<String>,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

impl Kubeconfig {
    /// Reads a text that lies in `folder`, from which relative paths are taken.
    ///
    /// Errors: the first thing that is wrong, at its place and without a value.
    pub(super) fn parse(text: &str, folder: &Path) -> Result<Self, Diagnostic> {
        let mut reader = Reader::new(folder);
        let read = reader.discreetly(|reader| {
            let root = crate::yaml::parse(text, reader)?;
            Some(Self::read(
                &Keys::of("the kubeconfig", &root, reader),
                reader,
            ))
        });
        match reader.finish().0.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(read.unwrap_or_default()),
        }
    }

    fn read(keys: &Keys<'_>, reader: &mut Reader<'_>) -> Self {
        Self {
            clusters: keys.named("clusters", "cluster", Cluster::read, reader),
            users: keys.named("users", "user", User::read, reader),
            contexts: keys.named("contexts", "context", Context::read, reader),
            current_context: keys.text("current-context", reader),
        }
    }

    /// Adds what another one has that is not there yet.
    pub(super) fn merge(&mut self, other: Self) {
        add(&mut self.clusters, other.clusters);
        add(&mut self.users, other.users);
        add(&mut self.contexts, other.contexts);
        self.current_context = self.current_context.take().or(other.current_context);
    }
}

fn add<T>(all: &mut Named<T>, others: impl IntoIterator<Item = (String, T)>) {
    for (name, value) in others {
        all.entry(name).or_insert(value);
    }
}

impl Cluster {
    fn read(keys: &Keys<'_>, reader: &mut Reader<'_>) -> Self {
        Self {
            server: keys.text("server", reader),
            insecure_skip_tls_verify: keys.truth("insecure-skip-tls-verify", reader),
            certificate_authority: keys.path("certificate-authority", reader),
            certificate_authority_data: keys.text("certificate-authority-data", reader),
            tls_server_name: keys.text("tls-server-name", reader),
            proxy_url: keys.text("proxy-url", reader),
        }
    }
}

impl User {
    fn read(keys: &Keys<'_>, reader: &mut Reader<'_>) -> Self {
        let others = ["as", "as-uid", "as-groups", "as-user-extra"];
        Self {
            token: keys.text("token", reader),
            token_file: keys.path("tokenFile", reader),
            username: keys.text("username", reader),
            password: keys.text("password", reader),
            client_certificate: keys.path("client-certificate", reader),
            client_certificate_data: keys.text("client-certificate-data", reader),
            client_key: keys.path("client-key", reader),
            client_key_data: keys.text("client-key-data", reader),
            has_exec: keys.get("exec").is_some(),
            has_auth_provider: keys.get("auth-provider").is_some(),
            acts_as_another: others.iter().any(|key| keys.get(key).is_some_and(holds)),
        }
    }
}

/// Whether there is anything in a list or a mapping.
fn holds(field: Field<'_>) -> bool {
    match &field.node.value {
        Value::Sequence(nodes) => !nodes.is_empty(),
        Value::Mapping(entries) => !entries.is_empty(),
        _ => true,
    }
}

impl Context {
    fn read(keys: &Keys<'_>, reader: &mut Reader<'_>) -> Self {
        Self {
            cluster: keys.text("cluster", reader),
            user: keys.text("user", reader),
            namespace: keys.text("namespace", reader),
        }
    }
}

/// Stands for the keys of another mapping, to readers of YAML 1.1.
/// The keys of a mapping; those without a value, or with an empty text, count as missing.
struct Keys<'a>(&'a [Entry]);

impl<'a> Keys<'a> {
    fn of(name: &'a str, node: &'a Node, reader: &mut Reader<'_>) -> Self {
        let entries = reader.entries(Field { name, node });
        for Entry { key, .. } in entries.iter().filter(|entry| *entry.key.text == *MERGE_KEY) {
            reader.error(key.position, NO_MERGING);
        }
        Self(entries)
    }

    fn get(&self, key: &'a str) -> Option<Field<'a>> {
        let entry = self.0.iter().find(|entry| *entry.key.text == *key)?;
        let is_missing = match &entry.node.value {
            Value::Null => true,
            Value::Plain(text) | Value::Quoted(text) => text.is_empty(),
            _ => false,
        };
        (!is_missing).then_some(Field {
            name: key,
            node: &entry.node,
        })
    }

    fn text(&self, key: &'a str, reader: &mut Reader<'_>) -> Option<String> {
        let text = reader.text(self.get(key)?, "write text")?;
        Some(text.into())
    }

    fn path(&self, key: &'a str, reader: &mut Reader<'_>) -> Option<String> {
        let path = reader.path(self.get(key)?)?;
        Some(path.to_string_lossy().into_owned())
    }

    fn truth(&self, key: &'a str, reader: &mut Reader<'_>) -> bool {
        let field = self.get(key);
        field.and_then(|field| reader.boolean(field)) == Some(true)
    }

    /// A list of names, each with a value under another key.
    fn named<T: Default>(
        &self,
        key: &'a str,
        inner: &'a str,
        read: fn(&Keys<'_>, &mut Reader<'_>) -> T,
        reader: &mut Reader<'_>,
    ) -> Named<T> {
        let mut all = Named::new();
        let Some(field) = self.get(key) else {
            return all;
        };
        let Value::Sequence(nodes) = &field.node.value else {
            reader.wrong(field, "write a list");
            return all;
        };
        let one = |node: &'a Node| {
            let keys = Keys::of(key, node, reader);
            let value = keys.get(inner).map(|field| {
                let keys = Keys::of(inner, field.node, reader);
                read(&keys, reader)
            });
            Some((keys.text("name", reader)?, value.unwrap_or_default()))
        };
        add(&mut all, nodes.iter().filter_map(one));
        all
    }
}
