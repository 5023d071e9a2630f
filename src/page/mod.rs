//! The page for a person who looks at what Vigie serves: one template, its script and its style.
//!
//! The build puts them together into one document (`src/build.rs`), and their hashes into its
//! Content-Security-Policy. Names and targets are data: all of them are escaped in one place.

use std::fmt::Write;

use crate::wording::shorten;

/// A service as the page lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// Its name.
    pub name: &'a str,
    /// The kind of its source.
    pub kind: &'static str,
    /// What is read, without credentials.
    pub target: String,
}

/// The document, with `{count}` and `{rows}` where these belong.
const TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.html"));
/// The page shows so many characters of a target.
const LONGEST_TARGET: usize = 255;
const NO_ROWS: &str = "<li class=\"none\">No service is configured. Add one under <code>services</code>, and reload.</li>\n";

/// What a browser is told beside the document: to run and show nothing that is not part of it, to send
/// nothing elsewhere, and to let no other page frame it.
pub const HEADERS: [(&str, &str); 3] = [
    ("Content-Security-Policy", env!("VIGIE_PAGE_POLICY")),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
];

/// The document with a row for each service.
pub fn render<'a>(rows: impl Iterator<Item = Row<'a>>) -> String {
    let (mut list, mut count) = (String::new(), 0_usize);
    for row in rows {
        write_row(&mut list, &row);
        count += 1;
    }
    let list = if count == 0 { NO_ROWS } else { &list };
    let (head, tail) = TEMPLATE.split_once("{rows}").unwrap_or((TEMPLATE, ""));
    let head = head.replace("{count}", &crate::wording::count(count, "service"));
    [&head, list, tail].concat()
}

fn write_row(list: &mut String, row: &Row<'_>) {
    let (name, kind) = (escape(row.name), escape(row.kind));
    let target = escape(&shorten(&row.target, LONGEST_TARGET));
    // Relative, so that it also holds behind a proxy that puts a folder before it.
    let link = percent_encode(row.name);
    // Writing to a string does not fail.
    let _ = writeln!(
        list,
        "<li><a href=\"services?service_name={link}\"><bdi>{name}</bdi></a>\
         <span class=\"source\"><b>{kind}</b> <bdi>{target}</bdi></span></li>"
    );
}

/// Text as HTML has it, in content and in quoted attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text as it stands in a query: all but unreserved characters encoded (RFC 3986, section 2).
fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into());
            }
            byte => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_data_and_no_markup() {
        let row = Row {
            name: "<script>\"&'{rows}é",
            kind: "file",
            target: "/a<b>\n".into(),
        };
        let page = render([row].into_iter());
        let list = page
            .split_once("<ul id=\"services\" role=\"list\">\n")
            .unwrap()
            .1;
        assert_eq!(
            list.split_once("</ul>").unwrap().0,
            "<li><a href=\"services?service_name=%3Cscript%3E%22%26%27%7Brows%7D%C3%A9\">\
             <bdi>&lt;script&gt;&quot;&amp;&#39;{rows}é</bdi></a>\
             <span class=\"source\"><b>file</b> <bdi>/a&lt;b&gt;\\n</bdi></span></li>\n"
        );
        assert!(page.contains("1 service<"));
    }

    #[test]
    fn without_services_the_page_says_what_to_do() {
        let page = render(std::iter::empty());
        assert!(page.contains(NO_ROWS) && !page.contains("{count}") && page.len() < 20 * 1024);
    }
}
