//! `vigie serve` as a child process, with its configuration, its lists and its log.

use std::fs;
use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use tempfile::TempDir;

use super::log::Log;
use super::{Answer, Connection, PATIENCE, wait_until, write_at_rest};

/// A folder with a configuration and lists, from which a server starts.
pub(crate) struct Setup {
    folder: TempDir,
    addresses: Vec<String>,
    server: String,
    top: String,
    services: String,
    shell: String,
    passed: Option<OwnedFd>,
}

impl Setup {
    /// The lines under `services:`; files that they name lie in the folder.
    pub(crate) fn services(lines: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            addresses: vec!["127.0.0.1:0".into()],
            server: String::new(),
            top: String::new(),
            services: lines.into(),
            shell: String::new(),
            passed: None,
        }
    }

    /// The lines under `server:`.
    pub(crate) fn server(self, lines: &str) -> Self {
        Self {
            server: lines.into(),
            ..self
        }
    }

    /// The lines beside `server:` and `services:`.
    pub(crate) fn top(self, lines: &str) -> Self {
        Self {
            top: lines.into(),
            ..self
        }
    }

    /// These addresses instead of a free port of 127.0.0.1.
    pub(crate) fn addresses(self, addresses: &[&str]) -> Self {
        Self {
            addresses: addresses.iter().map(ToString::to_string).collect(),
            ..self
        }
    }

    /// A command of the shell that runs in the server's process before it, `ulimit` say.
    pub(crate) fn after(self, shell: &str) -> Self {
        Self {
            shell: shell.into(),
            ..self
        }
    }

    /// Passes a socket on to the server, as systemd does (sd_listen_fds(3)).
    pub(crate) fn passing(self, socket: impl Into<OwnedFd>) -> Self {
        Self {
            passed: Some(socket.into()),
            shell: "exec 3<&0 </dev/null; export LISTEN_FDS=1 LISTEN_PID=$$".into(),
            ..self
        }
    }

    /// Writes a list, or any other file, in the folder.
    pub(crate) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(name, content);
        self
    }

    /// Replaces a file at once, so that no reader meets half of it, by one that is not new.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        // Another may write another one at the same time.
        let new = self.path(&format!("{name}.new"));
        write_at_rest(&new, content);
        fs::rename(new, self.path(name)).unwrap();
    }

    /// The same with a file that is new.
    pub(crate) fn write_now(&self, name: &str, content: impl AsRef<[u8]>) {
        let new = self.path(&format!("{name}.new"));
        fs::write(&new, content).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `config.yml` with other services than at the start.
    pub(crate) fn write_services(&self, lines: &str) {
        self.write_services_and(&self.top, lines);
    }

    /// The same with other lines beside `server:` and `services:` too.
    pub(crate) fn write_services_and(&self, top: &str, lines: &str) {
        self.write_config(&self.server, top, lines);
    }

    /// Writes `config.yml` with other lines under `server:`, beside it, and under `services:`.
    pub(crate) fn write_config(&self, server: &str, top: &str, services: &str) {
        let addresses = match &self.addresses[..] {
            [one] => format!("\"{one}\""),
            several => format!("[\"{}\"]", several.join("\", \"")),
        };
        let [server, services] = [server, services].map(|lines| lines.replace('\n', "\n  "));
        let services = if services.trim().is_empty() {
            " {}"
        } else {
            &format!("\n  {services}")
        };
        let text =
            format!("server:\n  address: {addresses}\n  {server}\n{top}\nservices:{services}\n");
        self.write("config.yml", text);
    }

    /// Starts the server and waits until it listens.
    pub(crate) fn start(self) -> Vigie {
        self.start_logging_to(Stdio::piped())
    }

    /// Starts the server with another standard error; its log can be read only from a pipe of our own.
    pub(crate) fn start_logging_to(self, stderr: Stdio) -> Vigie {
        self.write_services(&self.services);
        self.run(stderr)
    }

    /// Starts the server with this configuration, but at a free port.
    pub(crate) fn start_as(self, config: &str) -> Vigie {
        let address = "127.0.0.1:8080";
        let config = match config.contains(address) {
            true => config.replace(address, "127.0.0.1:0"),
            false => format!("server: {{address: 127.0.0.1:0}}\n{config}"),
        };
        self.write("config.yml", config);
        self.run(Stdio::piped())
    }

    /// Starts the server with a configuration that lies elsewhere, and does not wait until it has read it. Its first
    /// address is a unix socket.
    pub(crate) fn start_later(self, config: &Path) -> Vigie {
        symlink(config, self.path("config.yml")).unwrap();
        self.launch(Stdio::piped())
    }

    fn run(self, stderr: Stdio) -> Vigie {
        let mut vigie = self.launch(stderr);
        match vigie.place {
            Place::Port(_) => vigie.place = Place::Port(vigie.log.wait_for_port("127.0.0.1")),
            Place::Socket(_) => wait_until("the server takes connections", || vigie.listens()),
        }
        vigie
    }

    fn launch(self, stderr: Stdio) -> Vigie {
        let mut child = self.spawn(stderr);
        let log = Arc::new(Log::default());
        if let Some(stderr) = child.stderr.take() {
            let log = log.clone();
            thread::spawn(move || log.follow(stderr));
        }
        let place = match self.addresses[0].strip_prefix("unix:") {
            Some(path) => Place::Socket(self.path(path)),
            None => Place::Port(0),
        };
        Vigie {
            setup: self,
            child,
            log,
            place,
            ended: false,
        }
    }

    /// Starts a server that must end by itself; gives its exit code and what it said.
    pub(crate) fn refuse_to_start(&self) -> (Option<i32>, String) {
        self.watch(|child, log| {
            let code = wait_for_exit(child);
            (code, log.wait_for_end())
        })
    }

    /// Starts a server that may be unable to; gives its exit code if it was, and what it said until then or until it
    /// had started, which ends it too.
    pub(crate) fn try_to_start(&self) -> (Option<i32>, String) {
        self.watch(|child, log| {
            let said = log.wait_for_start();
            if said.contains(Log::STARTED) {
                child.kill().unwrap();
            }
            (wait_for_exit(child), said)
        })
    }

    /// Starts a server whose log is read until `end` has seen its end.
    fn watch<T>(&self, end: impl FnOnce(&mut Child, &Log) -> T) -> T {
        self.write_services(&self.services);
        let mut child = self.spawn(Stdio::piped());
        let log = Log::default();
        let stderr = child.stderr.take().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| log.follow(stderr));
            end(&mut child, &log)
        })
    }

    fn spawn(&self, stderr: Stdio) -> Child {
        let passed = self.passed.as_ref();
        let stdin = passed.map_or_else(Stdio::null, |socket| socket.try_clone().unwrap().into());
        Command::new("sh")
            .args(["-c", &format!("{}\nexec \"$@\"", self.shell), "sh"])
            .args([env!("CARGO_BIN_EXE_vigie"), "serve", "-c"])
            .arg(self.path("config.yml"))
            .current_dir("/")
            .env_remove("VIGIE_CONFIG_PATH")
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .unwrap()
    }
}

/// Where a server is reached.
enum Place {
    Port(u16),
    Socket(PathBuf),
}

impl Place {
    fn connect(&self) -> io::Result<TcpStream> {
        match self {
            Self::Port(port) => TcpStream::connect(("127.0.0.1", *port)),
            Self::Socket(path) => connect_to_socket(path),
        }
    }
}

/// A running server; killed when it is dropped, which fails the test when it had died or panicked before.
pub(crate) struct Vigie {
    pub(crate) setup: Setup,
    pub(crate) log: Arc<Log>,
    child: Child,
    place: Place,
    ended: bool,
}

impl Vigie {
    /// `GET` of a target.
    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[])
    }

    /// `GET` of the list of a service, whose name stands as it must in a query.
    pub(crate) fn list(&self, service: &str) -> Answer {
        self.get(&format!("/services?service_name={service}"))
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        self.connect().ask(method, target, headers)
    }

    /// `POST /reload`.
    pub(crate) fn reload(&self) -> Answer {
        self.ask("POST", "/reload", &[])
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::over(self.place.connect().unwrap())
    }

    /// A connection to a unix socket in the folder.
    pub(crate) fn connect_to_socket(&self, name: &str) -> Connection {
        Connection::over(connect_to_socket(&self.setup.path(name)).unwrap())
    }

    /// Sends bytes on a connection of their own; gives every answer until the server closes it.
    pub(crate) fn tell(&self, bytes: &[u8]) -> Vec<Answer> {
        self.connect().send(bytes).receive_all()
    }

    /// The port of 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        match self.place {
            Place::Port(port) => port,
            Place::Socket(_) => panic!("a server on a unix socket has no port"),
        }
    }

    /// Whether new connections are taken.
    pub(crate) fn listens(&self) -> bool {
        self.place.connect().is_ok()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The exit code of a server that was told to end.
    pub(crate) fn wait_for_exit(&mut self) -> Option<i32> {
        self.ended = true;
        wait_for_exit(&mut self.child)
    }

    /// Ends the server by SIGTERM; gives its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        self.wait_for_exit()
    }

    /// How many threads, or open files, the process has: `task` or `fd`.
    pub(crate) fn count(&self, what: &str) -> usize {
        fs::read_dir(self.proc(what)).unwrap().count()
    }

    /// How many threads of this name the process has.
    pub(crate) fn threads(&self, name: &str) -> usize {
        let tasks = fs::read_dir(self.proc("task")).unwrap();
        // One that has ended meanwhile has no name.
        let names =
            tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
        names.filter(|found| found.trim_end() == name).count()
    }

    /// How many threads of this name there have been for so long.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn threads_since(&self, name: &str, age: Duration) -> usize {
        let up = fs::read_to_string("/proc/uptime").unwrap();
        let up: f64 = up.split(' ').next().unwrap().parse().unwrap();
        let begun = |task: io::Result<fs::DirEntry>| {
            // One that has ended meanwhile is not there.
            let stat = fs::read_to_string(task.ok()?.path().join("stat")).ok()?;
            let (named, fields) = stat.rsplit_once(") ")?;
            let ticks: f64 = fields.split(' ').nth(19)?.parse().ok()?;
            let is_named = named.ends_with(&format!("({name}"));
            is_named.then(|| ticks / rustix::param::clock_ticks_per_second() as f64)
        };
        let tasks = fs::read_dir(self.proc("task")).unwrap();
        let old = tasks
            .filter_map(begun)
            .filter(|begun| up - begun > age.as_secs_f64());
        old.count()
    }

    /// What `/proc/PID/status` says under a key.
    pub(crate) fn status(&self, key: &str) -> String {
        let status = fs::read_to_string(self.proc("status")).unwrap();
        let mut lines = status.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(found, _)| *found == key).unwrap();
        value.trim().to_owned()
    }

    /// How long its main thread was ready to run, and no processor was free; `None` when it is gone.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn held_up(&self) -> Option<Duration> {
        let text = fs::read_to_string(self.proc("schedstat")).ok()?;
        let nanoseconds = text.split(' ').nth(1)?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    }

    /// How much time of processors it has taken, to a hundredth of a second.
    pub(crate) fn busy(&self) -> Duration {
        let stat = fs::read_to_string(self.proc("stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let times = fields.split(' ').skip(11).take(2);
        let ticks: u64 = times.map(|ticks| ticks.parse::<u64>().unwrap()).sum();
        Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second())
    }

    /// From now on it may open no file more, but what it has open stays; gives the limit before.
    pub(crate) fn allow_no_more_files(&self) -> Rlimit {
        let files = fs::read_dir(self.proc("fd")).unwrap();
        let taken: Vec<u64> = files
            .filter_map(|file| file.unwrap().file_name().to_str()?.parse().ok())
            .collect();
        // A new one would get the lowest number that is free.
        let lowest = (0..).find(|number| !taken.contains(number));
        self.limit_files(Rlimit {
            current: lowest,
            maximum: getrlimit(Resource::Nofile).maximum,
        })
    }

    /// Sets the limit of open files; gives the one before.
    pub(crate) fn limit_files(&self, limit: Rlimit) -> Rlimit {
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A file that tells about the process.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.pid().to_string()).join(name)
    }
}

impl Drop for Vigie {
    fn drop(&mut self) {
        let died = !self.ended && !matches!(self.child.try_wait(), Ok(None));
        let _ = self.child.kill();
        let _ = self.child.wait();
        if !thread::panicking() {
            assert!(!died, "the server died: {}", self.log.text());
            assert!(
                !self.log.text().contains("panicked at"),
                "the server panicked: {}",
                self.log.text()
            );
        }
    }
}

fn wait_for_exit(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    // An exit is no event of a condition variable; a wait in a thread of its own could not be given up.
    while begin.elapsed() < PATIENCE {
        match child.try_wait().unwrap() {
            Some(status) => return status.code(),
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
    let _ = child.kill();
    panic!("the server did not end within {PATIENCE:?}");
}

/// The calls that tests make are the same for both kinds of socket.
pub(crate) fn connect_to_socket(path: &Path) -> io::Result<TcpStream> {
    Ok(TcpStream::from(OwnedFd::from(UnixStream::connect(path)?)))
}

/// A connection to one of the server's addresses that is not the first.
pub(crate) fn connect_to(host: &str, port: u16) -> Connection {
    Connection::over(TcpStream::connect((host, port)).unwrap())
}
