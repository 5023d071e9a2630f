//! Slips of the pen that a URL crate makes a URL of, as browsers do. What stands behind `://` is looked at.

use url::{Host, Url};

use super::target::NO_HOST;

/// A host name and each part of it have so many characters (RFC 1035, section 2.3.4).
const LONGEST_NAME: usize = 253;
const LONGEST_LABEL: usize = 63;

/// Before it is read: what would be dropped or mended. Errors say what would be right.
pub(super) fn in_text(after_scheme: &str) -> Result<(), &'static str> {
    match () {
        () if after_scheme.starts_with('/') => Err(NO_HOST),
        () if after_scheme.contains('\\') => Err("write / instead of a backslash"),
        () if after_scheme.contains(char::is_control) || after_scheme.ends_with(' ') => {
            Err("write it without tabs, line ends and blanks around it")
        }
        () => Ok(()),
    }
}

/// A host that no name can be, and a number that a URL crate makes an address, as browsers do, is a slip.
pub(super) fn in_host(url: &Url, after_scheme: &str) -> Result<(), &'static str> {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_label = |label: &str| (1..=LONGEST_LABEL).contains(&label.len());
            match name.len() <= LONGEST_NAME && name.split('.').all(is_label) {
                true => Ok(()),
                false => Err(
                    "its host is no name: write labels of 1 to 63 characters with one dot between them, 253 in all",
                ),
            }
        }
        Some(Host::Ipv4(ip)) if written_host(after_scheme) != ip.to_string() => {
            Err("write an IPv4 address as four numbers from 0 to 255 with dots between them")
        }
        _ => Ok(()),
    }
}

/// The host as it is written: behind the user, before the port.
fn written_host(after_scheme: &str) -> &str {
    let authority = after_scheme
        .split(['/', '?', '#'])
        .next()
        .unwrap_or_default();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    host_and_port.split(':').next().unwrap_or_default()
}
