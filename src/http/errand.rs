//! What is answered beside lists: reload and health.

use http_types::{Request, Response, StatusCode};

use super::refusal::Refusal;
use super::route::Errand;
use super::shared::Shared;
use super::{codec, host};

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
    if !is_from_here(request) {
        return Err(Refusal::ForeignSite);
    }
    let services = reloader.reload().await.map_err(Refusal::ReloadFailed)?;
    let mut response = Response::new(StatusCode::Ok);
    let mut body = miniserde::json::to_string(&Reloaded { services });
    body.push('\n');
    response.set_body(body);
    response.insert_header("Content-Type", "application/json");
    Ok(response)
}

/// Whether a browser sends it from Vigie's own page, or no browser does: other sites must not make a
/// visitor's browser ask for reloads.
fn is_from_here(request: &Request) -> bool {
    let value = |name| request.header(name).map(|values| values.last().as_str());
    let site = value("Sec-Fetch-Site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    let host = value("Host").unwrap_or_default();
    let origin = value("Origin").is_none_or(|origin| host::is_own_origin(origin.as_bytes(), host));
    site && origin
}
