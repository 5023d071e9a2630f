//! One request and its answer on one connection.

use std::io::ErrorKind;
use std::time::Duration;

use smol::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use smol::lock::SemaphoreGuard;
use ureq_proto::BodyMode;
use ureq_proto::client::state::RecvResponse;
use ureq_proto::client::{Call, RecvResponseResult, SendRequestResult};
use ureq_proto::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::connect::{Socket, Stream};
use super::gzip::Sink;
use super::head::{self, Trouble};
use super::input::Input;
use super::{Answer, Client, Deadline, Failure, Kind, Request, Step, Target, body};
use crate::clock::{self, Clock};

/// Of a body that is no list, so many bytes are taken.
const MOST_OF_AN_ERROR: u64 = 64 << 10;
/// They are waited for so long, and half of the time that is left at most: the status says enough.
const PATIENCE_FOR_AN_ERROR: Duration = Duration::from_millis(100);
const USER_AGENT: &str = concat!("vigie/", env!("CARGO_PKG_VERSION"));

impl Client {
    /// One request to `target`, on a kept connection when there is one.
    pub(super) async fn ask(
        &self,
        request: &Request<'_>,
        target: &Target,
        step: &Step,
        deadline: Deadline,
    ) -> Result<Answer, Failure> {
        let origin = target.origin();
        let is_first = origin == request.target.origin();
        let errand = Errand {
            request,
            target,
            is_first,
            step,
        };
        while let Some((stream, socket)) = self.kept.take(&origin).await {
            socket.bound_silence(deadline);
            match errand.run(stream).await {
                // The server closed it just now; nobody has seen an answer, so the request goes out again.
                Err(Trouble::Unanswered(trouble)) => {
                    if trouble.is_some_and(|error| error.kind() == ErrorKind::TimedOut) {
                        // The others went the same way.
                        self.kept.give_up(&origin);
                    }
                }
                // The same, from a server that says so (RFC 9110, section 15.5.9).
                Ok((answer, _)) if answer.status == StatusCode::REQUEST_TIMEOUT => {}
                outcome => return self.keep(&errand, outcome, socket),
            }
        }
        let (stream, socket) = self.connect(target, is_first, step, deadline).await?;
        self.keep(&errand, errand.run(stream).await, socket)
    }

    fn keep(
        &self,
        errand: &Errand<'_>,
        outcome: Result<(Answer, Option<Stream>), Trouble>,
        socket: Socket,
    ) -> Result<Answer, Failure> {
        let (answer, stream) = outcome?;
        if let Some(stream) = stream {
            self.kept.put(errand.target.origin(), stream, socket);
        }
        Ok(answer)
    }
}

/// One request and its answer over a connection that is at hand, which is used for nothing else.
/// Redirects are not followed.
pub async fn over(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: &Request<'_>,
) -> Result<Answer, Failure> {
    let errand = Errand {
        request,
        target: request.target,
        is_first: true,
        step: &Step::default(),
    };
    let (answer, _) = errand.run(Box::new(stream)).await?;
    Ok(answer)
}

struct Errand<'a> {
    request: &'a Request<'a>,
    target: &'a Target,
    is_first: bool,
    step: &'a Step,
}

impl Errand<'_> {
    /// Gives the connection back when another request may follow on it.
    async fn run(&self, stream: Stream) -> Result<(Answer, Option<Stream>), Trouble> {
        self.step.begin("waiting for the answer");
        let at_hand = self.request.at_hand;
        let at_hand = at_hand.filter(|at_hand| at_hand.target == *self.target);
        let (message, mut call) = self.message(at_hand.map(|at_hand| &at_hand.etag))?;
        let mut input = Input::new(stream);
        // When the server has closed already, what it said before that tells why.
        let sent = input.stream.write_all(&message).await;
        if sent.is_ok() {
            let _ = input.stream.flush().await;
        }
        let (parts, ()) = head::receive(&mut input, &mut call).await?.into_parts();
        let keeps_alive = head::keeps_alive(parts.version, &parts.headers);
        let mode = match call.proceed() {
            Some(RecvResponseResult::RecvBody(call)) => call.body_mode(),
            _ => BodyMode::NoBody,
        };
        self.step.begin("reading the body");
        let (body, is_whole, turn) = match parts.status {
            StatusCode::OK => {
                let turn = self.turn(&mut input, mode).await?;
                let mut sink = Sink::decoding(&parts.headers, self.request.max_size)?;
                body::receive(&mut input, mode, &mut sink).await?;
                (sink.finish(mode != BodyMode::CloseDelimited)?, true, turn)
            }
            _ => {
                let patience = PATIENCE_FOR_AN_ERROR.min(self.time_left() / 2);
                let (body, is_whole) =
                    body_of_an_error(&mut input, mode, &parts.headers, patience).await;
                (body, is_whole, None)
            }
        };
        let can_follow = is_whole
            && keeps_alive
            && mode != BodyMode::CloseDelimited
            && parts.status != StatusCode::SWITCHING_PROTOCOLS;
        let answer = Answer {
            target: self.target.clone(),
            status: parts.status,
            headers: parts.headers,
            body,
            turn,
            conditional: at_hand.is_some(),
        };
        Ok((answer, can_follow.then(|| input.into_idle()).flatten()))
    }

    /// Waits for leave to hold the body, where it needs one. Not before some of it has come: a server that is silent
    /// keeps nobody waiting.
    async fn turn(
        &self,
        input: &mut Input,
        mode: BodyMode,
    ) -> Result<Option<SemaphoreGuard<'static>>, Failure> {
        let Some(turns) = self.request.turns else {
            return Ok(None);
        };
        body::begin(input, mode).await?;
        self.step.begin("waiting for other large lists to be read");
        let turn = turns.acquire().await;
        self.step.begin("reading the body");
        Ok(Some(turn))
    }

    fn time_left(&self) -> Duration {
        let passed = Clock::System
            .now()
            .saturating_duration_since(self.request.begun);
        self.request.timeout.saturating_sub(passed)
    }

    /// The bytes of the request, and what reads its answer.
    fn message(
        &self,
        etag: Option<&HeaderValue>,
    ) -> Result<(Vec<u8>, Call<RecvResponse>), Failure> {
        let mut request = ureq_proto::http::Request::new(());
        *request.uri_mut() = self.target.uri().clone();
        *request.headers_mut() = self.headers(etag);
        let fields = request.headers().iter();
        let length: usize = fields
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        // The URL stands in the first line and in Host.
        let mut bytes = vec![0; length + 2 * request.uri().to_string().len() + 64];
        let unsendable = |error: ureq_proto::Error| {
            Failure::new(
                Kind::Protocol,
                format!("the request cannot be sent: {error}"),
            )
        };
        let mut call = Call::new(request).map_err(unsendable)?.proceed();
        let count = call.write(&mut bytes).map_err(unsendable)?;
        bytes.truncate(count);
        match call.proceed().map_err(unsendable)? {
            Some(SendRequestResult::RecvResponse(call)) => Ok((bytes, call)),
            _ => Err(Failure::new(Kind::Protocol, "the request cannot be sent")),
        }
    }

    fn headers(&self, etag: Option<&HeaderValue>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        if let Some(etag) = etag {
            headers.insert(header::IF_NONE_MATCH, etag.clone());
        }
        if self.is_first {
            headers.extend(self.request.credentials.clone());
        }
        headers
    }
}

/// What comes of it soon, and whether that is all. The status is what matters, so nothing here fails.
async fn body_of_an_error(
    input: &mut Input,
    mode: BodyMode,
    headers: &HeaderMap,
    patience: Duration,
) -> (Vec<u8>, bool) {
    let mut sink = Sink::plain(MOST_OF_AN_ERROR);
    let receive = body::receive(input, mode, &mut sink);
    let received = clock::within(patience, receive).await;
    let is_whole = matches!(received, Some(Ok(())));
    let is_readable = !headers.contains_key(header::CONTENT_ENCODING);
    let body = if is_readable {
        sink.so_far()
    } else {
        Vec::new()
    };
    (body, is_whole)
}
