//! The promises under fault that the README makes, against the tests that it names for each.

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_default()
}

/// The rows of the tables in the section: the promise, and the names of its tests.
fn rows(readme: &str) -> Vec<(&str, Vec<&str>)> {
    let begin = "\n## What Vigie promises under fault\n";
    let (_, section) = readme.split_once(begin).expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| {
        let (promise, tests) = line
            .strip_prefix("| ")?
            .strip_suffix(" |")?
            .split_once(" | ")?;
        Some((promise, tests.split_whitespace().collect()))
    });
    rows.filter(|(promise, _)| !["promise", "---"].contains(promise))
        .collect()
}

/// Whether `FILE::NAME` is a test.
fn is_test(name: &str) -> bool {
    let path = name
        .strip_prefix('`')
        .and_then(|name| name.strip_suffix('`'));
    let Some((file, name)) = path.and_then(|path| path.split_once("::")) else {
        return false;
    };
    read(&format!("tests/{file}.rs")).contains(&format!("#[test]\nfn {name}() {{"))
        && read("tests/main.rs").contains(&format!("\nmod {file};"))
}

#[test]
fn every_promise_under_fault_is_held_by_tests_that_there_are() {
    let readme = read("README.md");
    let rows = rows(&readme);
    assert!(rows.len() > 30, "only {} promises", rows.len());
    for (promise, tests) in rows {
        assert!(!tests.is_empty(), "nothing holds: {promise}");
        for name in tests {
            assert!(
                is_test(name),
                "there is no test {name}, which holds: {promise}"
            );
        }
    }
    let own = "`fault_promises::every_promise_under_fault_is_held_by_tests_that_there_are`";
    assert!(is_test(own) && !is_test(&own.replace("every", "no")));
}
