//! The section `server`.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use super::address::{self, Address};
use crate::yaml::{Field, Mapping, Reader};

/// Where and how Vigie listens.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// All of them are bound; at least one.
    pub addresses: Vec<Address>,
    /// Permission bits of unix sockets, at most `0o777`.
    pub socket_mode: u32,
    /// How many connections may be open at once, 1 to a million.
    pub max_connections: usize,
    /// For a whole request, head and body; more than zero.
    pub request_timeout: Duration,
    /// How long a client may take no byte of its answer; more than zero.
    pub write_timeout: Duration,
    /// How long a connection may stay open without a request; more than zero.
    pub idle_timeout: Duration,
    /// How long after SIGTERM Vigie goes on serving.
    pub shutdown_delay: Duration,
    /// How long it then waits for answers under way.
    pub shutdown_timeout: Duration,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            addresses: vec![Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)))],
            socket_mode: 0o660,
            max_connections: 4096,
            request_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            shutdown_delay: Duration::ZERO,
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}

const KEYS: [&str; 8] = [
    "address",
    "socket_mode",
    "max_connections",
    "request_timeout",
    "write_timeout",
    "idle_timeout",
    "shutdown_delay",
    "shutdown_timeout",
];

const YEAR: Duration = Duration::from_secs(365 * 86_400);
const WAIT: RangeInclusive<Duration> = Duration::ZERO..=YEAR;
const TIMEOUT: RangeInclusive<Duration> = Duration::from_millis(1)..=YEAR;

/// `reload` says whether requests may reload.
pub(super) fn parse(field: Field<'_>, reload: bool, reader: &mut Reader<'_>) -> Server {
    let default = Server::default();
    let keys = reader.mapping(field, &KEYS);
    Server {
        addresses: keys.get("address").map_or(default.addresses, |field| {
            address::parse_all(field, reload, reader)
        }),
        socket_mode: keys
            .get("socket_mode")
            .and_then(|field| mode(field, reader))
            .unwrap_or(default.socket_mode),
        max_connections: connections(&keys, reader).unwrap_or(default.max_connections),
        request_timeout: duration(&keys, "request_timeout", TIMEOUT, reader)
            .unwrap_or(default.request_timeout),
        write_timeout: duration(&keys, "write_timeout", TIMEOUT, reader)
            .unwrap_or(default.write_timeout),
        idle_timeout: duration(&keys, "idle_timeout", TIMEOUT, reader)
            .unwrap_or(default.idle_timeout),
        shutdown_delay: duration(&keys, "shutdown_delay", WAIT, reader)
            .unwrap_or(default.shutdown_delay),
        shutdown_timeout: duration(&keys, "shutdown_timeout", WAIT, reader)
            .unwrap_or(default.shutdown_timeout),
    }
}

fn duration<'a>(
    keys: &Mapping<'a>,
    key: &'a str,
    range: RangeInclusive<Duration>,
    reader: &mut Reader<'_>,
) -> Option<Duration> {
    reader.duration(keys.get(key)?, range)
}

fn connections(keys: &Mapping<'_>, reader: &mut Reader<'_>) -> Option<usize> {
    let number = reader.integer(keys.get("max_connections")?, 1..=1_000_000)?;
    usize::try_from(number).ok()
}

/// Three octal digits after an optional 0, whether in quotes or not.
fn mode(field: Field<'_>, reader: &mut Reader<'_>) -> Option<u32> {
    let right = "write permission bits in octal from \"0000\" to \"0777\", as in \"0660\"";
    let text = reader.text(field, right)?;
    let digits = text
        .strip_prefix('0')
        .filter(|rest| rest.len() == 3)
        .unwrap_or(text);
    let octal = digits.len() == 3 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
    let mode = octal.then(|| u32::from_str_radix(digits, 8).ok()).flatten();
    if mode.is_none() {
        reader.wrong(field, right);
    }
    mode
}

#[cfg(test)]
mod tests {
    use super::super::{bad, good};
    use super::*;

    #[test]
    fn the_mode_of_sockets_is_octal_with_or_without_quotes() {
        for (text, mode) in [
            ("\"0660\"", 0o660),
            ("0600", 0o600),
            ("'777'", 0o777),
            ("000", 0),
        ] {
            assert_eq!(
                good(&format!("server: {{socket_mode: {text}}}"))
                    .server
                    .socket_mode,
                mode,
                "{text}"
            );
        }
        for text in [
            "'1777'", "0o660", "'0888'", "66", "'00660'", "-660", "[]", "''", "'0é1'",
        ] {
            let error = bad(&format!("server: {{socket_mode: {text}}}"));
            assert!(
                error.ends_with(
                    "write permission bits in octal from \"0000\" to \"0777\", as in \"0660\""
                ),
                "{error}"
            );
        }
    }

    #[test]
    fn limits_and_timeouts_have_bounds() {
        let server = good("server: {max_connections: 1000000, request_timeout: 1ms, shutdown_delay: 0s, idle_timeout: 365d}").server;
        assert_eq!(
            (
                server.max_connections,
                server.request_timeout,
                server.idle_timeout
            ),
            (1_000_000, Duration::from_millis(1), YEAR)
        );
        assert_eq!(
            bad(
                "server:\n  max_connections: 0\n  request_timeout: 0s\n  write_timeout: 5\n  idle_timeout: 366d\n  shutdown_timeout: 400d\n  shutdown_delay: -1s\n"
            ),
            "c.yml:2:20: max_connections: 0 is wrong here: write a whole number from 1 to 1000000\n\
             c.yml:3:20: request_timeout: 0s is wrong here: write a duration from 1ms to 365d\n\
             c.yml:4:18: write_timeout: 5 is wrong here: a bare number is no duration, write 5s, 300ms or 1m30s (units d, h, m, s, ms)\n\
             c.yml:5:17: idle_timeout: 366d is wrong here: write a duration from 1ms to 365d\n\
             c.yml:6:21: shutdown_timeout: 400d is wrong here: write a duration from 0s to 365d\n\
             c.yml:7:19: shutdown_delay: -1s is wrong here: write a duration as 5s, 300ms or 1m30s, with the units d, h, m, s, ms, no blank, no fraction"
        );
    }
}
