//! Kubeconfig files, as kubectl reads them: a context names a cluster and a user.
//!
//! The text is read bounded, and held against the budgets of our own YAML before kube reads its fields.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube::config::{AuthInfo, Cluster, Kubeconfig, KubeconfigError};

use super::access::{Access, Trust};
use super::name::is_label;
use super::user::User;
use crate::client::{Identity, ServerName, Target, Trusted, WrongIdentity};
use crate::source::named_file;
use crate::wording::{quote, shorten};
use crate::yaml::{self, Placed, Position};

/// A kubeconfig with a thousand clusters has less.
const LARGEST: u64 = 4 << 20;
/// More than any certificate or key has.
const LARGEST_PEM: u64 = 1 << 20;
const LONGEST_PATH: usize = 255;

/// A context: how its cluster is reached, and its namespace.
pub(super) struct Context {
    pub(super) access: Access,
    pub(super) namespace: Option<Box<str>>,
}

/// Why a kubeconfig cannot be used: one sentence that quotes no secret.
pub(super) struct Wrong {
    pub(super) message: String,
    is_about_context: bool,
}

impl Wrong {
    /// Where it is to be corrected: at the kubeconfig, or at the context that is not in it.
    pub(super) fn place(
        &self,
        kubeconfig: Position,
        context: Option<&Placed<Box<str>>>,
    ) -> Position {
        match context.filter(|_| self.is_about_context) {
            Some(context) => context.position,
            None => kubeconfig,
        }
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Self {
        Self {
            message,
            is_about_context: false,
        }
    }
}

/// Reads the context of that name, or the current one. Of what several files have, the first counts.
///
/// Errors: the first thing that is wrong, with what to do.
pub(super) fn read(files: &[PathBuf], context: Option<&str>) -> Result<Context, Wrong> {
    let mut merged = Kubeconfig::default();
    for file in files {
        let read = read_file(file)?;
        merged = merged.merge(read).map_err(|_| {
            about(
                file,
                "its kind or apiVersion is not that of the kubeconfig before it",
            )
        })?;
    }
    let shown = match files {
        [] => {
            return Err("there is no kubeconfig: name one with kubeconfig"
                .to_owned()
                .into());
        }
        [file] => shown(file),
        [first, others @ ..] => format!("{} and {} more", shown(first), others.len()),
    };
    choose(&merged, context).map_err(|wrong| Wrong {
        message: format!("kubeconfig {shown}: {}", wrong.message),
        ..wrong
    })
}

fn shown(file: &Path) -> String {
    shorten(&file.to_string_lossy(), LONGEST_PATH)
}

fn about(file: &Path, wrong: &str) -> String {
    named_file::about("kubeconfig", file, wrong)
}

fn read_file(file: &Path) -> Result<Kubeconfig, String> {
    let bytes = named_file::read("kubeconfig", file, LARGEST)?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| about(file, "it is not UTF-8; save it as UTF-8"))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut reader = yaml::Reader::new(folder);
    yaml::parse(&text, &mut reader);
    if let Some(error) = reader.finish().0.first() {
        return Err(format!("kubeconfig {}{error}", shown(file)));
    }
    let mut read = Kubeconfig::from_yaml(&text).map_err(|error| unreadable(file, &error))?;
    for cluster in read
        .clusters
        .iter_mut()
        .filter_map(|named| named.cluster.as_mut())
    {
        join(folder, [&mut cluster.certificate_authority]);
    }
    for user in read
        .auth_infos
        .iter_mut()
        .filter_map(|named| named.auth_info.as_mut())
    {
        let files = [
            &mut user.client_certificate,
            &mut user.client_key,
            &mut user.token_file,
        ];
        join(folder, files);
    }
    Ok(read)
}

/// Makes paths absolute that are relative to the kubeconfig.
fn join<const N: usize>(folder: &Path, paths: [&mut Option<String>; N]) {
    for path in paths.into_iter().flatten().filter(|path| !path.is_empty()) {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
}

/// The words of kube show the lines around the error, where tokens stand: only the place is told.
fn unreadable(file: &Path, error: &KubeconfigError) -> String {
    let location = match error {
        KubeconfigError::Parse(error) => error.location(),
        _ => None,
    };
    match location {
        Some(at) if at.line() > 0 => format!(
            "kubeconfig {}:{}:{}: this is not what a kubeconfig has here; see kubectl config view",
            shown(file),
            at.line(),
            at.column()
        ),
        _ => about(file, "it is no kubeconfig; see kubectl config view"),
    }
}

fn choose(config: &Kubeconfig, named: Option<&str>) -> Result<Context, Wrong> {
    let current = config.current_context.as_deref();
    let name = named.or(current.filter(|name| !name.is_empty()));
    let name = name.ok_or_else(|| "it has no current-context; name one with context".to_owned())?;
    let mut contexts = config.contexts.iter();
    let context = contexts.find(|known| known.name == name);
    let context = context
        .and_then(|known| known.context.as_ref())
        .ok_or_else(|| Wrong {
            message: missing(name, config.contexts.iter().map(|known| &*known.name)),
            is_about_context: true,
        })?;
    let mut clusters = config.clusters.iter();
    let cluster = clusters.find(|known| known.name == context.cluster);
    let cluster = cluster.and_then(|known| known.cluster.as_ref());
    let cluster = cluster.ok_or_else(|| {
        format!(
            "the context {} names a cluster that is not there",
            quote(name)
        )
    })?;
    let user_name = context.user.as_deref().unwrap_or_default();
    let mut users = config.auth_infos.iter();
    let user = users.find(|known| known.name == user_name);
    let user = user.and_then(|known| known.auth_info.as_ref());
    if user.is_none() && !user_name.is_empty() {
        return Err(format!("the context {} names a user that is not there", quote(name)).into());
    }
    let namespace = context.namespace.as_deref().filter(|name| !name.is_empty());
    if namespace.is_some_and(|name| !is_label(name)) {
        return Err(format!("the namespace of the context {} is none", quote(name)).into());
    }
    let user = user.cloned().unwrap_or_default();
    let access =
        access(cluster, &user).map_err(|wrong| format!("the context {}: {wrong}", quote(name)))?;
    Ok(Context {
        access,
        namespace: namespace.map(Into::into),
    })
}

fn missing<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.take(16).collect();
    let known = match known.is_empty() {
        true => "it has none".into(),
        false => format!("it has {}", shorten(&known.join(", "), LONGEST_PATH)),
    };
    format!("there is no context {}; {known}", quote(name))
}

fn access(cluster: &Cluster, user: &AuthInfo) -> Result<Access, String> {
    let server = server(cluster)?;
    let user_of = |wrong| format!("its user {wrong}");
    let trust = trust(cluster)?;
    let server_name = cluster
        .tls_server_name
        .as_ref()
        .filter(|name| !name.is_empty());
    let server_name = server_name
        .map(|name| ServerName::try_from(name.clone()))
        .transpose();
    Ok(Access {
        server,
        trust,
        identity: identity(user).map_err(user_of)?,
        server_name: server_name.map_err(|_| "its tls-server-name is no name of a host")?,
        user: User::of(user).map_err(|wrong| user_of(wrong.into()))?,
    })
}

fn server(cluster: &Cluster) -> Result<String, String> {
    if cluster
        .proxy_url
        .as_ref()
        .is_some_and(|url| !url.is_empty())
    {
        return Err("its cluster has a proxy-url, and Vigie uses no proxy: remove it".into());
    }
    let server = cluster.server.as_deref().unwrap_or_default();
    match Target::parse(server) {
        Ok((_, None)) if !server.contains(['?', '#']) => Ok(server.trim_end_matches('/').into()),
        _ => Err("its cluster has no server that can be used: write https://HOST:PORT".into()),
    }
}

fn trust(cluster: &Cluster) -> Result<Trust, String> {
    if cluster.insecure_skip_tls_verify == Some(true) {
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

fn identity(user: &AuthInfo) -> Result<Option<(Vec<u8>, Vec<u8>)>, String> {
    use secrecy::ExposeSecret;
    let key_data = user
        .client_key_data
        .as_ref()
        .map(|data| data.expose_secret());
    let certificate = pem(
        "client-certificate",
        user.client_certificate.as_deref(),
        user.client_certificate_data.as_deref(),
    )?;
    let key = pem("client-key", user.client_key.as_deref(), key_data)?;
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
fn pem(key: &str, file: Option<&str>, data: Option<&str>) -> Result<Option<Vec<u8>>, String> {
    let is_set = |text: &&str| !text.is_empty();
    if let Some(data) = data.filter(is_set) {
        let unbroken: String = data.split_ascii_whitespace().collect();
        let decoded = STANDARD.decode(unbroken);
        return match decoded {
            Ok(decoded) => Ok(Some(decoded)),
            Err(_) => Err(format!("{key}-data: it is not base64")),
        };
    }
    let file = file.filter(is_set).map(Path::new);
    file.map(|file| named_file::read(key, file, LARGEST_PEM))
        .transpose()
}
