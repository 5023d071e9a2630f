//! What is answered beside lists: reload and health.

use http_types::{Request, Response, StatusCode};

use super::codec;
use super::refusal::Refusal;
use super::route::Errand;
use super::shared::Shared;
use crate::format::json;

#[derive(miniserde::Serialize)]
struct Reloaded {
    services: usize,
}

/// Answers a vetted request.
pub(super) async fn answer(
    errand: Errand,
    vetted: Vec<u8>,
    shared: &Shared,
) -> Result<Response, Refusal> {
    let request = codec::request(vetted).await?;
    match errand {
        Errand::Live => Ok(text("ok\n")),
        Errand::Ready if shared.phase.is_ready() => Ok(text("ready\n")),
        Errand::Ready => Err(Refusal::Stopping),
        Errand::Reload => reload(&request, shared).await,
    }
}

fn text(body: &str) -> Response {
    let mut response = Response::new(StatusCode::Ok);
    response.set_body(body);
    response.insert_header("Content-Type", "text/plain; charset=utf-8");
    response.insert_header("Cache-Control", "no-cache");
    response
}

async fn reload(request: &Request, shared: &Shared) -> Result<Response, Refusal> {
    let reloader = shared.reloader.as_ref().ok_or(Refusal::ReloadDisabled)?;
    if request
        .header(codec::SITE)
        .is_none_or(|site| site.as_str() != codec::OWN_SITE)
    {
        return Err(Refusal::ForeignSite);
    }
    let services = reloader.reload().await.map_err(Refusal::ReloadFailed)?;
    let mut response = Response::new(StatusCode::Ok);
    let mut body = miniserde::json::to_string(&Reloaded { services });
    body.push('\n');
    response.set_body(body);
    response.insert_header("Content-Type", json::MEDIA_TYPE);
    Ok(response)
}
