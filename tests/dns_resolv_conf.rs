//! What resolv.conf, hosts and `localhost` decide, for the dns source and for the hosts of other sources.

use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use vigie::blocking::Lane;
use vigie::dns::{Failure, System};

use crate::support::dns::{Act, Asked, DnsServer, NXDOMAIN, REFUSED, SERVFAIL};
use crate::support::resolv_conf::{instead, may_mount};
use crate::support::{
    Hanging, Setup, Stop, Vigie, assert_says, endpoints, only, wait_until, write_at_rest,
};

/// Services for which this is /etc/resolv.conf; they are read each time.
struct Host {
    vigie: Vigie,
    folder: tempfile::TempDir,
}

impl Host {
    fn serve(promise: &str, resolv_conf: &str, services: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("resolv.conf");
        fs::write(&path, resolv_conf).unwrap();
        let setup = Setup::services(services)
            .top("cache: {ttl: 0s}")
            .after(&instead(&path));
        may_mount(promise).then(|| Self {
            vigie: setup.start(),
            folder,
        })
    }

    /// Writes the file in its place: a new one would not be seen through the mount.
    fn write(&self, resolv_conf: &str) {
        fs::write(self.folder.path().join("resolv.conf"), resolv_conf).unwrap();
    }
}

/// Answers each of these names with the same address.
fn knows(names: &'static [&str]) -> impl Fn(&Asked) -> Vec<Act> + Send + Sync + 'static {
    move |asked| match names.contains(&&*asked.name) {
        true => asked.only("10.0.0.1"),
        false => asked.error(NXDOMAIN),
    }
}

#[test]
fn the_servers_and_domains_of_resolv_conf_are_asked_and_a_change_shows_at_once() {
    let promise = "the servers of resolv.conf";
    let Some(first) = DnsServer::at_port_53(promise, knows(&["web.a.test"])) else {
        return;
    };
    let Some(second) = DnsServer::at_port_53(promise, knows(&["web.b.test"])) else {
        return;
    };
    let resolv_conf =
        |server: &DnsServer, rest: &str| format!("nameserver {}\n{rest}\n", server.address().ip());
    let services =
        "web: {dns: {name: web, family: ipv4}}\nabsolute: {dns: {name: web., family: ipv4}}";
    let Some(host) = Host::serve(
        promise,
        &resolv_conf(&first, "search x.test a.test"),
        services,
    ) else {
        return;
    };
    assert_eq!(
        host.vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    let names = |server: &DnsServer| {
        server
            .asked()
            .iter()
            .map(|asked| asked.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["web.x.test", "web.a.test"]);
    host.write(&resolv_conf(&second, "search b.test\noptions ndots:0"));
    assert_eq!(
        host.vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_eq!(names(&second), ["web", "web.b.test"]);
    assert_eq!(host.vigie.list("absolute").summary(), (200, "[]\n"));
    assert_eq!(
        names(&second),
        ["web", "web.b.test", "web"],
        "a trailing dot makes it absolute"
    );
    assert_eq!(first.asked().len(), 2);
}

#[test]
fn only_a_name_that_does_not_exist_moves_on_to_the_next_domain() {
    let promise = "only NXDOMAIN moves on";
    // Which answer of web.a.test, for A and AAAA, and what comes of it when web.b.test has an address.
    let cases = [
        (NXDOMAIN, NXDOMAIN, "10.0.0.1"),
        (0, NXDOMAIN, "[]"),
        (NXDOMAIN, 0, "[]"),
        (0, 0, "[]"),
        (NXDOMAIN, SERVFAIL, "SERVFAIL"),
        (REFUSED, REFUSED, "REFUSED"),
    ];
    for (v4, v6, outcome) in cases {
        let others = knows(&["web.b.test"]);
        let script = move |asked: &Asked| match (&*asked.name, asked.kind) {
            ("web.a.test", "A") => asked.error(v4),
            ("web.a.test", _) => asked.error(v6),
            _ => others(asked),
        };
        let Some(server) = DnsServer::at_port_53(promise, script) else {
            return;
        };
        let text = format!("nameserver {}\nsearch a.test b.test", server.address().ip());
        let Some(host) = Host::serve(promise, &text, "web: {dns: web}") else {
            return;
        };
        assert_says(host.vigie.list("web").text(), &[outcome]);
    }
}

#[test]
fn srv_and_txt_names_are_completed_too_and_a_candidate_under_consul_is_asked_over_tcp() {
    let promise = "SRV names are completed";
    let script = |asked: &Asked| match &*asked.name {
        "_x.web.consul" => asked.answer(&["_x.web.consul SRV 0 1 80 10.0.0.1"]).send(),
        _ => asked.error(NXDOMAIN),
    };
    let Some(server) = DnsServer::at_port_53(promise, script) else {
        return;
    };
    let text = format!(
        "nameserver {}\nsearch a.test consul\noptions ndots:5",
        server.address().ip()
    );
    let Some(host) = Host::serve(promise, &text, "web: {dns: _x.web}") else {
        return;
    };
    assert_eq!(endpoints(&host.vigie.list("web")), ["10.0.0.1 80 1"]);
    assert_eq!(
        server.questions(),
        ["_x.web.a.test SRV", "_x.web.consul SRV over TCP"]
    );
}

#[test]
fn with_servers_every_name_is_absolute_and_resolv_conf_is_not_opened() {
    let server = DnsServer::start(|asked| asked.error(NXDOMAIN));
    let services = format!(
        "web: {{dns: {{name: web, servers: '{}'}}}}",
        server.address()
    );
    let Some(host) = Host::serve(
        "with servers names are absolute",
        "nameserver nonsense",
        &services,
    ) else {
        return;
    };
    assert_eq!(host.vigie.list("web").summary(), (200, "[]\n"));
    assert_eq!(server.questions(), ["web A", "web AAAA"]);
}

#[test]
fn a_resolv_conf_without_a_usable_server_is_a_failure_that_names_it() {
    let promise = "resolv.conf without a usable server";
    let Some(host) = Host::serve(promise, "nameserver nonsense", "web: {dns: web.test}") else {
        return;
    };
    let answer = host.vigie.list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &[
            "service web",
            "dns web.test",
            "/etc/resolv.conf",
            "nameserver",
        ],
    );
}

#[test]
fn a_resolv_conf_that_hangs_holds_up_its_services_alone() {
    let promise = "a resolv.conf that hangs";
    let Some(mount) = Hanging::mount(promise, "resolv.conf", "nameserver 127.0.0.1\n") else {
        return;
    };
    if !may_mount(promise) {
        return;
    }
    let server = DnsServer::start(|asked| asked.only("10.0.0.1"));
    let services = format!(
        "hung: {{dns: {{name: web.test, timeout: 500ms}}, cache_ttl: 0s}}\nfree: {{dns: {{name: web.test, servers: '{}'}}, cache_ttl: 0s}}",
        server.address()
    );
    let vigie = Setup::services(&services)
        .after(&instead(&mount.path("resolv.conf")))
        .start();
    mount.hang();
    let mut waiting = vigie.connect();
    waiting.send(b"GET /services?service_name=hung HTTP/1.1\r\nHost: x\r\n\r\n");
    for _ in 0..20 {
        assert_eq!(
            vigie.list("free").summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
    let answer = waiting.receive();
    assert_eq!(answer.status, 504);
    assert_says(&answer.error(), &["/etc/resolv.conf", "hangs"]);
    let held_by_one = vigie.count("task");
    assert_eq!(vigie.list("hung").status, 504);
    assert!(
        vigie.count("task") <= held_by_one,
        "no second read starts before the first has ended"
    );
    mount.go_on();
    wait_until("the read has ended", || vigie.threads("blocking") == 0);
}

#[test]
fn a_command_finds_the_server_that_it_asks_by_name() {
    let promise = "a command finds a server by name";
    let script = |asked: &Asked| match &*asked.name {
        "vigie.test" => asked.only("127.0.0.1"),
        _ => asked.error(NXDOMAIN),
    };
    let Some(server) = DnsServer::at_port_53(promise, script) else {
        return;
    };
    if !may_mount(promise) {
        return;
    }
    let setup = Setup::services("web: {file: web.txt}")
        .file("web.txt", "10.0.0.1\n")
        .file(
            "resolv.conf",
            format!("nameserver {}\n", server.address().ip()),
        );
    let vigie = setup.start();
    let ask = |host: &str| {
        let get = format!(
            "{} get --server http://{host}:{} web",
            env!("CARGO_BIN_EXE_vigie"),
            vigie.port()
        );
        let output = Command::new("sh")
            .args([
                "-c",
                &instead(&vigie.setup.path("resolv.conf")),
                "sh",
                "sh",
                "-c",
                &get,
            ])
            .output()
            .unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), out, err)
    };
    assert_eq!(
        ask("vigie.test"),
        (Some(0), "10.0.0.1:80 0\n".into(), String::new())
    );
    let (code, out, err) = ask("gone.test");
    assert_eq!((code, &*out), (Some(1), ""));
    assert_says(&err, &["looking up the host: there is no host gone.test"]);
}

/// The addresses of a host, on a system with these files.
fn addresses(host: &str, resolv_conf: &str, hosts: &str) -> Result<Vec<IpAddr>, Failure> {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["resolv.conf", "hosts"].map(|name| folder.path().join(name));
    fs::write(&first, resolv_conf).unwrap();
    fs::write(&second, hosts).unwrap();
    let system = System::with_files(first, second, Lane::default());
    smol::block_on(system.addresses(host, Instant::now() + Duration::from_secs(3)))
}

fn ips(list: &[&str]) -> Vec<IpAddr> {
    list.iter().map(|ip| ip.parse().unwrap()).collect()
}

#[test]
fn an_ip_address_and_localhost_are_known_without_asking_or_reading() {
    let nowhere = || System::with_files("/".into(), "/".into(), Lane::default());
    for (host, list) in [
        ("10.0.0.1", &["10.0.0.1"][..]),
        ("2001:db8::1", &["2001:db8::1"]),
        ("localhost", &["127.0.0.1", "::1"]),
        ("LocalHost.", &["127.0.0.1", "::1"]),
        ("web.localhost", &["127.0.0.1", "::1"]),
    ] {
        let found = smol::block_on(nowhere().addresses(host, Instant::now()));
        assert_eq!(found, Ok(ips(list)), "{host}");
    }
}

#[test]
fn a_name_of_hosts_is_not_asked_for() {
    let found = addresses(
        "web.test",
        "nameserver nonsense",
        "10.0.0.2 web.test\n::2 other WEB.test\n",
    );
    assert_eq!(found, Ok(ips(&["10.0.0.2", "::2"])));
}

#[test]
fn a_host_that_is_in_no_file_is_asked_for_with_both_families_and_the_search_list() {
    let promise = "a host is asked for";
    let script = |asked: &Asked| match (&*asked.name, asked.kind) {
        ("web.a.test", "A") => asked
            .answer(&["web.a.test A 10.0.0.1", "web.a.test A 10.0.0.2"])
            .send(),
        ("web.a.test", _) => asked.answer(&["web.a.test AAAA ::5"]).send(),
        ("half.a.test", "A") => asked.answer(&["half.a.test A 10.0.0.1"]).send(),
        ("half.a.test", _) => asked.error(SERVFAIL),
        ("bare.a.test", _) => asked.answer(&[]).send(),
        ("refused.a.test", _) => asked.error(REFUSED),
        ("silent.a.test", _) => Vec::new(),
        _ => asked.error(NXDOMAIN),
    };
    let Some(server) = DnsServer::at_port_53(promise, script) else {
        return;
    };
    let resolv_conf = format!("nameserver {}\nsearch a.test", server.address().ip());
    let find = |host| addresses(host, &resolv_conf, "10.9.9.9 else\n");
    assert_eq!(find("web"), Ok(ips(&["10.0.0.1", "10.0.0.2", "::5"])));
    assert_eq!(find("half"), Ok(ips(&["10.0.0.1"])));
    for (host, words, timeout) in [
        ("bare", "the host bare.a.test has no address", false),
        ("gone", "there is no host gone", false),
        ("refused", "REFUSED", false),
        ("silent", "did not answer in time", true),
        ("a b", "letters, digits", false),
        ("", "1 to 63 bytes", false),
    ] {
        let failure = find(host).unwrap_err();
        assert_says(&failure.to_string(), &[words]);
        assert_eq!(failure.is_timeout(), timeout, "{host}");
    }
}

#[test]
fn files_that_are_missing_say_nothing_and_files_that_cannot_be_read_are_a_failure() {
    let missing = || "/nonexistent/file".into();
    let find = |system: System| {
        smol::block_on(system.addresses("web.test", Instant::now() + Duration::from_secs(1)))
    };
    let failure = find(System::with_files("/".into(), missing(), Lane::default())).unwrap_err();
    assert_says(&failure.to_string(), &["reading /:", "a folder"]);
    let failure = find(System::with_files(missing(), "/".into(), Lane::default())).unwrap_err();
    assert_says(&failure.to_string(), &["reading /:", "a folder"]);
    let folder = tempfile::tempdir().unwrap();
    let [large, fifo] = ["large", "fifo"].map(|name| folder.path().join(name));
    fs::File::create(&large)
        .unwrap()
        .set_len((4 << 20) + 1)
        .unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for (file, words) in [
        ("/".into(), ["a folder", "put a file there"]),
        (fifo, ["a FIFO", "put a file there"]),
        (large, ["too large", "4194304 bytes: shorten it"]),
    ] {
        let failure = find(System::with_files(file, missing(), Lane::default())).unwrap_err();
        assert_says(&failure.to_string(), &words);
        assert!(!failure.to_string().contains("let the user"), "{failure}");
    }
    let system = System::with_files(missing(), missing(), Lane::default());
    let conf = smol::block_on(system.resolv_conf(Instant::now() + Duration::from_secs(1))).unwrap();
    assert_eq!(
        conf.servers
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["127.0.0.1:53"]
    );
}

/// Asks a system while each of its files is written anew by `begin` and what completes it, some times: what it says is
/// always that of whole files.
fn ask_while_rewritten(begin: impl Fn(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let [resolv_conf, hosts] = ["resolv.conf", "hosts"].map(|name| folder.path().join(name));
    // One of them is where a link leads to, in another folder.
    let link = folder.path().join("run").join("resolv.conf");
    fs::create_dir(folder.path().join("run")).unwrap();
    std::os::unix::fs::symlink("../resolv.conf", &link).unwrap();
    let files = [
        (&resolv_conf, "search a.test\nnameserver 10.0.0.53\n"),
        (&hosts, "10.0.0.2 other.test\n10.0.0.1 web.test\n"),
    ];
    for (path, text) in &files {
        write_at_rest(path, text);
    }
    let system = System::with_files(link, hosts.clone(), Lane::default());
    let deadline = || Instant::now() + Duration::from_secs(5);
    let (mut counted, mut round) = ([0; 2], 0);
    while counted.iter().any(|count| *count < 4) {
        let at = round % 2;
        let (path, text) = files[at];
        round += 1;
        assert!(round < 100, "the writer is always kept from writing");
        let begun = Instant::now();
        begin(path);
        let (found, pause) = thread::scope(|scope| {
            let reading = scope.spawn(|| {
                smol::block_on(async {
                    let conf = system.resolv_conf(deadline()).await.unwrap();
                    let servers: Vec<String> =
                        conf.servers.iter().map(ToString::to_string).collect();
                    (servers, system.addresses("web.test", deadline()).await)
                })
            });
            // The pace of a writer.
            thread::sleep(Duration::from_millis(10));
            fs::write(path, text).unwrap();
            let pause = begun.elapsed();
            (reading.join().unwrap(), pause)
        });
        // Who is kept from writing by the system for too long has left a file at rest.
        if pause < Duration::from_millis(60) {
            assert_eq!(
                found,
                (vec!["10.0.0.53:53".to_owned()], Ok(ips(&["10.0.0.1"])))
            );
            counted[at] += 1;
        }
    }
}

#[test]
fn a_resolv_conf_or_hosts_that_is_emptied_and_written_is_read_whole() {
    ask_while_rewritten(|path| drop(fs::File::create(path).unwrap()));
}

#[test]
fn a_resolv_conf_or_hosts_that_is_half_written_is_read_whole() {
    ask_while_rewritten(|path| fs::write(path, "10.0.0.2 other.test\nsearch b.test\n").unwrap());
}

#[test]
fn a_resolv_conf_or_hosts_that_is_taken_away_and_put_back_is_read_whole() {
    ask_while_rewritten(|path| fs::remove_file(path).unwrap());
}

#[test]
fn hosts_that_is_emptied_on_a_busy_disk_is_read_whole() {
    const HOSTS: &str = "10.0.0.1 web.test\n";
    let folder = tempfile::tempdir().unwrap();
    let resolv_conf = folder.path().join("resolv.conf");
    write_at_rest(&resolv_conf, "nameserver nonsense\n");
    // Each is emptied once: only what has not been changed for two seconds can be taken for long empty.
    let all: Vec<PathBuf> = (0..120)
        .map(|number| folder.path().join(format!("hosts-{number}")))
        .collect();
    for hosts in &all {
        write_at_rest(hosts, HOSTS);
    }
    let written = Instant::now();
    wait_until("the files are old ones", || {
        written.elapsed() > Duration::from_secs(3)
    });
    let is_busy = AtomicBool::new(true);
    thread::scope(|scope| {
        for number in 0..2 {
            let (is_busy, path) = (&is_busy, folder.path().join(format!("busy-{number}")));
            scope.spawn(move || {
                while is_busy.load(Relaxed) {
                    let mut file = fs::File::create(&path).unwrap();
                    file.write_all(&vec![1; 8 << 20]).unwrap();
                    file.sync_all().unwrap();
                }
            });
        }
        let _stop = Stop(&is_busy);
        let mut counted = 0;
        for hosts in &all {
            let system = System::with_files(resolv_conf.clone(), hosts.clone(), Lane::default());
            let writing = scope.spawn(move || {
                let mut file = fs::File::create(hosts).unwrap();
                let emptied = Instant::now();
                file.write_all(HOSTS.as_bytes()).unwrap();
                emptied.elapsed()
            });
            let mut all_found = Vec::new();
            while !writing.is_finished() {
                let deadline = Instant::now() + Duration::from_secs(5);
                all_found.push(smol::block_on(system.addresses("web.test", deadline)));
            }
            // Who is kept from writing by the system for too long has left a file at rest.
            if writing.join().unwrap() < Duration::from_millis(60) {
                let is_whole = |found: &Result<_, _>| *found == Ok(ips(&["10.0.0.1"]));
                assert!(all_found.iter().all(is_whole), "{all_found:?}");
                counted += 1;
            }
        }
        assert!(counted > 20, "the writer is always kept from writing");
    });
}

#[test]
fn a_resolv_conf_or_hosts_that_has_been_emptied_is_a_failure_until_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let [resolv_conf, hosts] = ["resolv.conf", "hosts"].map(|name| folder.path().join(name));
    let texts = [
        (&resolv_conf, "nameserver 10.0.0.53\n"),
        (&hosts, "10.0.0.1 web.test\n"),
    ];
    for (path, text) in texts {
        write_at_rest(path, text);
    }
    let system = System::with_files(resolv_conf.clone(), hosts.clone(), Lane::default());
    let ask = || {
        let deadline = Instant::now() + Duration::from_secs(5);
        let conf = smol::block_on(system.resolv_conf(deadline)).map(|conf| conf.servers.len());
        (conf, smol::block_on(system.addresses("web.test", deadline)))
    };
    let well = (Ok(1), Ok(ips(&["10.0.0.1"])));
    assert_eq!(ask(), well);
    for (path, text) in texts {
        write_at_rest(path, "");
        let (conf, found) = ask();
        let failure = conf.map(|_| ()).and(found.map(|_| ())).unwrap_err();
        assert_says(
            &failure.to_string(),
            &[&path.display().to_string(), "it has no byte any more"],
        );
        write_at_rest(path, text);
        assert_eq!(ask(), well);
    }
}

#[test]
fn that_it_has_been_emptied_is_known_to_all_services_through_a_reload() {
    let promise = "an emptied resolv.conf and a reload";
    let Some(server) = DnsServer::at_port_53(promise, knows(&["web.test"])) else {
        return;
    };
    let text = format!("nameserver {}\n", server.address().ip());
    let services = |name: &str| format!("{name}: {{dns: {{name: web.test, family: ipv4}}}}");
    let Some(host) = Host::serve(promise, &text, &services("web")) else {
        return;
    };
    let list = only("10.0.0.1");
    assert_eq!(host.vigie.list("web").summary(), (200, &*list));
    host.write("");
    host.vigie.setup.write_services(&services("other"));
    assert_eq!(host.vigie.reload().status, 200);
    let answer = host.vigie.list("other");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["/etc/resolv.conf", "it has no byte any more"],
    );
    host.write(&text);
    assert_eq!(host.vigie.list("other").summary(), (200, &*list));
}

#[test]
fn hosts_that_has_been_empty_for_long_is_read_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [resolv_conf, hosts] = ["resolv.conf", "hosts"].map(|name| folder.path().join(name));
    write_at_rest(&resolv_conf, "nameserver nonsense\n");
    write_at_rest(&hosts, "");
    let system = System::with_files(resolv_conf, hosts, Lane::default());
    // Whether it has just been emptied cannot be told at first.
    wait_until("the empty file is an old one", || {
        let begin = Instant::now();
        let found = smol::block_on(system.addresses("web.test", begin + Duration::from_secs(5)));
        assert_says(&found.unwrap_err().to_string(), &["no nameserver line"]);
        begin.elapsed() < Duration::from_millis(90)
    });
}
