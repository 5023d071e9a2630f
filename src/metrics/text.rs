//! The text format 0.0.4 of Prometheus.

use std::fmt::{Display, Write};

use super::Histogram;

/// The media type of the text.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What a family of samples is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It grows and shrinks.
    Gauge,
    /// Durations in buckets.
    Histogram,
}

/// Metrics as text.
#[derive(Debug, Default)]
pub struct Text(String);

/// A family in the text. Its samples are to follow each other, each set of labels once.
#[derive(Debug)]
pub struct Family<'a> {
    text: &'a mut String,
    name: &'static str,
}

impl Text {
    /// An empty text with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Begins a family. The help is one line without backslashes.
    pub fn family(&mut self, kind: Kind, name: &'static str, help: &str) -> Family<'_> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        write(
            &mut self.0,
            format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"),
        );
        Family {
            text: &mut self.0,
            name,
        }
    }

    /// A gauge without labels; nothing where there is no value.
    pub fn gauge(&mut self, name: &'static str, help: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.family(Kind::Gauge, name, help).sample(&[], value);
        }
    }

    /// The whole text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Family<'_> {
    /// A sample with its labels.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.line("", labels, None, value);
    }

    /// The samples of a histogram of durations, in seconds.
    pub fn histogram(&mut self, labels: &[(&str, &str)], histogram: &Histogram) {
        for (bound, count) in histogram.cumulated() {
            self.line("_bucket", labels, Some(&bound), count);
        }
        self.line("_bucket", labels, Some(&"+Inf"), histogram.count());
        self.line("_sum", labels, None, histogram.sum().as_secs_f64());
        self.line("_count", labels, None, histogram.count());
    }

    fn line(
        &mut self,
        suffix: &str,
        labels: &[(&str, &str)],
        bound: Option<&dyn Display>,
        value: impl Display,
    ) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        let mut mark = '{';
        for (name, value) in labels {
            write(self.text, format_args!("{mark}{name}=\""));
            escape(self.text, value);
            self.text.push('"');
            mark = ',';
        }
        if let Some(bound) = bound {
            write(self.text, format_args!("{mark}le=\"{bound}\""));
            mark = ',';
        }
        self.text.push_str(if mark == ',' { "} " } else { " " });
        write(self.text, format_args!("{value}\n"));
    }
}

fn write(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = text.write_fmt(arguments);
}

fn escape(text: &mut String, value: &str) {
    let mut rest = value;
    while let Some(at) = rest.find(['\\', '"', '\n']) {
        let (plain, special) = rest.split_at(at);
        text.push_str(plain);
        text.push_str(match special.as_bytes().first() {
            Some(b'\n') => "\\n",
            Some(b'"') => "\\\"",
            _ => "\\\\",
        });
        rest = special.get(1..).unwrap_or_default();
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn label_values_are_escaped() {
        let mut text = Text::default();
        let mut family = text.family(Kind::Gauge, "a", "One.");
        family.sample(&[("x", "\\ \" \n ü"), ("y", "\n")], 1);
        family.sample(&[("x", ""), ("y", "{}")], 0.5);
        assert_eq!(
            text.into_string(),
            "# HELP a One.\n# TYPE a gauge\na{x=\"\\\\ \\\" \\n ü\",y=\"\\n\"} 1\na{x=\"\",y=\"{}\"} 0.5\n"
        );
    }

    #[test]
    fn a_histogram_ends_with_its_sum_and_count() {
        let mut histogram = Histogram::default();
        histogram.observe(Duration::from_millis(1500));
        let mut text = Text::default();
        let mut family = text.family(Kind::Histogram, "d", "Time.");
        family.histogram(&[("x", "y")], &histogram);
        let text = text.into_string();
        let (begin, end) = text.split_at(text.find("d_bucket{x=\"y\",le=\"1\"}").unwrap());
        assert!(
            begin.contains("\nd_bucket{x=\"y\",le=\"0.001\"} 0\n")
                && begin.contains("le=\"0.0025\"} 0")
        );
        assert_eq!(
            end,
            "d_bucket{x=\"y\",le=\"1\"} 0\nd_bucket{x=\"y\",le=\"2.5\"} 1\nd_bucket{x=\"y\",le=\"5\"} 1\n\
             d_bucket{x=\"y\",le=\"10\"} 1\nd_bucket{x=\"y\",le=\"+Inf\"} 1\nd_sum{x=\"y\"} 1.5\nd_count{x=\"y\"} 1\n"
        );
    }
}
