//! Sizes: `64KiB`, `4MiB`.

use std::ops::RangeInclusive;

use super::digits::digits;

/// How to write one.
pub(super) const RIGHT: &str = "write a size as 64KiB or 4MiB";
const BARE: &str = "a bare number is no size, write 64KiB, 4MiB, or 512B for bytes";

/// The larger first.
const UNITS: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// A number with its unit, in bytes; an error says what would be right.
pub(super) fn parse(text: &str) -> Result<u64, &'static str> {
    if digits(text).is_some() {
        return Err(BARE);
    }
    let (name, unit) = UNITS
        .into_iter()
        .find(|(name, _)| text.ends_with(name))
        .ok_or(RIGHT)?;
    let number = text.strip_suffix(name).and_then(digits).ok_or(RIGHT)?;
    number.checked_mul(unit).ok_or(RIGHT)
}

/// Says which sizes are allowed.
pub(super) fn within(range: &RangeInclusive<u64>) -> String {
    format!(
        "write a size from {} to {}",
        show(*range.start()),
        show(*range.end())
    )
}

/// A size in the largest unit that leaves no rest.
fn show(bytes: u64) -> String {
    match UNITS
        .iter()
        .find(|(_, unit)| bytes != 0 && bytes.is_multiple_of(*unit))
    {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_with_its_unit() {
        for (text, bytes) in [
            ("1B", 1),
            ("64KiB", 65_536),
            ("4MiB", 4_194_304),
            ("1GiB", 1_073_741_824),
            ("0B", 0),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_says_how_to_write_one() {
        assert_eq!(parse("4096"), Err(BARE));
        for text in [
            "",
            "KiB",
            "4KB",
            "4k",
            "4 MiB",
            "-1B",
            "1.5MiB",
            "4mib",
            "18446744073709551615GiB",
            "ü",
        ] {
            assert_eq!(parse(text), Err(RIGHT), "{text}");
        }
        assert_eq!(within(&(1..=1 << 30)), "write a size from 1B to 1GiB");
    }
}
