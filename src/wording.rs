//! The words of messages: text from outside, made safe to show, and the nearest known word.

use std::io;

use rustix::io::Errno;

/// A quote shows at most this many characters of its text.
pub const LONGEST_QUOTE: usize = 80;
/// What to do when there are too few file descriptors.
pub const MORE_FILES: &str = "raise the limit of open files";
/// A longer word is no slip of the pen, and comparing it would take long.
const LONGEST_WORD: usize = 64;

/// The text in double quotes: at most 80 characters of it, control characters escaped, so that it
/// can neither break a line nor steer a terminal.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", shorten(text, LONGEST_QUOTE))
}

/// At most `longest` characters of the text, control characters escaped, `…` for what was left out.
pub fn shorten(text: &str, longest: usize) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(longest).map(escape).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

fn escape(character: char) -> String {
    match character {
        '\'' => character.to_string(),
        _ => character.escape_debug().to_string(),
    }
}

/// The words of an error of the system, without its number.
pub fn without_number(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Whether it was for want of a file descriptor, of this process or of its host.
pub fn lacks_files(error: &io::Error) -> bool {
    let number = Errno::from_io_error(error);
    matches!(number, Some(Errno::MFILE | Errno::NFILE))
}

/// `1 service`, `2 services`.
pub fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// The known word that differs from `word` by a slip or two of the pen, or else the only one that ends with it,
/// as `cache_ttl` with `ttl`.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.chars().count() > LONGEST_WORD {
        return None;
    }
    let distance = |known: &str| {
        // Whoever gives up early means the begin of it.
        let begin: String = known.chars().take(word.chars().count().max(3)).collect();
        strsim::osa_distance(word, known).min(strsim::osa_distance(word, &begin) + 1)
    };
    let (distance, nearest) = known.iter().map(|known| (distance(known), *known)).min()?;
    // Of a short word little may be wrong, however long the other one is.
    let length = nearest.chars().count().min(word.chars().count());
    match distance <= 1 + length / 4 {
        true => Some(nearest),
        false => longer(word, known),
    }
}

/// The only known word of several parts whose last ones are `word`.
fn longer<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.trim_start_matches('-');
    let ends = |known: &str| {
        let begin = known.strip_suffix(word);
        !word.is_empty() && begin.is_some_and(|begin| begin.ends_with(['_', '-']))
    };
    let mut found = known.iter().filter(|known| ends(known));
    found.next().filter(|_| found.next().is_none()).copied()
}

/// Names the nearest known word, if one is near, and all of them: `did you mean file? Known are ...`.
pub fn suggest(word: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match nearest(word, known) {
        Some(nearest) => format!("did you mean {nearest}? Known are {all}"),
        None => format!("known are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_short_and_shows_control_characters_as_escapes() {
        assert_eq!(
            quote("it's a \"b\"\n\u{1b}[2J"),
            r#""it's a \"b\"\n\u{1b}[2J""#
        );
        assert_eq!(quote(&"ü".repeat(80)), format!("\"{}\"", "ü".repeat(80)));
        assert_eq!(quote(&"ü".repeat(81)), format!("\"{}…\"", "ü".repeat(80)));
    }

    #[test]
    fn an_error_of_the_system_is_shown_without_its_number() {
        let missing = io::Error::from_raw_os_error(2);
        assert_eq!(without_number(&missing), "No such file or directory");
        assert_eq!(without_number(&io::Error::other("a word")), "a word");
    }

    #[test]
    fn a_slip_of_the_pen_is_near_and_so_is_the_end_of_one_word() {
        let known = ["address", "file", "get"];
        assert_eq!(nearest("adress", &known), Some("address"));
        assert_eq!(nearest("fiel", &known), Some("file"));
        assert_eq!(nearest("kubernetes", &known), None);
        assert_eq!(nearest(&"x".repeat(100_000), &known), None);
        let known_parts = ["cache_ttl", "max_stale", "read_timeout", "write_timeout"];
        for (word, near) in [
            ("ttl", Some("cache_ttl")),
            ("stale", Some("max_stale")),
            ("timeout", None),
            ("l", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known_parts), near, "{word}");
        }
        // Far from all, however long they are.
        for word in ["kind", "data"] {
            assert_eq!(nearest(word, &["disable_reload_by_request"]), None);
        }
        assert_eq!(nearest("--path", &["--config-path"]), Some("--config-path"));
        assert_eq!(
            suggest("fil", &known),
            "did you mean file? Known are address, file, get"
        );
        assert_eq!(suggest("zzz", &known), "known are address, file, get");
    }
}
