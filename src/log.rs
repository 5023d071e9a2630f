//! Lines on standard error, which may be a closed pipe, a full disk or a reader that sleeps.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use log::kv::{Key, Value, VisitSource};
use log::{Level, LevelFilter, Log, Metadata, Record};
use rustix::event::{PollFd, PollFlags, poll};

use crate::clock;

/// A pipe that is writable takes so many bytes at once (PIPE_BUF); longer lines are cut.
const LONGEST: usize = 4096;

/// How a log line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: time, level, message.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// Writes records from now on. A second call changes nothing.
pub fn start(level: LevelFilter, format: Format) {
    let logger = Box::leak(Box::new(Logger {
        format,
        lost: AtomicU64::new(0),
    }));
    if log::set_logger(logger).is_ok() {
        log::set_max_level(level);
    }
}

struct Logger {
    format: Format,
    /// Lines that standard error did not take.
    lost: AtomicU64,
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level() && metadata.target().starts_with("vigie")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0
            && !write(&self.line(
                Level::Warn,
                &format_args!("{lost} log lines were lost"),
                &[],
            ))
        {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
        let mut fields = Fields::default();
        // The visitor takes every field.
        let _ = record.key_values().visit(&mut fields);
        if !write(&self.line(record.level(), record.args(), &fields.0)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}

impl Logger {
    fn line(
        &self,
        level: Level,
        message: &fmt::Arguments<'_>,
        fields: &[(String, String)],
    ) -> String {
        let time = humantime::format_rfc3339_millis(clock::date()).to_string();
        let message = message.to_string();
        match self.format {
            Format::Text => {
                cut(
                    format!("{time} {level:<5} {}", escaped(&message)),
                    LONGEST - 1,
                ) + "\n"
            }
            Format::Json => {
                let line = json_line(&time, level, &cut(message.clone(), LONGEST * 3 / 4), fields);
                // Escaping can make six bytes of one.
                match line.len() <= LONGEST {
                    true => line,
                    false => json_line(&time, level, &cut(message, LONGEST / 8), &[]),
                }
            }
        }
    }
}

fn json_line(time: &str, level: Level, message: &str, fields: &[(String, String)]) -> String {
    let level = level.as_str().to_lowercase();
    let mut line = format!(
        "{{\"time\":{},\"level\":{},\"message\":{}",
        json(time),
        json(&level),
        json(message)
    );
    for (key, value) in fields {
        line.extend([",", &json(key), ":", &json(value)]);
    }
    line + "}\n"
}

fn json(text: &str) -> String {
    miniserde::json::to_string(text)
}

/// One record is one line, and moves no cursor.
fn escaped(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        match c {
            '\n' => line.push_str(" | "),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line
}

fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest - '…'.len_utf8()));
        text.push('…');
    }
    text
}

/// Writes a line if that neither fails nor waits: the server goes on without its log.
fn write(line: &str) -> bool {
    let stderr = std::io::stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let writable = poll(&mut ready, Some(&now)).is_ok_and(|count| count > 0);
    writable && stderr.lock().write_all(line.as_bytes()).is_ok()
}

#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), log::kv::Error> {
        self.0.push((key.to_string(), cut(value.to_string(), 256)));
        Ok(())
    }
}
