//! Bytes on a socket, and answers as they are on the wire.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use miniserde::{Deserialize, json};

use super::PATIENCE;

/// One connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What came and was not yet taken as an answer.
    ahead: Vec<u8>,
}

impl Connection {
    pub(crate) fn over(stream: TcpStream) -> Self {
        // A unix socket knows no Nagle and says so.
        let _ = stream.set_nodelay(true);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            ahead: Vec::new(),
        }
    }

    /// The socket, with what came and was not taken left out.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.stream
    }

    /// Sends bytes as they are. A server that has refused them already may have closed: its answer tells.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> &mut Self {
        match self.stream.write_all(bytes) {
            Err(error)
                if !matches!(
                    error.kind(),
                    ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
                ) =>
            {
                panic!("cannot send: {error}")
            }
            _ => self,
        }
    }

    /// Whether the server still takes bytes, be it only to drop them: each write meets the answer to the one before.
    pub(crate) fn takes(&mut self, bytes: &[u8]) -> bool {
        bytes
            .chunks(1024)
            .all(|chunk| self.stream.write_all(chunk).is_ok())
    }

    /// Says that nothing more will be sent.
    pub(crate) fn half_close(&mut self) -> &mut Self {
        self.stream.shutdown(Shutdown::Write).unwrap();
        self
    }

    /// One request, and its answer.
    pub(crate) fn ask(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
        let host = if headers.iter().any(|(name, _)| *name == "Host") {
            ""
        } else {
            "Host: vigie.test\r\n"
        };
        let lines: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        self.send(format!("{method} {target} HTTP/1.1\r\n{host}{lines}\r\n").as_bytes())
            .receive_to(method)
    }

    /// The next answer, to a `GET`.
    pub(crate) fn receive(&mut self) -> Answer {
        self.receive_to("GET")
    }

    /// The next answer, to a request of this method: one to `HEAD` has no body.
    pub(crate) fn receive_to(&mut self, method: &str) -> Answer {
        loop {
            if let Some((answer, length)) = Answer::parse(&self.ahead, method) {
                self.ahead.drain(..length);
                return answer;
            }
            assert!(
                self.read_on() > 0,
                "closed within an answer, after {:?}",
                self.ahead.escape_ascii().to_string()
            );
        }
    }

    /// Every answer until the server closes the connection, which it must do without losing one.
    pub(crate) fn receive_all(&mut self) -> Vec<Answer> {
        while self.read_on() > 0 {}
        let mut answers = Vec::new();
        while !self.ahead.is_empty() {
            answers.push(self.receive());
        }
        answers
    }

    /// Waits until the server closes the connection without a word.
    pub(crate) fn wait_for_close(&mut self) {
        while self.read_on() > 0 {}
        assert_eq!(
            self.ahead.escape_ascii().to_string(),
            "",
            "it should have closed without a word"
        );
    }

    /// Waits until something has come, and takes none of it.
    pub(crate) fn wait_for_bytes(&self) {
        assert!(self.stream.peek(&mut [0]).unwrap() > 0);
    }

    /// How many answers have begun to come.
    pub(crate) fn count_answers(&mut self) -> usize {
        self.stream.set_nonblocking(true).unwrap();
        let ended = self.stream.read_to_end(&mut self.ahead).unwrap_err();
        assert_eq!(ended.kind(), ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).unwrap();
        String::from_utf8_lossy(&self.ahead)
            .matches("HTTP/1.1 ")
            .count()
    }

    /// Takes so many bytes of what comes.
    pub(crate) fn take(&mut self, count: usize) {
        let begin = self.ahead.len();
        self.ahead.resize(begin + count, 0);
        self.stream.read_exact(&mut self.ahead[begin..]).unwrap();
    }

    /// Takes what comes until the connection ends in any way; gives how many bytes there were.
    pub(crate) fn drain(&mut self) -> usize {
        let mut buffer = vec![0; 1 << 20];
        let mut taken = 0;
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return taken,
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return taken,
                Err(error) => panic!("the connection neither goes on nor ends: {error}"),
            }
        }
    }

    /// Whether the connection is open, with nothing to read.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.stream
            .set_read_timeout(Some(Duration::from_millis(1)))
            .unwrap();
        let read = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        self.ahead.is_empty() && matches!(read, Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    fn read_on(&mut self) -> usize {
        let mut buffer = [0; 64 << 10];
        let count = match self.stream.read(&mut buffer) {
            Ok(count) => count,
            // Whoever stops and continues this process, or its machine, interrupts a read with a timeout.
            Err(error) if error.kind() == ErrorKind::Interrupted => return self.read_on(),
            Err(error) => panic!("{error}, after {:?}", self.ahead.escape_ascii().to_string()),
        };
        self.ahead.extend_from_slice(&buffer[..count]);
        count
    }
}

/// One answer, interim ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In the order of the wire, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

#[derive(Deserialize)]
struct Error {
    error: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str());
        let value = values.next();
        assert_eq!(values.next(), None, "{name} comes twice");
        value
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// The status and the body as text.
    pub(crate) fn summary(&self) -> (u16, &str) {
        (self.status, self.text())
    }

    /// The sentence of an error.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        let error: Error =
            json::from_str(self.text()).unwrap_or_else(|_| panic!("no error: {:?}", self.text()));
        error.error
    }

    /// The first answer in bytes and its length; nothing while it is not complete.
    fn parse(bytes: &[u8], method: &str) -> Option<(Self, usize)> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let status = status(lines.next().unwrap());
        let headers = lines.map(|line| {
            let (name, value) = line
                .split_once(": ")
                .unwrap_or_else(|| panic!("no header: {line:?}"));
            (name.to_ascii_lowercase(), value.to_owned())
        });
        let mut answer = Self {
            status,
            headers: headers.collect(),
            body: Vec::new(),
        };
        let start = end + 4;
        let length = match (method, status) {
            ("HEAD", _) | (_, 100..=199 | 204 | 304) => 0,
            _ => answer
                .header("content-length")
                .expect("every body has its length")
                .parse()
                .unwrap(),
        };
        answer.body = bytes.get(start..start + length)?.to_vec();
        Some((answer, start + length))
    }
}

fn status(line: &str) -> u16 {
    let rest = line
        .strip_prefix("HTTP/1.1 ")
        .unwrap_or_else(|| panic!("no status line: {line:?}"));
    let (status, reason) = rest.split_once(' ').unwrap();
    assert!(!reason.is_empty(), "no reason: {line:?}");
    status.parse().unwrap()
}
