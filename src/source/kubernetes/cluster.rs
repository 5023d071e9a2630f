//! A cluster, which the services share that are listed there: its connections and its credentials.
//!
//! Requests at the same time do not wait for each other: each takes a connection that is at rest, or
//! makes one. A reload that reaches the same cluster in the same way goes on with what there is, but for the system's
//! authorities, which it reads again.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::access::{Access, Trust};
use super::pod;
use super::user::{self, User};
use crate::blocking::{Known, Lane, Stuck};
use crate::client::{self, Client, HeaderValue, Identity, Tls, Trusted, WrongIdentity};
use crate::clock::Clock;
use crate::dns;
use crate::source::Failure;

/// The clusters that are in use, and what is read for them.
#[derive(Clone, Default)]
pub(in crate::source) struct Clusters {
    known: Vec<Weak<Cluster>>,
    /// Those of the files of users, which may hang still when no cluster needs them any more: no second read is begun
    /// beside one that hangs.
    lanes: Vec<(PathBuf, Known)>,
}

/// A cluster and what was last known of it.
pub(super) struct Cluster {
    access: Access,
    names: dns::System,
    /// For files that may hang.
    lane: Lane,
    last: Mutex<Last>,
}

/// The namespace of a pod, if it is told, or why it cannot be read.
pub(super) type Namespace = Result<Option<Box<str>>, String>;

/// What was read last, and holds as long as nothing newer can be read.
struct Last {
    token: Option<HeaderValue>,
    /// Why no newer token can be read.
    unread: Option<Arc<str>>,
    client: Option<Arc<Client>>,
    /// Those that the client believes, where they are the system's.
    system: Option<client::System>,
    /// Those that the client believes, of a pod.
    authorities: Vec<u8>,
    namespace: Namespace,
}

/// What files say now, each what it has or why it cannot be read.
pub(super) struct News {
    pub(super) token: Result<HeaderValue, String>,
    /// Of a pod only.
    pub(super) authorities: Option<Result<Vec<u8>, String>>,
    /// Of a pod only.
    pub(super) namespace: Option<Namespace>,
}

/// All that a request needs.
#[derive(Clone)]
pub(super) struct Ready {
    pub(super) client: Arc<Client>,
    /// The value of `Authorization`.
    pub(super) token: Option<HeaderValue>,
    /// Why it is the one from before.
    pub(super) unread: Option<Arc<str>>,
    /// For a service that names none.
    pub(super) namespace: Namespace,
}

/// When there is something to go on with, files that hang are waited for so long, and half of the time at
/// most.
const PATIENCE: Duration = Duration::from_secs(1);

impl Clusters {
    /// The cluster that is reached in this way.
    pub(super) fn get(&mut self, access: Access) -> Arc<Cluster> {
        self.known.retain(|known| known.strong_count() > 0);
        let mut known = self.known.iter().filter_map(Weak::upgrade);
        known
            .find(|known| known.access == access)
            .unwrap_or_else(|| {
                let lane = self.lane(access.user.file());
                let cluster = Arc::new(Cluster::new(access, lane));
                self.known.push(Arc::downgrade(&cluster));
                cluster
            })
    }

    /// The lane of a file.
    fn lane(&mut self, file: Option<&Path>) -> Lane {
        self.lanes.retain(|(_, known)| known.lane().is_some());
        let Some(file) = file else {
            return Lane::default();
        };
        let known = self.lanes.iter().find(|(path, _)| path == file);
        known
            .and_then(|(_, known)| known.lane())
            .unwrap_or_else(|| {
                let lane = Lane::default();
                self.lanes.push((file.to_owned(), lane.known()));
                lane
            })
    }
}

impl Cluster {
    fn new(access: Access, lane: Lane) -> Self {
        let token = match &access.user {
            User::Known(token) => Some(token.clone()),
            User::File(_, token) => token.clone(),
            User::Nobody | User::Pod => None,
        };
        Self {
            access,
            names: dns::System::new(Lane::default()),
            lane,
            last: Mutex::new(Last {
                token,
                unread: None,
                client: None,
                system: None,
                authorities: Vec::new(),
                namespace: Ok(None),
            }),
        }
    }

    /// Where its API is.
    pub(super) fn server(&self) -> &str {
        &self.access.server
    }

    /// Whether it is reached as a pod reaches its own.
    pub(super) fn is_of_a_pod(&self) -> bool {
        self.access.trust == Trust::Pod
    }

    /// Whether its credentials come from files that may change.
    pub(super) fn has_files(&self) -> bool {
        matches!(self.access.user, User::File(..) | User::Pod)
    }

    /// What a request needs, its files read afresh. What cannot be read is as it was before. `system` are the authorities
    /// of the system as the present configuration has them.
    ///
    /// Errors: there is nothing from before either.
    pub(super) async fn ready(
        &self,
        deadline: Instant,
        system: &client::System,
    ) -> Result<Ready, Failure> {
        let user = self.access.user.clone();
        let news = match user {
            User::Nobody | User::Known(_) => None,
            User::File(file, _) => {
                let read = move || News {
                    token: user::read_token("tokenFile", &file),
                    authorities: None,
                    namespace: None,
                };
                self.read(deadline, read).await?
            }
            User::Pod => self.read(deadline, pod::read).await?,
        };
        let mut last = self.last();
        let outcome = match news {
            Some(news) => self.learn(&mut last, news, system),
            None => self.connect(&mut last, system),
        };
        let client = outcome.map_err(|reason| Failure::Unreadable(reason.into()))?;
        Ok(Ready {
            client,
            token: last.token.clone(),
            unread: last.unread.clone(),
            namespace: last.namespace.clone(),
        })
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads files; `None` when that takes long, and there is something to go on with.
    async fn read(
        &self,
        deadline: Instant,
        read: impl FnOnce() -> News + Send + 'static,
    ) -> Result<Option<News>, Failure> {
        let can_go_on = {
            let last = self.last();
            last.token.is_some() && (last.client.is_some() || self.access.trust != Trust::Pod)
        };
        let left = deadline.saturating_duration_since(Clock::System.now());
        let patience = match can_go_on {
            true => PATIENCE.min(left / 2),
            false => left,
        };
        match self.lane.run(patience, read).await {
            Ok(news) => Ok(Some(news)),
            Err(_) if can_go_on => Ok(None),
            Err(stuck @ Stuck::TimedOut) => Err(Failure::TimedOut(
                format!("reading the token: {stuck}").into(),
            )),
            Err(stuck) => Err(Failure::Unreadable(
                format!("reading the token: {stuck}").into(),
            )),
        }
    }

    /// Takes over what could be read.
    fn learn(
        &self,
        last: &mut Last,
        news: News,
        system: &client::System,
    ) -> Result<Arc<Client>, String> {
        match (news.token, &last.token) {
            (Ok(token), _) => (last.token, last.unread) = (Some(token), None),
            (Err(reason), Some(_)) => last.unread = Some(reason.into()),
            (Err(reason), None) => return Err(reason),
        }
        match (news.namespace, &last.namespace) {
            (None, _) | (Some(Ok(None) | Err(_)), Ok(Some(_))) => {}
            (Some(namespace), _) => last.namespace = namespace,
        }
        match news.authorities {
            None => self.connect(last, system),
            Some(read) => self.trust(last, read),
        }
    }

    /// The client that there is, if it believes whom it should, or a new one.
    fn connect(&self, last: &mut Last, system: &client::System) -> Result<Arc<Client>, String> {
        let is_of_before = last
            .system
            .as_ref()
            .is_some_and(|of_last| !of_last.is(system));
        if let Some(client) = last.client.as_ref().filter(|_| !is_of_before) {
            return Ok(client.clone());
        }
        let mut trusted = Trusted::default();
        let trust = match &self.access.trust {
            Trust::Authorities(pem) => trusted.pem(pem.clone())?,
            Trust::Anyone => client::Trust::Anyone,
            Trust::System | Trust::Pod => {
                last.system = Some(system.clone());
                client::Trust::System(system.clone())
            }
        };
        Ok(last.client.insert(self.client(trust)?).clone())
    }

    /// The client that believes these authorities; when there are none to be had, the one before.
    fn trust(&self, last: &mut Last, read: Result<Vec<u8>, String>) -> Result<Arc<Client>, String> {
        if let (Some(client), Ok(same)) = (&last.client, &read)
            && *same == last.authorities
        {
            return Ok(client.clone());
        }
        let built = read.and_then(|pem| {
            let trust = Trusted::default().pem(pem.clone());
            let trust = trust.map_err(|wrong| format!("ca.crt of the pod: {wrong}"))?;
            Ok((self.client(trust)?, pem))
        });
        match (built, &last.client) {
            (Ok((client, pem)), _) => {
                last.authorities = pem;
                Ok(last.client.insert(client).clone())
            }
            (Err(_), Some(client)) => Ok(client.clone()),
            (Err(reason), None) => Err(reason),
        }
    }

    fn client(&self, trust: client::Trust) -> Result<Arc<Client>, String> {
        let identity = self.access.identity.as_ref();
        let identity = identity.map(|(certificate, key)| Identity::pem(certificate, key));
        let identity = identity.transpose().map_err(|wrong| match wrong {
            WrongIdentity::Certificate(wrong) => format!("client-certificate: {wrong}"),
            WrongIdentity::Key(wrong) => format!("client-key: {wrong}"),
        })?;
        let tls = Tls::new(trust, identity, self.access.server_name.clone());
        Ok(Arc::new(Client::new(tls, self.names.clone())))
    }
}
