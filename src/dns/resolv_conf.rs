//! resolv.conf(5): which servers to ask, and how to complete a name.

use hickory_proto::rr::Name;

use super::name::Wanted;
use super::server::Server;

/// What a resolv.conf says. Of its options only `ndots` is read: Vigie keeps its own time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvConf {
    /// In the order in which they are asked; at least one.
    pub servers: Vec<Server>,
    /// The domains that complete a name.
    pub search: Vec<Name>,
    /// A name with so many dots is tried as it is first.
    pub ndots: usize,
}

/// More servers, or domains, than these are left out.
const MOST: usize = 16;
/// The largest `ndots`, as elsewhere.
const MOST_DOTS: usize = 15;

/// Without a file the server on this host is asked.
impl Default for ResolvConf {
    fn default() -> Self {
        Self {
            servers: vec![Server::default()],
            search: Vec::new(),
            ndots: 1,
        }
    }
}

impl ResolvConf {
    /// Reads the text; lines that are not understood are passed over, as every resolver does. Of several
    /// `search` and `domain` lines the last counts.
    ///
    /// Errors: there are `nameserver` lines, and no address in any of them.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut read = Self {
            servers: Vec::new(),
            ..Self::default()
        };
        let mut names_servers = false;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for line in text.lines() {
            let content = line.split(['#', ';']).next().unwrap_or_default();
            let mut words = content.split_ascii_whitespace();
            match words.next() {
                Some("nameserver") => {
                    names_servers = true;
                    read.servers.extend(words.next().and_then(nameserver));
                }
                Some("search") => read.search = words.filter_map(domain).take(MOST).collect(),
                Some("domain") => read.search = words.take(1).filter_map(domain).collect(),
                Some("options") => {
                    read.ndots = words.filter_map(ndots).next_back().unwrap_or(read.ndots)
                }
                _ => {}
            }
        }
        read.servers.truncate(MOST);
        match (read.servers.is_empty(), names_servers) {
            (true, true) => Err("no nameserver line has an IP address; correct them"),
            (true, false) => Ok(Self {
                servers: vec![Server::default()],
                ..read
            }),
            (false, _) => Ok(read),
        }
    }
}

/// An address without a port.
fn nameserver(word: &str) -> Option<Server> {
    let is_address = !word.contains('[') && Server::parse(&format!("[{word}]")).is_some()
        || word.parse::<std::net::Ipv4Addr>().is_ok();
    Server::parse(word).filter(|_| is_address)
}

fn domain(word: &str) -> Option<Name> {
    Some(Wanted::parse(word).ok()?.name().clone())
}

fn ndots(word: &str) -> Option<usize> {
    let number: usize = word.strip_prefix("ndots:")?.parse().ok()?;
    Some(number.min(MOST_DOTS))
}

#[cfg(test)]
mod tests {
    use super::super::name::to_text;
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<String>, usize) {
        let read = ResolvConf::parse(text).expect("the text can be read");
        let servers = read.servers.iter().map(ToString::to_string).collect();
        (
            servers,
            read.search.iter().map(to_text).collect(),
            read.ndots,
        )
    }

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn servers_domains_and_ndots_are_read() {
        let text = "# made by hand\n; so\nnameserver 10.0.0.53\nnameserver fe80::1%eth0 # router\n\
                    domain a.test b.test\nsearch b.test  c.test.\noptions timeout:1 ndots:5 rotate\nsortlist x\n";
        let servers = ["10.0.0.53:53", "[fe80::1%eth0]:53"];
        assert_eq!(
            read(text),
            (strings(&servers), strings(&["b.test", "c.test"]), 5)
        );
        let later =
            "search a.test\ndomain b.test\noptions ndots:99\n\toptions attempts:1\nnameserver ::1";
        assert_eq!(
            read(later),
            (strings(&["[::1]:53"]), strings(&["b.test"]), 15)
        );
    }

    #[test]
    fn a_comment_begins_with_its_mark_and_a_byte_order_mark_is_skipped() {
        for mark in ['#', ';'] {
            let text = format!(
                "\u{feff}nameserver 10.0.0.53{mark}c\nnameserver ::1{mark} x\n{mark}nameserver ::2\n\
                 search a.test{mark}b.test c.test\noptions {mark}ndots:3"
            );
            let servers = ["10.0.0.53:53", "[::1]:53"];
            assert_eq!(read(&text), (strings(&servers), strings(&["a.test"]), 1));
        }
    }

    #[test]
    fn without_a_server_the_one_on_this_host_is_asked() {
        for text in [
            "",
            "#nameserver 10.0.0.53\n",
            "search a.test",
            "nameservers 10.0.0.53",
        ] {
            assert_eq!(read(text).0, ["127.0.0.1:53"], "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_passed_over_unless_no_server_is_left() {
        let text = "nameserver\nnameserver localhost\nnameserver 10.0.0.53:5353\nnameserver 10.0.0.54\n\
                    search . .. a.test\noptions ndots:x ndots:\n\u{0}\u{1b}\n";
        assert_eq!(
            read(text),
            (strings(&["10.0.0.54:53"]), strings(&["a.test"]), 1)
        );
        for text in ["nameserver", "nameserver localhost\nnameserver 10.0.0.300"] {
            assert!(ResolvConf::parse(text).is_err(), "{text}");
        }
        let many = "nameserver 10.0.0.1\n".repeat(1000) + "search" + &" a.test".repeat(1000);
        let (servers, search, _) = read(&many);
        assert_eq!((servers.len(), search.len()), (16, 16));
    }
}
