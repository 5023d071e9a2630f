//! One question on one TCP connection.

use std::io;
use std::net::TcpStream;

use async_io::Async;
use smol::io::{AsyncReadExt, AsyncWriteExt};

use super::answer::{Read, read};
use super::exchange::encode;
use super::failure::Problem;
use super::question::Question;
use super::server::Server;

/// Asks on a connection of its own (RFC 7766), and closes it.
///
/// Errors: an answer that is an error or malformed, a server that cannot be reached or breaks off.
pub(super) async fn exchange(
    server: &Server,
    question: &Question,
    edns: bool,
) -> Result<Read, Problem> {
    let (id, bytes) = encode(question, edns)?;
    let mut stream = connect(server)
        .await
        .map_err(|error| Problem::io("connecting over TCP", &error))?;
    let sent = stream.write_all(&framed(&bytes)).await;
    sent.map_err(|error| Problem::io("sending over TCP", &error))?;
    let answer = receive(&mut stream).await.map_err(broken)?;
    read(&answer, question, id).unwrap_or(Err(Problem::Malformed("it answers another question")))
}

async fn connect(server: &Server) -> io::Result<Async<TcpStream>> {
    Async::<TcpStream>::connect(server.address()?).await
}

/// With its length before it, all in one write (RFC 7766, section 8).
fn framed(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes(), bytes].concat()
}

async fn receive(stream: &mut Async<TcpStream>) -> io::Result<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length).await?;
    let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

fn broken(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Problem::Failed("it closed the TCP connection before the answer was whole".into())
        }
        _ => Problem::io("receiving over TCP", &error),
    }
}
