//! The manifests for Kubernetes, held against its schemas and against what they hold.

use std::fs;
use std::process::Command;

use crate::support::skip;

#[test]
fn the_manifests_are_what_kubernetes_takes() {
    let manifests = fs::read_dir("config/kubernetes").unwrap();
    let manifests = manifests.map(|entry| entry.unwrap().path());
    // Where tests/run puts it.
    let validate = Command::new("python3")
        .args(["-m", "kubernetes_validate", "--strict", "--quiet"])
        .args(manifests)
        .env("PYTHONPATH", "target/python")
        .output();
    let output = match validate {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).contains("No module named") => {
            output
        }
        _ => {
            return skip(
                "the manifests are good",
                "kubernetes-validate is not installed",
            );
        }
    };
    let said = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&said)
    );
}

/// The files that a ConfigMap holds: its literal blocks under `data`, in the order of the text.
fn files(config_map: &str) -> Vec<(&str, String)> {
    let (_, data) = config_map.split_once("\ndata:\n").unwrap();
    let mut files = Vec::new();
    for line in data.lines() {
        match line.strip_prefix("    ") {
            None => files.push((line.trim().strip_suffix(": |").unwrap(), String::new())),
            Some(line) => {
                let (_, text) = files.last_mut().unwrap();
                *text += line;
                text.push('\n');
            }
        }
    }
    files
}

#[test]
fn the_configuration_in_the_manifests_is_good() {
    let config_map = fs::read_to_string("config/kubernetes/configmap.yml").unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files(&config_map) {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let vigie = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
            .args(arguments)
            .current_dir(folder.path())
            .env_remove("VIGIE_CONFIG_PATH")
            .output()
            .unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said)
    };
    assert_eq!(
        vigie(&["check-config"]),
        (Some(0), "./config.yml: good, 2 services\n".into())
    );
    let lines = "10.0.0.7:8080 3\n10.0.0.8:8080 1\n";
    assert_eq!(
        vigie(&["get", "--output", "lines", "fixed"]),
        (Some(0), lines.into())
    );
}
