//! Tells the program which commit it was built from, when, and for which target; and puts the page
//! together.
//!
//! The date is that of the commit (or `SOURCE_DATE_EPOCH`), so that the same source always gives
//! the same binary; outside a checkout `VIGIE_COMMIT` may name the commit.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    version();
    page()
}

fn version() {
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
    println!("cargo:rerun-if-env-changed=VIGIE_COMMIT");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let commit = env::var("VIGIE_COMMIT")
        .ok()
        .or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let epoch = env::var("SOURCE_DATE_EPOCH")
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
        env::var("TARGET").unwrap_or_default()
    );
}

/// Puts script and style into the template, and their hashes into the policy that lets only these run
/// (Content Security Policy Level 3, section 2.3.1).
fn page() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=src/page");
    let read = |name| fs::read_to_string(Path::new("src/page").join(name));
    let (template, style, script) = (read("page.html")?, read("page.css")?, read("page.js")?);
    let page = template
        .replace("{style}", &style)
        .replace("{script}", &script);
    fs::write(Path::new(&env::var("OUT_DIR")?).join("page.html"), page)?;
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    println!(
        "cargo:rustc-env=VIGIE_PAGE_POLICY=default-src 'none'; script-src {}; style-src {}; img-src data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(&script),
        hash(&style)
    );
    Ok(())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
