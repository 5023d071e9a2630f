//! Durations: `300ms`, `5s`, `1m30s`.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::digits::digits;

/// How to write one.
pub(super) const RIGHT: &str =
    "write a duration as 5s, 300ms or 1m30s, with the units d, h, m, s, ms, no blank, no fraction";
const BARE: &str = "a bare number is no duration, write 5s, 300ms or 1m30s (units d, h, m, s, ms)";
/// Words for no time at all, which is written as a duration too.
const NONE: [&str; 5] = ["off", "no", "none", "false", "never"];
const ORDER: &str = "write each unit once and the larger first, as in 1m30s";
const LARGE: &str = "that is too long, write a duration as 5s, 300ms or 1m30s";

/// Units in milliseconds, the larger first.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

/// Numbers with their units, the larger first; an error says what would be right.
pub(super) fn parse(text: &str) -> Result<Duration, &'static str> {
    if digits(text).is_some() {
        return Err(BARE);
    }
    let (mut rest, mut total, mut smallest) = (text, 0u64, u64::MAX);
    while !rest.is_empty() {
        let (milliseconds, unit, after) = part(rest)?;
        if unit >= smallest {
            return Err(ORDER);
        }
        total = total.checked_add(milliseconds).ok_or(LARGE)?;
        (rest, smallest) = (after, unit);
    }
    match smallest {
        u64::MAX => Err(RIGHT),
        _ => Ok(Duration::from_millis(total)),
    }
}

/// The first number with its unit: how long it is, the unit, and the rest of the text.
fn part(text: &str) -> Result<(u64, u64, &str), &'static str> {
    let (number, rest) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let (word, rest) = rest.split_at(
        rest.find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len()),
    );
    let (_, unit) = UNITS
        .into_iter()
        .find(|(name, _)| *name == word)
        .ok_or(RIGHT)?;
    match digits(number) {
        Some(number) => Ok((number.checked_mul(unit).ok_or(LARGE)?, unit, rest)),
        None if number.is_empty() => Err(RIGHT),
        None => Err(LARGE),
    }
}

/// Whether the text is a word for no time at all.
pub(super) fn is_none(text: &str) -> bool {
    NONE.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Says which durations are allowed.
pub(super) fn within(range: &RangeInclusive<Duration>) -> String {
    format!(
        "write a duration from {} to {}",
        show(*range.start()),
        show(*range.end())
    )
}

/// A duration in the largest unit that leaves no rest.
fn show(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let whole = |(_, unit): &&(&str, u64)| {
        milliseconds != 0 && milliseconds.is_multiple_of(u128::from(*unit))
    };
    match UNITS.iter().find(whole) {
        Some((name, unit)) => format!("{}{name}", milliseconds / u128::from(*unit)),
        None => "0s".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_numbers_with_units_the_larger_first() {
        let good = [
            ("0s", 0),
            ("300ms", 300),
            ("5s", 5000),
            ("1m30s", 90_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("90m", 5_400_000),
        ];
        for (text, milliseconds) in good {
            assert_eq!(
                parse(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_duration_says_how_to_write_one() {
        for text in ["5", "0", "18446744073709551615"] {
            assert_eq!(parse(text), Err(BARE), "{text}");
        }
        for text in [
            "", "s", "-5s", "1.5s", "5 s", "5S", "5sec", "5s5", "ü", "5ü", "+5s", "1e3s",
        ] {
            assert_eq!(parse(text), Err(RIGHT), "{text}");
        }
        for text in ["5s1m", "5s5s", "1ms1s"] {
            assert_eq!(parse(text), Err(ORDER), "{text}");
        }
        for text in [
            "18446744073709551615d",
            "99999999999999999999s",
            "213503982334d18446744073709551ms",
        ] {
            assert!(parse(text).is_err() || text.starts_with('2'), "{text}");
        }
    }

    #[test]
    fn a_range_is_shown_in_the_largest_units() {
        let range = Duration::from_millis(1)..=Duration::from_secs(365 * 86_400);
        assert_eq!(within(&range), "write a duration from 1ms to 365d");
        assert_eq!(show(Duration::ZERO), "0s");
    }
}
