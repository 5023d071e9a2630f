//! TLS: whose certificates are believed, what Vigie shows of itself, and what went wrong in words.

use std::fs;
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::peer::list;
use crate::support::{
    Answer, Authority, Peer, Reply, Setup, Signed, Vigie, assert_says, only, wait_until,
};

/// A server with this certificate.
fn safe(signed: &Signed) -> Peer {
    Peer::tls(signed.server(None), |_| Reply::Keep(list("10.0.0.1")))
}

/// Reads a list of which the settings, beside the URL, are these.
fn serve(url: &str, keys: &str, authority: &Authority) -> Vigie {
    Setup::services(&format!(
        "web: {{url: {{url: \"{url}\", {keys}}}, cache_ttl: 0s, max_stale: 1h}}"
    ))
    .file("ca.pem", authority.pem())
    .start()
}

fn read(peer: &Peer, keys: &str, authority: &Authority) -> Answer {
    serve(&peer.url("/"), keys, authority).list("web")
}

#[track_caller]
fn assert_refused(answer: &Answer, peer: &Peer, words: &str) {
    assert_eq!(answer.status, 502, "{:?}", answer.text());
    let want = format!("service web: url {}: TLS: {words}", peer.url("/"));
    assert_eq!(answer.error(), want);
}

#[test]
fn a_list_is_read_over_tls() {
    let authority = Authority::new();
    let peer = safe(&authority.sign(&["127.0.0.1", "localhost"]));
    for url in [peer.url("/"), peer.url_as("localhost", "/")] {
        let answer = serve(&url, "ca_file: ca.pem", &authority).list("web");
        assert_eq!(answer.summary(), (200, only("10.0.0.1").as_str()), "{url}");
    }
}

#[test]
fn the_authorities_of_the_system_are_believed() {
    let (authority, other) = (Authority::new(), Authority::new());
    let peer = safe(&authority.sign(&["127.0.0.1"]));
    assert_eq!(
        trusting(&peer, &authority.pem()).list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    let answer = trusting(&peer, &other.pem()).list("web");
    assert_refused(&answer, &peer, UNKNOWN);
}

/// A server for which these are the authorities of the system.
fn trusting(peer: &Peer, pem: &str) -> Vigie {
    let setup = Setup::services(&format!("web: {{url: {}}}", peer.url("/")));
    let system = setup.path("system.pem");
    let setup = setup.file("system.pem", pem);
    setup
        .after(&format!("export SSL_CERT_FILE={}", system.display()))
        .start()
}

#[test]
fn authorities_of_the_system_that_are_being_written_are_read_when_they_are_whole() {
    let (authority, other) = (Authority::new(), Authority::new());
    let peer = safe(&authority.sign(&["127.0.0.1"]));
    let vigie = trusting(&peer, &other.pem());
    let path = vigie.setup.path("system.pem");
    let (mut round, mut counted) = (0, 0);
    while counted < 3 {
        round += 1;
        assert!(round < 100, "the writer is always kept from writing");
        assert_eq!(vigie.reload().status, 200);
        let begin = Instant::now();
        fs::write(&path, other.pem()).unwrap();
        let answer = thread::scope(|scope| {
            let asking = scope.spawn(|| vigie.list("web"));
            // The pace of the writer, not a wait.
            thread::sleep(Duration::from_millis(20));
            fs::write(&path, other.pem() + &authority.pem()).unwrap();
            // Who is kept from writing by the system for too long has left a file at rest.
            let counts = begin.elapsed() < Duration::from_millis(60);
            counted += usize::from(counts);
            let answer = asking.join().unwrap();
            counts.then_some(answer)
        });
        if let Some(answer) = answer {
            assert_eq!(answer.summary(), (200, only("10.0.0.1").as_str()));
        }
    }
}

#[test]
fn authorities_of_the_system_that_are_broken_fail_in_words_until_they_are_mended() {
    let authority = Authority::new();
    let peer = safe(&authority.sign(&["127.0.0.1"]));
    let pem = authority.pem();
    for (broken, words) in [
        ("", "it holds no certificate in PEM"),
        (&pem[..pem.len() / 2], "it is not good PEM"),
        (
            &format!("{pem}{}", &pem[..pem.len() / 2]),
            "it is not good PEM",
        ),
    ] {
        let vigie = trusting(&peer, broken);
        let path = vigie.setup.path("system.pem");
        let file = format!("SSL_CERT_FILE {}", path.display());
        let words = format!("reading the system's authorities: {file}: {words}");
        assert_refused(&vigie.list("web"), &peer, &words);
        vigie.setup.write("system.pem", &pem);
        assert_eq!(
            vigie.list("web").summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
}

const UNKNOWN: &str =
    "the server's certificate is signed by an unknown authority; name its authority with ca_file";

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let (authority, other) = (Authority::new(), Authority::new());
    let peer = safe(&other.sign(&["127.0.0.1"]));
    assert_refused(&read(&peer, "ca_file: ca.pem", &authority), &peer, UNKNOWN);
    assert_eq!(peer.requests(), [""; 0]);
}

#[test]
fn an_authority_that_only_has_the_name_of_a_known_one_is_not_believed() {
    let (authority, other) = (Authority::named("ours"), Authority::named("ours"));
    let peer = safe(&other.sign(&["127.0.0.1"]));
    assert_refused(
        &read(&peer, "ca_file: ca.pem", &authority),
        &peer,
        "the server's certificate is signed by an authority that has the name of a known one and another key; name the right authority with ca_file",
    );
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let peer = safe(&authority.sign(&["web.example", "*.web.example", "10.0.0.1"]));
    assert_refused(
        &read(&peer, "ca_file: ca.pem", &authority),
        &peer,
        "the server's certificate is not for 127.0.0.1 but for web.example, *.web.example, 10.0.0.1; correct the url, or set server_name",
    );
    for name in ["web.example", "a.web.example", "10.0.0.1"] {
        let answer = read(
            &peer,
            &format!("ca_file: ca.pem, server_name: {name}"),
            &authority,
        );
        assert_eq!(answer.summary(), (200, only("10.0.0.1").as_str()), "{name}");
    }
    let answer = read(
        &peer,
        "ca_file: ca.pem, server_name: other.example",
        &authority,
    );
    assert_says(
        &answer.error(),
        &["not for other.example but for web.example"],
    );
}

#[test]
fn what_is_wrong_with_a_rare_certificate_is_said_in_words() {
    let authority = Authority::new();
    for (signed, words) in [
        (
            authority.sign_authority(&["127.0.0.1"]),
            "the server's certificate is that of an authority: a certificate of an authority is used as the server's own; issue one for the server, signed by it",
        ),
        (
            authority.sign_names(&["web.example", "127.0.0.1"]),
            "the server's certificate is for the name 127.0.0.1, not the address; issue one for IP:127.0.0.1",
        ),
    ] {
        let peer = safe(&signed);
        assert_refused(&read(&peer, "ca_file: ca.pem", &authority), &peer, words);
    }
}

#[test]
fn a_server_that_closes_in_the_handshake_is_said_to_have_done_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // What it does not read would be answered by a reset.
        let _ = stream.read(&mut [0; 16 << 10]);
    });
    let answer = serve(
        &format!("https://{address}/"),
        "ca_file: ca.pem",
        &Authority::new(),
    )
    .list("web");
    let want = format!(
        "service web: url https://{address}/: TLS: the server closed the connection while both agreed on it; see whether it speaks TLS there"
    );
    assert_eq!((answer.status, answer.error()), (502, want));
}

#[test]
fn a_certificate_out_of_its_time_is_refused() {
    let authority = Authority::new();
    let peer = safe(&authority.sign_for(&["127.0.0.1"], 2001, 2002));
    assert_refused(
        &read(&peer, "ca_file: ca.pem", &authority),
        &peer,
        "the server's certificate expired at 2002-01-01T00:00:00Z; renew it",
    );
    let peer = safe(&authority.sign_for(&["127.0.0.1"], 2998, 2999));
    assert_refused(
        &read(&peer, "ca_file: ca.pem", &authority),
        &peer,
        "the server's certificate is not valid before 2998-01-01T00:00:00Z; see whether the clock of this machine is right",
    );
}

#[test]
fn any_certificate_is_taken_only_where_that_is_said_and_warned_of() {
    let (authority, other) = (Authority::new(), Authority::new());
    let peer = safe(&other.sign_for(&["web.example"], 2001, 2002));
    let vigie = serve(&peer.url("/"), "insecure_skip_verify: true", &authority);
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    let warnings = || {
        vigie
            .log
            .text()
            .matches("insecure_skip_verify takes any certificate")
            .count()
    };
    wait_until("the start is warned of", || warnings() == 1);
    assert_eq!(vigie.reload().status, 200);
    wait_until("the reload is warned of", || warnings() == 2);
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_asks() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = authority.sign(&["127.0.0.1"]).server(Some(&authority));
    let peer = Peer::tls(server, |_| Reply::Keep(list("10.0.0.1")));
    let (mine, theirs) = (authority.sign(&["me"]), other.sign(&["me"]));
    let read = |keys: &str, signed: &Signed| {
        Setup::services(&format!(
            "web: {{url: {{url: \"{}\", ca_file: ca.pem{keys}}}}}",
            peer.url("/")
        ))
        .file("ca.pem", authority.pem())
        .file("me.pem", signed.pem())
        .file("me.key", signed.key_pem())
        .start()
        .list("web")
    };
    let keys = ", cert_file: me.pem, key_file: me.key";
    assert_eq!(
        read(keys, &mine).summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_refused(
        &read("", &mine),
        &peer,
        "the server asks for a client certificate; set cert_file and key_file",
    );
    let refused = read(keys, &theirs);
    assert_eq!(refused.status, 502);
    assert_says(
        &refused.error(),
        &[
            "TLS: the server does not accept the client certificate",
            "cert_file",
        ],
    );
}

#[test]
fn a_client_certificate_is_not_shown_elsewhere() {
    let authority = Authority::new();
    let asks = authority.sign(&["127.0.0.1"]).server(Some(&authority));
    let elsewhere = Peer::tls(asks.clone(), |_| Reply::Keep(list("10.0.0.1")));
    let there = elsewhere.url("/");
    let peer = Peer::tls(asks, move |_| {
        Reply::End(
            format!("HTTP/1.1 302 x\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n").into(),
        )
    });
    let mine = authority.sign(&["me"]);
    let keys = "ca_file: ca.pem, cert_file: me.pem, key_file: me.key";
    let vigie = Setup::services(&format!(
        "web: {{url: {{url: \"{}\", {keys}}}}}",
        peer.url("/")
    ))
    .file("ca.pem", authority.pem())
    .file("me.pem", mine.pem())
    .file("me.key", mine.key_pem())
    .start();
    assert_says(
        &vigie.list("web").error(),
        &[
            &format!("redirected to {}", elsewhere.url("/")),
            "asks for a client certificate",
        ],
    );
    assert_eq!(peer.requests().len(), 1);
}

#[test]
fn http_where_https_is_meant_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 5]).unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .unwrap();
        // Whoever it talks to may leave.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let vigie = Setup::services(&format!("web: {{url: {url}}}")).start();
    assert_says(
        &vigie.list("web").error(),
        &["TLS: what the server says is no TLS; is it an http server?"],
    );
    let authority = Authority::new();
    let peer = safe(&authority.sign(&["127.0.0.1"]));
    let url = peer.url("/").replace("https:", "http:");
    let vigie = Setup::services(&format!("web: {{url: {url}}}")).start();
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn a_new_authority_counts_from_the_next_reload_on() {
    let (old, new) = (Authority::new(), Authority::new());
    let peer = safe(&new.sign(&["127.0.0.1"]));
    let vigie = serve(&peer.url("/"), "ca_file: ca.pem", &old);
    assert_refused(&vigie.list("web"), &peer, UNKNOWN);
    vigie.setup.write("ca.pem", new.pem());
    assert_refused(&vigie.list("web"), &peer, UNKNOWN);
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    // The other way round, and the last good list stands in.
    vigie.setup.write("ca.pem", old.pem());
    assert_eq!(vigie.reload().status, 200);
    let stale = vigie.list("web");
    assert_eq!(stale.summary(), (200, only("10.0.0.1").as_str()));
    assert_says(stale.header("vigie-error").unwrap(), &["unknown authority"]);
}

/// A configuration of four services, of which three cannot be built, and what is wrong with them.
fn broken() -> (Setup, String) {
    let (authority, other) = (Authority::new(), Authority::new());
    let (mine, theirs) = (authority.sign(&["me"]), other.sign(&["me"]));
    let services = "a: {url: {url: \"https://h/\", ca_file: none.pem}}\n\
        b: {url: {url: \"https://h/\", cert_file: me.pem, key_file: their.key}}\n\
        c: {url: {url: \"https://h/\", ca_file: me.key, cert_file: me.key, key_file: me.pem}}\n\
        d: {url: {url: \"http://h/\", bearer_token_file: none.token}, default_port: 0}";
    let setup = Setup::services(services)
        .file("me.pem", mine.pem())
        .file("me.key", mine.key_pem())
        .file("their.key", theirs.key_pem());
    setup.write_services(services);
    let path = |name: &str| setup.path(name).display().to_string();
    let errors = [
        format!(
            "6:41: ca_file {}: opening: No such file or directory; create it, or correct its path",
            path("none.pem")
        ),
        format!(
            "7:61: key_file {}: it is not the key of the certificate",
            path("their.key")
        ),
        format!(
            "8:41: ca_file {}: it holds no certificate in PEM",
            path("me.key")
        ),
        format!(
            "8:60: cert_file {}: it holds no certificate in PEM",
            path("me.key")
        ),
        "9:77: default_port: 0 is wrong here: write a whole number from 1 to 65535".into(),
    ];
    let config = path("config.yml");
    let errors: Vec<_> = errors
        .iter()
        .map(|error| format!("{config}:{error}"))
        .collect();
    (setup, errors.join("\n"))
}

#[test]
fn what_cannot_be_built_is_told_in_one_run_with_all_else() {
    let (setup, errors) = broken();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["check-config", "-c"])
        .arg(setup.path("config.yml"))
        .output()
        .unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap()
        ),
        (Some(1), format!("{errors}\n"))
    );
    assert_eq!(setup.refuse_to_start(), (Some(1), errors));
}

#[test]
fn what_cannot_be_built_keeps_every_service_at_a_reload() {
    let (broken, _) = broken();
    let config = fs::read_to_string(broken.path("config.yml"))
        .unwrap()
        .replace(", default_port: 0", "");
    let peer = Peer::always(list("10.0.0.1"));
    let vigie = Setup::services(&format!("web: {{url: {}}}", peer.url("/"))).start();
    vigie.setup.write("config.yml", config);
    let answer = vigie.reload();
    assert_eq!(answer.status, 500);
    let path = vigie.setup.path("config.yml").display().to_string();
    let places = [
        "6:41: ca_file",
        "7:43: cert_file",
        "8:41: ca_file",
        "8:60: cert_file",
    ];
    for place in places {
        assert_says(&answer.error(), &[&format!("{path}:{place}")]);
        vigie.log.wait_for(&format!("{path}:{place}"));
    }
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    assert_eq!(vigie.list("a").status, 404);
}

#[test]
fn get_tells_what_cannot_be_built() {
    let (setup, _) = broken();
    setup.write_services("a: {url: {url: \"https://h/\", ca_file: none.pem}}");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_vigie"))
        .args(["get", "a", "-c"])
        .arg(setup.path("config.yml"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_says(
        &String::from_utf8(output.stderr).unwrap(),
        &[":6:41: ca_file ", "No such file"],
    );
}
