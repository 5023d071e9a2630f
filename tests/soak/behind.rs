//! A Vigie that reads the first one by JSON: what it gives is as true, only later by its own ttl.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::support::Setup;
use crate::truth::Asked;

/// The services that are read so.
pub(crate) const SERVICES: [&str; 2] = ["behind-url", "behind-dns"];
/// The connections that it keeps for each of them at most.
pub(crate) const CONNECTIONS: usize = 4;

const TTL: Duration = Duration::from_millis(300);

/// Starts it, and who polls it.
pub(crate) fn start(stage: &Arc<Stage>) {
    let port = stage.vigie.port();
    let line = |name: &str| {
        let url = format!("http://127.0.0.1:{port}/services?service_name={name}");
        format!("{name}: {{url: '{url}', cache_ttl: 300ms}}\n")
    };
    let behind = Setup::services(&SERVICES.map(line).concat()).start();
    let (shared, mut chance) = (stage.clone(), stage.chance("behind"));
    stage.run("a Vigie behind the first", move || {
        for service in SERVICES {
            let begun = Instant::now();
            let answer = behind.list(service);
            let asked = Asked::answered(service, begun);
            match shared.truth.check_behind(&asked, &answer, TTL) {
                Ok(()) => shared.tally.count("behind", answer.status.to_string()),
                Err(why) => shared.fail(format!(
                    "{service} of the Vigie behind: {}: {why}",
                    answer.status
                )),
            }
        }
        shared.pause(chance.ms(5..60));
    });
}
