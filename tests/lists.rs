//! What an endpoint line may look like, and how a list that cannot be read is refused whole.

use crate::support::{Answer, Setup, assert_says, endpoints};

/// What a file with this content gives, with 9000 as the default port.
fn read(content: impl AsRef<[u8]>) -> Answer {
    Setup::services("web: {file: web.txt, default_port: 9000}")
        .file("web.txt", content)
        .start()
        .list("web")
}

/// Serves each content under its number.
fn read_each<T: AsRef<[u8]>>(contents: &[T]) -> Vec<Answer> {
    let services =
        (0..contents.len()).map(|i| format!("s{i}: {{file: s{i}.txt, default_port: 9000}}\n"));
    let mut setup = Setup::services(&services.collect::<String>());
    for (i, content) in contents.iter().enumerate() {
        setup = setup.file(&format!("s{i}.txt"), content);
    }
    let vigie = setup.start();
    (0..contents.len())
        .map(|i| vigie.list(&format!("s{i}")))
        .collect()
}

const GOOD: [(&str, &str); 26] = [
    ("10.0.0.7:8080 3", "10.0.0.7 8080 3"),
    ("10.0.0.8", "10.0.0.8 9000 0"),
    ("10.0.0.8 5", "10.0.0.8 9000 5"),
    ("[2001:db8::7]:8080 10", "2001:db8::7 8080 10"),
    ("[2001:db8::7]", "2001:db8::7 9000 0"),
    ("2001:db8::8", "2001:db8::8 9000 0"),
    ("2001:db8::8 7", "2001:db8::8 9000 7"),
    ("::ffff:10.0.0.1", "::ffff:10.0.0.1 9000 0"),
    ("2001:DB8:0::8", "2001:DB8:0::8 9000 0"),
    ("[2001:0DB8::7]:1 4294967295", "2001:0DB8::7 1 4294967295"),
    ("fe80::1%eth0", "fe80::1%eth0 9000 0"),
    ("web-1.example.net:80", "web-1.example.net 80 0"),
    ("WEB_1-a.example.NET:65535", "WEB_1-a.example.NET 65535 0"),
    ("localhost", "localhost 9000 0"),
    ("1.2.3.4a", "1.2.3.4a 9000 0"),
    ("10.0.0.9:8080,5", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080;5", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080 weight=5", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080,weight=5", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080\t5", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080   5", "10.0.0.9 8080 5"),
    (" \t10.0.0.9:8080 5\t ", "10.0.0.9 8080 5"),
    ("10.0.0.9:8080 5 # five", "10.0.0.9 8080 5"),
    ("10.0.0.9 # none", "10.0.0.9 9000 0"),
    ("10.0.0.9:8080 0", "10.0.0.9 8080 0"),
    ("10.0.0.9:1", "10.0.0.9 1 0"),
];

#[test]
fn every_good_line_is_read_as_it_is_written() {
    let list: String = GOOD.iter().map(|(line, _)| format!("{line}\n")).collect();
    assert_eq!(
        endpoints(&read(list)),
        GOOD.map(|(_, endpoint)| endpoint.to_owned())
    );
}

#[test]
fn order_and_doubles_are_kept() {
    let list = "10.0.0.2\n10.0.0.1\n10.0.0.2\n";
    assert_eq!(
        endpoints(&read(list)),
        ["10.0.0.2 9000 0", "10.0.0.1 9000 0", "10.0.0.2 9000 0"]
    );
}

#[test]
fn comments_and_blank_lines_are_skipped() {
    let list = "# all\n\n   \n\t# more\n10.0.0.1\n#10.0.0.2\n \r\n";
    assert_eq!(endpoints(&read(list)), ["10.0.0.1 9000 0"]);
}

#[test]
fn files_of_every_system_are_read() {
    let lists = [
        "\u{feff}10.0.0.1\r\n10.0.0.2 7\r\n",
        "10.0.0.1\n10.0.0.2 7",
        "\u{feff}# x\r\n10.0.0.1\t\r\n10.0.0.2 7 \n\n",
    ];
    for answer in read_each(&lists) {
        assert_eq!(endpoints(&answer), ["10.0.0.1 9000 0", "10.0.0.2 9000 7"]);
    }
}

#[test]
fn a_list_of_comments_is_empty_and_true() {
    let lists = ["\n", "# nobody", " \t\r\n# nobody\r\n", "\u{feff}\n"];
    for answer in read_each(&lists) {
        assert_eq!(answer.summary(), (200, "[]\n"));
    }
}

#[test]
fn a_file_of_zero_bytes_is_a_writer_caught_in_the_act() {
    let answer = read("");
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["web", "web.txt", "empty"]);
}

const BAD: [&str; 44] = [
    "10.0.0.256",
    "10.0.0",
    "10.0.0.1.2",
    "010.0.0.1",
    "a<b",
    "wéb.example.net",
    "web..example.net",
    "web.123:80",
    "12345",
    ":80",
    ":",
    ",5",
    "10.0.0.1:",
    "10.0.0.1:0",
    "10.0.0.1:65536",
    "10.0.0.1:99999999999999999999",
    "10.0.0.1:8o",
    "10.0.0.1:+80",
    "10.0.0.1:-80",
    "10.0.0.1:80:81",
    "10.0.0.1 :80",
    "[10.0.0.1]:80",
    "[web.example.net]:80",
    "[2001:db8::1",
    "2001:db8::1]",
    "[2001:db8::1]80",
    "[2001:db8::1]:",
    "[]:80",
    "2001:db8::g",
    "2001:db8:::1",
    "1:2:3:4:5:6:7:8:9",
    "10.0.0.1 4294967296",
    "10.0.0.1 -3",
    "10.0.0.1 +3",
    "10.0.0.1 1.5",
    "10.0.0.1 many",
    "10.0.0.1 1 2",
    "10.0.0.1 weight=",
    "10.0.0.1 weight=x",
    "10.0.0.1 Weight",
    "10.0.0.1#x",
    "10.0.0.1 5#x",
    "http://10.0.0.1",
    "10.0.0.1/24",
];

#[test]
fn every_bad_line_fails_the_whole_list_with_its_number() {
    let lists = BAD.map(|line| format!("10.0.0.1\n\n# comment\n10.0.0.2:80 1\n{line}\n10.0.0.3\n"));
    for (line, answer) in BAD.iter().zip(read_each(&lists)) {
        assert_eq!(answer.status, 502, "{line:?}");
        assert_says(&answer.error(), &["line 5", line]);
    }
}

#[test]
fn a_long_line_is_shortened_to_80_characters() {
    let head = "ü10.0.0.2:80 ";
    let list = "# more to come\n".repeat(1233) + head + &"w".repeat(500) + "\n10.0.0.3:80\n";
    let answer = read(list);
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["line 1234", &(head.to_owned() + &"w".repeat(60))],
    );
    assert!(
        !answer.error().contains(&"w".repeat(81)),
        "{}",
        answer.error()
    );
}

#[test]
fn control_bytes_of_a_line_do_not_reach_the_client_raw() {
    let answer = read("10.0.0.1\n10.0.0.2 \u{1b}[2J\u{0}\n");
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["line 2"]);
    assert!(
        !answer.body.iter().any(|&byte| byte < b' ' && byte != b'\n'),
        "{:?}",
        answer.text()
    );
}

#[test]
fn a_file_that_is_not_utf_8_is_refused() {
    for answer in read_each(&[
        &b"10.0.0.1 # \xe9\n"[..],
        b"\xff\xfe1\x000\x00",
        b"10.0.0.1\n\xc3",
    ]) {
        assert_eq!(answer.status, 502);
        assert_says(&answer.error(), &["UTF-8"]);
    }
}

#[test]
fn a_file_may_be_as_large_as_max_size_and_no_larger() {
    let list = |size: usize| format!("10.0.0.1 # {}\n", "x".repeat(size - 12));
    let services = "fits: {file: {path: fits.txt, max_size: 1KiB}}\nover: {file: {path: over.txt, max_size: 1KiB}}";
    let vigie = Setup::services(services)
        .file("fits.txt", list(1024))
        .file("over.txt", list(1025))
        .start();
    assert_eq!(endpoints(&vigie.list("fits")), ["10.0.0.1 80 0"]);
    let over = vigie.list("over");
    assert_eq!(over.status, 502);
    assert_says(
        &over.error(),
        &[
            "over.txt: reading: it is too large; the limit is 1024 bytes (max_size): shorten it, or raise the limit",
        ],
    );
}

#[test]
fn without_a_default_port_it_is_80() {
    let vigie = Setup::services("web: {file: web.txt}")
        .file("web.txt", "10.0.0.1\n")
        .start();
    assert_eq!(endpoints(&vigie.list("web")), ["10.0.0.1 80 0"]);
}

#[test]
fn a_list_of_many_thousand_endpoints_comes_whole() {
    let list: Vec<_> = (0..40_000)
        .map(|i| format!("10.{}.{}.{} 9000 0", i >> 16, i >> 8 & 255, i & 255))
        .collect();
    let lines: String = list
        .iter()
        .map(|line| line.split(' ').next().unwrap().to_owned() + "\n")
        .collect();
    assert_eq!(endpoints(&read(lines)), list);
}
