//! The command line: exit codes, what is printed where, and a server that answers badly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tempfile::TempDir;

use crate::support::{assert_says, write_at_rest};

/// Exit code, standard output, standard error.
type Ran = (Option<i32>, String, String);

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vigie"));
    command.args(arguments).env_remove("VIGIE_CONFIG_PATH");
    command
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().expect("a run");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn vigie(arguments: &[&str]) -> Ran {
    ran(command(arguments))
}

fn said(code: i32, stdout: &str, stderr: &str) -> Ran {
    (Some(code), stdout.into(), stderr.into())
}

/// A folder with a configuration whose services are read from files.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let write = |name: &str, text: &str| write_at_rest(&folder.path().join(name), text);
    write("web.txt", "10.0.0.1:80 2\n[2001:db8::7]:8080 10\n");
    write("none.txt", "# nobody\n");
    write(
        "config.yml",
        "services:\n  web: {file: web.txt}\n  none: {file: none.txt}\n  broken: {file: nope.txt}\n",
    );
    folder
}

fn in_folder(folder: &TempDir, arguments: &[&str]) -> Ran {
    let mut command = command(arguments);
    command.current_dir(folder.path());
    ran(command)
}

/// A server that takes one connection, reads one request, answers with these bytes and closes.
fn peer(answer: &'static [u8]) -> (SocketAddr, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        serve(&mut stream, answer)
    });
    (address, served)
}

fn serve(stream: &mut (impl Read + Write), answer: &[u8]) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).expect("a byte") == 1 {
        request.extend(byte);
    }
    stream.write_all(answer).expect("an answer");
    String::from_utf8(request).expect("UTF-8")
}

/// Runs a command against a server that answers with these bytes; `PEER` stands for its address.
fn against(answer: &'static [u8], arguments: &[&str]) -> (Ran, String) {
    let (address, served) = peer(answer);
    let url = format!("http://{address}");
    let (code, stdout, stderr) = vigie(&[arguments, &["--server", &url]].concat());
    let request = served.join().expect("a request");
    (
        (code, stdout, stderr.replace(&address.to_string(), "PEER")),
        request,
    )
}

const LIST: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 84\r\n\r\n[\n  {\n    \"ip\": \"2001:db8::7\",\n    \"port\": 80,\n    \"load_balancing_weight\": 3\n  }\n]\n";

#[test]
fn help_is_on_standard_output_and_fits_a_screen() {
    for arguments in [
        &["-h"][..],
        &["--help"],
        &["help"],
        &["serve", "-h"],
        &["serve", "--help"],
        &["check-config", "--help"],
        &["get", "web", "-h"],
        &["health", "--help"],
        &["version", "-h"],
        &["help", "get"],
        &["help", "help"],
        &["help", "-h"],
    ] {
        let (code, stdout, stderr) = vigie(arguments);
        assert_eq!((code, &*stderr), (Some(0), ""), "{arguments:?}");
        assert!(
            (5..=50).contains(&stdout.lines().count()) && stdout.contains("usage: vigie "),
            "{stdout}"
        );
        assert!(
            stdout.lines().all(|line| line.chars().count() <= 100),
            "{stdout}"
        );
    }
}

#[test]
fn a_usage_error_exits_2_and_says_what_would_be_right() {
    let known = "Known are serve, check-config, get, health, completions, version, help";
    for (arguments, error) in [
        (
            &[][..],
            "vigie: no command: write one of serve, check-config, get, health, completions, version, help; vigie --help says more",
        ),
        (
            &["serv"],
            &*format!("vigie: unknown command \"serv\": did you mean serve? {known}"),
        ),
        (
            &["help", "gte"],
            &*format!("vigie: unknown command \"gte\": did you mean get? {known}"),
        ),
        (
            &["hlep"],
            &*format!("vigie: unknown command \"hlep\": did you mean help? {known}"),
        ),
        (
            &["--verison"],
            "vigie: unknown flag \"--verison\": did you mean --version? Known are -h, --help, --version; those of a command stand after it",
        ),
        (
            &["-V"],
            "vigie: unknown flag \"-V\": did you mean --version? Known are -h, --help, --version; those of a command stand after it",
        ),
        (
            &["help", "serve", "x"],
            "vigie help: unexpected argument \"x\": name one command",
        ),
        (
            &["help", "--all"],
            "vigie help: unexpected argument \"--all\": name one command",
        ),
        (
            &["serve", "--config-pat", "x"],
            "vigie serve: unknown flag \"--config-pat\": did you mean --config-path? Known are --config-path, -c, --help, -h",
        ),
        (
            &["version", "-c", "x"],
            "vigie version: unknown flag \"-c\": did you mean -h? Known are --help, -h",
        ),
        (
            &["serve", "extra"],
            "vigie serve: unexpected argument \"extra\": leave it out, this command takes flags only",
        ),
        (
            &["get", "a", "b"],
            "vigie get: unexpected argument \"b\": name one service",
        ),
        (
            &["get", "--output", "xml", "web"],
            "vigie get: --output: unknown format \"xml\": known are table, json, lines",
        ),
        (
            &["get", "--output=jsn"],
            "vigie get: --output: unknown format \"jsn\": did you mean json? Known are table, json, lines",
        ),
        (
            &["serve", "-c"],
            "vigie serve: missing argument for option '-c'; vigie serve --help says more",
        ),
        (
            &["health", "-c", "x", "--server", "unix:x"],
            "vigie health: --config-path and --server exclude each other: leave one out",
        ),
        (
            &["get", "--server", "https://me:hunter2@h/"],
            "vigie get: --server: https is not spoken here: write http://HOST:PORT or unix:PATH",
        ),
        (
            &["health", "--server", "http://web..example:80"],
            "vigie health: --server: write http://HOST:PORT or unix:PATH",
        ),
    ] {
        assert_eq!(
            vigie(arguments),
            said(2, "", &format!("{error}\n")),
            "{arguments:?}"
        );
    }
}

#[test]
fn version_names_version_commit_date_and_target() {
    let (code, stdout, stderr) = vigie(&["version"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let rest = stdout.strip_prefix(concat!("vigie ", env!("CARGO_PKG_VERSION"), " (commit "));
    let words: Vec<&str> = rest.expect("the version").split(", ").collect();
    let [commit, built, target] = &*words else {
        panic!("{stdout}")
    };
    assert!(!commit.is_empty(), "{stdout}");
    assert!(
        built.starts_with("built 2") && built.ends_with('Z') && built.len() == 26,
        "{stdout}"
    );
    assert!(target.ends_with(")\n") && target.contains('-'), "{stdout}");
    assert_eq!(vigie(&["--version"]), said(0, &stdout, ""));
}

#[test]
fn the_configuration_is_named_by_flag_or_variable_or_lies_here() {
    let folder = folder();
    let file = folder.path().join("config.yml").display().to_string();
    let good = said(0, &format!("{file}: good, 3 services\n"), "");
    assert_eq!(vigie(&["check-config", "-c", &file]), good);
    assert_eq!(
        vigie(&["check-config", &format!("--config-path={file}")]),
        good
    );
    assert_eq!(
        in_folder(&folder, &["check-config"]),
        said(0, "./config.yml: good, 3 services\n", "")
    );
    let mut by_variable = command(&["check-config"]);
    by_variable.env("VIGIE_CONFIG_PATH", &file);
    assert_eq!(ran(by_variable), good);
    let mut both = command(&["check-config", "-c", &file]);
    both.env("VIGIE_CONFIG_PATH", "/nope");
    assert_eq!(ran(both), good);
}

#[test]
fn get_prints_a_service_in_each_format() {
    let folder = folder();
    let lines = "10.0.0.1:80 2\n[2001:db8::7]:8080 10\n";
    assert_eq!(in_folder(&folder, &["get", "web"]), said(0, lines, ""));
    assert_eq!(
        in_folder(&folder, &["get", "web", "--output", "lines"]),
        said(0, lines, "")
    );
    assert_eq!(
        in_folder(&folder, &["get", "--output=table", "web"]),
        said(
            0,
            "ADDRESS       PORT      WEIGHT\n10.0.0.1        80           2\n2001:db8::7   8080          10\n",
            ""
        )
    );
    assert_eq!(
        in_folder(&folder, &["get", "none", "--output", "json"]),
        said(0, "[]\n", "")
    );
    assert_eq!(
        in_folder(&folder, &["get", "none", "--output", "lines"]),
        said(0, "", "")
    );
    assert_eq!(
        in_folder(&folder, &["get", "none", "--output", "table"]),
        said(0, "", "no endpoints\n")
    );
    let (code, stdout, _) = in_folder(
        &folder,
        &["get", "-c", "config.yml", "--output", "json", "web"],
    );
    assert_eq!(code, Some(0));
    assert!(stdout.starts_with("[\n  {\n    \"ip\": \"10.0.0.1\",\n    \"port\": 80,\n    \"load_balancing_weight\": 2\n  },\n"), "{stdout}");
}

#[test]
fn get_tells_a_service_that_is_not_there_from_one_that_failed() {
    let folder = folder();
    assert_eq!(
        in_folder(&folder, &["get", "wbe"]),
        said(
            3,
            "",
            "vigie get: service wbe: ./config.yml has no such service: did you mean \"web\"?\n"
        )
    );
    assert_eq!(
        in_folder(&folder, &["get"]),
        said(
            3,
            "",
            "vigie get: ./config.yml has no service default: name a service: it has web, none, broken\n"
        )
    );
    assert_eq!(
        in_folder(&folder, &["get", "api"]),
        said(
            3,
            "",
            "vigie get: service api: ./config.yml has no such service: name a service: it has web, none, broken\n"
        )
    );
    let (code, stdout, stderr) = in_folder(&folder, &["get", "broken"]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(
        stderr.starts_with("vigie get: service broken: ") && stderr.contains("nope.txt"),
        "{stderr}"
    );
    assert_eq!(
        in_folder(&folder, &["get", "-c", "x.yml", "web"]),
        said(
            1,
            "",
            "x.yml: opening: No such file or directory; name a configuration file with -c FILE or VIGIE_CONFIG_PATH\n"
        )
    );
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let folder = folder();
    let mut get = command(&["get", "web"]);
    get.current_dir(folder.path()).stderr(Stdio::piped());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = get
        .stdout(writer)
        .spawn()
        .and_then(Child::wait_with_output)
        .expect("a run");
    assert_eq!((output.status.code(), &*output.stderr), (Some(1), &b""[..]));
}

#[test]
fn serve_refuses_a_bad_configuration() {
    let folder = folder();
    write_at_rest(&folder.path().join("config.yml"), "sevrer: 1\n");
    let error = "./config.yml:1:1: unknown key \"sevrer\": did you mean server? Known are server, log, cache, disable_reload_by_request, services\n";
    assert_eq!(in_folder(&folder, &["serve"]), said(1, "", error));
}

#[test]
fn get_asks_a_server_for_a_service_by_its_escaped_name() {
    let (ran, request) = against(LIST, &["get", "sp ace/ü"]);
    assert_eq!(ran, said(0, "[2001:db8::7]:80 3\n", ""));
    assert!(
        request.starts_with("GET /services?service_name=sp%20ace%2F%C3%BC HTTP/1.0\r\n"),
        "{request}"
    );
    let (ran, request) = against(LIST, &["get"]);
    assert_eq!(ran, said(0, "[2001:db8::7]:80 3\n", ""));
    assert!(
        request.starts_with("GET /services HTTP/1.0\r\n"),
        "{request}"
    );
}

#[test]
fn get_says_that_a_list_only_stands_in() {
    let stale = b"HTTP/1.1 200 OK\r\nVigie-Stale: 7\r\nVigie-Error: service web: down\r\nContent-Length: 3\r\n\r\n[]\n";
    let warning =
        "vigie get: PEER: the last good list stands in, 7 s past its ttl: service web: down\n";
    assert_eq!(against(stale, &["get", "web"]).0, said(0, "", warning));
}

#[test]
fn get_passes_on_what_a_server_says_is_wrong() {
    let unknown =
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 29\r\n\r\n{\"error\":\"no \\u001b[2J web\"}\n";
    assert_eq!(
        against(unknown, &["get", "web"]).0,
        said(3, "", "vigie get: PEER: no \\u{1b}[2J web\n")
    );
    let none = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 16\r\n\r\n{\"error\":\"none\"}";
    let reason = "PEER: none\n";
    assert_eq!(
        against(none, &["get"]).0,
        said(3, "", &format!("vigie get: {reason}"))
    );
    assert_eq!(
        against(none, &["get", "web"]).0,
        said(1, "", &format!("vigie get: {reason}"))
    );
    for (silent, status) in [
        (&b"HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n"[..], 500),
        (b"HTTP/1.1 404 x\r\nContent-Length: 6\r\n\r\n<html>", 404),
    ] {
        let error = format!(
            "vigie get: service web: PEER: it answered {status}: name the address of a Vigie\n"
        );
        assert_eq!(against(silent, &["get", "web"]).0, said(1, "", &error));
    }
    let failed = b"HTTP/1.1 502 Bad Gateway\r\n\r\n{\"error\":\"service web: the source is down\"}";
    assert_eq!(
        against(failed, &["get", "web"]).0,
        said(1, "", "vigie get: PEER: service web: the source is down\n")
    );
}

#[test]
fn get_without_a_service_names_the_first_ten() {
    let folder = folder();
    let config = |text: &str| write_at_rest(&folder.path().join("config.yml"), text);
    let wrong = "vigie get: ./config.yml has no service default: ";
    let services: String = (0..12).map(|n| format!("  s{n}: {{file: x}}\n")).collect();
    config(&format!("services:\n{services}"));
    let right = "name a service: it has s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more";
    assert_eq!(
        in_folder(&folder, &["get"]),
        said(3, "", &format!("{wrong}{right}\n"))
    );
    config("services:\n");
    let right = "add one, it has no services";
    assert_eq!(
        in_folder(&folder, &["get"]),
        said(3, "", &format!("{wrong}{right}\n"))
    );
}

#[test]
fn where_nobody_is_the_way_to_somebody_is_named() {
    let folder = folder();
    let path = folder.path().join("v.sock");
    let server = format!("unix:{}", path.display());
    let there = "is Vigie running there? start it, or correct";
    let missing = format!("{server}: connecting: No such file or directory; {there}");
    assert_eq!(
        vigie(&["health", "--server", &server]),
        said(1, "", &format!("vigie health: {missing} --server\n"))
    );
    assert_eq!(
        vigie(&["get", "--server", &server]),
        said(
            1,
            "",
            &format!("vigie get: service default: {missing} --server\n")
        )
    );
    drop(UnixListener::bind(&path).expect("a listener"));
    write_at_rest(
        &folder.path().join("config.yml"),
        "server: {address: 'unix:v.sock'}\n",
    );
    assert_eq!(
        in_folder(&folder, &["health"]),
        said(
            1,
            "",
            &format!(
                "vigie health: unix:./v.sock: connecting: Connection refused; {there} server.address\n"
            )
        )
    );
}

#[test]
fn an_answer_that_is_cut_or_no_list_is_a_failure() {
    let no_list = "the answer is no list of endpoints: name the address of a Vigie";
    for (answer, reason) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[]\n"[..], "reading: the answer was cut short"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "reading: the answer was cut short"),
        (b"", "reading: the answer was cut short"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "reading: this is no HTTP (invalid HTTP version)"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "reading: the answer comes in a transfer coding that was not asked for"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n[]\n", "reading: the answer has two Content-Lengths"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n[]\n", "reading: the Content-Length is no number"),
        (b"HTTP/1.1 200 OK\r\n\r\n[{\"ip\": \"10.0.0.1\", \"port\": 80, \"load_bal", no_list),
        (b"HTTP/1.1 200 OK\r\n\r\n<html>", no_list),
        (b"HTTP/1.1 200 OK\r\n\r\n\xff", no_list),
        (b"HTTP/1.1 200 OK\r\n\r\n[{\"ip\": \"<b>\", \"port\": 80, \"load_balancing_weight\": 0}]", no_list),
    ] {
        let want = said(1, "", &format!("vigie get: service web: PEER: {reason}\n"));
        assert_eq!(against(answer, &["get", "web"]).0, want);
    }
}

#[test]
fn health_is_0_only_for_a_server_that_is_ready() {
    let (ran, request) = against(
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n",
        &["health"],
    );
    assert_eq!(ran, said(0, "", ""));
    assert!(request.starts_with("GET /readyz HTTP/1.0\r\n"), "{request}");
    let stopping = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(
        against(stopping, &["health"]).0,
        said(
            1,
            "",
            "vigie health: PEER: not ready, /readyz answered 503\n"
        )
    );
    let garbage = against(b"\0\0\0\0", &["health"]).0;
    assert_eq!(
        (
            garbage.0,
            garbage
                .2
                .starts_with("vigie health: PEER: reading: this is no HTTP")
        ),
        (Some(1), true),
        "{garbage:?}"
    );
}

#[test]
fn health_waits_3_seconds_for_a_silent_server() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    let begin = Instant::now();
    let ran = vigie(&["health", "--server", &format!("http://{address}/")]);
    assert_eq!(
        ran,
        said(
            1,
            "",
            &format!("vigie health: {address}: reading: timed out\n")
        )
    );
    assert!(
        (2..10).contains(&begin.elapsed().as_secs()),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn health_does_not_wait_for_a_unix_socket_whose_queue_is_full() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("v.sock");
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        None,
    )
    .expect("a socket");
    rustix::net::bind(
        &socket,
        &rustix::net::SocketAddrUnix::new(&path).expect("a path"),
    )
    .expect("a bound socket");
    rustix::net::listen(&socket, 0).expect("a queue of one");
    let _first = std::os::unix::net::UnixStream::connect(&path).expect("the only place");
    let server = format!("unix:{}", path.display());
    assert_eq!(
        vigie(&["health", "--server", &server]),
        said(
            1,
            "",
            &format!("vigie health: {server}: connecting: timed out\n")
        )
    );
}

#[test]
fn a_unix_socket_is_asked_too() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("v.sock");
    let listener = UnixListener::bind(&path).expect("a listener");
    let served =
        thread::spawn(move || serve(&mut listener.accept().expect("a connection").0, LIST));
    assert_eq!(
        vigie(&[
            "get",
            "web",
            "--server",
            &format!("unix:{}", path.display())
        ]),
        said(0, "[2001:db8::7]:80 3\n", "")
    );
    served.join().expect("a request");
}

/// A server that runs has not taken over what somebody writes into its configuration.
#[test]
fn health_looks_past_errors_in_the_configuration() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    let config = |text: &str| write_at_rest(&folder.path().join("config.yml"), text);
    config(&format!(
        "server: {{address: '{address}', max_conections: 1}}\nservices: {{web: {{fil: x}}}}\n"
    ));
    let served = thread::spawn(move || {
        let mut stream = listener.accept().expect("a connection").0;
        serve(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n")
    });
    assert_eq!(in_folder(&folder, &["health"]), said(0, "", ""));
    served.join().expect("a request");
    // Where nobody answers, the error may be why.
    config("server: {address: '127.0.0.1:1'}\nsevrer: {}\n");
    let (code, _, complaint) = in_folder(&folder, &["health"]);
    assert_eq!(code, Some(1));
    assert_says(
        &complaint,
        &[
            "config.yml:2:1: unknown key",
            "\nvigie health: 127.0.0.1:1: ",
        ],
    );
    for text in ["server: [\n", "server: {address: here}\n"] {
        config(text);
        let (code, _, complaint) = in_folder(&folder, &["health"]);
        assert_eq!(code, Some(1));
        assert_says(&complaint, &["./config.yml:"]);
    }
}

#[test]
fn health_asks_the_first_address_of_the_configuration() {
    let folder = folder();
    for (wildcard, loopback) in [
        ("0.0.0.0", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::]", "[::1]"),
    ] {
        let Ok(listener) = TcpListener::bind(format!("{loopback}:0")) else {
            continue;
        };
        let port = listener.local_addr().expect("an address").port();
        let text = format!("server: {{address: ['{wildcard}:{port}', '127.0.0.1:1']}}\n");
        write_at_rest(&folder.path().join("config.yml"), text);
        let served = thread::spawn(move || {
            let (mut stream, _): (TcpStream, _) = listener.accept().expect("a connection");
            serve(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n")
        });
        assert_eq!(
            in_folder(&folder, &["health"]),
            said(0, "", ""),
            "{wildcard}"
        );
        served.join().expect("a request");
    }
    let bound = UnixListener::bind(folder.path().join("v.sock")).expect("a listener");
    write_at_rest(
        &folder.path().join("config.yml"),
        "server: {address: 'unix:v.sock'}\n",
    );
    let served = thread::spawn(move || {
        serve(
            &mut bound.accept().expect("a connection").0,
            b"HTTP/1.1 200 OK\r\n\r\n",
        )
    });
    assert_eq!(in_folder(&folder, &["health"]), said(0, "", ""));
    served.join().expect("a request");
}
