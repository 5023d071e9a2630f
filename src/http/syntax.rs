//! The characters of HTTP (RFC 9110, section 5.6.2).

/// Whether a byte may stand in a token: a method or the name of a field.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
