//! The JSON Schema of the configuration, held against what the parser takes.

use std::fs;
use std::process::Command;

use miniserde::json::{self, Object, Value};

use crate::support::skip;

/// What `check-config` says of a text, and whether it is good.
fn check(text: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("config.yml"), text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["check-config", "-c"])
        .arg(folder.path().join("config.yml"))
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), said)
}

fn object(value: &Value) -> &Object {
    let Value::Object(object) = value else {
        panic!("{value:?} is no object");
    };
    object
}

/// The properties of the mapping that lies at a path of the schema.
fn properties(schema: &Value, path: &str) -> Vec<String> {
    let mut place = schema;
    for step in path.split('/').filter(|step| !step.is_empty()) {
        place = match place {
            Value::Array(array) => &array[step.parse::<usize>().unwrap()],
            _ => &object(place)[step],
        };
    }
    let mut names: Vec<_> = object(&object(place)["properties"])
        .keys()
        .cloned()
        .collect();
    names.sort();
    names
}

/// The keys that the parser names where it does not know one.
fn known_keys(text: &str) -> Vec<String> {
    let (_, said) = check(text);
    let (_, known) = said
        .split_once("nown are ")
        .unwrap_or_else(|| panic!("{said}"));
    let mut names: Vec<String> = known.trim().split(", ").map(Into::into).collect();
    names.sort();
    names
}

#[test]
fn the_schema_has_the_keys_that_the_parser_knows() {
    let schema = fs::read_to_string("config/schema.json").unwrap();
    let schema: Value = json::from_str(&schema).unwrap();
    for (path, text) in [
        ("", "zzzzzzzzzz: 1"),
        ("properties/server", "server: {zzzzzzzzzz: 1}"),
        ("properties/log", "log: {zzzzzzzzzz: 1}"),
        ("properties/cache", "cache: {zzzzzzzzzz: 1}"),
        ("$defs/service", "services: {a: {file: x, zzzzzzzzzz: 1}}"),
        (
            "$defs/file/oneOf/1",
            "services: {a: {file: {path: x, zzzzzzzzzz: 1}}}",
        ),
        (
            "$defs/dns/oneOf/1",
            "services: {a: {dns: {name: x, zzzzzzzzzz: 1}}}",
        ),
        (
            "$defs/url/oneOf/1",
            "services: {a: {url: {url: 'http://x', zzzzzzzzzz: 1}}}",
        ),
        (
            "$defs/url/oneOf/1/properties/basic_auth",
            "services: {a: {url: {url: 'http://x', basic_auth: {username: u, password_file: p, zzzzzzzzzz: 1}}}}",
        ),
        (
            "$defs/kubernetes/oneOf/1",
            "services: {a: {kubernetes: {service: x, zzzzzzzzzz: 1}}}",
        ),
    ] {
        assert_eq!(properties(&schema, path), known_keys(text), "{path}");
    }
}

/// Reads documents from its arguments and says of each whether the schema takes it.
const VALIDATE: &str = "
import json, sys, jsonschema, yaml
validator = jsonschema.Draft202012Validator(json.load(open('config/schema.json')))
for text in sys.argv[1:]:
    print(validator.is_valid(yaml.safe_load(text)))
";

/// What the schema says of each document; `None` where there is no validator.
fn validate(documents: &[String]) -> Option<Vec<bool>> {
    // Where tests/run puts it.
    let output = Command::new("python3")
        .args(["-c", VALIDATE])
        .args(documents)
        .env("PYTHONPATH", "target/python")
        .output();
    match output {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8(output.stdout).unwrap();
            Some(said.lines().map(|line| line == "True").collect())
        }
        _ => {
            skip("the schema is good", "jsonschema is not installed");
            None
        }
    }
}

#[test]
fn the_schema_takes_every_sample() {
    let samples = ["config", "config/container"].map(|folder| fs::read_dir(folder).unwrap());
    let samples = samples
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let samples = samples.filter(|path| path.extension().is_some_and(|ending| ending == "yml"));
    let texts: Vec<String> = samples
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    if let Some(verdicts) = validate(&texts) {
        assert!(texts.len() > 5);
        assert_eq!(verdicts, vec![true; texts.len()]);
    }
}

#[test]
fn what_the_schema_takes_the_parser_takes_and_what_it_refuses_too() {
    let values = [
        (
            "server: {address: VALUE}",
            &[
                "'127.0.0.1:80'",
                "'[::]:80'",
                "'unix:x'",
                "['127.0.0.1:1', '[::1]:1']",
                "[]",
                "8080",
                "localhost",
                "{}",
            ][..],
        ),
        (
            "server: {socket_mode: VALUE}",
            &["'0660'", "'0999'", "'660'", "[]"],
        ),
        (
            "server: {max_connections: VALUE}",
            &["1", "1000000", "0", "1000001", "'5'", "many"],
        ),
        (
            "server: {idle_timeout: VALUE}",
            &[
                "5s", "1m30s", "300ms", "5", "s", "-5s", "1.5s", "5s1m", "true",
            ],
        ),
        ("log: {level: VALUE}", &["debug", "'off'", "loud", "5"]),
        ("log: {format: VALUE}", &["text", "json", "xml"]),
        ("cache: {ttl: VALUE}", &["0s", "1h", "5", "[]"]),
        (
            "disable_reload_by_request: VALUE",
            &["true", "false", "'true'", "1"],
        ),
        (
            "services: {a: VALUE}",
            &[
                "{file: x}",
                "{dns: web.test}",
                "{}",
                "{default_port: 80}",
                "{file: x, dns: web.test}",
                "[]",
            ],
        ),
        (
            "services: {a: {file: x, default_port: VALUE}}",
            &["1", "65535", "0", "65536", "http"],
        ),
        (
            "services: {a: {file: VALUE}}",
            &[
                "x",
                "{path: x}",
                "{path: x, max_size: 4MiB}",
                "{path: x, max_size: 4}",
                "{max_size: 4MiB}",
                "[]",
            ],
        ),
        (
            "services: {a: {dns: VALUE}}",
            &[
                "web.test",
                "{name: web.test, type: srv}",
                "{name: web.test, type: mx}",
                "{type: a}",
                "{name: web.test, servers: [127.0.0.1]}",
                "{name: web.test, servers: {}}",
                "{name: web.test, family: ipv5}",
                "{name: web.test, protocol: tls}",
            ],
        ),
        (
            "services: {a: {url: VALUE}}",
            &[
                "'http://x/'",
                "'HTTPS://x/'",
                "'ftp://x/'",
                "{url: 'http://x/', max_redirects: 0}",
                "{url: 'http://x/', max_redirects: -1}",
                "{url: 'http://x/', basic_auth: {username: u}}",
                "{url: 'http://x/', insecure_skip_verify: 'yes'}",
                "{max_size: 1MiB}",
            ],
        ),
        (
            "services: {a: {kubernetes: VALUE}}",
            &[
                "web",
                "ns/web:http",
                "{service: web, port: 80}",
                "{service: web, port: 0}",
                "{namespace: ns}",
                "[]",
            ],
        ),
    ];
    let documents: Vec<String> = values
        .iter()
        .flat_map(|(text, values)| values.iter().map(|value| text.replace("VALUE", value)))
        .collect();
    let Some(verdicts) = validate(&documents) else {
        return;
    };
    assert_eq!(verdicts.len(), documents.len());
    for (document, verdict) in documents.iter().zip(verdicts) {
        let (good, said) = check(document);
        assert_eq!(good, verdict, "{document}: {said}");
    }
    assert!(documents.len() > 70);
}
