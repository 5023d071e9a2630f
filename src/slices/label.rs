//! Names of namespaces, Services and ports.

/// A label has at most this many bytes (RFC 1123, section 2.1).
const LONGEST: usize = 63;

/// Whether it is a label of lower case letters, digits and `-`, which neither begin nor end it: so it
/// stands in a path and in a query as it is.
pub fn is_label(text: &str) -> bool {
    let is_label_byte =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LONGEST).contains(&text.len())
        && text.bytes().all(is_label_byte)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_label() {
        for good in ["a", "web-1", "0", &"a".repeat(63)] {
            assert!(is_label(good), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "A",
            "a.b",
            "a_b",
            "a/b",
            "\u{fc}",
            &"a".repeat(64),
        ] {
            assert!(!is_label(bad), "{bad}");
        }
    }
}
