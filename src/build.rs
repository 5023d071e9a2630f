//! Tells the program which commit it was built from, when, and for which target.
//!
//! The date is that of the commit (or `SOURCE_DATE_EPOCH`), so that the same source always gives
//! the same binary; outside a checkout `VIGIE_COMMIT` may name the commit.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    println!("cargo:rerun-if-env-changed=VIGIE_COMMIT");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let commit = std::env::var("VIGIE_COMMIT")
        .ok()
        .or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let epoch = std::env::var("SOURCE_DATE_EPOCH")
        .ok()
        .or_else(|| git(&["log", "-1", "--format=%ct"]));
    println!(
        "cargo:rustc-env=VIGIE_COMMIT={}",
        commit.as_deref().unwrap_or("unknown")
    );
    println!(
        "cargo:rustc-env=VIGIE_EPOCH={}",
        epoch.as_deref().unwrap_or("0")
    );
    println!(
        "cargo:rustc-env=VIGIE_TARGET={}",
        std::env::var("TARGET").unwrap_or_default()
    );
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
