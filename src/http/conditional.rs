//! Conditional requests: does the client have the list already?

/// Whether the value of `If-None-Match` names the tag: a list of tags compared weakly, or `*`
/// (RFC 9110, section 13.1.2). What cannot be read names nothing, so that the list is sent.
pub(super) fn names_tag(value: &[u8], tag: &str) -> bool {
    let mut rest = value.trim_ascii();
    if rest == b"*" {
        return true;
    }
    loop {
        let Some(begin) = rest
            .iter()
            .position(|byte| !matches!(byte, b',' | b' ' | b'\t'))
        else {
            return false;
        };
        rest = &rest[begin..];
        rest = rest.strip_prefix(b"W/").unwrap_or(rest);
        let Some(inner) = rest.strip_prefix(b"\"") else {
            return false;
        };
        let Some(length) = inner.iter().position(|byte| *byte == b'"') else {
            return false;
        };
        if &rest[..length + 2] == tag.as_bytes() {
            return true;
        }
        rest = &rest[length + 2..];
    }
}

#[cfg(test)]
mod tests {
    use super::names_tag;

    #[test]
    fn a_tag_is_found_in_a_list_weak_or_strong() {
        for value in [
            "\"a\"",
            "W/\"a\"",
            "*",
            " * ",
            "\"x\", \"a\"",
            "\"x,y\",W/\"a\",\"z\"",
            ",, \"a\"",
            "\"a\" garbage",
        ] {
            assert!(names_tag(value.as_bytes(), "\"a\""), "{value}");
        }
        for value in [
            "",
            "a",
            "\"b\"",
            "\"a",
            "W\"a\"",
            "w/\"a\"",
            "\"x\" *",
            "\"\"",
            "\"x\"y, \"a\"",
        ] {
            assert!(!names_tag(value.as_bytes(), "\"a\""), "{value}");
        }
    }
}
