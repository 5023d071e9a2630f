//! Peers that keep lists, one file a kind of source. Each is good for a while and faulty for a while, and logs what it
//! says.

pub(crate) mod dns;
pub(crate) mod file;
pub(crate) mod kubernetes;
pub(crate) mod url;

use std::sync::{Arc, OnceLock};

use crate::stage::Stage;
use crate::truth::Place;

/// The stage is set when the peers are there, and the peers before the server that asks them.
pub(crate) type Later = Arc<OnceLock<Arc<Stage>>>;

/// A place and how it is written in the configuration.
pub(crate) struct Kept {
    pub(crate) place: Arc<Place>,
    pub(crate) kind: &'static str,
    /// The value of the key of its kind.
    pub(crate) source: String,
}

/// A server whose certificate changes together with the file that says whom to believe.
pub(crate) struct Renewal {
    pub(crate) places: Vec<Arc<Place>>,
    pub(crate) file: &'static str,
    /// Takes another certificate, and gives what the file must hold then.
    pub(crate) renew: Box<dyn FnMut() -> String + Send>,
}

/// Notes that a request for a list has come.
fn arrived(stage: &Stage, place: &Arc<Place>) -> std::time::Instant {
    stage.tally.count("reads", place.name.clone());
    stage.truth.arrived(place).unwrap_or_else(|why| {
        let service = stage.truth.service_of(place);
        stage.fail_with(service.as_deref().unwrap_or_default(), why);
        std::time::Instant::now()
    })
}
