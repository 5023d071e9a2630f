//! A real browser: headless Chromium, driven through chromedriver (<https://www.w3.org/TR/webdriver2/>).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use miniserde::json::{self, Value};

use super::{skip, wait_until};

/// One browser at a time: each of them is heavy.
static ONE: Mutex<()> = Mutex::new(());

/// Keys beside letters (WebDriver, section 17.4.2).
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const BLANK: &str = " ";

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    _stdout: BufReader<ChildStdout>,
    session: String,
    _one: MutexGuard<'static, ()>,
}

/// So often it is started before that counts as a failure.
const ATTEMPTS: usize = 20;

impl Browser {
    /// Starts one; `None`, with a word about it, where there is none.
    pub(crate) fn start(promise: &str) -> Option<Self> {
        let mut attempts = 0;
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // It takes a free port of IPv4 and ends when that of IPv6 is taken, by another test say.
        let (driver, stdout, port) = loop {
            let mut command = Command::new("chromedriver");
            command.arg("--port=0").stdin(Stdio::null());
            let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
            let mut driver = match started {
                Ok(driver) => driver,
                Err(error) => {
                    skip(promise, &format!("chromedriver: {error}"));
                    return None;
                }
            };
            let mut stdout = BufReader::new(driver.stdout.take().unwrap());
            let port = port(&mut stdout);
            attempts += 1;
            match port {
                Some(port) => break (driver, stdout, port),
                None => assert!(
                    attempts < ATTEMPTS,
                    "chromedriver does not start: {:?}",
                    driver.wait()
                ),
            }
        };
        let mut browser = Self {
            driver,
            _stdout: stdout,
            session: format!("http://127.0.0.1:{port}/session"),
            _one: one,
        };
        let answer = browser.post(
            "",
            r#"{"capabilities":{"alwaysMatch":{"goog:chromeOptions":{"args":["--headless=new","--no-sandbox",
            "--disable-gpu","--disable-dev-shm-usage"]},"goog:loggingPrefs":{"browser":"ALL","performance":"ALL"}}}}"#,
        );
        let Value::Object(session) = answer else {
            panic!("no session: {}", json::to_string(&answer))
        };
        let Some(Value::String(id)) = session.get("sessionId") else {
            panic!("no session: {}", json::to_string(&session))
        };
        browser.session = format!("{}/{id}", browser.session);
        Some(browser)
    }

    pub(crate) fn open(&self, url: &str) {
        self.post("/url", &format!("{{\"url\":{}}}", json::to_string(url)));
    }

    /// What the body of a function gives, as text.
    pub(crate) fn run(&self, script: &str) -> String {
        text(self.execute("sync", script))
    }

    /// The same of an asynchronous one, which hands its result to the last of its arguments.
    pub(crate) fn run_async(&self, script: &str) -> String {
        text(self.execute("async", script))
    }

    /// Waits until an expression holds.
    pub(crate) fn wait_for(&self, expression: &str) {
        let script = format!("return String(Boolean({expression}))");
        wait_until(expression, || self.run(&script) == "true");
    }

    /// Types keys into whatever has the focus.
    pub(crate) fn press(&self, keys: &str) {
        let stroke = |key: char| {
            let value = json::to_string(&key.to_string());
            ["keyDown", "keyUp"].map(|kind| format!("{{\"type\":\"{kind}\",\"value\":{value}}}"))
        };
        let strokes: Vec<_> = keys.chars().flat_map(stroke).collect();
        let actions = strokes.join(",");
        self.post(
            "/actions",
            &format!(
                "{{\"actions\":[{{\"type\":\"key\",\"id\":\"keyboard\",\"actions\":[{actions}]}}]}}"
            ),
        );
    }

    /// A command of the DevTools protocol; its parameters are an object in JSON.
    pub(crate) fn command(&self, name: &str, parameters: &str) {
        self.post(
            "/goog/cdp/execute",
            &format!("{{\"cmd\":\"{name}\",\"params\":{parameters}}}"),
        );
    }

    /// What the browser has logged since it was last asked: `browser` for its console, `performance` for its traffic.
    pub(crate) fn log(&self, kind: &str) -> Vec<String> {
        let Value::Array(entries) = self.post("/se/log", &format!("{{\"type\":\"{kind}\"}}"))
        else {
            panic!("no log of {kind}")
        };
        entries.iter().map(json::to_string).collect()
    }

    fn execute(&self, how: &str, script: &str) -> Value {
        let script = json::to_string(script);
        self.post(
            &format!("/execute/{how}"),
            &format!("{{\"script\":{script},\"args\":[]}}"),
        )
    }

    /// The `value` of an answer to a POST.
    fn post(&self, path: &str, body: &str) -> Value {
        // chromedriver writes its header in a form that the sockets of these tests do not take.
        let mut curl = Command::new("curl")
            .args(["-sS", "--max-time", "60", "--data-binary", "@-"])
            .arg(format!("{}{path}", self.session))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("curl must be installed: apt-get install curl");
        curl.stdin
            .take()
            .unwrap()
            .write_all(body.as_bytes())
            .unwrap();
        let output = curl.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let Ok(Value::Object(mut answer)) = json::from_str(&text) else {
            panic!("{path}: no answer: {text:?}")
        };
        let value = answer.remove("value").unwrap_or(Value::Null);
        if let Value::Object(error) = &value {
            assert!(!error.contains_key("stacktrace"), "{path}: {text}");
        }
        value
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The end of its session ends the browser; without that it would outlive the driver.
        let _ = Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "--max-time",
                "20",
                "-X",
                "DELETE",
                &self.session,
            ])
            .status();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port that it says; `None` when it ends without one.
fn port(stdout: &mut impl BufRead) -> Option<u16> {
    let mut lines = stdout.lines().map(Result::unwrap);
    lines.find_map(|line| {
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    })
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => panic!("no text: {}", json::to_string(&other)),
    }
}

/// The script of axe-core, which looks for what keeps people from using a page; `None`, with a word about it, where it
/// is not installed.
pub(crate) fn axe(promise: &str) -> Option<String> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = target.join("../npm/node_modules/axe-core/axe.min.js");
    let script = fs::read_to_string(path);
    if script.is_err() {
        skip(promise, "axe-core is not installed: tests/run does that");
    }
    script.ok()
}
