//! The requests that a place is answering: never two reads at once.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::truth::Place;

/// Two reads of one place may seem to be under way at once for so long: the end of the first is seen late.
const SEEN_LATE: Duration = Duration::from_millis(700);

/// The requests that a place is answering.
#[derive(Default)]
pub(crate) struct Turns(Mutex<(u64, Vec<(u64, Instant)>)>);

/// One of them.
pub(crate) struct Turn {
    turns: Arc<Turns>,
    id: u64,
    begun: Instant,
    stage: Arc<Stage>,
    place: Arc<Place>,
}

impl Turns {
    pub(crate) fn begin(self: &Arc<Self>, stage: &Arc<Stage>, place: &Arc<Place>) -> Turn {
        let begun = Instant::now();
        let mut turns = self.0.lock().unwrap();
        turns.0 += 1;
        let id = turns.0;
        turns.1.push((id, begun));
        Turn {
            turns: self.clone(),
            id,
            begun,
            stage: stage.clone(),
            place: place.clone(),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut turns = self.turns.0.lock().unwrap();
        let since = turns
            .1
            .iter()
            .find(|(id, _)| *id > self.id)
            .map(|(_, begun)| *begun);
        turns.1.retain(|(id, _)| *id != self.id);
        let limit = SEEN_LATE + self.stage.truth.slack(self.begun, now);
        if since.is_some_and(|since| now - since > limit)
            && self.stage.truth.is_calm(self.begun, now)
        {
            self.stage.fail(format!(
                "{} was read twice at once for more than {limit:?}",
                self.place.name
            ));
        }
    }
}
