//! What the program is built of: nothing that it must do without, and only licences that it may be given away under.

use std::process::Command;

/// A second runtime or reactor, TLS of the system, and what is not maintained any more.
const BANNED: [&str; 14] = [
    "tokio",
    "async-std",
    "mio",
    "hyper",
    "reqwest",
    "surf",
    "isahc",
    "openssl-sys",
    "native-tls",
    "aws-lc-sys",
    "async-std-resolver",
    "femme",
    "serde_yaml",
    "chrono",
];

/// Licences that ask for no more than their text.
const ALLOWED: [&str; 9] = [
    "MIT",
    "Apache-2.0",
    "ISC",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Unicode-3.0",
    "Zlib",
    "0BSD",
    "CDLA-Permissive-2.0",
];

/// Name and licence of each package that the running program holds.
fn packages() -> Vec<(String, String)> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--edges=normal",
            "--prefix=none",
        ])
        .args(["--target=x86_64-unknown-linux-gnu", "--format={p}\t{l}"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    let packages = tree.lines().filter_map(|line| line.split_once('\t'));
    packages
        .map(|(name, licence)| {
            let name = name.split(' ').next().unwrap();
            (name.to_owned(), licence.trim_end_matches(" (*)").to_owned())
        })
        .collect()
}

/// Whether one may choose licences that are allowed: each part of an `AND`, one of each `OR`.
fn is_allowed(licence: &str) -> bool {
    let licence = licence.replace(['(', ')'], "").replace('/', " OR ");
    licence.split(" AND ").all(|part| {
        part.split(" OR ").any(|choice| {
            let choice = choice.split(" WITH ").next().unwrap_or_default();
            ALLOWED.contains(&choice.trim())
        })
    })
}

#[test]
fn nothing_is_linked_that_is_banned() {
    let packages = packages();
    assert!(packages.len() > 50);
    let found: Vec<_> = packages
        .iter()
        .filter(|(name, _)| BANNED.contains(&&**name))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn every_licence_allows_to_give_the_program_away() {
    let packages = packages();
    let wrong: Vec<_> = packages
        .iter()
        .filter(|(_, licence)| !is_allowed(licence))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(
        !is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0") && is_allowed("GPL-3.0 OR MIT")
    );
}

#[test]
fn every_package_comes_from_the_public_registry() {
    let lock = std::fs::read_to_string("Cargo.lock").unwrap();
    let sources = lock.lines().filter(|line| line.starts_with("source = "));
    let strange: Vec<_> = sources
        .filter(|line| {
            *line != "source = \"registry+https://github.com/rust-lang/crates.io-index\""
        })
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}
