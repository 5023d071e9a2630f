//! Lines on standard error, which may be a closed pipe, a full disk or a reader that sleeps.

mod journal;
mod writer;

use std::io::IsTerminal;
use std::time::Duration;

use log::kv::{Key, Value, VisitSource};
use log::{Level, LevelFilter, Log, Metadata, Record};

use self::writer::Writer;
use crate::clock;
use crate::wording::count;

/// A pipe takes so many bytes in one piece (PIPE_BUF); longer lines are cut.
const LONGEST: usize = 4096;
/// How long the end of the process waits for its last lines.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How a log line is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: time, level, message.
    #[default]
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// The form of a line.
#[derive(Clone, Copy)]
struct Shape {
    style: Style,
    /// Whether the journal of systemd is to learn the level.
    for_journal: bool,
}

#[derive(Clone, Copy)]
enum Style {
    Plain,
    Coloured,
    Json,
}

/// Writes records from now on. A second call changes nothing.
pub fn start(level: LevelFilter, format: Format) {
    let style = match format {
        Format::Text if shows_colour() => Style::Coloured,
        Format::Text => Style::Plain,
        Format::Json => Style::Json,
    };
    let shape = Shape {
        style,
        for_journal: journal::is_listening(),
    };
    let tell_lost = move |lost| {
        let message = format!("{} lost", count(lost, "log line"));
        line(shape, Level::Warn, message, &[])
    };
    let writer = Box::leak(Box::new(Writer::new(tell_lost)));
    let logger = Box::leak(Box::new(Logger { shape, writer }));
    if log::set_logger(logger).is_ok() {
        log::set_max_level(level);
    }
}

/// Gives the last lines the time to be written, but not for long: who does not take them must not keep
/// the process from ending.
pub fn finish() {
    log::logger().flush();
}

/// Whether standard error is a terminal that shows colours, and nobody wants none
/// (<https://no-color.org>).
fn shows_colour() -> bool {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && set("NO_COLOR").is_none()
        && set("TERM").is_some_and(|term| term != "dumb")
}

struct Logger {
    shape: Shape,
    writer: &'static Writer,
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level() && metadata.target().starts_with("vigie")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut fields = Fields::default();
        // The visitor takes every field.
        let _ = record.key_values().visit(&mut fields);
        let message = record.args().to_string();
        self.writer
            .push(line(self.shape, record.level(), message, &fields.0));
    }

    fn flush(&self) {
        self.writer.flush(LAST_WORDS);
    }
}

fn line(shape: Shape, level: Level, message: String, fields: &[(String, String)]) -> String {
    let priority = match shape.for_journal {
        true => journal::priority(level),
        false => "",
    };
    let time = humantime::format_rfc3339_millis(clock::date()).to_string();
    let longest = LONGEST - priority.len();
    let text = |begin: String| cut(format!("{begin} {}", escaped(&message)), longest - 1) + "\n";
    let line = match shape.style {
        Style::Plain => text(format!("{time} {level:<5}")),
        Style::Coloured => {
            let colour = colour(level);
            text(format!(
                "\x1b[2m{time}\x1b[0m \x1b[{colour}m{level:<5}\x1b[0m"
            ))
        }
        Style::Json => {
            let line = json_line(&time, level, &cut(message.clone(), LONGEST * 3 / 4), fields);
            // Escaping can make six bytes of one.
            match line.len() <= longest {
                true => line,
                false => json_line(&time, level, &cut(message, LONGEST / 8), &[]),
            }
        }
    };
    format!("{priority}{line}")
}

/// The number of a colour (ECMA-48, section 8.3.117).
fn colour(level: Level) -> u8 {
    match level {
        Level::Error => 31,
        Level::Warn => 33,
        Level::Info => 32,
        Level::Debug => 36,
        Level::Trace => 35,
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

/// One record is one line, and nothing in it moves a cursor or turns the direction of writing.
fn escaped(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for c in message.chars() {
        match c {
            '\n' => line.push_str(" | "),
            '\'' | '"' | '\\' => line.push(c),
            c => line.extend(c.escape_debug()),
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

#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl<'kvs> VisitSource<'kvs> for Fields {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), log::kv::Error> {
        self.0.push((key.to_string(), cut(value.to_string(), 256)));
        Ok(())
    }
}
