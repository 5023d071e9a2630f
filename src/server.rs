//! Wires it all together: the one place with an executor.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use async_io::Timer;
use log::{error, info, warn};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use smol::future::FutureExt;

use crate::catalog::{Catalog, Current};
use crate::clock::{self, Clock};
use crate::config::{Address, Config, Server};
use crate::http::counts::Counts;
use crate::http::inherited;
use crate::http::listener::{Listener, SocketFiles};
use crate::http::seats::{Limits, Seats};
use crate::http::shared::{Phase, Scratch, Shared};
use crate::reload::{self, Reloading, Requests};
use crate::signal::{Wish, Wishes};
use crate::slot::{Runtime, Task};
use crate::supervisor;
use crate::wording::{MORE_FILES, count, lacks_files, without_number};

/// Descriptors that are kept for files, sources and what the process itself has open.
const KEPT: u64 = 64;
/// Descriptors of clients that are told that there is no room.
const REFUSED: u64 = 64;

static EXECUTOR: smol::Executor<'static> = smol::Executor::new();

/// Serves until SIGTERM or SIGINT. `file` is read again at each reload.
pub fn run(file: &Path, config: Config, catalog: Catalog, wishes: Wishes) -> ExitCode {
    crate::log::start(config.log.level, config.log.format);
    // A task of its own, so that what wakes the others does not have it look for signals each time.
    let serving = EXECUTOR.spawn(serve(file.to_owned(), config, catalog, wishes));
    let ended = smol::block_on(EXECUTOR.run(serving));
    let code = ended.unwrap_or_else(|reason| {
        error!("not started: {reason}");
        // Whoever started it must learn why, whatever the log level.
        if !log::log_enabled!(log::Level::Error) {
            let _ = writeln!(std::io::stderr(), "vigie serve: {reason}");
        }
        ExitCode::FAILURE
    });
    crate::log::finish();
    code
}

async fn serve(
    file: PathBuf,
    config: Config,
    catalog: Catalog,
    mut wishes: Wishes,
) -> Result<ExitCode, String> {
    config.warn(&file);
    let server = config.server.clone();
    let limits = limits(&server, raise_descriptors());
    let mut listeners = listen(&server)?;
    let files = SocketFiles::of(&mut listeners);
    info!("started: {}", count(catalog.count(), "service"));
    let (reloader, requests) = reload::line();
    let shared = Arc::new(Shared {
        catalog: Arc::new(Current::new(catalog)),
        runtime: Runtime {
            clock: Clock::System,
            spawn: Arc::new(|task: Task| EXECUTOR.spawn(task).detach()),
        },
        seats: Seats::new(limits),
        reloader: (!config.disable_reload_by_request).then(|| reloader.clone()),
        phase: Phase::default(),
        scratch: Mutex::new(Scratch::default()),
        counts: Counts::default(),
        durations: Arc::default(),
        reloads: Arc::default(),
    });
    let reloading = Reloading {
        status: shared.reloads.clone(),
        file,
        started_with: config,
        timeout: reload::TIMEOUT,
    };
    let accepting = start(&shared, listeners, requests, reloading);
    if supervisor::is_there() {
        EXECUTOR.spawn(report(shared.catalog.clone())).detach();
    }
    while wishes.next().await == Wish::Reload {
        reloader.request();
    }
    let stop = async {
        EXECUTOR.spawn(supervisor::stopping()).detach();
        stop(&shared, &server, accepting, &files).await;
        ExitCode::SUCCESS
    };
    let code = stop.or(second_stop(&mut wishes, &reloader)).await;
    if code != ExitCode::SUCCESS {
        // The second signal may have come before they were.
        files.remove().await;
    }
    Ok(code)
}

/// Tells the supervisor that this process is ready, and from then on that it is alive and how its
/// services are.
async fn report(catalog: Arc<Current>) {
    let mut told = catalog.snapshot().summary();
    supervisor::ready(&told).await;
    loop {
        Timer::after(supervisor::pace()).await;
        let status = catalog.snapshot().summary();
        let news = (status != told).then_some(&*status);
        supervisor::alive(news).await;
        told = status;
    }
}

/// What connections may take, with so many descriptors at most: where there are few, half of them are for
/// clients and an eighth for those that are sent away.
fn limits(server: &Server, descriptors: u64) -> Limits {
    let Server {
        max_connections: wanted,
        request_timeout,
        write_timeout,
        idle_timeout,
        ..
    } = *server;
    let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
    let allowed = number(descriptors - (KEPT + REFUSED).min(descriptors / 2)).max(1);
    if allowed < wanted {
        warn!(
            "server.max_connections is lowered from {wanted} to {allowed}: {descriptors} files may be open at once"
        );
    }
    Limits {
        connections: wanted.min(allowed),
        refused: number(REFUSED.min(descriptors / 8)),
        request: request_timeout,
        write: write_timeout,
        idle: idle_timeout,
    }
}

/// Takes the sockets that were passed on, or else binds the addresses of the configuration.
fn listen(server: &Server) -> Result<Vec<Listener>, String> {
    let passed = inherited::listeners()?;
    for listener in &passed {
        info!(
            "listening on {}, a socket that was passed on, so server.address is not used",
            listener.name
        );
    }
    if passed.is_empty() {
        bind(server)
    } else {
        Ok(passed)
    }
}

fn bind(server: &Server) -> Result<Vec<Listener>, String> {
    let bind = |(number, address)| {
        let bound = Listener::bind(address, server.socket_mode).map_err(|error| {
            let before = server.addresses.get(..number).unwrap_or_default();
            format!(
                "listening on {address}: {}",
                advise(&error, address, before)
            )
        })?;
        info!("listening on {}", bound.name);
        Ok(bound)
    };
    server.addresses.iter().enumerate().map(bind).collect()
}

/// What to do about an address that cannot be bound; those `before` it have been.
fn advise(error: &io::Error, address: &Address, before: &[Address]) -> String {
    let mut overlaps = before
        .iter()
        .filter_map(|bound| Some((bound, bound.overlap(address)?)));
    let overlap = match error.kind() {
        ErrorKind::AddrInUse => overlaps.next(),
        _ => None,
    };
    if let Some((bound, why)) = overlap {
        let error = without_number(error);
        return format!("{error} by {bound} of server.address; {why}: leave one of the two out");
    }
    let advice = match error.kind() {
        _ if lacks_files(error) => return format!("{}; {MORE_FILES}", without_number(error)),
        ErrorKind::AddrInUse => "; stop the process that listens there, or change server.address",
        ErrorKind::AddrNotAvailable => {
            "; this machine has no such address, so change server.address"
        }
        ErrorKind::NotFound => "; create its folder, or change server.address",
        ErrorKind::PermissionDenied => "; this user may not, so change server.address or the user",
        _ => "",
    };
    format!("{}{advice}", without_number(error))
}

/// Starts all that goes on in the background; the tasks given back accept connections.
fn start(
    shared: &Arc<Shared>,
    listeners: Vec<Listener>,
    requests: Requests,
    reloading: Reloading,
) -> Vec<smol::Task<()>> {
    let time = shared.clone();
    EXECUTOR
        .spawn(async move { time.seats.keep_time(&time.runtime.clock).await })
        .detach();
    let current = shared.clone();
    EXECUTOR
        .spawn(async move { requests.serve(reloading, &current.catalog).await })
        .detach();
    let accept = |listener: Listener| {
        let shared = shared.clone();
        EXECUTOR.spawn(async move { listener.accept_all(&shared).await })
    };
    listeners.into_iter().map(accept).collect()
}

/// Goes on serving for a while, then closes what is idle and waits for what is under way.
async fn stop(
    shared: &Shared,
    server: &Server,
    accepting: Vec<smol::Task<()>>,
    files: &SocketFiles,
) {
    shared.phase.leave();
    info!("stopping");
    let clock = &shared.runtime.clock;
    clock.sleep_until(clock.now() + server.shutdown_delay).await;
    shared.phase.close();
    for task in accepting {
        // The listener is dropped with its task.
        task.cancel().await;
    }
    let answered = async {
        shared.seats.close_idle();
        clock::within(server.shutdown_timeout, shared.seats.emptied()).await
    };
    let (answered, ()) = smol::future::zip(answered, files.remove()).await;
    if answered.is_none() {
        warn!(
            "stopped with {} open",
            count(shared.seats.count(), "connection")
        );
    }
}

async fn second_stop(wishes: &mut Wishes, reloader: &reload::Reloader) -> ExitCode {
    while wishes.next().await == Wish::Reload {
        reloader.request();
    }
    ExitCode::FAILURE
}

/// Raises the soft limit of open files to the hard one, and says how many may be open then.
fn raise_descriptors() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: maximum,
                maximum,
            },
        )
    {
        warn!("raising the limit of open files: {error}");
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
