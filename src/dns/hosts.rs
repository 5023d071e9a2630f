//! hosts(5): addresses of names that no server is asked for.

use std::net::IpAddr;

/// The text of a hosts file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(String);

impl Hosts {
    /// Takes the text as it is; lines that are not understood say nothing.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The addresses of a name, whatever the case of its letters, in the order of the file, each once.
    pub fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let mut addresses = Vec::new();
        for line in self.0.lines() {
            let content = line.split('#').next().unwrap_or_default();
            let mut words = content.split_ascii_whitespace();
            let Some(Ok(ip)) = words.next().map(str::parse::<IpAddr>) else {
                continue;
            };
            let is_named = words.any(|word| word.eq_ignore_ascii_case(name));
            if is_named && !addresses.contains(&ip) {
                addresses.push(ip);
            }
        }
        addresses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_addresses_of_all_its_lines() {
        let text = "# 10.0.0.9 web\n10.0.0.2\tweb  www # and web2\n::1 Web\nnonsense web\n10.0.0.2 web\n10.0.0.1 web.example";
        let hosts = Hosts::new(text.into());
        let addresses = |name| -> Vec<String> {
            hosts
                .addresses(name)
                .iter()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(addresses("web"), ["10.0.0.2", "::1"]);
        assert_eq!(addresses("WWW."), ["10.0.0.2"]);
        assert_eq!(addresses("web.EXAMPLE"), ["10.0.0.1"]);
        assert_eq!(addresses("web2"), [""; 0]);
        assert_eq!(addresses("10.0.0.2"), [""; 0]);
    }
}
