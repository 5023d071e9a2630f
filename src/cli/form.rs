//! How endpoints are printed.

use std::process::ExitCode;

use super::output;
use crate::endpoint::Endpoint;
use crate::format::json;
use crate::wording::{quote, suggest};

/// A form of a list of endpoints.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    Table,
    Json,
    Lines,
}

impl Form {
    const KNOWN: [(&str, Self); 3] = [
        ("table", Self::Table),
        ("json", Self::Json),
        ("lines", Self::Lines),
    ];

    /// Their words.
    pub(super) fn names() -> [&'static str; 3] {
        Self::KNOWN.map(|(name, _)| name)
    }

    /// The form that a word names; an error names those that are known.
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        let known = Self::KNOWN.iter().find(|(name, _)| *name == word);
        known.map(|(_, form)| *form).ok_or_else(|| {
            let right = suggest(word, &Self::names());
            format!("unknown format {}: {right}", quote(word))
        })
    }

    /// Writes them to standard output.
    pub(super) fn print(self, endpoints: &[Endpoint]) -> ExitCode {
        let bytes = match self {
            Self::Table if endpoints.is_empty() => {
                output::complain("no endpoints");
                return ExitCode::SUCCESS;
            }
            Self::Table => table(endpoints).into_bytes(),
            Self::Json => json::render(endpoints),
            Self::Lines => lines(endpoints).into_bytes(),
        };
        output::print(&bytes)
    }
}

/// `ADDRESS:PORT WEIGHT`, one endpoint a line.
fn lines(endpoints: &[Endpoint]) -> String {
    endpoints
        .iter()
        .map(|endpoint| format!("{endpoint} {}\n", endpoint.weight))
        .collect()
}

/// Aligned columns under their names.
fn table(endpoints: &[Endpoint]) -> String {
    let widest = endpoints
        .iter()
        .map(|endpoint| endpoint.address.as_str().len())
        .max()
        .unwrap_or_default()
        .max("ADDRESS".len());
    let row = |address: &str, port: &str, weight: &str| {
        format!("{address:widest$}  {port:>5}  {weight:>10}\n")
    };
    let head = row("ADDRESS", "PORT", "WEIGHT");
    let rows = endpoints.iter().map(|endpoint| {
        row(
            endpoint.address.as_str(),
            &endpoint.port.to_string(),
            &endpoint.weight.to_string(),
        )
    });
    std::iter::once(head).chain(rows).collect()
}
