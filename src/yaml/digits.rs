//! Numbers as they are written.

/// Decimal digits and nothing else: no sign, no exponent, no underscore.
pub(super) fn digits(text: &str) -> Option<u64> {
    let decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| text.parse().ok()).flatten()
}
