//! Reloads beside earlier ones that hang for ever: in this process, where a reload is given up soon.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use vigie::catalog::{Catalog, Current};
use vigie::reload::{self, MOST_HANGING, Outcome, Reloader, Reloading};

use crate::support::{Authority, Hanging, Setup, assert_says, wait_until};

/// Far more than what does not hang needs; what hangs is given up after it.
const TIMEOUT: Duration = Duration::from_secs(1);
const AWAY: &str = "services: {one: {file: one.txt}}";

/// A service whose certificate hangs, the configuration that lies elsewhere, and who reloads it.
struct Served {
    mount: Hanging,
    setup: Setup,
    current: Arc<Current>,
    reloader: Reloader,
    _reloads: smol::Task<()>,
}

impl Served {
    fn start(promise: &str) -> Option<Self> {
        let mount = Hanging::mount(promise, "ca.pem", &Authority::new().pem())?;
        let there = format!(
            "services: {{one: {{file: one.txt}}, tls: {{url: {{url: 'https://127.0.0.1:1/', ca_file: {}}}}}}}",
            mount.path("ca.pem").display()
        );
        let setup = Setup::services("").file("config.yml", &there);
        let file = setup.path("config.yml");
        let (current, reloading) = load(&file);
        let (reloader, requests) = reload::line();
        let served = current.clone();
        let reloads = smol::spawn(async move { requests.serve(reloading, &served).await });
        mount.hang();
        Some(Self {
            mount,
            setup,
            current,
            reloader,
            _reloads: reloads,
        })
    }

    fn reload(&self) -> Outcome {
        smol::block_on(self.reloader.reload())
    }

    #[track_caller]
    fn fails_saying(&self, words: &str) {
        let outcome = self.reload();
        assert_says(&outcome.expect_err("it should fail"), &[words]);
        assert_eq!(self.services(), 2, "all stays as it was");
    }

    fn services(&self) -> usize {
        self.current.load().count()
    }
}

fn load(file: &Path) -> (Arc<Current>, Reloading) {
    let loaded = Catalog::load(file, None);
    let (config, catalog) = loaded.unwrap_or_else(|errors| panic!("{errors}"));
    let reloading = Reloading {
        status: Arc::default(),
        file: file.to_owned(),
        started_with: config,
        timeout: TIMEOUT,
    };
    (Arc::new(Current::new(catalog)), reloading)
}

#[test]
fn a_reload_leads_away_from_a_certificate_that_hangs_though_the_one_before_hangs_still() {
    let Some(served) = Served::start("a reload away from a hung certificate") else {
        return;
    };
    served.fails_saying("config.yml: loading: not done in time; see whether its file system hangs");
    served.setup.write("config.yml", AWAY);
    assert_eq!(served.reload(), Ok(1));
    assert_eq!(served.services(), 1);
}

#[test]
fn a_few_reloads_may_hang_and_more_are_refused_until_those_end_which_swaps_nothing() {
    let Some(served) = Served::start("the bound of reloads that hang") else {
        return;
    };
    let first = served.current.snapshot();
    for _ in 0..MOST_HANGING {
        served.fails_saying("not done in time");
    }
    served.setup.write("config.yml", AWAY);
    served.fails_saying("config.yml: loading: 4 earlier reloads hang still; bring back the file");
    served.mount.go_on();
    wait_until("a reload is done", || served.reload() == Ok(1));
    // Each holds what it was to follow.
    wait_until("all that hung have ended", || {
        Arc::strong_count(&first) == 1
    });
    assert_eq!((served.services(), served.reload()), (1, Ok(1)));
}
