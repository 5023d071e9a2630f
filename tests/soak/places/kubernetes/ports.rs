//! Which port a service wants, and what ports its slices have.

use super::slices::{object, render};
use crate::chance::Chance;
use crate::lists::DEFAULT_PORT;

/// The port that a service wants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ports {
    /// The one of the name `main`.
    Named,
    /// The one of the number 8443.
    Numbered,
    /// The only one there is.
    Only,
    /// The same, and IPv4 alone.
    OnlyOfIpv4,
}

/// The ports of the slices of one list.
pub(super) struct Numbers {
    ports: Ports,
    /// What the only port is called in each of them.
    name: &'static str,
    are_wrong: bool,
}

impl Ports {
    /// The keys of the service.
    pub(super) fn keys(self) -> &'static str {
        match self {
            Self::Named => ", port: main",
            Self::Numbered => ", port: 8443",
            Self::Only => "",
            Self::OnlyOfIpv4 => ", family: ipv4",
        }
    }

    pub(super) fn has_ipv6(self) -> bool {
        self != Self::OnlyOfIpv4
    }

    pub(super) fn begin(self, chance: &mut Chance) -> Numbers {
        Numbers {
            ports: self,
            name: chance.of_these(&["main", "", "8443-tcp"]),
            are_wrong: false,
        }
    }

    /// Ports of which none is the one that is wanted.
    pub(super) fn wrong(self, chance: &mut Chance) -> Numbers {
        Numbers {
            are_wrong: true,
            ..self.begin(chance)
        }
    }
}

impl Numbers {
    /// The number that the endpoints of a slice get, and what the slice says of its ports.
    pub(super) fn good(&mut self, chance: &mut Chance) -> (u16, String) {
        let number = chance.of_these(&[Some(8443), Some(8443), Some(9443), None]);
        let other = port("other", Some(1), chance);
        match self.ports {
            _ if self.are_wrong => {
                let admin = port("admin", Some(8442), chance);
                (0, field(&[admin, port("main-2", Some(1), chance)], chance))
            }
            Ports::Named => {
                let main = port("main", number, chance);
                let decoy = port("decoy", Some(8443), chance);
                let ports = field(&[other, main, decoy], chance);
                (number.unwrap_or(DEFAULT_PORT), ports)
            }
            Ports::Numbered => {
                let name = chance.of_these(&["main", "x", ""]);
                let wanted = port(name, Some(8443), chance);
                let none = port("none", None, chance);
                (8443, field(&[none, wanted, other], chance))
            }
            Ports::Only | Ports::OnlyOfIpv4 if number.is_none() && chance.one_in(2) => {
                (DEFAULT_PORT, field(&[], chance))
            }
            Ports::Only | Ports::OnlyOfIpv4 => {
                let only = port(self.name, number, chance);
                (number.unwrap_or(DEFAULT_PORT), field(&[only], chance))
            }
        }
    }

    /// Slices that nothing is served of.
    pub(super) fn unwanted(&mut self, chance: &mut Chance) -> Vec<String> {
        let mut slices = Vec::new();
        let wrong = |ip: &str| vec![format!(r#"{{"addresses":["{ip}"]}}"#)];
        if chance.one_in(3) {
            let ports = field(
                &[port("main", Some(8443), chance), port("y", Some(2), chance)],
                chance,
            );
            slices.push(render("FQDN", &wrong("wrong.test"), &ports, chance));
        }
        if chance.one_in(4) {
            // As Kubernetes keeps one for a Service without pods.
            slices.push(render("IPv4", &[], &field(&[], chance), chance));
        }
        let has_wanted = |slices: &mut Vec<String>, numbers: &mut Self, chance: &mut Chance| {
            // Slices that all lack the port would be a failure.
            let (_, ports) = numbers.good(chance);
            slices.push(render("IPv4", &[], &ports, chance));
        };
        match self.ports {
            Ports::Named if chance.one_in(2) => {
                let admin = port("admin", Some(8443), chance);
                let ports = chance.of_these(&["", "main-2", "MAIN"]);
                let ports = match ports {
                    "" => field(&[], chance),
                    name => field(&[admin, port(name, Some(8443), chance)], chance),
                };
                slices.push(render("IPv4", &wrong("10.9.9.8"), &ports, chance));
                has_wanted(&mut slices, self, chance);
            }
            Ports::Numbered if chance.one_in(2) => {
                let number = chance.of_these(&[Some(8442), None]);
                let ports = field(&[port("main", number, chance)], chance);
                slices.push(render("IPv4", &wrong("10.9.9.8"), &ports, chance));
                has_wanted(&mut slices, self, chance);
            }
            Ports::OnlyOfIpv4 => {
                let ports = field(&[port(self.name, Some(8443), chance)], chance);
                slices.push(render("IPv6", &wrong("2001:db8::9:9:8"), &ports, chance));
            }
            _ => {}
        }
        slices
    }
}

/// The ports of a slice as its field.
fn field(ports: &[String], chance: &mut Chance) -> String {
    let mut ports: Vec<&str> = ports.iter().map(String::as_str).collect();
    chance.shuffle(&mut ports);
    match &ports[..] {
        [] => chance
            .of_these(&[r#""ports":[]"#, r#""ports":null"#, ""])
            .to_owned(),
        all => format!(r#""ports":[{}]"#, all.join(",")),
    }
}

fn port(name: &str, number: Option<u16>, chance: &mut Chance) -> String {
    let name = match name {
        "" => chance
            .of_these(&["", r#""name":"""#, r#""name":null"#])
            .to_owned(),
        name => format!(r#""name":"{name}""#),
    };
    let number = match number {
        None => chance.of_these(&["", r#""port":null"#]).to_owned(),
        Some(number) => format!(r#""port":{number}"#),
    };
    let more = chance.of_these(&["", r#""protocol":"TCP","appProtocol":null"#]);
    object(&[&name, &number, more], chance)
}
