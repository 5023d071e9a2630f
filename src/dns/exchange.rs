//! One question to one server, until it is answered.

use std::time::Duration;

use hickory_proto::op::ResponseCode;
use rustix::rand::{GetRandomFlags, getrandom};

use super::answer::{Answer, Cut, End, Read};
use super::ask::Protocol;
use super::failure::Problem;
use super::question::Question;
use super::server::Server;
use super::{tcp, udp};

/// Asks over UDP, and over TCP what UDP cannot carry; or over TCP alone. An unanswered datagram is sent
/// again after `pace`, then at growing intervals, without end: the caller keeps the time.
pub(super) async fn ask(
    server: &Server,
    question: &Question,
    protocol: Protocol,
    pace: Duration,
) -> Result<Answer, Problem> {
    let cut = match protocol {
        Protocol::Tcp => return whole(over_tcp(server, question).await?),
        Protocol::Udp => match over_udp(server, question, pace).await? {
            Read::Whole(answer) => return Ok(answer),
            Read::Cut(cut) => cut,
        },
    };
    let outcome = over_tcp(server, question).await.and_then(whole);
    let outcome = outcome.and_then(|answer| match (cut, &answer.end) {
        (Cut::Trimmed, End::NoData | End::NoName) => {
            Err(Problem::Malformed("it has no SRV record either"))
        }
        _ => Ok(answer),
    });
    outcome.map_err(|problem| Problem::Cut(cut, Box::new(problem)))
}

/// Over TCP there is nothing left to ask.
fn whole(read: Read) -> Result<Answer, Problem> {
    match read {
        Read::Whole(answer) => Ok(answer),
        Read::Cut(Cut::Trimmed) => Err(Problem::Malformed(
            "it has addresses, but no SRV record that they belong to",
        )),
        Read::Cut(Cut::Truncated | Cut::Overlong) => {
            Err(Problem::Malformed("it is truncated over TCP"))
        }
    }
}

async fn over_udp(server: &Server, question: &Question, pace: Duration) -> Result<Read, Problem> {
    match udp::exchange(server, question, true, pace).await {
        Err(problem) if is_no_edns(&problem) => udp::exchange(server, question, false, pace).await,
        outcome => outcome,
    }
}

async fn over_tcp(server: &Server, question: &Question) -> Result<Read, Problem> {
    match tcp::exchange(server, question, true).await {
        Err(problem) if is_no_edns(&problem) => tcp::exchange(server, question, false).await,
        outcome => outcome,
    }
}

/// Whether the server may not know EDNS (RFC 6891, section 7).
fn is_no_edns(problem: &Problem) -> bool {
    use ResponseCode::{FormErr, NotImp};
    matches!(problem, Problem::Answered(FormErr | NotImp))
}

/// An id that nobody can guess (RFC 5452, section 9.2), and the bytes of the question under it.
pub(super) fn encode(question: &Question, edns: bool) -> Result<(u16, Vec<u8>), Problem> {
    let mut id = [0; 2];
    // Early in the life of a host the kernel may have nothing to give yet; nobody is held up by that.
    getrandom(&mut id[..], GetRandomFlags::NONBLOCK)
        .map_err(|error| Problem::io("choosing an id", &error.into()))?;
    let id = u16::from_ne_bytes(id);
    match question.encode(id, edns) {
        Ok(bytes) => Ok((id, bytes)),
        Err(error) => Err(Problem::Failed(format!("writing the question: {error}"))),
    }
}
