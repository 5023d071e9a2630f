//! Requests as raw bytes, each followed at once by another that tells whether the connection was kept.

use super::{Answer, Vigie};

/// Comes right behind each request: answered when the connection is kept, and never when it is closed.
const NEXT: &[u8] = b"GET /livez HTTP/1.1\r\nHost: next\r\nConnection: close\r\n\r\n";

impl Vigie {
    /// Each request gets this status, and the one behind it is answered too.
    #[track_caller]
    pub(crate) fn keeps(&self, status: u16, requests: &[impl AsRef<[u8]>]) {
        for request in requests {
            let answers = self.tell(&[request.as_ref(), NEXT].concat());
            assert_eq!(statuses(&answers), [status, 200], "{}", shown(request));
            assert!(
                answers[0]
                    .header("connection")
                    .is_none_or(|value| value == "keep-alive"),
                "{}",
                shown(request)
            );
            assert_eq!(answers[1].header("connection"), Some("close"));
        }
    }

    /// Each request gets this status, which says that the connection ends, and nothing behind it is answered.
    #[track_caller]
    pub(crate) fn closes(&self, status: u16, requests: &[impl AsRef<[u8]>]) {
        for request in requests {
            let answers = self.tell(&[request.as_ref(), NEXT].concat());
            assert_eq!(statuses(&answers), [status], "{}", shown(request));
            assert_eq!(
                answers[0].header("connection"),
                Some("close"),
                "{}",
                shown(request)
            );
            assert!(
                status < 400 || !answers[0].error().is_empty(),
                "{}",
                shown(request)
            );
        }
    }
}

/// The statuses of answers in their order.
pub(crate) fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

/// Request lines, each with a `Host` and nothing else.
pub(crate) fn lines<T: AsRef<[u8]>>(lines: &[T]) -> Vec<Vec<u8>> {
    lines
        .iter()
        .map(|line| [line.as_ref(), b"\r\nHost: x\r\n\r\n"].concat())
        .collect()
}

/// Header lines, each in a request for `/livez` behind its `Host`.
pub(crate) fn headers<T: AsRef<[u8]>>(lines: &[T]) -> Vec<Vec<u8>> {
    lines
        .iter()
        .map(|line| {
            [
                b"GET /livez HTTP/1.1\r\nHost: x\r\n",
                line.as_ref(),
                b"\r\n\r\n",
            ]
            .concat()
        })
        .collect()
}

/// Header lines and bodies, each in a `POST` that is answered 405 when its body can be read.
pub(crate) fn posts<T: AsRef<[u8]>>(posts: &[(&str, T)]) -> Vec<Vec<u8>> {
    let head = |headers| format!("POST /livez HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\n");
    posts
        .iter()
        .map(|(headers, body)| [head(headers).as_bytes(), body.as_ref()].concat())
        .collect()
}

/// Chunked bodies, each in a `POST` that is answered 405 when its body can be read.
pub(crate) fn chunked<T: AsRef<[u8]>>(bodies: &[T]) -> Vec<Vec<u8>> {
    posts(
        &bodies
            .iter()
            .map(|body| ("Transfer-Encoding: chunked", body))
            .collect::<Vec<_>>(),
    )
}

fn shown(bytes: &impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes[..bytes.len().min(300)].escape_ascii().to_string()
}
