//! What an answer means that is no list, and what to do.

use std::borrow::Cow;

use super::pages::MOST_BYTES;
use crate::client::{self, HeaderMap, Kind, StatusCode, header};
use crate::source::Failure;
use crate::wording::{LONGEST_QUOTE, shorten};

/// The type of a list, as it is asked for and as it comes.
pub(super) const JSON: &str = "application/json";

/// What a status means; `unread` is why the token that was sent is one from before. The words of the server are not
/// shown: they may repeat what was sent to it.
pub(super) fn of(
    status: StatusCode,
    namespace: &str,
    is_first_page: bool,
    unread: Option<&str>,
) -> Failure {
    let words = status
        .canonical_reason()
        .unwrap_or("a status that is not known");
    let right = match status.as_u16() {
        401 => match unread {
            Some(reason) => format!("it does not accept the token from before, and {reason}"),
            None => "it does not accept who asks; renew the token or the client certificate".into(),
        },
        403 => format!(
            "who asks may not list endpointslices (discovery.k8s.io) in the namespace {namespace}; bind a Role there with apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list]"
        ),
        404 => "discovery.k8s.io/v1 is missing there; it needs Kubernetes 1.21 or later, and the address of an API server".into(),
        410 if is_first_page => {
            "it says so of the first page; see whether it is an API server".into()
        }
        410 => "it forgot the list while the pages were read; ask again".into(),
        429 => "it has too much to do; raise cache_ttl, so that Vigie asks less often".into(),
        500..=599 => "see what is wrong with the API server".into(),
        _ => "see whether it is an API server".to_owned(),
    };
    let status = status.as_u16();
    Failure::Unreadable(format!("the API server answered {status} {words}: {right}").into())
}

/// What is wrong with the type of a list, if it is told.
pub(super) fn of_type(headers: &HeaderMap) -> Result<(), Failure> {
    let told = headers.get(header::CONTENT_TYPE);
    let told = told.map_or(Cow::default(), |told| {
        String::from_utf8_lossy(told.as_bytes())
    });
    let essence = told.split(';').next().unwrap_or_default().trim();
    if essence.is_empty() || essence.eq_ignore_ascii_case(JSON) {
        return Ok(());
    }
    let essence = shorten(essence, LONGEST_QUOTE);
    let right = "correct the address of the API server";
    let reason = format!("the server gave {essence}, no JSON; {right}");
    Err(Failure::Unreadable(reason.into()))
}

/// What a pod is told, which has no keys.
const OF_A_POD: [(&str, &str); 4] = [
    (
        "name its authority with ca_file",
        "ca.crt of the service account does not hold the authority of the API server",
    ),
    ("correct ca_file", "correct ca.crt of the service account"),
    (
        "correct the url, or set server_name",
        "see whether KUBERNETES_SERVICE_HOST is that of the API server",
    ),
    (
        "set cert_file and key_file",
        "name a kubeconfig that has one with kubeconfig",
    ),
];

/// The client speaks of the keys of the url source.
const KEYS: [(&str, &str); 4] = [
    (
        "cert_file and key_file",
        "client-certificate and client-key",
    ),
    ("ca_file", "certificate-authority"),
    ("server_name", "tls-server-name"),
    ("the url", "the server"),
];

/// Why there is no answer, in words that fit a cluster.
pub(super) fn told(failure: client::Failure, is_in_pod: bool) -> Failure {
    let mut reason = failure.reason;
    match failure.kind {
        Kind::TimedOut => return Failure::TimedOut(reason.into()),
        Kind::Tls => {
            let of_a_pod = OF_A_POD.iter().filter(|_| is_in_pod);
            for (key, other) in of_a_pod.chain(&KEYS) {
                reason = reason.replace(key, other);
            }
        }
        Kind::TooLarge => reason = format!("the slices have more than {} MiB", MOST_BYTES >> 20),
        Kind::Redirect => {
            reason = "the API server redirects, which is not followed; correct its address".into()
        }
        _ => {}
    }
    Failure::Unreadable(reason.into())
}
