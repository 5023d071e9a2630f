//! The configuration file: every error in one run, at its place, with what would be right.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use tempfile::TempDir;

use crate::support::write_at_rest;

/// Runs check-config on a text in a folder of its own; `FILE` stands for the path in what comes back.
fn check(text: &[u8]) -> (Option<i32>, String, String) {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("config.yml");
    write_at_rest(&file, text);
    let output = check_file(&file);
    let shown =
        |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&file.display().to_string(), "FILE");
    (
        output.status.code(),
        shown(&output.stdout),
        shown(&output.stderr),
    )
}

fn check_file(file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["check-config", "-c"])
        .arg(file)
        .output()
        .expect("a run")
}

#[track_caller]
fn is_good(text: &str, services: &str) {
    let want = (Some(0), format!("FILE: good, {services}\n"), String::new());
    assert_eq!(check(text.as_bytes()), want, "{text}");
}

#[track_caller]
fn is_bad(text: &str, errors: &str) {
    let want = (Some(1), String::new(), errors.to_owned());
    assert_eq!(check(text.as_bytes()), want, "{text}");
}

#[test]
fn every_error_of_a_file_comes_in_one_run() {
    is_bad(
        "server: {adress: 127.0.0.1:1}\n\
         cache: {ttl: 5}\n\
         services:\n\
        \x20 web: {fil: x, default_port: 0}\n\
        \x20 web2: {file: x}\n\
        \x20 web2: {file: y}\n\
        \x20 none: {cache_ttl: '5'}\n\
        \x20 big: {file: {path: x, max_size: 4096, tiemout: 1s}}\n",
        "FILE:1:10: unknown key \"adress\": did you mean address? Known are address, socket_mode, max_connections, request_timeout, write_timeout, idle_timeout, shutdown_delay, shutdown_timeout\n\
         FILE:2:14: ttl: 5 is wrong here: a bare number is no duration, write 5s, 300ms or 1m30s (units d, h, m, s, ms)\n\
         FILE:4:9: unknown key \"fil\": did you mean file? Known are kubernetes, url, file, dns, default_port, cache_ttl, max_stale\n\
         FILE:4:31: default_port: 0 is wrong here: write a whole number from 1 to 65535\n\
         FILE:6:3: the key \"web2\" is set twice, first in line 5: remove one\n\
         FILE:7:3: the service \"none\" has no source: set kubernetes or url or file or dns\n\
         FILE:7:21: cache_ttl: \"5\" is wrong here: a bare number is no duration, write 5s, 300ms or 1m30s (units d, h, m, s, ms)\n\
         FILE:8:35: max_size: 4096 is wrong here: a bare number is no size, write 64KiB, 4MiB, or 512B for bytes\n\
         FILE:8:41: unknown key \"tiemout\": did you mean timeout? Known are path, max_size, timeout\n",
    );
}

#[test]
fn a_service_that_is_a_bare_value_gives_one_error() {
    is_bad(
        "services:\n  web: web.txt\n  api: [a, b]\n",
        "FILE:2:8: the service \"web\" is text, which does not say what it is: write web: {file: PATH}, or dns, url or kubernetes instead of file\n\
         FILE:3:8: the service \"api\" is a list, which does not say what it is: write api: {file: PATH}, or dns, url or kubernetes instead of file\n",
    );
}

#[test]
fn an_unknown_key_that_is_the_end_of_a_known_one_names_that() {
    let known = "Known are kubernetes, url, file, dns, default_port, cache_ttl, max_stale";
    is_bad(
        "services:\n  web: {file: x, ttl: 1s, port: 80, stale: 1h}\n",
        &format!(
            "FILE:2:18: unknown key \"ttl\": did you mean cache_ttl? {known}\n\
             FILE:2:27: unknown key \"port\": did you mean default_port? {known}\n\
             FILE:2:37: unknown key \"stale\": did you mean max_stale? {known}\n"
        ),
    );
}

#[test]
fn a_file_without_services_is_valid() {
    for text in [
        "",
        "# nothing\n",
        "---\n",
        "services:\n",
        "services: {}\n",
        "server:\nlog:\ncache:\n",
        "~\n",
    ] {
        is_good(text, "0 services");
    }
}

#[test]
fn every_form_of_a_value_is_read() {
    is_good(
        "server:\n  address: ['127.0.0.1:1', \"[::1]:2\", 'unix:v.sock']\n  socket_mode: 0600\n  idle_timeout: 1m30s\n\
         log: {level: off, format: json}\ncache: {ttl: 0s, max_stale: 1h}\ndisable_reload_by_request: true\n\
         services:\n  \"sp ace/\u{fc}\": {file: x}\n  5: {file: {path: x, max_size: 64KiB, timeout: 300ms}}\n  z: &z {file: x}\n  y: *z\n",
        "4 services",
    );
}

#[test]
fn an_address_that_is_a_host_name_says_how_to_write_one() {
    is_bad(
        "server:\n  address: [localhost:80, web.example:81, ':82']\nservices: []\n",
        "FILE:2:13: address: localhost:80 is wrong here: write the IP address instead of a host name, as in 127.0.0.1:80 or \"[::1]:80\"\n\
         FILE:2:27: address: web.example:81 is wrong here: write an IP address, not a host name, as in 127.0.0.1:81 or \"[::]:81\"\n\
         FILE:2:43: address: \":82\" is wrong here: add an IP address, as in 127.0.0.1:82 or \"[::]:82\"\n\
         FILE:3:11: services is a list: write keys with their values, as in key: value\n",
    );
}

#[test]
fn an_open_address_with_reload_by_request_is_warned_of() {
    let text = "server: {address: '0.0.0.0:8080'}\n";
    let warning = "FILE:1:19: warning: the address 0.0.0.0:8080 can be reached from other hosts, and whoever reaches it may ask for a reload: listen at 127.0.0.1, or set disable_reload_by_request: true\n";
    assert_eq!(
        check(text.as_bytes()),
        (Some(0), "FILE: good, 0 services\n".into(), warning.into())
    );
    is_good(
        &format!("{text}disable_reload_by_request: true\n"),
        "0 services",
    );
}

#[test]
fn a_url_in_the_place_of_something_else_is_not_quoted() {
    let url = "\"https://me:hunter2@h/?hunter2\"";
    let path = "this URL is wrong here: write the path of a file, or url: URL\n";
    for (keys, error) in [
        ("file: URL", format!("file: {path}")),
        ("file: {path: URL}", format!("path: {path}")),
        (
            "dns: URL",
            "dns: this URL is wrong here: a name has letters, digits, - and _ between its dots\n".into(),
        ),
        (
            "file: x, cache_ttl: URL",
            "cache_ttl: this URL is wrong here: write a duration as 5s, 300ms or 1m30s, with the units d, h, m, s, ms, no blank, no fraction\n".into(),
        ),
        (
            "file: x, URL: x",
            "this key is unknown: known are kubernetes, url, file, dns, default_port, cache_ttl, max_stale\n".into(),
        ),
    ] {
        let begin = "services: {web: {";
        let column = begin.len() + keys.rfind("URL").unwrap() + 1;
        let text = format!("{begin}{}}}}}\n", keys.replace("URL", url));
        is_bad(&text, &format!("FILE:1:{column}: {error}"));
    }
}

const SOURCES: &str = "kubernetes, url, file, dns, default_port, cache_ttl, max_stale";

#[test]
fn what_an_alias_may_bring_is_not_quoted() {
    let duration = "write a duration as 5s, 300ms or 1m30s, with the units d, h, m, s, ms, no blank, no fraction";
    let address = "write IP:PORT or unix:PATH, as in 127.0.0.1:8080, \"[::]:8080\" or \"unix:/run/vigie/vigie.sock\"";
    for (secret, rest, error) in [
        (
            "hunter2",
            "}\ncache: {ttl: *s}",
            format!("ttl: this value is wrong here: {duration}"),
        ),
        (
            "hunter2",
            "}\ncache: {*s : 5s}",
            "this key is unknown: known are ttl, max_stale".into(),
        ),
        (
            "10.0.0.1",
            "}\nserver: {address: *s}",
            format!("address: this value is wrong here: {address}"),
        ),
        (
            "10.0.0.1:1",
            "}\nserver: {address: [*s, *s]}",
            "this address is named twice: remove one".into(),
        ),
        (
            "10.0.0.1",
            ", v: {dns: {name: x, servers: [*s, *s]}}}",
            "this server is named twice: remove one".into(),
        ),
        (
            "hunter2",
            ", v: {*s : x, file: y}}",
            format!("this key is unknown: known are {SOURCES}"),
        ),
        (
            "hunter2",
            ", *s : {}}",
            "this service has no source: set kubernetes or url or file or dns".into(),
        ),
        (
            "hunter2",
            ", *s : {file: x}, *s : {file: x}}",
            "this key is set twice, first in line 1: remove one".into(),
        ),
    ] {
        let text = format!(
            "services: {{w: {{url: {{url: \"http://h/\", headers: {{X-A: &s {secret}}}}}}}{rest}\ndisable_reload_by_request: true\n"
        );
        let before = &text[..text.rfind("*s").unwrap()];
        let line = before.lines().count();
        let column = before.lines().last().unwrap().len() + 1;
        is_bad(&text, &format!("FILE:{line}:{column}: {error}\n"));
    }
    // What an anchored mapping holds is not quoted either, but a key that is a word is.
    is_bad(
        "services:\n  a: {url: {url: 'http://h/', headers: &h {ttl: hunter2, 'x y: z': a}}}\ncache: *h\n",
        &format!(
            "FILE:2:49: ttl: this value is wrong here: {duration}\n\
             FILE:2:58: this is no name of a header: write letters, digits and -\n\
             FILE:2:58: this key is unknown: known are ttl, max_stale\n"
        ),
    );
    is_bad(
        "services:\n  a: &a {file: x, cache_tll: 5s}\n  b: *a\n",
        &format!(
            "FILE:2:19: unknown key \"cache_tll\": did you mean cache_ttl? Known are {SOURCES}\n"
        ),
    );
    // These have no anchor themselves, but stand under a key that has.
    is_bad(
        "services:\n  a: {url: {url: 'http://h/', headers: {X-A: &s hunter2, *s : ü}}}\n",
        "FILE:2:63: the header: this value is wrong here: write text of visible ASCII\n",
    );
    is_bad(
        "services:\n  a: {url: {url: 'http://h/', headers: {X-A: &s hunter2}}}\n  *s : x\n",
        "FILE:3:8: this service is text, which does not say what it is: write NAME: {file: PATH}, or dns, url or kubernetes instead of file\n",
    );
}

#[test]
fn aliases_repeat_16_mib_of_text_and_no_more() {
    let text = |aliases: usize| {
        let lines = (0..aliases).map(|n| format!("        X-{n}: *a\n"));
        let long = "z".repeat(1 << 20);
        let begin = "services:\n  web:\n    url:\n      url: http://h/\n      headers:\n";
        format!(
            "{begin}        X-A: &a {long}\n{}",
            String::from_iter(lines)
        )
    };
    is_good(&text(16), "1 service");
    is_bad(
        &text(17),
        "FILE:23:15: too much text: aliases may repeat 16 MiB of it at most\n",
    );
}

#[test]
fn a_quoted_value_is_short_and_cannot_steer_a_terminal() {
    is_bad(
        &format!("log:\n  level: \"\\e[2J{}\"\n", "x".repeat(100)),
        &format!(
            "FILE:2:10: level: \"\\u{{1b}}[2J{}…\" is wrong here: known are error, warn, info, debug, trace, off\n",
            "x".repeat(76)
        ),
    );
}

#[test]
fn what_is_no_yaml_is_named_with_its_place() {
    for (text, place) in [
        ("a: [", "FILE:1:"),
        ("a: 'x\nb: 1\n", "FILE:"),
        ("a: b: c\n", "FILE:1:"),
        ("a:\n\tb: 1\n", "FILE:2:"),
    ] {
        let (code, stdout, stderr) = check(text.as_bytes());
        assert_eq!(
            (code, &*stdout, stderr.lines().count()),
            (Some(1), "", 1),
            "{text}"
        );
        assert!(
            stderr.starts_with(place) && stderr.contains(": this is not YAML: "),
            "{stderr}"
        );
    }
    is_bad(
        "log: {}\n---\nlog: {}\n",
        "FILE:2:1: a second document begins here: a file holds one, remove this line and what follows it\n",
    );
}

#[test]
fn a_tab_that_indents_is_named_with_its_place_and_what_would_be_right() {
    for (text, place) in [
        ("a:\n\tb: 1\n", "2:1"),
        ("a:\n  b: 1\n\n\tc: 1\n", "4:1"),
        ("a:\n  - b\n  \t- c\n", "3:3"),
        ("a: {\n\tb: 1\n}\n", "2:1"),
        ("a:\n  b: {}\n\tc: 1\n", "3:1"),
    ] {
        let right = "a tab is no indentation: indent with blanks, not with tabs";
        is_bad(text, &format!("FILE:{place}: this is not YAML: {right}\n"));
    }
}

#[test]
fn what_a_configuration_has_no_use_for_is_named_beside_the_other_errors() {
    is_bad(
        "services:\n  a: {file: *hunter2}\n  b: *hunter2\n  c: {file: !hunter2 x, default_port: 0}\n  [d]: e\n  f: {file: x, <<: {}}\n",
        "FILE:2:13: an alias of nothing before it: write its anchor (&) first, or put text that begins with * in quotes\n\
         FILE:3:6: an alias of nothing before it: write its anchor (&) first, or put text that begins with * in quotes\n\
         FILE:4:22: a YAML tag has no meaning here: remove it, or put text that begins with ! in quotes\n\
         FILE:4:39: default_port: 0 is wrong here: write a whole number from 1 to 65535\n\
         FILE:5:3: a list cannot be a key: write text before the colon\n\
         FILE:6:16: a merge key (<<) has no meaning here: write out the keys that it merges\n",
    );
}

#[test]
fn a_file_that_is_not_utf_8_is_named_with_its_place() {
    let want = "FILE:2:4: this byte is not UTF-8: save the file as UTF-8\n";
    assert_eq!(
        check(b"# x\n# \xc3\xbc\xff\n"),
        (Some(1), String::new(), want.into())
    );
}

#[test]
fn only_a_regular_file_is_read_and_nothing_is_waited_for() {
    let folder = TempDir::new().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), 0o600.into()).expect("a FIFO");
    let _socket = UnixListener::bind(at("socket")).expect("a socket");
    let large = fs::File::create(at("large")).expect("a file");
    large.set_len((16 << 20) + 1).expect("a large file");
    let right = "name a configuration file with -c FILE or VIGIE_CONFIG_PATH";
    for (path, wrong) in [
        (
            at("none"),
            format!("opening: No such file or directory; {right}"),
        ),
        (
            at("socket"),
            format!("opening: it is a socket, not a regular file; {right}"),
        ),
        (
            folder.path().to_owned(),
            "opening: it is a folder, not a regular file; name a configuration file with -c FILE or VIGIE_CONFIG_PATH".into(),
        ),
        (at("fifo"), "opening: it is a FIFO, not a regular file; name a configuration file with -c FILE or VIGIE_CONFIG_PATH".into()),
        (
            "/dev/zero".into(),
            "opening: it is a device, not a regular file; name a configuration file with -c FILE or VIGIE_CONFIG_PATH".into(),
        ),
        (
            at("large"),
            "reading: it is too large; a configuration has at most 16 MiB".into(),
        ),
    ] {
        let output = check_file(&path);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), &*stderr),
            (Some(1), &*format!("{}: {wrong}\n", path.display()))
        );
    }
}

#[test]
fn ten_thousand_services_are_read_in_no_time() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "services:").expect("a line");
    for n in 0..10_000 {
        writeln!(file, "  s{n}: {{file: /x}}").expect("a line");
    }
    let begin = Instant::now();
    let output = check_file(file.path());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{}: good, 10000 services\n", file.path().display())
    );
    // Far more than it takes; what is quadratic takes longer still.
    assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
}

#[test]
fn each_sample_is_good_and_the_full_one_shows_the_defaults() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let mut samples = 0;
    for entry in fs::read_dir(&folder).expect("the samples") {
        let path = entry.expect("a sample").path();
        if path.extension().is_some_and(|extension| extension == "yml") {
            vigie::config::load(&path).unwrap_or_else(|errors| panic!("{errors}"));
            samples += 1;
        }
    }
    assert!(samples >= 3, "{samples}");
    let full = vigie::config::load(&folder.join("vigie.yml")).expect("a good sample");
    let least = format!(
        "services:\n  web: {{file: {}}}\n  api: {{dns: api.example.net}}\n  lists: {{url: https://lists.example.net/web.txt}}\n  pods: {{kubernetes: {{service: web}}}}",
        folder.join("minimal.txt").display()
    );
    assert_eq!(
        full,
        vigie::config::parse(&least, Path::new("x")).expect("a good text")
    );
}

#[test]
fn no_text_makes_it_panic_or_give_errors_without_a_place() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/vigie.yml");
    let sample: Vec<char> = fs::read_to_string(sample)
        .expect("the sample")
        .chars()
        .collect();
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..2_000 {
        let mut text = sample.clone();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(0..text.len());
            let from = random.usize(0..text.len());
            let piece: Vec<char> = text
                .iter()
                .skip(from)
                .take(random.usize(0..20))
                .copied()
                .collect();
            text.splice(at..(at + random.usize(0..20)).min(text.len()), piece);
        }
        let text = String::from_iter(text);
        if let Err(errors) = vigie::config::parse(&text, Path::new("x.yml")) {
            assert!(
                !errors.list().is_empty()
                    && errors.list().iter().all(|error| error.position.is_some()),
                "{errors}"
            );
        }
    }
}
