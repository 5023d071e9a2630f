//! The body of a request: where it ends, how large it may be, and that it is never taken for the next request.

use crate::support::framing::{chunked, posts, statuses};
use crate::support::{Setup, Vigie};

fn serve() -> Vigie {
    Setup::services("one: {file: one.txt}")
        .file("one.txt", "10.0.0.1:80\n")
        .start()
}

#[test]
fn a_body_of_a_known_length_is_read_and_ignored() {
    let vigie = serve();
    let body = vec![b'x'; 64 << 10];
    vigie.keeps(
        405,
        &posts(&[
            ("Content-Length: 5", b"hello"),
            ("Content-Length: 005", b"GET /"),
            ("content-length:5 ", b"\r\n\r\n\0"),
        ]),
    );
    vigie.keeps(405, &posts(&[("Content-Length: 65536", &body)]));
    vigie.keeps(405, &posts(&[("Content-Length: 0", b""), ("X: y", b"")]));
}

#[test]
fn a_get_may_have_a_body_too() {
    let head = "GET /services?service_name=one HTTP/1.1\r\nHost: x\r\n";
    let bodies = [
        "Content-Length: 5\r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ];
    serve().keeps(200, &bodies.map(|body| format!("{head}{body}")));
}

#[test]
fn a_length_that_is_no_number_or_comes_twice_is_400_and_closes() {
    let lengths = [
        "", "+5", "-1", "0x5", "5.0", "5e0", "\"5\"", "five", "5 5", "5, 5", "5,6", "5;x",
        "\u{0665}",
    ];
    let vigie = serve();
    vigie.closes(
        400,
        &posts(
            &lengths
                .map(|length| (format!("Content-Length: {length}"), "hello"))
                .each_ref()
                .map(|(header, body)| (header.as_str(), body)),
        ),
    );
    vigie.closes(
        400,
        &posts(&[
            ("Content-Length: 5\r\nContent-Length: 5", "hello"),
            ("Content-Length: 5\r\ncontent-length: 6", "hello!"),
        ]),
    );
}

#[test]
fn a_body_that_is_too_large_is_413_before_it_is_sent() {
    let lengths = [
        "65537",
        "4294967296",
        "18446744073709551616",
        "99999999999999999999999999999999999999",
    ];
    let vigie = serve();
    for length in lengths {
        let head = format!("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(statuses(&vigie.tell(head.as_bytes())), [413], "{length}");
        vigie.closes(413, &[head]);
    }
}

#[test]
fn a_chunked_body_is_read_and_ignored() {
    let large = format!("ffff\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(65_535));
    let fine = [
        "0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        "a\r\n0123456789\r\n0\r\n\r\n",
        "A\r\n0123456789\r\n00000\r\n\r\n",
        "0005\r\nhello\r\n0\r\n\r\n",
        "5;name\r\nhello\r\n0\r\n\r\n",
        "5;name=value;other=\"a \\\" b\"\r\nhello\r\n0;last\r\n\r\n",
        "5 ; name = value\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\n",
        "5\r\n\r\n0\r\n\r\n0\r\n\r\n",
        &large,
    ];
    let vigie = serve();
    vigie.keeps(405, &chunked(&fine));
    let spellings = [
        "Transfer-Encoding: Chunked",
        "transfer-encoding:CHUNKED",
        "Transfer-Encoding: \tchunked\t ",
    ];
    vigie.keeps(
        405,
        &posts(&spellings.map(|header| (header, "5\r\nhello\r\n0\r\n\r\n"))),
    );
}

#[test]
fn a_coding_that_contradicts_itself_is_400_and_closes() {
    let contradictions = [
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 0\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: \r\n chunked",
    ];
    let vigie = serve();
    vigie.closes(
        400,
        &posts(&contradictions.map(|header| (header, "5\r\nhello\r\n0\r\n\r\n"))),
    );
    vigie.closes(400, &["POST /livez HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"]);
}

#[test]
fn a_coding_that_is_not_known_is_501_and_closes() {
    let codings = [
        "gzip",
        "gzip, chunked",
        "gzip\r\nTransfer-Encoding: chunked",
        "xchunked",
        "chunkedx",
        "identity",
        "cow, chunked",
    ];
    let headers = codings.map(|coding| format!("Transfer-Encoding: {coding}"));
    serve().closes(
        501,
        &posts(
            &headers
                .each_ref()
                .map(|header| (header.as_str(), "5\r\nhello\r\n0\r\n\r\n")),
        ),
    );
}

#[test]
fn malformed_chunks_are_400_and_close() {
    let malformed = [
        "g\r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5h\r\nhello\r\n0\r\n\r\n",
        "5 5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        ";name\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r\n0\n\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\r\nX: y\n\r\n",
        "5\rhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello!\r\n0\r\n\r\n",
        "5\r\nhell\r\n0\r\n\r\n",
        "5;na\nme\r\nhello\r\n0\r\n\r\n",
        "5;na\rme\r\nhello\r\n0\r\n\r\n",
        "5;na\0me\r\nhello\r\n0\r\n\r\n",
        "5\r\nhello\r\n0\r\nno colon\r\n\r\n",
        "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        "5\r\nhello\r\n0\r\nX: y\r\n folded\r\n\r\n",
        "5\r\nhello\r\n0\r\nX: \0\r\n\r\n",
    ];
    serve().closes(400, &chunked(&malformed));
}

#[test]
fn chunks_that_are_too_large_are_413_and_close() {
    let half = format!("8000\r\n{}\r\n", "x".repeat(0x8000));
    let sizes = [
        "10001\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n",
        "fffffffffffffffffffffffffffffffff\r\n",
    ];
    let vigie = serve();
    vigie.closes(413, &chunked(&sizes));
    vigie.closes(413, &chunked(&[format!("{half}{half}1\r\nx\r\n0\r\n\r\n")]));
}

#[test]
fn chunks_that_are_all_wrapping_are_refused() {
    let vigie = serve();
    let refused = |body: String| {
        let answers = vigie.tell(&chunked(&[body])[0]);
        assert!(
            matches!(statuses(&answers)[..], [400 | 413 | 431]),
            "{:?}",
            statuses(&answers)
        );
    };
    refused(format!("5;{}", "x".repeat(200_000)));
    refused(format!("0\r\n{}", "X: y\r\n".repeat(50_000)));
    refused(format!("{}5\r\nhello\r\n", "0".repeat(200_000)));
    refused("1;an extension of forty characters, no less\r\nx\r\n".repeat(60_000));
}
