//! The port that is wanted.

use std::fmt;
use std::num::NonZeroU16;

use super::is_label;

/// Which port of the slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// The one of this name.
    Name(Box<str>),
    /// Any that has this number: the port of the pods, not that of the Service.
    Number(NonZeroU16),
}

impl Port {
    /// Reads a number from 1 to 65535, or a name of lower case letters, digits and `-`.
    pub fn parse(text: &str) -> Option<Self> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().map(Self::Number);
        }
        is_label(text).then(|| Self::Name(text.into()))
    }

    /// Whether a port of this name and number is the wanted one.
    pub(super) fn is(&self, name: &str, number: Option<NonZeroU16>) -> bool {
        match self {
            Self::Name(wanted) => **wanted == *name,
            Self::Number(wanted) => Some(*wanted) == number,
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_a_number_or_a_label() {
        let eighty = NonZeroU16::new(80).map(Port::Number);
        assert_eq!(
            (Port::parse("80"), Port::parse("080")),
            (eighty.clone(), eighty)
        );
        for name in ["http", "8080-tcp", "a", &"a".repeat(63)] {
            assert_eq!(Port::parse(name), Some(Port::Name(name.into())));
        }
        for text in [
            "",
            "0",
            "65536",
            "-http",
            "http-",
            "HTTP",
            "a.b",
            "a b",
            "+80",
            &"a".repeat(64),
        ] {
            assert_eq!(Port::parse(text), None, "{text}");
        }
    }
}
