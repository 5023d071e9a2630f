//! What is logged, in which form, and that nothing about the log can stop the server.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use miniserde::json::{self, Value};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use crate::support::{Hanging, Setup, Vigie, skip, wait_until};

/// A server on a unix socket, which can be reached without reading its log.
fn quiet(top: &str) -> Setup {
    Setup::services("one: {file: one.txt, cache_ttl: 0s}\nbroken: {file: missing.txt}")
        .addresses(&["unix:vigie.sock"])
        .top(top)
        .file("one.txt", "10.0.0.1\n")
}

/// Everything that is worth a line.
fn make_it_talk(vigie: &Vigie) {
    assert_eq!(
        (vigie.list("one").status, vigie.list("broken").status),
        (200, 502)
    );
    assert_eq!(vigie.list("no%0Abody%1b[2J%22%e2%80%ae").status, 404);
    assert_eq!(vigie.tell(b"NONSENSE\r\n\r\n").len(), 1);
    assert_eq!(vigie.reload().status, 200);
    vigie.setup.write_services("one: {fil: one.txt}");
    assert_eq!(vigie.reload().status, 500);
}

/// The line with zeros for its time.
fn dateless(line: &str) -> String {
    let end = line.find('Z').unwrap();
    let begin = end - "0000-00-00T00:00:00.000".len();
    let zeros = line[begin..end].replace(|c: char| c.is_ascii_digit(), "0");
    format!("{}{zeros}{}", &line[..begin], &line[end..])
}

/// Whether a line begins with a moment in UTC as RFC 3339 has it.
fn has_time(line: &str) -> bool {
    let shape: String = line
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .take(20)
        .collect();
    let zone = line
        .split(' ')
        .next()
        .is_some_and(|time| time.ends_with('Z'));
    shape.starts_with("0000-00-00T00:00:00") && zone
}

#[test]
fn each_line_of_text_has_its_time_and_level() {
    let mut vigie = quiet("log: {level: trace}").start();
    make_it_talk(&vigie);
    assert_eq!(vigie.stop(), Some(0));
    vigie.log.wait_for_end();
    let lines = vigie.log.lines();
    assert!(lines.len() >= 8, "{lines:#?}");
    for line in &lines {
        let level = line.split_whitespace().nth(1).unwrap_or_default();
        assert!(
            ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&level),
            "{line:?}"
        );
        assert!(
            has_time(line) && !line.contains(char::is_control),
            "{line:?}"
        );
    }
}

#[test]
fn each_line_of_json_is_one_object() {
    let mut vigie = quiet("log: {level: trace, format: json}").start();
    make_it_talk(&vigie);
    assert_eq!(vigie.stop(), Some(0));
    vigie.log.wait_for_end();
    let lines = vigie.log.lines();
    assert!(lines.len() >= 8, "{lines:#?}");
    for line in &lines {
        let Ok(Value::Object(object)) = json::from_str(line) else {
            panic!("no object: {line:?}")
        };
        for key in ["time", "level", "message"] {
            assert!(
                matches!(object.get(key), Some(Value::String(text)) if !text.is_empty()),
                "{key} in {line:?}"
            );
        }
    }
}

/// systemd says which stream it has connected to its journal.
#[test]
fn the_journal_learns_how_important_a_line_is() {
    for (format, begin) in [("text", "<6>20"), ("json", "<6>{\"time\"")] {
        let setup = quiet(&format!("log: {{level: trace, format: {format}}}"));
        let journal = "export JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr)";
        let vigie = setup.after(journal).start();
        let line = vigie.log.wait_for("started");
        assert!(line.starts_with(begin), "{line}");
        vigie.setup.write("config.yml", "bad: 1\n");
        assert_eq!(vigie.reload().status, 500);
        let line = vigie.log.wait_for("not reloaded");
        assert!(line.starts_with("<3>"), "{line}");
        let all = vigie.log.lines();
        assert!(all.iter().all(|line| line.starts_with('<')), "{all:?}");
    }
    let elsewhere = "export JOURNAL_STREAM=1:1";
    let vigie = quiet("").after(elsewhere).start();
    assert!(!vigie.log.wait_for("started").starts_with('<'));
}

#[test]
fn level_off_is_silent() {
    let mut vigie = quiet("log: {level: off}").start();
    make_it_talk(&vigie);
    assert_eq!(vigie.stop(), Some(0));
    assert_eq!(vigie.log.wait_for_end(), "");
}

#[test]
fn level_error_says_only_what_is_wrong() {
    let mut vigie = quiet("log: {level: error}").start();
    assert_eq!(
        (vigie.list("one").status, vigie.reload().status),
        (200, 200)
    );
    assert_eq!(vigie.stop(), Some(0));
    assert_eq!(vigie.log.wait_for_end(), "");
}

#[test]
fn at_info_a_request_is_not_worth_a_line() {
    let vigie = quiet("").start();
    assert_eq!(vigie.list("one").status, 200);
    let before = vigie.log.lines();
    for _ in 0..100 {
        assert_eq!(
            (vigie.list("one").status, vigie.list("nobody").status),
            (200, 404)
        );
    }
    assert_eq!(vigie.reload().status, 200);
    vigie.log.wait_for("reload");
    assert!(
        vigie.log.lines().len() < before.len() + 10,
        "{}",
        vigie.log.text()
    );
}

#[test]
fn at_debug_each_read_and_each_request_is_worth_a_line() {
    let vigie = quiet("log: {level: debug}").start();
    let lines = |word: &str| {
        let lines = vigie.log.lines();
        lines
            .iter()
            .filter(|line| line.contains("DEBUG") && line.contains(word))
            .count()
    };
    for read in 1..4 {
        assert_eq!(vigie.list("one").status, 200);
        wait_until("the read is logged", || lines("service one: read") == read);
    }
    for (method, target, status) in [
        ("GET", "/services?service_name=one", "200"),
        ("HEAD", "/services?service_name=one", "200"),
        ("GET", "/services?service_name=broken", "502"),
        ("GET", "/nothing?token=hunter2", "404"),
        ("PUT", "/livez", "405"),
        ("GET", "/readyz", "200"),
        ("POST", "/reload", "200"),
    ] {
        let before = vigie.log.lines().len();
        vigie.ask(method, target, &[]);
        let path = target.split('?').next().unwrap();
        let logged = |line: &String| {
            [method, path, status]
                .iter()
                .all(|word| line.contains(word))
        };
        wait_until(
            &format!("{method} {target} is logged with {status}"),
            || vigie.log.lines()[before..].iter().any(logged),
        );
    }
    assert!(!vigie.log.text().contains("hunter2"));
}

#[test]
fn a_failure_and_its_end_and_an_empty_list_and_its_end_are_said_once() {
    let mut vigie = Setup::services("flaky: {file: flaky.txt, cache_ttl: 0s}")
        .file("flaky.txt", "10.0.0.1\n")
        .start();
    let begin = Instant::now();
    let lists = [
        ("10.0.0.1\n", 200),
        ("", 502),
        ("10.0.0.2\n", 200),
        ("# nobody\n", 200),
        ("10.0.0.3\n", 200),
    ];
    for (list, status) in lists {
        vigie.setup.write("flaky.txt", list);
        for _ in 0..3 {
            assert_eq!(vigie.list("flaky").status, status);
        }
    }
    assert_eq!(vigie.stop(), Some(0));
    vigie.log.wait_for_end();
    let lines: Vec<_> = vigie
        .log
        .lines()
        .into_iter()
        .filter(|line| line.contains("flaky"))
        .collect();
    let said: Vec<&str> = lines
        .iter()
        .filter_map(|line| Some(line.split_once("INFO  ")?.1))
        .collect();
    let failed = format!(
        "service flaky: file {}: reading: it has no byte, so a writer may be at work; for an empty list write a comment",
        vigie.setup.path("flaky.txt").display()
    );
    let is_back = said.get(1).and_then(|said| {
        let after = said.strip_prefix("service flaky: its source answers again, after ")?;
        after.strip_suffix(" s")?.parse::<u64>().ok()
    });
    assert!(is_back.is_some_and(|after| after <= begin.elapsed().as_secs()));
    assert_eq!(
        [&said[..1], &said[2..]].concat(),
        [
            &failed,
            "service flaky: its source lists no endpoints now",
            "service flaky: lists 1 endpoint again",
        ]
    );
}

#[test]
fn what_becomes_of_a_service_is_said_with_its_name_and_its_source_as_fields() {
    let vigie = Setup::services("flaky: {file: flaky.txt, cache_ttl: 0s}")
        .top("log: {level: debug, format: json}")
        .file("flaky.txt", "10.0.0.1\n")
        .start();
    let lists = [
        "10.0.0.1\n",
        "bad line\n",
        "10.0.0.2\n",
        "# nobody\n",
        "10.0.0.3\n10.0.0.4\n",
    ];
    for list in lists {
        vigie.setup.write("flaky.txt", list);
        vigie.list("flaky");
    }
    let folder = vigie.setup.path("").display().to_string();
    vigie.log.wait_for("lists 2 endpoints again");
    let told: Vec<_> = vigie
        .log
        .lines()
        .iter()
        .filter(|line| line.contains("\"message\":\"service "))
        .map(|line| {
            let line = line.replace(&folder, "");
            let (_, rest) = line.split_once("Z\",").unwrap();
            let (begin, end) = rest.split_once(" in ").unwrap_or((rest, ""));
            match end.split_once(": ") {
                Some((_, end)) => format!("{begin} in ...: {end}"),
                None => rest.to_owned(),
            }
        })
        .collect();
    let (service, read) = (
        "\"service\":\"flaky\",\"source\":\"file\"}",
        "\"level\":\"debug\",\"message\":\"service flaky: read in ...: ",
    );
    let info = "\"level\":\"info\",\"message\":\"service flaky: ";
    assert_eq!(
        told,
        [
            format!("{read}1 endpoint\",{service}"),
            format!("{read}failed\",{service}"),
            format!(
                "{info}file flaky.txt: line 1: what follows the address is not one weight from 0 to 4294967295: \\\"bad line\\\"\",{service}"
            ),
            format!("{read}1 endpoint\",{service}"),
            format!("{info}its source answers again, after 0 s\",{service}"),
            format!("{read}0 endpoints\",{service}"),
            format!("{info}its source lists no endpoints now\",{service}"),
            format!("{read}2 endpoints\",{service}"),
            format!("{info}lists 2 endpoints again\",{service}"),
        ]
    );
}

#[test]
fn a_request_for_a_service_has_its_name_and_its_source_as_fields() {
    let vigie = Setup::services("one: {file: one.txt}\nbroken: {file: missing.txt}")
        .top("log: {level: debug, format: json}")
        .file("one.txt", "10.0.0.1\n")
        .start();
    for service in ["one", "one", "broken", "nobody"] {
        vigie.list(service);
    }
    vigie.get("/livez");
    vigie.log.wait_for("GET /livez");
    let asked = |line: &String| {
        let (_, message) = line.split_once("\"message\":\"GET ")?;
        Some(message.to_owned())
    };
    let told: Vec<_> = vigie.log.lines().iter().filter_map(asked).collect();
    assert_eq!(
        told,
        [
            "/services of one: 200\",\"service\":\"one\",\"source\":\"file\"}",
            "/services of one: 200, kept\",\"service\":\"one\",\"source\":\"file\"}",
            "/services of broken: 502\",\"service\":\"broken\",\"source\":\"file\"}",
            "/services of nobody: 404\"}",
            "/livez: 200\"}",
        ]
    );
}

#[test]
fn the_start_and_a_reload_say_what_there_is() {
    let vigie =
        Setup::services("one: {file: a.txt}\ntwo: {file: a.txt}\nsame: {file: a.txt}").start();
    vigie.log.wait_for("3 services");
    vigie
        .setup
        .write_services("two: {file: b.txt}\nsame: {file: a.txt}\nthree: {file: a.txt}");
    assert_eq!(vigie.reload().status, 200);
    let line = vigie.log.wait_for("three");
    assert!(
        ["one", "two", "three"]
            .iter()
            .all(|name| line.contains(name))
            && !line.contains("same"),
        "{line}"
    );
}

#[test]
fn a_full_disk_does_not_stop_the_server() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut vigie = quiet("log: {level: trace}").start_logging_to(full.into());
    make_it_talk(&vigie);
    assert_eq!(vigie.list("one").status, 200);
    assert_eq!(vigie.stop(), Some(0));
}

#[test]
fn a_closed_pipe_does_not_stop_the_server() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let mut vigie = quiet("log: {level: trace}").start_logging_to(writer.into());
    make_it_talk(&vigie);
    assert_eq!(vigie.list("one").status, 200);
    assert_eq!(vigie.stop(), Some(0));
}

#[test]
fn a_pipe_that_nobody_reads_does_not_stop_the_server() {
    let (_reader, writer) = io::pipe().unwrap();
    let mut vigie = quiet("log: {level: trace}").start_logging_to(writer.into());
    let mut connection = vigie.connect();
    // A pipe holds 64 KiB.
    let target = format!("/services?service_name={}", "x".repeat(200));
    for _ in 0..1_000 {
        assert_eq!(connection.ask("GET", &target, &[]).status, 404);
    }
    make_it_talk(&vigie);
    assert_eq!(vigie.list("one").status, 200);
    assert_eq!(vigie.stop(), Some(0));
}

#[test]
fn standard_error_may_be_closed() {
    let vigie = quiet("log: {level: trace}").after("exec 2>&-").start();
    make_it_talk(&vigie);
    wait_until("it answers", || vigie.list("one").status == 200);
}

/// More debug lines than whoever takes them holds, and room for in the server itself.
fn make_it_babble(vigie: &Vigie) {
    let mut connection = vigie.connect();
    let target = format!("/services?service_name={}", "x".repeat(200));
    for _ in 0..1_500 {
        assert_eq!(connection.ask("GET", &target, &[]).status, 404);
    }
}

fn stop_soon(vigie: &mut Vigie) {
    let begin = Instant::now();
    assert_eq!(vigie.stop(), Some(0));
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_file_system_that_hangs_under_the_log_stops_nothing() {
    let Some(mount) = Hanging::mount("a log on a file system that hangs", "vigie.log", "") else {
        return;
    };
    let log = File::options()
        .append(true)
        .open(mount.path("vigie.log"))
        .unwrap();
    let vigie = quiet("log: {level: trace}").start_logging_to(log.into());
    // Whatever fails, the file system must go first: a process that waits for it cannot be killed.
    let (mut vigie, mount) = (vigie, mount);
    // A write that its daemon has taken already could not be given up.
    wait_until("the last line of the start is written", || {
        let log = fs::read_to_string(mount.path("vigie.log")).unwrap();
        log.contains("started") && vigie.threads("log") == 0
    });
    mount.hang();
    make_it_babble(&vigie);
    make_it_talk(&vigie);
    stop_soon(&mut vigie);
}

/// A terminal: the side of whoever looks at it, and that of a program.
fn terminal() -> (File, File) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let stderr = File::options()
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().try_into().unwrap())
        .open(OsStr::from_bytes(name.to_bytes()))
        .unwrap();
    (terminal.into(), stderr)
}

#[test]
fn a_terminal_gets_colours_unless_nobody_wants_them() {
    for (shell, format, coloured) in [
        ("export TERM=xterm; unset NO_COLOR", "text", true),
        ("export TERM=xterm NO_COLOR=", "text", true),
        ("export TERM=xterm NO_COLOR=1", "text", false),
        ("export TERM=dumb; unset NO_COLOR", "text", false),
        ("export TERM=xterm; unset NO_COLOR", "json", false),
    ] {
        let (seen, stderr) = terminal();
        let setup = quiet(&format!("log: {{format: {format}}}")).after(shell);
        let mut vigie = setup.start_logging_to(stderr.into());
        assert_eq!(vigie.stop(), Some(0));
        let mut lines = io::BufReader::new(seen).lines();
        let line = lines.next().unwrap().unwrap();
        let begin = match coloured {
            true => {
                "\u{1b}[2m0000-00-00T00:00:00.000Z\u{1b}[0m \u{1b}[32mINFO \u{1b}[0m listening on "
            }
            false if format == "json" => {
                "{\"time\":\"0000-00-00T00:00:00.000Z\",\"level\":\"info\",\"message\":\"listening on "
            }
            false => "0000-00-00T00:00:00.000Z INFO  listening on ",
        };
        assert_eq!(dateless(&line)[..begin.len()], *begin, "{shell} {format}");
    }
}

#[test]
fn a_terminal_that_nobody_reads_does_not_stop_the_server() {
    let (_terminal, stderr) = terminal();
    let mut vigie = quiet("log: {level: trace}").start_logging_to(stderr.into());
    make_it_babble(&vigie);
    make_it_talk(&vigie);
    stop_soon(&mut vigie);
}

/// A small disk in memory.
struct Disk(TempDir);

impl Disk {
    /// With room for so many bytes; `None`, with a word about it, for a user that may not mount.
    fn mount(promise: &str, size: usize) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "vigie-test"])
            .arg(folder.path())
            .output()
            .unwrap();
        if mounted.status.success() {
            return Some(Self(folder));
        }
        let why = String::from_utf8_lossy(&mounted.stderr);
        skip(promise, &format!("mounting a small disk: {}", why.trim()));
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_log_file_that_may_not_grow_does_not_stop_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("vigie.log");
    let stderr = File::create(&log).unwrap();
    let mut vigie = quiet("log: {level: trace}")
        .after("ulimit -f 8")
        .start_logging_to(stderr.into());
    make_it_babble(&vigie);
    make_it_talk(&vigie);
    // Blocks of 512 bytes, or of 1024 where sh is bash.
    let length = fs::metadata(&log).unwrap().len();
    assert!([4096, 8192].contains(&length), "{length}");
    assert_eq!(vigie.stop(), Some(0));
}

#[test]
fn after_a_disk_was_full_the_next_line_is_a_line_of_its_own() {
    const PAGE: usize = 64 << 10;
    let Some(disk) = Disk::mount("a log line after a full disk", 2 * PAGE) else {
        return;
    };
    fs::write(disk.path("ballast"), vec![b'x'; PAGE]).unwrap();
    let log = disk.path("vigie.log");
    let stderr = File::options()
        .append(true)
        .create(true)
        .open(&log)
        .unwrap();
    let mut vigie = quiet("log: {level: trace}").start_logging_to(stderr.into());
    make_it_babble(&vigie);
    wait_until("the disk is full and nothing waits to be written", || {
        fs::metadata(&log).unwrap().len() == PAGE as u64 && vigie.threads("log") == 0
    });
    let full = fs::read(&log).unwrap();
    assert!(!full.ends_with(b"\n"), "the last line is torn");
    fs::remove_file(disk.path("ballast")).unwrap();
    make_it_talk(&vigie);
    assert_eq!(vigie.stop(), Some(0));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.len() > full.len() && text.ends_with('\n'));
    for line in text.lines() {
        assert!(has_time(line), "{line:?}");
    }
    let next = text[full.len()..].lines().nth(1).unwrap();
    assert!(next.contains("lost"), "{next:?}");
}
