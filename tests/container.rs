//! The container image, built and run for real.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempDir};

use crate::support::{Connection, connect_to_socket, only, skip, wait_until};

const IMAGE: &str = "localhost/vigie-under-test";

/// What a container may do at most: nothing but run.
const BOUNDS: [&str; 10] = [
    "--runtime=runc",
    "--network=none",
    "--read-only",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--memory=16m",
    "--pids-limit=32",
    "--ulimit=nofile=1024:1024",
    "--ulimit=nproc=1024:1024",
    "--detach",
];

/// Runs a command that must succeed; gives what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn podman(arguments: &[&str]) -> String {
    run(Command::new("podman").args(arguments))
}

/// A container that runs; removed when it is dropped.
struct Container(String);

impl Container {
    /// With a folder as its configuration.
    fn start(folder: &Path) -> Self {
        let volume = format!("--volume={}:/etc/vigie", folder.display());
        Self(podman(&[&["run", &volume], &BOUNDS[..], &[IMAGE]].concat()))
    }

    fn inspect(&self, what: &str) -> String {
        podman(&["inspect", "--format", what, &self.0])
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = Command::new("podman")
            .args(["rm", "--force", "--time=0", &self.0])
            .output();
    }
}

/// A configuration that anybody may read, in a folder where anybody may open a socket.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(folder.path().join("one.txt"), "10.0.0.1\n").unwrap();
    write_services(&folder, "one: {file: one.txt}");
    folder
}

fn write_services(folder: &TempDir, services: &str) {
    let server = "server: {address: \"unix:vigie.sock\", socket_mode: \"0666\"}";
    let config = format!("{server}\nservices: {{{services}}}\n");
    fs::write(folder.path().join("config.yml"), config).unwrap();
}

fn ask(folder: &TempDir, service: &str) -> Option<(u16, String)> {
    let stream = connect_to_socket(&folder.path().join("vigie.sock")).ok()?;
    let target = format!("/services?service_name={service}");
    let answer = Connection::over(stream).ask("GET", &target, &[]);
    let (status, body) = answer.summary();
    Some((status, body.to_owned()))
}

/// Whether containers can be made and run here.
fn podman_runs() -> bool {
    let info = Command::new("podman").arg("info").output();
    info.is_ok_and(|output| output.status.success())
}

/// This program with the head of one for another machine. It is only copied.
fn for_riscv64() -> NamedTempFile {
    let mut bytes = fs::read(env!("CARGO_BIN_EXE_vigie")).unwrap();
    bytes[18..20].copy_from_slice(&243_u16.to_le_bytes());
    let program = NamedTempFile::new().unwrap();
    fs::write(program.path(), bytes).unwrap();
    program
}

#[test]
fn no_image_is_made_of_what_is_no_program() {
    if !podman_runs() {
        return skip("no image of what is no program", "podman does not run here");
    }
    let built = Command::new("config/container/build")
        .arg(format!("{IMAGE}-never"))
        .env("VIGIE", "Cargo.toml")
        .output()
        .unwrap();
    assert_eq!(built.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&built.stderr),
        "Cargo.toml is no program for x86_64, aarch64 or riscv64: name one with VIGIE=, or let config/container/build build it.\n"
    );
}

/// The image of another machine is made in the same test: engines keep layers, and would give one the
/// name of the other.
#[test]
fn the_image_is_small_and_serves_without_any_right() {
    if !podman_runs() {
        return skip("the image serves", "podman does not run here");
    }
    let of = "--format={{.Os}}/{{.Architecture}} {{.Config.User}}";
    let other = format!("{IMAGE}-elsewhere");
    let program = for_riscv64();
    run(Command::new("config/container/build")
        .arg(&other)
        .env("VIGIE", program.path()));
    assert_eq!(
        podman(&["inspect", of, &other]),
        "linux/riscv64 65532:65532"
    );
    podman(&["rmi", &other]);

    run(Command::new("config/container/build").arg(IMAGE));
    let here = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    assert_eq!(
        podman(&["inspect", of, IMAGE]),
        format!("linux/{here} 65532:65532")
    );
    let size: u64 = podman(&["inspect", "--format={{.Size}}", IMAGE])
        .parse()
        .unwrap();
    assert!(size <= 6_000_000, "{size}");

    let folder = folder();
    let container = Container::start(folder.path());
    wait_until("the container answers", || ask(&folder, "one").is_some());
    assert_eq!(ask(&folder, "one"), Some((200, only("10.0.0.1"))));
    podman(&["healthcheck", "run", &container.0]);

    write_services(&folder, "one: {file: one.txt}, two: {file: one.txt}");
    podman(&["kill", "--signal=HUP", &container.0]);
    wait_until("it is reloaded", || {
        ask(&folder, "two") == Some((200, only("10.0.0.1")))
    });

    let begin = Instant::now();
    podman(&["kill", "--signal=TERM", &container.0]);
    podman(&["wait", "--interval=10ms", &container.0]);
    // Sooner than podman would kill it.
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(
        container.inspect("{{.State.ExitCode}} {{.State.OOMKilled}}"),
        "0 false"
    );
}
