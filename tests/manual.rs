//! The man page, held against the program and its form.

use std::fs;
use std::process::Command;

use crate::support::skip;

fn vigie(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(arguments)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_man_page_has_every_command_and_flag() {
    let page = fs::read_to_string("config/vigie.1").unwrap();
    let help = vigie(&["--help"]);
    let (_, commands) = help.split_once("commands:\n").unwrap();
    let commands: Vec<&str> = commands
        .lines()
        .map_while(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect();
    assert!(commands.len() > 5, "{help}");
    for command in commands {
        assert!(page.contains(&format!("\n.It Cm {command}\n")), "{command}");
        let flags = vigie(&["help", command]);
        let flags = flags
            .split_whitespace()
            .filter_map(|word| word.strip_prefix("--"));
        for flag in flags {
            let flag = flag.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            assert!(
                page.contains(&format!("Fl -{flag}")),
                "--{flag} of {command}"
            );
        }
    }
}

#[test]
fn the_man_page_is_well_formed() {
    let lint = Command::new("mandoc")
        .args(["-T", "lint", "-W", "warning", "config/vigie.1"])
        .output();
    let Ok(output) = lint else {
        return skip("the man page is well formed", "mandoc is not installed");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
}
