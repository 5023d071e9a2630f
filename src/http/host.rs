//! Authorities, `HOST[:PORT]` (RFC 3986, section 3.2), and where a browser's request comes from.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::head::Head;

/// Whether a text is a host with or without a port; a user name in it is not allowed (RFC 9110, section 4.2.4).
pub(super) fn is_authority(text: &str) -> bool {
    let end = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((ip, _)) if ip.parse::<Ipv6Addr>().is_ok() => ip.len() + 2,
        Some(_) => 0,
        None => text.bytes().take_while(|byte| is_host_byte(*byte)).count(),
    };
    let (host, rest) = text.split_at(end);
    let encoded = || host.split('%').skip(1).all(begins_with_hex_pair);
    !host.is_empty()
        && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
        && (!host.contains('%') || encoded())
}

/// Whether a browser sends it from Vigie's own page, or no browser does: other sites must not make a
/// visitor's browser ask for reloads.
pub(super) fn is_from_here(head: &Head<'_>) -> bool {
    let site = head
        .sec_fetch_site
        .is_none_or(|site| matches!(site, b"same-origin" | b"none"));
    site && head
        .origin
        .is_none_or(|origin| is_own_origin(origin, head.host))
}

/// Whether `origin` is Vigie itself: its authority is that of `host`, and an IP address or `localhost`.
/// A name could have been made to point here by whoever owns it (DNS rebinding).
fn is_own_origin(origin: &[u8], host: &str) -> bool {
    let Some((scheme, authority)) = std::str::from_utf8(origin)
        .ok()
        .and_then(|origin| origin.split_once("://"))
    else {
        return false;
    };
    let default_port = match scheme {
        "http" => "80",
        "https" => "443",
        _ => return false,
    };
    let (theirs, ours) = (split_port(authority), split_port(host));
    let port = |port: Option<&str>| {
        port.filter(|port| !port.is_empty())
            .unwrap_or(default_port)
            .to_owned()
    };
    is_authority(authority)
        && theirs.0.eq_ignore_ascii_case(ours.0)
        && port(theirs.1) == port(ours.1)
        && is_address(theirs.0)
}

fn is_address(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.starts_with('[')
        || host.parse::<Ipv4Addr>().is_ok()
}

fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    }
}

/// Digits up to 65535, or nothing.
fn is_port(port: &str) -> bool {
    let add = |sum: u32, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        Some(sum * 10 + digit).filter(|sum| *sum <= u32::from(u16::MAX))
    };
    port.as_bytes().iter().try_fold(0, add).is_some()
}

fn begins_with_hex_pair(text: &str) -> bool {
    matches!(text.as_bytes(), [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Unreserved characters, sub-delimiters and percent-encodings of a registered name.
fn is_host_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'%')
        || matches!(
            byte,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'='
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_a_host_with_or_without_a_port() {
        for good in [
            "a",
            "a:80",
            "a:",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:80",
            "web.example-1_x.",
            "a%20b",
        ] {
            assert!(is_authority(good), "{good}");
        }
        for bad in [
            "",
            ":80",
            "a:b",
            "a:65536",
            "a:80:80",
            "me@a",
            "[::1",
            "[127.0.0.1]",
            "[::1]x",
            "::1",
            "a b",
            "a/b",
            "ü",
            "a%",
            "a%2",
            "%zz",
        ] {
            assert!(!is_authority(bad), "{bad}");
        }
    }

    #[test]
    fn only_vigie_itself_by_address_is_its_own_origin() {
        let own = |origin: &str, host| is_own_origin(origin.as_bytes(), host);
        assert!(own("http://127.0.0.1:8080", "127.0.0.1:8080"));
        assert!(own("http://LOCALHOST", "localhost:80"));
        assert!(own("https://[::1]", "[::1]:443"));
        for (origin, host) in [
            ("null", "127.0.0.1"),
            ("http://127.0.0.1:1", "127.0.0.1:8080"),
            ("http://evil.test", "127.0.0.1"),
            ("http://evil.test:80", "evil.test:80"),
            ("http://127.0.0.1", ""),
            ("http://127.0.0.1@evil", "127.0.0.1"),
            ("chrome-extension://127.0.0.1", "127.0.0.1"),
            ("http://localhost", ""),
        ] {
            assert!(!own(origin, host), "{origin} {host}");
        }
    }
}
