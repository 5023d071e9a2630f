//! No thread can be started any more, as in a container whose `pids` are used up: what needs one fails in words, the
//! rest goes on, and all is well as soon as there is one.

use std::process::Command;

use crate::support::dns::DnsServer;
use crate::support::peer::list;
use crate::support::{Group, Peer, Setup, assert_says, only, wait_until};

const WANTING: &str = "no thread for it: Resource temporarily unavailable; raise the limit of processes (ulimit -u, TasksMax of systemd, pids of a container)";

#[test]
fn without_a_thread_what_needs_one_fails_in_words_and_the_next_request_is_answered() {
    let Some(group) = Group::new("no thread can be started", "pids") else {
        return;
    };
    let peer = Peer::always(list("10.0.0.2"));
    let addresses: Vec<String> = (0..3000)
        .map(|index| format!("10.1.{}.{}", index / 250, index % 250))
        .collect();
    let long = Peer::always(list(addresses.join("\n")));
    let server = DnsServer::start(|asked| asked.only("10.0.0.3"));
    let services = format!(
        "kept: {{file: one.txt, cache_ttl: 1h}}\nfile: {{file: one.txt, cache_ttl: 0s}}\n\
         url: {{url: \"{}\", cache_ttl: 0s}}\n\
         long: {{url: \"{}\", cache_ttl: 0s}}\ndns: {{dns: {{name: web.test, servers: '{}'}}, cache_ttl: 0s}}",
        peer.url("/"),
        long.url("/"),
        server.address()
    );
    let mut vigie = Setup::services(&services)
        .file("one.txt", "10.0.0.1\n")
        .after(&group.enter())
        .start();
    let at_rest = |vigie: &crate::support::Vigie| {
        wait_until("only the threads of the start are there", || {
            vigie.count("task") <= 2
        });
    };
    let is_well = |service: &str, address: &str| {
        assert_eq!(
            vigie.list(service).summary(),
            (200, &*only(address)),
            "{service}"
        );
    };
    is_well("kept", "10.0.0.1");
    at_rest(&vigie);
    group.limit_threads(vigie.count("task"));
    for _ in 0..3 {
        is_well("kept", "10.0.0.1");
        is_well("url", "10.0.0.2");
        is_well("dns", "10.0.0.3");
        // What only takes long is done without a thread.
        let listed = vigie.list("long");
        let endpoints = listed.text().matches("\"ip\"").count();
        assert_eq!((listed.status, endpoints), (200, 3000));
        let answer = vigie.list("file");
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["service file: file ", WANTING]);
        let reload = vigie.reload();
        assert_eq!(reload.status, 500);
        assert_says(&reload.error(), &["config.yml: loading: ", WANTING]);
        for target in ["/livez", "/readyz", "/metrics", "/"] {
            assert_eq!(vigie.get(target).status, 200, "{target}");
        }
    }
    group.limit_threads(100);
    is_well("file", "10.0.0.1");
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":5}\n"));
    // Lines that could not be written then are written now.
    assert_says(
        &vigie.log.wait_for("not reloaded"),
        &["every service stays as it was"],
    );
    assert_says(&vigie.log.wait_for("service file: file"), &[WANTING]);
    assert_says(
        &vigie.log.wait_for("service file: its source"),
        &["answers again"],
    );

    at_rest(&vigie);
    group.limit_threads(vigie.count("task"));
    assert_eq!(vigie.stop(), Some(0));
}

#[test]
fn where_there_are_too_few_threads_to_start_that_is_said() {
    let Some(group) = Group::new("too few threads to start", "pids") else {
        return;
    };
    let mut started = 0;
    for most in 1..6 {
        let setup = Setup::services("").after(&group.enter());
        group.limit_threads(most);
        let (code, said) = setup.try_to_start();
        match code {
            None => started += 1,
            Some(code) => {
                assert_eq!((code, said.lines().count()), (1, 1), "{most}: {said}");
                assert_says(&said, &[WANTING]);
            }
        }
    }
    assert!(started > 0);
}

#[test]
fn a_command_with_too_few_threads_ends_in_words() {
    let setup = Setup::services("").file("one.txt", "10.0.0.1\n");
    // Not the usual address: somebody may be running a Vigie there.
    setup.write(
        "config.yml",
        "server: {address: 'unix:nobody.sock'}\nservices: {default: {file: one.txt}}\n",
    );
    let Some(group) = Group::new("too few threads for a command", "pids") else {
        return;
    };
    for most in 1..6 {
        for command in ["get", "health"] {
            group.limit_threads(most);
            let shell = format!("{}; exec \"$0\" {command}", group.enter());
            let output = Command::new("sh")
                .args(["-c", &shell, env!("CARGO_BIN_EXE_vigie")])
                .current_dir(setup.path(""))
                .env_remove("VIGIE_CONFIG_PATH")
                .output()
                .unwrap();
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            match output.status.code() {
                Some(0) => assert_eq!(said, "10.0.0.1:80 0\n"),
                code => {
                    assert_eq!((code, said.lines().count()), (Some(1), 1), "{most}: {said}");
                    let not_there = command == "health" && said.contains("is Vigie running there");
                    assert!(not_there || said.contains(WANTING), "{most}: {said}");
                }
            }
        }
    }
}
