//! What an answer means that is no list, and what to do.

use crate::client::StatusCode;
use crate::source::Failure;

/// The words of the server are not shown: they may repeat what was sent to it.
pub(super) fn of(status: StatusCode, namespace: &str) -> Failure {
    let words = status
        .canonical_reason()
        .unwrap_or("a status that is not known");
    let right = match status.as_u16() {
        401 => "it does not accept who asks; renew the token or the client certificate".into(),
        403 => format!(
            "who asks may not list endpointslices (discovery.k8s.io) in the namespace {namespace}; bind a Role there with apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list]"
        ),
        404 => "discovery.k8s.io/v1 is missing there; it needs Kubernetes 1.21 or later, and the address of an API server".into(),
        410 => "it forgot the list while the pages were read; ask again".into(),
        429 => "it has too much to do; raise cache_ttl, so that Vigie asks less often".into(),
        500..=599 => "see what is wrong with the API server".into(),
        _ => "see whether it is an API server".to_owned(),
    };
    let status = status.as_u16();
    Failure::Unreadable(format!("the API server answered {status} {words}: {right}").into())
}
