//! What the shells complete, each asked itself.

use std::process::Command;

use crate::support::skip;

fn script(shell: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["completions", shell])
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// What a shell prints when it runs the script and then these lines; `None` when there is no such shell.
fn shell(name: &str, flags: &[&str], lines: &str) -> Option<String> {
    let text = format!("{}\n{lines}", script(name));
    let Ok(output) = Command::new(name).args(flags).args(["-c", &text]).output() else {
        skip("completions work", &format!("{name} is not installed"));
        return None;
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Some(String::from_utf8(output.stdout).unwrap())
}

const CASES: [(&str, &[&str]); 8] = [
    ("vigie ser", &["serve"]),
    ("vigie c", &["check-config", "completions"]),
    ("vigie serve --", &["--config-path", "--help"]),
    ("vigie get --output ", &["json", "lines", "table"]),
    ("vigie completions z", &["zsh"]),
    ("vigie help v", &["version"]),
    ("vigie h", &["health", "help"]),
    ("vigie --v", &["--version"]),
];

#[test]
fn bash_completes_commands_flags_and_words() {
    // `=` is a word of its own to the shell (COMP_WORDBREAKS).
    let assigned: [(&str, &[&str]); 3] = [
        ("vigie get --output =", &["json", "lines", "table"]),
        ("vigie get --output = js", &["json"]),
        ("vigie get --server =", &[""]),
    ];
    for (line, want) in CASES.into_iter().chain(assigned) {
        let words: Vec<&str> = line.split(' ').collect();
        let (last, quoted) = (words.len() - 1, words.join("\" \""));
        let lines = format!(
            "COMP_WORDS=(\"{quoted}\"); COMP_CWORD={last}; _vigie; printf '%s\\n' \"${{COMPREPLY[@]}}\" | sort"
        );
        let Some(found) = shell("bash", &["--norc"], &lines) else {
            return;
        };
        assert_eq!(found.lines().collect::<Vec<_>>(), want, "{line}");
    }
}

#[test]
fn fish_completes_commands_flags_and_words() {
    for (line, want) in CASES {
        let lines = format!("complete -C '{line}' | cut -f 1 | sort");
        let Some(found) = shell("fish", &["--no-config"], &lines) else {
            return;
        };
        assert_eq!(found.lines().collect::<Vec<_>>(), want, "{line}");
    }
}

#[test]
fn zsh_takes_the_script_and_completes_commands() {
    // compadd works only within the line editor, so a function of its name tells what it is given.
    for (line, want) in [
        ("vigie get ", "--config-path --server --output --help"),
        ("vigie get --output ", "table json lines"),
        ("vigie completions ", "--help bash zsh fish"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let lines = format!(
            "compadd() {{ shift; print -r -- $@ }}; words=({}); CURRENT={}; _vigie",
            line,
            words.len()
        );
        let script = format!("compdef() {{ }}\n{}\n{lines}", script("zsh"));
        let Ok(output) = Command::new("zsh").args(["-f", "-c", &script]).output() else {
            return skip("completions work", "zsh is not installed");
        };
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8(said).unwrap().trim_end(), want, "{line}");
    }
}
