//! What is answered beside lists: reload, health, metrics and the page.

use std::sync::Arc;

use http_types::{Request, Response, StatusCode};

use super::codec;
use super::refusal::Refusal;
use super::route::Errand;
use super::scrape;
use super::shared::Shared;
use crate::blocking;
use crate::format::json;
use crate::metrics;
use crate::page::{self, Row};
use crate::service::Service;

/// So many services, say, are written of in less time than a thread takes to start.
const WRITTEN_AT_ONCE: usize = 200;

#[derive(miniserde::Serialize)]
struct Reloaded {
    services: usize,
}

/// Answers a vetted request.
pub(super) async fn answer(
    errand: Errand,
    vetted: Vec<u8>,
    shared: &Arc<Shared>,
) -> Result<Response, Refusal> {
    let request = codec::request(vetted).await?;
    match errand {
        Errand::Live => Ok(text("ok\n")),
        Errand::Ready if shared.phase.is_ready() => Ok(text("ready\n")),
        Errand::Ready => Err(Refusal::Stopping),
        Errand::Reload => reload(&request, shared).await,
        Errand::Metrics => Ok(metrics(shared).await),
        Errand::Page => Ok(page(shared).await),
    }
}

fn text(body: &str) -> Response {
    document("text/plain; charset=utf-8", body.into())
}

fn document(media_type: &str, body: String) -> Response {
    let mut response = Response::new(StatusCode::Ok);
    response.set_body(body);
    response.insert_header("Content-Type", media_type);
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

async fn metrics(shared: &Arc<Shared>) -> Response {
    // The open files are counted for it one by one.
    let parts = shared.catalog.load().count() + shared.seats.count();
    let shared = shared.clone();
    let text = written(parts, move || scrape::render(&shared)).await;
    document(metrics::MEDIA_TYPE, text)
}

/// A document of so many parts. A long one is written on a thread of its own, so that it holds up
/// nobody.
async fn written(parts: usize, write: impl Fn() -> String + Clone + Send + 'static) -> String {
    if parts > WRITTEN_AT_ONCE
        && let Ok(text) = blocking::compute(write.clone()).await
    {
        return text;
    }
    write()
}

/// The page, with the headers that keep a browser from doing anything but what it is for.
async fn page(shared: &Shared) -> Response {
    let catalog = shared.catalog.snapshot();
    let count = catalog.count();
    let render = move || page::render(catalog.sorted().into_iter().map(row));
    let html = written(count, render).await;
    let mut response = document("text/html; charset=utf-8", html);
    for (name, value) in page::HEADERS {
        response.insert_header(name, value);
    }
    response
}

fn row(service: &Service) -> Row<'_> {
    Row {
        name: service.name(),
        kind: service.source().kind(),
        target: service.source().target(),
    }
}
