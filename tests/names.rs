//! How a client names the service whose list it wants.

use crate::support::{Setup, Vigie, assert_says};

const ONE: &str = r#"[
  {
    "ip": "10.0.0.1",
    "port": 80,
    "load_balancing_weight": 1
  }
]
"#;

fn serve(services: &str) -> Vigie {
    Setup::services(services)
        .file("one.txt", "10.0.0.1:80 1\n")
        .file("two.txt", "10.0.0.2:80 2\n")
        .start()
}

#[test]
fn without_a_name_the_service_default_answers() {
    let vigie = serve("default: {file: one.txt}\nother: {file: two.txt}");
    for target in [
        "/services",
        "/services?",
        "/services?service_name",
        "/services?service_name=",
        "/services?x=other",
    ] {
        assert_eq!(vigie.get(target).summary(), (200, ONE), "{target}");
    }
}

#[test]
fn without_a_name_and_without_a_service_default_the_error_says_what_to_do() {
    let vigie = serve("one: {file: one.txt}");
    for target in ["/services", "/services?service_name="] {
        let answer = vigie.get(target);
        assert_eq!(answer.status, 400, "{target}");
        assert_says(&answer.error(), &["service_name", "default"]);
    }
}

#[test]
fn names_are_decoded_as_forms_encode_them() {
    let vigie =
        serve("\"sp ace/ü\": {file: one.txt}\n\"a+b&c=d%\": {file: one.txt}\none: {file: one.txt}");
    for name in [
        "sp%20ace%2F%C3%BC",
        "sp+ace/%c3%bc",
        "a%2Bb%26c%3Dd%25",
        "a%2bb%26c=d%25",
        "%6f%6E%65",
    ] {
        assert_eq!(vigie.list(name).summary(), (200, ONE), "{name}");
    }
    assert_eq!(vigie.list("a+b%26c%3Dd%25").status, 404);
}

#[test]
fn the_first_service_name_counts_and_other_parameters_do_not() {
    let vigie = serve("one: {file: one.txt}\ntwo: {file: two.txt}");
    for query in [
        "service_name=one&service_name=two",
        "x=1&service_name=one&y",
        "&&service_name=one",
        "service%5Fname=one",
    ] {
        assert_eq!(
            vigie.get(&format!("/services?{query}")).summary(),
            (200, ONE),
            "{query}"
        );
    }
    assert_eq!(vigie.get("/services?SERVICE_NAME=one").status, 400);
}

#[test]
fn a_name_that_cannot_be_decoded_is_400_and_the_connection_is_kept() {
    let vigie = serve("default: {file: one.txt}");
    let mut connection = vigie.connect();
    for name in [
        "%zz",
        "%",
        "%f",
        "a%2",
        "%ff",
        "%c3%28",
        "%ed%a0%80",
        "%f8%88%80%80%80",
    ] {
        let answer = connection.ask("GET", &format!("/services?service_name={name}"), &[]);
        assert_eq!(answer.status, 400, "{name}");
        assert!(!answer.error().is_empty());
    }
    assert_eq!(connection.ask("GET", "/services", &[]).status, 200);
}

#[test]
fn names_of_any_kind_are_served() {
    let names = [
        "'\"<b>&\\'",
        "\u{1F980}",
        ".",
        "../etc",
        "%41",
        "null",
        "a: b # c",
        "\u{202e}abc",
        &"n".repeat(255),
    ];
    let quote = |name: &str| name.replace('\\', "\\\\").replace('"', "\\\"");
    let services = names.map(|name| format!("\"{}\": {{file: one.txt}}\n", quote(name)));
    let vigie = serve(&services.concat());
    for name in names {
        let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(vigie.list(&encoded).summary(), (200, ONE), "{name}");
    }
}

#[test]
fn an_unknown_service_is_404_and_named() {
    let answer = serve("one: {file: one.txt}").list("no%22b%C3%B6dy%0a");
    assert_eq!(answer.status, 404);
    assert_says(&answer.error(), &["böd"]);
}
