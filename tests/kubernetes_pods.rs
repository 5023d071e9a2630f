//! The service account of a pod: what Kubernetes renews while Vigie runs, and what is missing for a moment.

use std::sync::{Arc, Mutex};

use crate::support::cluster::{Cluster, Pod, list, status, vigie_outside};
use crate::support::{Authority, Setup, assert_says, only};

const WEB: &str = "web: {kubernetes: {service: web}, cache_ttl: 0s}\n";
const FOLDER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// A cluster that accepts one token, which a test may change, and tells which came last.
fn guarded(token: &'static str) -> (Cluster, Arc<Mutex<&'static str>>) {
    let accepted = Arc::new(Mutex::new(token));
    let good = accepted.clone();
    let cluster = Cluster::start(move |asked| {
        let sent = asked.authorization().unwrap_or_default();
        match sent == format!("Bearer {}", good.lock().unwrap()) {
            true => list(&["10.0.0.1"]),
            false => status("401 Unauthorized", &sent),
        }
    });
    (cluster, accepted)
}

fn pod(cluster: &Cluster, token: &str) -> Pod {
    let pod = Pod::new();
    pod.write("token", token);
    pod.write("ca.crt", cluster.authority.pem());
    pod.write("namespace", "mine");
    pod
}

#[test]
fn a_pod_asks_as_its_service_account_for_its_namespace() {
    let (cluster, _) = guarded("hunter2");
    let pod = pod(&cluster, "hunter2\n");
    let services = format!("{WEB}other: {{kubernetes: other/web}}");
    let Some(setup) = pod.setup("a pod and its account", &cluster.peer, &services) else {
        return;
    };
    let vigie = setup.start();
    for name in ["web", "other"] {
        assert_eq!(vigie.list(name).summary(), (200, only("10.0.0.1").as_str()));
    }
    let requests = cluster.peer.requests();
    assert_says(
        &requests[0],
        &["/namespaces/mine/endpointslices?", "Bearer hunter2\r\n"],
    );
    assert_says(&requests[1], &["/namespaces/other/endpointslices?"]);
    assert_eq!(cluster.peer.connections(), 1);
}

#[test]
fn a_token_that_is_renewed_is_sent_from_then_on() {
    let (cluster, accepted) = guarded("hunter2");
    let pod = pod(&cluster, "hunter2");
    let Some(setup) = pod.setup("tokens that are renewed", &cluster.peer, WEB) else {
        return;
    };
    let vigie = setup.start();
    assert_eq!(vigie.list("web").status, 200);
    *accepted.lock().unwrap() = "hunter3";
    pod.write("token", "hunter3");
    assert_eq!(vigie.list("web").status, 200);
    assert_eq!(
        cluster.peer.requests().len(),
        2,
        "it is read before it is refused"
    );
}

#[test]
fn a_401_reads_the_token_at_once_and_tries_once_more() {
    let pod = Arc::new(Pod::new());
    let renewed = pod.clone();
    let cluster = Cluster::start(move |asked| match asked.authorization().as_deref() {
        Some("Bearer hunter3") => list(&["10.0.0.1"]),
        _ => {
            renewed.write("token", "hunter3");
            status("401 Unauthorized", "x")
        }
    });
    pod.write("token", "hunter2");
    pod.write("ca.crt", cluster.authority.pem());
    let Some(setup) = pod.setup("a 401 reads the token", &cluster.peer, WEB) else {
        return;
    };
    let vigie = setup.start();
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_eq!(cluster.peer.requests().len(), 2);
    assert_says(
        &cluster.peer.requests()[0],
        &["/namespaces/default/endpointslices?"],
    );

    let (cluster, _) = guarded("another");
    let answer = pod.setup("a second 401 is told", &cluster.peer, WEB);
    pod.write("ca.crt", cluster.authority.pem());
    let vigie = answer.unwrap().top("log: {level: trace}").start();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["kubernetes web: the API server answered 401 Unauthorized: "],
    );
    assert_eq!(cluster.peer.requests().len(), 2);
    vigie.log.wait_for("GET /services of web: 502");
    assert!(!(vigie.log.text() + &answer.error()).contains("hunter"));
}

#[test]
fn what_cannot_be_read_for_a_moment_is_as_it_was() {
    let (cluster, _) = guarded("hunter2");
    let pod = pod(&cluster, "hunter2");
    let Some(setup) = pod.setup("files that are missing for a moment", &cluster.peer, WEB) else {
        return;
    };
    let vigie = setup.start();
    let is_good = || {
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
        let requests = cluster.peer.requests();
        assert_says(requests.last().unwrap(), &["/namespaces/mine/"]);
    };
    is_good();
    for garbage in ["", "\n", "a b", "\u{fc}"] {
        pod.write("token", garbage);
        is_good();
    }
    for name in ["token", "namespace", "ca.crt"] {
        pod.remove(name);
        is_good();
    }
    pod.write(
        "ca.crt",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    is_good();
    assert_eq!(vigie.reload().status, 200);
    is_good();
    assert_eq!(cluster.peer.connections(), 1);
}

#[test]
fn a_new_authority_is_believed_without_a_reload() {
    let (cluster, _) = guarded("hunter2");
    let pod = pod(&cluster, "hunter2");
    pod.write("ca.crt", Authority::new().pem());
    let Some(setup) = pod.setup("a new authority", &cluster.peer, WEB) else {
        return;
    };
    let vigie = setup.start();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502);
    let words = "TLS: the server's certificate is signed by an unknown authority; ca.crt of the service account does not hold the authority of the API server";
    assert_says(&answer.error(), &["kubernetes web: ", words]);
    pod.write("ca.crt", cluster.authority.pem());
    assert_eq!(vigie.list("web").status, 200);
}

#[test]
fn credentials_that_are_missing_fail_the_service_alone_and_only_when_it_is_asked_for() {
    let (cluster, _) = guarded("hunter2");
    let pod = Pod::new();
    let services = format!("{WEB}list: {{file: list.txt}}");
    let Some(setup) = pod.setup("missing credentials", &cluster.peer, &services) else {
        return;
    };
    let vigie = setup.file("list.txt", "10.0.0.2\n").start();
    assert_eq!(vigie.list("list").status, 200);
    assert_eq!(vigie.reload().status, 200);
    let says = |file: &str, words: &str| {
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        assert_says(
            &answer.error(),
            &["kubernetes web: ", &format!("{FOLDER}/{file}: "), words],
        );
    };
    says("token", "No such file or directory");
    pod.write("token", "");
    says("token", "it is empty");
    pod.write("token", "hunter2");
    says("ca.crt", "No such file or directory");
    pod.write("ca.crt", cluster.authority.pem());
    assert_eq!(vigie.list("web").status, 200);
}

#[test]
fn a_bad_namespace_of_the_pod_fails_only_the_services_that_name_none() {
    let (cluster, _) = guarded("hunter2");
    let pod = pod(&cluster, "hunter2");
    let services = format!("{WEB}other: {{kubernetes: other/web, cache_ttl: 0s}}");
    let Some(setup) = pod.setup("a bad namespace", &cluster.peer, &services) else {
        return;
    };
    let vigie = setup.start();
    let is_told = || {
        let other = vigie.list("other");
        assert_eq!(other.summary(), (200, only("10.0.0.1").as_str()));
        let web = vigie.list("web");
        assert_eq!(web.status, 502);
        let words = format!("kubernetes web: namespace {FOLDER}/namespace: ");
        assert_says(&web.error(), &[&words]);
    };
    let too_large = vec![b'a'; (1 << 20) + 1];
    for bad in [&b""[..], b"No Namespace", b"\xff\xfe", &too_large] {
        pod.write("namespace", bad);
        is_told();
    }
    pod.remove("namespace");
    std::fs::create_dir(pod.path("namespace")).unwrap();
    is_told();
    std::fs::remove_dir(pod.path("namespace")).unwrap();
    pod.write("namespace", "mine");
    assert_eq!(vigie.list("web").status, 200);
}

#[test]
fn outside_of_a_pod_the_error_says_what_is_missing() {
    let setup = Setup::services("").file("config.yml", format!("services:\n  {WEB}"));
    let file = setup.path("config.yml");
    let checked = vigie_outside(&["check-config"], &file);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let read = vigie_outside(&["get", "web"], &file);
    assert_eq!(read.status.code(), Some(1));
    assert_says(
        &String::from_utf8(read.stderr).unwrap(),
        &[
            "kubernetes web: this is no pod, for KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, and there is no kubeconfig, neither at $KUBECONFIG nor, where that is not set, at ~/.kube/config: name one with kubeconfig; then reload",
        ],
    );
}
