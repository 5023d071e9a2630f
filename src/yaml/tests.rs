//! The tree, its budgets, and what no text may do.

use std::path::Path;
use std::time::Duration;

use super::*;

fn tree(text: &str) -> Node {
    let mut reader = Reader::new(Path::new(""));
    let root = parse(text, &mut reader);
    assert_eq!(reader.finish().0, []);
    root.expect("a tree")
}

fn errors(text: &str) -> Vec<String> {
    let mut reader = Reader::new(Path::new(""));
    parse(text, &mut reader);
    let (errors, _) = reader.finish();
    assert!(!errors.is_empty(), "an error");
    errors.iter().map(Diagnostic::to_string).collect()
}

/// The tree in one line: every value with its place.
fn show(node: &Node) -> String {
    let Position { line, column } = node.position;
    let value = match &node.value {
        Value::Broken | Value::Null => "-".into(),
        Value::Plain(text) => text.to_string(),
        Value::Quoted(text) => format!("{text:?}"),
        Value::Sequence(nodes) => {
            format!("[{}]", nodes.iter().map(show).collect::<Vec<_>>().join(" "))
        }
        Value::Mapping(entries) => {
            let entry = |Entry { key, node }: &Entry| {
                format!(
                    "{}@{}:{}={}",
                    key.text,
                    key.position.line,
                    key.position.column,
                    show(node)
                )
            };
            format!(
                "{{{}}}",
                entries.iter().map(entry).collect::<Vec<_>>().join(" ")
            )
        }
    };
    format!("{line}:{column}:{value}")
}

#[test]
fn every_value_keeps_its_text_and_its_place() {
    assert_eq!(
        show(&tree(
            "\u{feff}# first\na: yes\r\nb: [0660, 1e3, \"5\", ~]\nü: {x: null, '': 'y'}\n? c\n: |\n  text\n"
        )),
        "2:1:{a@2:1=2:4:yes b@3:1=3:4:[3:5:0660 3:11:1e3 3:16:\"5\" 3:21:-] ü@4:1=4:4:{x@4:5=4:8:- @4:14=4:18:\"y\"} c@5:3=7:3:\"text\\n\"}"
    );
    assert_eq!(show(&tree("")), "1:1:-");
}

#[test]
fn an_alias_repeats_a_value_at_its_first_place() {
    assert_eq!(
        show(&tree("a: &x {k: v}\nb: *x\n")),
        "1:1:{a@1:1=1:7:{k@1:8=1:11:v} b@2:1=1:7:{k@1:8=1:11:v}}"
    );
}

#[test]
fn what_yaml_allows_and_a_configuration_has_no_use_for_is_named() {
    let tag = "a YAML tag has no meaning here: remove it, or put text that begins with ! in quotes";
    let alias = "an alias of nothing before it: write its anchor (&) first, or put text that begins with * in quotes";
    assert_eq!(
        errors("a: !hunter2 x\nb: *hunter2\n[c]: d\ne: &f [*f]\n"),
        [
            format!(":1:13: {tag}"),
            format!(":2:4: {alias}"),
            ":3:1: a list cannot be a key: write text before the colon".into(),
            format!(":4:8: {alias}")
        ]
    );
    assert_eq!(
        errors("a: 1\n---\nb: 2\n"),
        [
            ":2:1: a second document begins here: a file holds one, remove this line and what follows it"
        ]
    );
    assert!(
        errors("a: 'x\n")
            .iter()
            .all(|error| error.contains("this is not YAML: "))
    );
    assert!(
        errors("%YAML 1.2\n---\na: 1")
            .iter()
            .all(|error| error.starts_with(":1:1: this is not YAML: "))
    );
}

#[test]
fn a_key_that_yaml_takes_for_nothing_is_to_be_quoted() {
    let right =
        "write text before the colon, and put a name such as null or ~ in quotes".to_owned();
    assert_eq!(
        errors("null: 1\n~: 2\n: 3\n"),
        [1, 2, 3].map(|line| format!(":{line}:1: this key is nothing to YAML: {right}"))
    );
    assert_eq!(show(&tree("'null': 1")), "1:1:{null@1:1=1:9:1}");
}

#[test]
fn an_address_in_brackets_that_is_no_yaml_is_to_be_quoted() {
    let right = "; put an address that begins with [ in quotes";
    for text in [
        "a: [::]:80\n",
        "x:\n  a: [::1]:80 # note\n",
        "x:\n- [2001:db8::1]:80\n- y\n",
        "x: {a: [::]:80, b: c}\n",
    ] {
        let errors = errors(text);
        assert!(
            errors.iter().all(|error| error.ends_with(right)),
            "{errors:?}"
        );
    }
    for text in ["a: [::]:x\n", "a: [b]:80\n", "a: [\n", "a: b [::]:80: c\n"] {
        let errors = errors(text);
        assert!(
            errors.iter().all(|error| !error.ends_with(right)),
            "{errors:?}"
        );
    }
}

#[test]
fn words_that_are_written_otherwise_elsewhere_say_how_they_are_written_here() {
    let mut reader = Reader::new(Path::new(""));
    let year = Duration::from_secs(365 * 86_400);
    for word in ["off", "Never", "FALSE"] {
        let node = tree(word);
        let field = Field {
            name: "ttl",
            node: &node,
        };
        reader.duration(field, Duration::ZERO..=year);
        reader.duration(field, Duration::from_millis(1)..=year);
        reader.choice(field, &[("off", 0), ("never", 1), ("false", 2)]);
    }
    let (errors, _) = reader.finish();
    let units = "write a duration as 5s, 300ms or 1m30s, with the units d, h, m, s, ms, no blank, no fraction";
    let right = |word: &str, right: &str| format!(":1:1: ttl: {word} is wrong here: {right}");
    let want = [
        right("FALSE", "write 0s"),
        right("FALSE", units),
        right("FALSE", "write false"),
        right("Never", "write 0s"),
        right("Never", units),
        right("Never", "write never"),
        right("off", "write 0s"),
        right("off", units),
    ];
    for error in &want {
        assert!(
            errors.iter().any(|found| found.to_string() == *error),
            "{error}"
        );
    }
    assert_eq!(errors.len(), want.len(), "{errors:?}");
}

#[test]
fn a_bomb_ends_with_an_error_before_it_takes_memory_or_stack() {
    let laughs = (1..40).fold("a0: &a0 [x]\n".to_owned(), |text, n| {
        format!(
            "{text}a{n}: &a{n} [{}]\n",
            vec![format!("*a{}", n - 1); 10].join(", ")
        )
    });
    assert!(
        errors(&laughs)
            .iter()
            .all(|error| error.contains("too many values")),
        "{:?}",
        errors(&laughs)
    );
    let chain = (1..100_000).fold(String::from("a0: &a0 [x]\n"), |mut text, n| {
        text.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
        text
    });
    for deep in [
        chain,
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "? ".repeat(1000),
    ] {
        assert!(
            errors(&deep)
                .iter()
                .any(|error| error.contains("nested too deeply")),
            "{:?}",
            errors(&deep)
        );
    }
    let wide = format!("- &a [{}]\n{}", "x, ".repeat(1000), "- *a\n".repeat(1000));
    assert!(
        errors(&wide)
            .iter()
            .all(|error| error.contains("too many values"))
    );
}

#[test]
fn secret_values_are_not_quoted() {
    let node = tree("hunter2");
    let field = Field {
        name: "timeout",
        node: &node,
    };
    let mut reader = Reader::new(Path::new(""));
    reader.discreetly(|reader| read_all(field, reader));
    assert!(reader.integer(field, 1..=2).is_none());
    let (errors, _) = reader.finish();
    let (open, discreet): (Vec<_>, Vec<_>) = errors
        .iter()
        .map(Diagnostic::to_string)
        .partition(|error| error.contains("hunter2"));
    assert_eq!(open.len(), 1, "{open:?}");
    assert!(
        discreet.contains(
            &":1:1: timeout: this value is wrong here: write true or false, without quotes".into()
        ),
        "{discreet:?}"
    );
}

#[test]
fn a_key_that_is_set_twice_is_found_among_many_in_no_time() {
    let mut text: String = (0..50_000).map(|n| format!("k{n}: 1\n")).collect();
    text.push_str("k7: 2\n");
    let node = tree(&text);
    let mut reader = Reader::new(Path::new(""));
    assert_eq!(
        reader
            .entries(Field {
                name: "all",
                node: &node
            })
            .len(),
        50_001
    );
    let (errors, _) = reader.finish();
    assert_eq!(
        errors,
        [Diagnostic::at(
            Position {
                line: 50_001,
                column: 1
            },
            "the key \"k7\" is set twice, first in line 8: remove one"
        )]
    );
}

#[test]
fn errors_come_once_and_are_bounded() {
    let node = tree(&"? x\n".repeat(20_000));
    let mut reader = Reader::new(Path::new(""));
    reader.mapping(
        Field {
            name: "all",
            node: &node,
        },
        &["y"],
    );
    let (errors, _) = reader.finish();
    assert_eq!(errors.len(), 10_001);
    assert_eq!(
        errors.last(),
        Some(&Diagnostic::whole(
            "29999 more errors not shown: correct these first"
        ))
    );
}

/// Every read of every value.
fn read_all(field: Field<'_>, reader: &mut Reader<'_>) {
    let _ = reader.text(field, "write text");
    let _ = reader.path(field);
    let _ = reader.boolean(field);
    let _ = reader.integer(field, 1..=65_535);
    let _ = reader.choice(field, &[("one", 1), ("two", 2)]);
    let _ = reader.duration(field, Duration::ZERO..=Duration::from_secs(1));
    let _ = reader.size(field, 1..=4096);
    if let Value::Sequence(nodes) = &field.node.value {
        nodes
            .iter()
            .for_each(|node| read_all(Field { node, ..field }, reader));
    }
    if let Value::Mapping(entries) = &field.node.value {
        reader.mapping(field, &["a", "file", "address"]);
        entries.iter().for_each(|Entry { key, node }| {
            read_all(
                Field {
                    name: &key.text,
                    node,
                },
                reader,
            )
        });
    }
}

const CORPUS: [&str; 6] = [
    "server:\n  address: [127.0.0.1:8080, \"[::]:8080\"]\n  socket_mode: 0660\nservices:\n  web: {file: x, cache_ttl: 1m30s}\n",
    "a: &x {k: 300ms, l: 64KiB}\nb: *x\nc: [*x, *x]\n",
    "? [a]\n: b\n---\nx: |\n  block\n  text\ny: >-\n  fold\n",
    "\u{feff}%YAML 1.2\n---\r\n\"a\\tb\\u00e9\": 'it''s'\n... \n",
    "- - - a\n    - b\n  - {x: [1, {y: ~}]}\n- !!str 5 # c\n",
    "ü: \"\\x41\\\n  \u{2028}\"\n\tq: !<tag:x> &é *é\n",
];

const BITS: [&str; 24] = [
    "[", "]", "{", "}", ":", ": ", "- ", "? ", "&a ", "*a", "!t ", "|\n", ">+1\n", "\"", "'", "\n",
    "\r", "\t", "#", "%", "---\n", "\0", "\u{2028}", "\u{feff}",
];

#[test]
fn no_text_makes_it_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let mut text: Vec<char> = random.choice(CORPUS).unwrap_or_default().chars().collect();
        for _ in 0..random.usize(1..12) {
            mutate(&mut text, &mut random);
        }
        let text = String::from_iter(text);
        let mut reader = Reader::new(Path::new("dir"));
        if let Some(node) = parse(&text, &mut reader) {
            read_all(
                Field {
                    name: "all",
                    node: &node,
                },
                &mut reader,
            );
        }
        reader.finish();
    }
}

fn mutate(text: &mut Vec<char>, random: &mut fastrand::Rng) {
    let at = random.usize(0..=text.len());
    let end = (at + random.usize(0..8)).min(text.len());
    let piece: Vec<char> = match random.u8(0..4) {
        0 => Vec::new(),
        1 => random.choice(BITS).unwrap_or_default().chars().collect(),
        2 => text
            .iter()
            .skip(random.usize(0..=text.len()))
            .take(random.usize(0..40))
            .copied()
            .collect(),
        _ => vec![random.char(..)],
    };
    text.splice(at..end, piece);
}
