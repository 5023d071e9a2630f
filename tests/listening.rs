//! Where a server listens, and when it refuses to start.

use std::fs;
use std::net::{Ipv6Addr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};

use crate::support::{Connection, Setup, assert_says, connect_to, skip};

fn lives(mut connection: Connection) -> bool {
    connection.ask("GET", "/livez", &[]).status == 200
}

#[test]
fn every_address_answers() {
    let vigie = Setup::services("")
        .addresses(&["127.0.0.1:0", "127.0.0.2:0", "unix:a.sock", "unix:b.sock"])
        .start();
    assert_ne!(vigie.port(), 0);
    assert!(lives(vigie.connect()));
    assert!(lives(connect_to(
        "127.0.0.2",
        vigie.log.wait_for_port("127.0.0.2")
    )));
    for name in ["a.sock", "b.sock"] {
        assert!(lives(vigie.connect_to_socket(name)));
    }
}

#[test]
fn the_ipv6_wildcard_takes_ipv4_too() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return skip(
            "the IPv6 wildcard takes IPv4 too",
            "this machine has no IPv6",
        );
    }
    let vigie = Setup::services("")
        .addresses(&["127.0.0.1:0", "[::]:0"])
        .start();
    let port = vigie.log.wait_for_port("[::]");
    assert!(lives(connect_to("127.0.0.1", port)));
    assert!(lives(connect_to("::1", port)));
}

#[test]
fn an_address_beyond_loopback_with_reload_by_request_is_warned_of() {
    let vigie = Setup::services("")
        .addresses(&["127.0.0.1:0", "0.0.0.0:0"])
        .start();
    assert_says(
        &vigie.log.wait_for("disable_reload_by_request"),
        &["0.0.0.0"],
    );
    for (address, top) in [
        ("127.0.0.2:0", ""),
        ("0.0.0.0:0", "disable_reload_by_request: true"),
    ] {
        let mut vigie = Setup::services("")
            .top(top)
            .addresses(&["127.0.0.1:0", address])
            .start();
        assert_eq!(vigie.stop(), Some(0));
        assert!(
            !vigie
                .log
                .wait_for_end()
                .contains("disable_reload_by_request")
        );
    }
}

#[test]
fn a_unix_socket_has_the_mode_that_is_configured() {
    for (server, mode) in [
        ("", 0o660),
        ("socket_mode: \"0600\"", 0o600),
        ("socket_mode: \"0666\"", 0o666),
    ] {
        let vigie = Setup::services("")
            .addresses(&["unix:vigie.sock"])
            .server(server)
            .start();
        let file = fs::metadata(vigie.setup.path("vigie.sock")).unwrap();
        assert_eq!(
            (
                file.file_type().is_socket(),
                file.permissions().mode() & 0o7777
            ),
            (true, mode)
        );
        assert!(lives(vigie.connect()));
    }
}

#[test]
fn a_relative_socket_lies_beside_the_configuration() {
    // The server itself runs in another folder.
    let setup = Setup::services("");
    fs::create_dir(setup.path("run")).unwrap();
    let vigie = setup.addresses(&["unix:run/vigie.sock"]).start();
    assert!(vigie.setup.path("run/vigie.sock").exists());
}

#[test]
fn a_socket_that_nobody_listens_at_any_more_is_replaced() {
    let setup = Setup::services("").addresses(&["unix:vigie.sock"]);
    drop(UnixListener::bind(setup.path("vigie.sock")).unwrap());
    assert!(setup.path("vigie.sock").exists());
    assert!(lives(setup.start().connect()));
}

#[test]
fn a_socket_that_somebody_listens_at_is_left_alone() {
    let setup = Setup::services("").addresses(&["unix:vigie.sock"]);
    let other = UnixListener::bind(setup.path("vigie.sock")).unwrap();
    let before = fs::metadata(setup.path("vigie.sock")).unwrap().ino();
    let (code, said) = setup.refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(&said, &["vigie.sock"]);
    assert_eq!(
        fs::metadata(setup.path("vigie.sock")).unwrap().ino(),
        before
    );
    drop(other);
}

#[test]
fn a_socket_whose_server_takes_no_connection_is_left_alone_at_once() {
    let setup = Setup::services("").addresses(&["unix:vigie.sock"]);
    let other = UnixListener::bind(setup.path("vigie.sock")).unwrap();
    rustix::net::listen(&other, 0).unwrap();
    // It has room for one, and a connect waits for as long as there is none.
    let _waiting = UnixStream::connect(setup.path("vigie.sock")).unwrap();
    let (code, said) = setup.refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(
        &said,
        &["vigie.sock: another process listens there; stop it first"],
    );
    assert!(setup.path("vigie.sock").exists());
}

#[test]
fn any_other_file_in_the_place_of_a_socket_is_kept() {
    let setup = Setup::services("")
        .addresses(&["unix:vigie.sock"])
        .file("vigie.sock", "precious");
    let (code, said) = setup.refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(&said, &["vigie.sock"]);
    assert_eq!(
        fs::read_to_string(setup.path("vigie.sock")).unwrap(),
        "precious"
    );
    let setup = Setup::services("").addresses(&["unix:folder"]);
    fs::create_dir(setup.path("folder")).unwrap();
    assert_eq!(setup.refuse_to_start().0, Some(1));
    assert!(setup.path("folder").is_dir());
}

#[test]
fn a_socket_in_a_folder_that_is_missing_is_an_error() {
    let (code, said) = Setup::services("")
        .addresses(&["unix:missing/vigie.sock"])
        .refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(&said, &["missing/vigie.sock", "No such file"]);
}

#[test]
fn an_address_in_use_is_an_error_that_names_it() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let setup = Setup::services("").addresses(&["unix:vigie.sock", &address]);
    let (code, said) = setup.refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(&said, &[&address]);
    assert!(
        !setup.path("vigie.sock").exists(),
        "what was bound before is cleaned up"
    );
}

#[test]
fn addresses_that_overlap_are_an_error_that_blames_no_other_process() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        return skip(
            "overlapping addresses are an error",
            "this machine has no IPv6",
        );
    }
    // Freed at once; another process could take it, and then the first address could not be bound.
    let free = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    for (first, second, why) in [
        ("0.0.0.0", "[::]", "[::] takes IPv4 too"),
        ("[::]", "127.0.0.1", "[::] takes IPv4 too"),
        ("127.0.0.1", "0.0.0.0", "0.0.0.0 takes every IPv4 address"),
    ] {
        let [first, second] = [first, second].map(|ip| format!("{ip}:{port}"));
        let setup = Setup::services("").addresses(&[&first, &second]);
        let (code, said) = setup.refuse_to_start();
        let error = format!(
            "not started: listening on {second}: Address already in use by {first} of server.address; {why}: leave one of the two out"
        );
        assert_eq!(code, Some(1));
        assert!(said.ends_with(&error), "{said}");
    }
}

#[test]
fn a_bad_file_is_an_error_with_its_place() {
    let (code, said) = Setup::services("web: {fil: a.txt}").refuse_to_start();
    assert_eq!(code, Some(1));
    assert_says(&said, &["config.yml:6:", "fil", "file"]);
}

#[test]
fn no_source_needs_to_be_up_at_the_start() {
    let vigie = Setup::services("web: {file: /missing/web.txt}").start();
    assert_eq!(
        (vigie.get("/readyz").status, vigie.list("web").status),
        (200, 502)
    );
}
