//! What the documents show works as they show it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Authority, Setup, Vigie};

/// A kubeconfig with the context that the README names.
const KUBECONFIG: &str = "clusters: [{name: c, cluster: {server: \"https://192.0.2.1:6443\"}}]\n\
    users: [{name: u, user: {tokenFile: token}}]\ncontexts: [{name: edge, context: {cluster: c, user: u}}]\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The blocks of README.md that are fenced as a language, each with its line number; at least one.
fn blocks(language: &str) -> Vec<(usize, String)> {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let mut blocks = Vec::new();
    let mut lines = readme.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("```") {
            let block: String = lines
                .by_ref()
                .map(|(_, line)| line)
                .take_while(|line| *line != "```")
                .map(|line| format!("{line}\n"))
                .collect();
            if line == format!("```{language}") {
                blocks.push((number + 1, block));
            }
        }
    }
    assert!(!blocks.is_empty(), "README.md shows no {language}");
    blocks
}

fn check(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vigie"))
        .arg("check-config")
        .arg("-c")
        .arg(file)
        .output()
        .unwrap()
}

fn assert_valid(what: &str, file: &Path) {
    let output = check(file);
    assert!(
        output.status.success(),
        "{what}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn samples() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("config"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "yml"))
        .collect()
}

#[test]
fn every_sample_is_a_valid_configuration() {
    let samples = samples();
    assert!(
        samples.iter().any(|path| path.ends_with("minimal.yml"))
            && samples.iter().any(|path| path.ends_with("vigie.yml")),
        "{samples:?}"
    );
    for sample in samples {
        assert_valid(&sample.display().to_string(), &sample);
    }
}

#[test]
fn every_configuration_that_the_readme_shows_is_valid() {
    let authority = Authority::new();
    let client = authority.sign(&["client"]);
    for (line, block) in blocks("yaml") {
        let setup = Setup::services("")
            .file("ca.pem", authority.pem())
            .file("client.pem", client.pem())
            .file("client.key", client.key_pem())
            .file("kube.yml", KUBECONFIG)
            .file("config.yml", block);
        assert_valid(&format!("README.md:{line}"), &setup.path("config.yml"));
    }
}

#[test]
fn the_errors_that_the_readme_shows_are_those_of_the_file_beside_them() {
    let (files, errors) = (blocks("yaml with errors"), blocks("text of errors"));
    assert_eq!(files.len(), errors.len());
    for ((line, file), (_, errors)) in files.into_iter().zip(errors) {
        let setup = Setup::services("").file("config.yml", file);
        let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
            .args(["check-config", "-c", "config.yml"])
            .current_dir(setup.path(""))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "README.md:{line}");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            errors,
            "README.md:{line}"
        );
    }
}

/// A server with the sample that the README starts with, and the lists that lie beside it.
fn serve_minimal() -> Vigie {
    let mut setup = Setup::services("");
    for entry in fs::read_dir(root().join("config"))
        .unwrap()
        .map(|entry| entry.unwrap())
    {
        if entry.file_type().unwrap().is_file() {
            setup = setup.file(
                &entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            );
        }
    }
    let minimal = fs::read_to_string(root().join("config/minimal.yml")).unwrap();
    setup.start_as(&minimal)
}

#[test]
fn the_chain_that_the_readme_shows_gives_the_same_list() {
    let shown = blocks("yaml").into_iter().map(|(_, block)| block);
    let chains: Vec<_> = shown
        .filter(|block| block.contains("service_name="))
        .collect();
    let [chain] = &*chains else {
        panic!("{chains:?}")
    };
    let middle = serve_minimal();
    let port = middle.port().to_string();
    let chain = chain.replace("8080", &port);
    let edge = Setup::services("").start_as(&chain);
    let (first, second) = (middle.list("web"), edge.list("web"));
    assert_eq!(
        (second.summary(), second.header("etag")),
        (first.summary(), first.header("etag"))
    );
    assert_eq!(first.status, 200);
}

/// Whether a line is as it was shown, where `...` stands for anything.
fn matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("...");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether lines are as they were shown, where a line of `...` stands for any number of them.
fn all_match(shown: &[&str], lines: &[&str]) -> bool {
    match (shown, lines) {
        ([], _) => lines.is_empty(),
        (["...", after @ ..], _) => (0..=lines.len()).any(|skip| all_match(after, &lines[skip..])),
        ([first, after @ ..], [line, rest @ ..]) => matches(first, line) && all_match(after, rest),
        _ => false,
    }
}

#[test]
fn three_dots_stand_for_anything() {
    assert!(matches("a", "a") && matches("...", "") && matches("a...c", "abc"));
    assert!(matches("a...b...", "a1b2") && matches("...a", "aa"));
    assert!(!matches("a", "ab") && !matches("a...c", "ab") && !matches("ab...b", "ab"));
    assert!(!matches("a...b...c", "acb"));
    assert!(all_match(&["a", "...", "d"], &["a", "b", "c", "d"]) && all_match(&["..."], &[]));
    assert!(!all_match(&["a", "..."], &["b"]) && !all_match(&["a"], &["a", "b"]));
    assert!(!all_match(&["a", "b"], &["a"]));
}

/// The commands of a console block, each with the lines that it shows as its output.
fn commands(block: &str) -> Vec<(&str, Vec<&str>)> {
    let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command, Vec::new())),
            (None, Some((_, output))) => output.push(line),
            (None, None) => panic!("output before the first command: {line}"),
        }
    }
    commands
}

#[test]
fn every_request_that_the_readme_shows_is_answered_as_it_shows() {
    let blocks = blocks("console");
    let requests: Vec<_> = blocks
        .iter()
        .flat_map(|(line, block)| {
            commands(block)
                .into_iter()
                .map(move |(command, shown)| (line, command, shown))
        })
        .filter(|(_, command, _)| {
            command.starts_with("curl ") && command.contains("127.0.0.1:8080")
        })
        .collect();
    assert!(
        !requests.is_empty(),
        "README.md shows no curl of 127.0.0.1:8080"
    );
    let vigie = serve_minimal();
    for (line, command, shown) in requests {
        let real = command.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", vigie.port()));
        let output = Command::new("sh").args(["-c", &real]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
        let lines: Vec<_> = text.lines().collect();
        let same = all_match(&shown, &lines);
        assert!(
            same,
            "README.md:{line}: {command}\nshows {shown:#?}\ngives {lines:#?}"
        );
    }
}
