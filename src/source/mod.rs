//! Where the endpoints of a service are listed, one file a kind.
//!
//! A source reads everything once, whole or not at all. It keeps nothing between reads that would
//! change an answer, begins no failed read again, and knows neither the service's name nor HTTP serving.

pub mod dns;
pub mod file;
pub mod kubernetes;
mod named_file;
mod sent;
pub mod url;

use std::fmt;
use std::future::Future;
use std::num::NonZeroU16;
use std::pin::Pin;
use std::sync::Arc;

use crate::blocking::Lane;
use crate::client::Trusted;
use crate::endpoint::Endpoint;
use crate::yaml;
use crate::yaml::{Diagnostic, Field, Mapping, Value};

/// What a read gives: a list, which may be empty and then is true, or the reason why there is none.
pub type Found = Result<Arc<Vec<Endpoint>>, Failure>;

/// A read under way.
pub type Reading<'a> = Pin<Box<dyn Future<Output = Found> + Send + 'a>>;

/// A source that can be read, built once from its settings.
pub trait Reader: Send + Sync {
    /// Reads the whole list within the source's own time. Endpoints without a port get `default_port`.
    fn read(&self, default_port: NonZeroU16) -> Reading<'_>;

    /// Where it reads, as far as files say so that the settings only name: a list from elsewhere is none of it.
    fn place(&self) -> Option<String> {
        None
    }

    /// What the last read has shown that is worth a line of the log, beside its outcome; each is given once.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// What sources share that are built together.
#[derive(Default)]
pub struct Common {
    trusted: Trusted,
    kubeconfigs: kubernetes::Kubeconfigs,
    clusters: kubernetes::Clusters,
    insecure: kubernetes::Insecure,
}

impl Common {
    /// For the sources of a reload: the connections of those before it stay, and no file that was read.
    pub fn renewed(&self) -> Self {
        Self {
            clusters: self.clusters.clone(),
            ..Self::default()
        }
    }

    /// What is to be warned of among the sources that have been built.
    pub fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        self.insecure.warnings()
    }
}

/// The one source of a service, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A Service of a Kubernetes cluster.
    Kubernetes(Box<kubernetes::Kubernetes>),
    /// A list that a server gives.
    Url(Box<url::Url>),
    /// Endpoint lines in a file.
    File(file::File),
    /// Records of a name in DNS.
    Dns(dns::Dns),
}

impl Source {
    /// Makes it ready to be read. What may block later runs on `lane`; `common` is shared by the sources
    /// that are built together.
    ///
    /// It reads the files of certificates, so it is nothing for the thread that answers. Errors: all that
    /// keeps it from being built, each at its place in the configuration.
    pub fn build(
        &self,
        lane: Lane,
        common: &mut Common,
    ) -> Result<Arc<dyn Reader>, Vec<Diagnostic>> {
        Ok(match self {
            Self::Kubernetes(kubernetes) => {
                let Common {
                    clusters,
                    kubeconfigs,
                    insecure,
                    trusted,
                } = common;
                Arc::new(kubernetes::KubernetesReader::build(
                    kubernetes,
                    clusters,
                    kubeconfigs,
                    insecure,
                    trusted,
                )?)
            }
            Self::Url(url) => Arc::new(url::UrlReader::build(url, lane, &mut common.trusted)?),
            Self::File(file) => Arc::new(file::FileReader::new(file.clone(), lane)),
            Self::Dns(dns) => Arc::new(dns::DnsReader::new(dns.clone(), lane)),
        })
    }

    /// Whether it must be built again at a reload, though its settings are the same: for the files that
    /// they name may have changed.
    pub fn is_built_from_files(&self) -> bool {
        match self {
            Self::Kubernetes(_) | Self::Url(_) => true,
            Self::File(_) | Self::Dns(_) => false,
        }
    }

    /// The key that names its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kubernetes(_) => "kubernetes",
            Self::Url(_) => "url",
            Self::File(_) => "file",
            Self::Dns(_) => "dns",
        }
    }

    /// What is read, without user names, credentials and query strings, for everyone to see.
    pub fn target(&self) -> String {
        match self {
            Self::Kubernetes(kubernetes) => kubernetes.to_string(),
            Self::Url(url) => url.target.to_string(),
            Self::File(file) => file.path.to_string_lossy().into_owned(),
            Self::Dns(dns) => dns.name.to_string(),
        }
    }

    /// Whether both read the same place, though perhaps with other limits: then a read of one that
    /// hangs holds up the other.
    pub fn is_at_the_place_of(&self, other: &Self) -> bool {
        match (self, other) {
            // What may hang is a file of a secret, or resolv.conf.
            (Self::Url(url), Self::Url(other)) => url.secret_file() == other.secret_file(),
            (Self::File(file), Self::File(other)) => file.path == other.path,
            // What may hang is resolv.conf.
            (Self::Dns(dns), Self::Dns(other)) => {
                dns.servers.is_empty() && other.servers.is_empty()
            }
            (Self::Kubernetes(_) | Self::Url(_) | Self::File(_) | Self::Dns(_), _) => false,
        }
    }
}

/// One kind of source, as a service names it.
struct Kind {
    /// The key of a service.
    key: &'static str,
    /// The keys of its mapping.
    keys: &'static [&'static str],
    /// Reads its settings; `None` after noting what is wrong.
    parse: fn(Field<'_>, &mut yaml::Reader<'_>) -> Option<Source>,
}

/// Of several in one service the first here wins.
const KINDS: [Kind; 4] = [
    Kind {
        key: "kubernetes",
        keys: &kubernetes::KEYS,
        parse: |field, reader| {
            let kubernetes = kubernetes::Kubernetes::parse(field, reader)?;
            Some(Source::Kubernetes(Box::new(kubernetes)))
        },
    },
    Kind {
        key: "url",
        keys: &url::KEYS,
        parse: |field, reader| Some(Source::Url(Box::new(url::Url::parse(field, reader)?))),
    },
    Kind {
        key: "file",
        keys: &file::KEYS,
        parse: |field, reader| file::File::parse(field, reader).map(Source::File),
    },
    Kind {
        key: "dns",
        keys: &dns::KEYS,
        parse: |field, reader| dns::Dns::parse(field, reader).map(Source::Dns),
    },
];

/// The keys that name a source, the one that wins first.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.key)
}

/// Reads the source that a service names: `None` when it names none, `Some(None)` after noting
/// what is wrong with it.
pub fn parse(service: &Mapping<'_>, reader: &mut yaml::Reader<'_>) -> Option<Option<Source>> {
    let (kind, field) = named(service).next()?;
    Some((kind.parse)(field, reader))
}

/// The keys of the sources that a service names beside the one that wins, with their values. They are
/// checked for spelling only.
pub fn ignored<'a>(service: &Mapping<'a>, reader: &mut yaml::Reader<'_>) -> Vec<Field<'a>> {
    let ignored: Vec<_> = named(service).skip(1).collect();
    for (kind, field) in &ignored {
        if let Value::Mapping(_) = field.node.value {
            reader.discreetly(|reader| reader.mapping(*field, kind.keys));
        }
    }
    ignored.into_iter().map(|(_, field)| field).collect()
}

fn named<'a>(service: &Mapping<'a>) -> impl Iterator<Item = (&'static Kind, Field<'a>)> {
    KINDS
        .iter()
        .filter_map(|kind| Some((kind, service.get(kind.key)?)))
}

/// The text of a list. Errors name the line that is not UTF-8.
fn text(bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to());
        let ends = good
            .unwrap_or_default()
            .iter()
            .filter(|byte| **byte == b'\n');
        let line = ends.count() + 1;
        Failure::Unreadable(format!("line {line}: it is not UTF-8; write the list as UTF-8").into())
    })
}

/// Why there is no list: one sentence that names the source, the step and what to do. It holds no
/// secret, so it may be shown to anyone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The source did not answer in time.
    TimedOut(Arc<str>),
    /// It answered, but not with a list; or it could not be asked.
    Unreadable(Arc<str>),
}

impl Failure {
    /// The sentence.
    pub fn reason(&self) -> &str {
        match self {
            Self::TimedOut(reason) | Self::Unreadable(reason) => reason,
        }
    }

    /// The same failure with what it is about put before the sentence.
    pub fn of(self, subject: impl fmt::Display) -> Self {
        self.map(|reason| format!("{subject}: {reason}"))
    }

    /// The same failure in other words.
    fn map(self, words: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::TimedOut(reason) => Self::TimedOut(words(&reason).into()),
            Self::Unreadable(reason) => Self::Unreadable(words(&reason).into()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}
