//! A service as a running server answers for it.

use std::time::Duration;

use miniserde::{Deserialize, json};

use super::problem::Problem;
use crate::cli::ask::{Answer, ask};
use crate::cli::output;
use crate::cli::server::Server;
use crate::endpoint::Endpoint;
use crate::format;
use crate::wording::shorten;

/// A server's own sources may take long; a person would not wait longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// An error of a server is shown to this many characters.
const LONGEST_ERROR: usize = 1000;

/// The body of every refusal.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// Asks a server for a service, without a name for its default one. `who` is what errors about the
/// service begin with.
pub(super) fn read(
    server: &Server,
    name: Option<&str>,
    who: &str,
) -> Result<Vec<Endpoint>, Problem> {
    let about = |reason: &str| format!("{who}: {server}: {reason}");
    let answer = ask(server, &target(name), PATIENCE, "correct --server")
        .map_err(|reason| Problem::Failed(about(&reason)))?;
    if let Some((seconds, reason)) = &answer.stale {
        let stands_in = format!("the last good list stands in, {seconds} s past its ttl: {reason}");
        output::complain(&format!("vigie get: {server}: {stands_in}"));
    }
    if answer.status == 200 {
        let no_list = "the answer is no list of endpoints: name the address of a Vigie";
        return endpoints(&answer.body).ok_or_else(|| Problem::Failed(about(no_list)));
    }
    let Some(sentence) = sentence(&answer) else {
        let other = "name the address of a Vigie";
        return Err(Problem::Failed(about(&format!(
            "it answered {}: {other}",
            answer.status
        ))));
    };
    // It names the service itself where it is about one.
    let message = format!("vigie get: {server}: {sentence}");
    Err(match (answer.status, name) {
        (404, _) | (400, None) => Problem::Unknown(message),
        _ => Problem::Failed(message),
    })
}

fn target(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("/services?service_name={}", percent_encode(name)),
        None => "/services".into(),
    }
}

/// Everything but unreserved characters is escaped (RFC 3986, section 2.3).
fn percent_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// What the server says is wrong, safe to show.
fn sentence(answer: &Answer) -> Option<String> {
    let text = std::str::from_utf8(&answer.body).ok()?;
    let refusal: Refusal = json::from_str(text).ok()?;
    Some(shorten(&refusal.error, LONGEST_ERROR))
}

/// The list; `None` when anything in it is no endpoint.
fn endpoints(body: &[u8]) -> Option<Vec<Endpoint>> {
    format::json::parse(std::str::from_utf8(body).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_percent_encoded() {
        assert_eq!(
            target(Some("sp ace/ü&=+.~")),
            "/services?service_name=sp%20ace%2F%C3%BC%26%3D%2B.~"
        );
        assert_eq!(target(None), "/services");
    }

    #[test]
    fn a_list_is_taken_whole_or_not_at_all() {
        let good =
            br#"[{"ip": "::1", "port": 1, "load_balancing_weight": 4294967295, "more": [1]}]"#;
        assert_eq!(
            endpoints(good).map(|list| list.iter().map(ToString::to_string).collect()),
            Some(vec!["[::1]:1".to_owned()])
        );
        assert_eq!(endpoints(b"[]"), Some(Vec::new()));
        for bad in [
            &b"[{\"ip\": \"::1\", \"port\": 0, \"load_balancing_weight\": 1}]"[..],
            b"[{\"ip\": \"<b>\", \"port\": 1, \"load_balancing_weight\": 1}]",
            b"[{\"ip\": \"::1\", \"port\": 65536, \"load_balancing_weight\": 1}]",
            b"[{\"ip\": \"::1\", \"port\": 1}]",
            b"[{}]",
            b"[",
            b"",
            b"\xff",
            b"{}",
        ] {
            assert_eq!(endpoints(bad), None, "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
