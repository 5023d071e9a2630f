//! Redirects (RFC 9110, section 15.4).

use ureq_proto::http::{StatusCode, header};

use super::{Answer, Client, Deadline, Failure, Kind, Request, Step, Target};

impl Client {
    /// Asks, and goes on to where the answers lead.
    pub(super) async fn follow(
        &self,
        request: &Request<'_>,
        step: &Step,
        deadline: Deadline,
    ) -> Result<Answer, Failure> {
        let mut target = request.target.clone();
        for followed in 0.. {
            let answer = self.ask(request, &target, step, deadline).await;
            let answer = answer.map_err(|failure| match followed {
                0 => failure,
                _ => Failure::new(failure.kind, format!("redirected to {target}: {failure}")),
            })?;
            if !leads_on(answer.status) {
                return Ok(answer);
            }
            let next = next(&answer, &target)?;
            if followed >= request.max_redirects {
                return Err(too_many(&answer, &next, request.max_redirects));
            }
            target = next;
        }
        Err(Failure::new(Kind::Redirect, "redirected without end"))
    }
}

fn leads_on(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn next(answer: &Answer, target: &Target) -> Result<Target, Failure> {
    let refused = |reason: String| Failure::new(Kind::Redirect, reason);
    let mut locations = answer.headers.get_all(header::LOCATION).iter();
    let location = match (locations.next(), locations.next()) {
        (Some(location), None) => location,
        (None, _) => return Err(refused(format!("{} without a Location", answer.status))),
        _ => return Err(refused(format!("{} with several Locations", answer.status))),
    };
    let text = std::str::from_utf8(location.as_bytes());
    let text = text.map_err(|_| refused("redirected to what is no UTF-8".into()))?;
    let next = target.join(text)?;
    match target.is_https() && !next.is_https() {
        true => Err(refused(format!(
            "redirected from https to {next}: name a URL that stays with https"
        ))),
        false => Ok(next),
    }
}

fn too_many(answer: &Answer, next: &Target, most: u64) -> Failure {
    let reason = match most {
        0 => format!(
            "{} to {next}: name that URL, or raise max_redirects",
            answer.status
        ),
        _ => format!(
            "more than {most} redirects, the last to {next}: name the URL where they end, or raise max_redirects"
        ),
    };
    Failure::new(Kind::Redirect, reason)
}
