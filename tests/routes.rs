//! What is where, and what an error looks like.

use crate::support::peer::list;
use crate::support::{Peer, Setup, Vigie, assert_says};

fn serve(services: &str) -> Vigie {
    Setup::services(services)
        .file("one.txt", "10.0.0.1:80 1\n")
        .start()
}

#[test]
fn a_server_without_services_knows_none() {
    let vigie = serve("");
    assert_eq!(vigie.list("one").status, 404);
    assert_eq!(vigie.get("/services").status, 400);
    assert_eq!(vigie.get("/readyz").status, 200);
}

#[test]
fn an_unknown_path_is_404_and_named() {
    let vigie = serve("one: {file: one.txt}");
    for path in [
        "/nothing",
        "/services/",
        "/Services",
        "/services/one",
        "//services",
        "/livez/",
        "/reload/x",
    ] {
        let answer = vigie.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert_says(&answer.error(), &[path]);
    }
}

#[test]
fn a_method_that_a_path_does_not_know_is_405_with_those_it_does() {
    let vigie = serve("one: {file: one.txt}");
    let mut connection = vigie.connect();
    let reads = [
        "/services?service_name=one",
        "/livez",
        "/healthz",
        "/-/healthy",
        "/readyz",
        "/-/ready",
        "/metrics",
        "/",
    ];
    for (path, method) in reads
        .iter()
        .flat_map(|path| ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"].map(|m| (path, m)))
    {
        let answer = connection.ask(method, path, &[]);
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("GET, HEAD")),
            "{method} {path}"
        );
        assert!(!answer.error().is_empty());
    }
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
        let answer = connection.ask(method, "/reload", &[]);
        assert_eq!(
            (answer.status, answer.header("allow")),
            (405, Some("POST")),
            "{method}"
        );
    }
}

#[test]
fn no_error_shows_a_query_string() {
    let vigie = serve("broken: {file: missing.txt}");
    for target in [
        "/nothing?token=hunter2",
        "/services?service_name=nobody&token=hunter2",
        "/services?token=hunter2",
        "/services?service_name=broken&token=hunter2",
        "/services?service_name=%zz&token=hunter2",
        "/reload?token=hunter2",
    ] {
        let answer = vigie.get(target);
        assert!(
            !answer.error().contains("hunter2"),
            "{target}: {}",
            answer.error()
        );
    }
}

#[test]
fn errors_are_json_with_a_length_and_no_store_of_their_own() {
    let answer = serve("one: {file: one.txt}").get("/nothing");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.header("content-length"),
        Some(answer.body.len().to_string().as_str())
    );
    assert!(
        answer.header("date").is_some()
            && answer.header("etag").is_none()
            && answer.header("age").is_none()
    );
    assert_eq!(
        answer.header("connection"),
        None,
        "a 404 keeps the connection"
    );
}

#[test]
fn a_failed_source_is_502_and_names_service_source_and_reason() {
    let answer = serve("\"br\\\"oken\": {file: missing.txt}").list("br%22oken");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["br\"oken", "missing.txt", "No such file"],
    );
}

#[test]
fn the_probes_look_at_no_source() {
    let peer = Peer::always(list("10.0.0.1"));
    let vigie = serve(&format!(
        "default: {{file: missing.txt}}\npeer: {{url: {}}}",
        peer.url("/")
    ));
    assert_eq!(vigie.get("/services").status, 502);
    for path in [
        "/livez",
        "/healthz",
        "/-/healthy",
        "/readyz",
        "/-/ready",
        "/livez?verbose",
        "/",
    ] {
        let [get, head] = ["GET", "HEAD"].map(|method| vigie.ask(method, path, &[]));
        assert_eq!((get.status, head.status), (200, 200), "{path}");
        assert_eq!(
            head.header("content-length"),
            get.header("content-length"),
            "{path}"
        );
    }
    assert_eq!(peer.requests(), Vec::<String>::new());
}
