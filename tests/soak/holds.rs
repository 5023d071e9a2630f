//! One exchange that its peer holds until it is overtaken: by the read after a reload, which gets a later list at once.
//! From then on the place fails, so that the list that stands in is seen: it must be the later one, whenever the one that
//! was held has come. Or nothing is held, and the next exchange is the last good one; or that which is held is.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::truth::Place;

/// A read that was held for so long can still end before its timeout.
const LONGEST: Duration = Duration::from_millis(1600);

/// The hold there is.
#[derive(Default)]
pub(crate) struct Holds(Mutex<Option<Arc<Hold>>>);

/// One exchange that is held, and those after it.
pub(crate) struct Hold {
    place: Arc<Place>,
    /// Whether the exchange that overtakes the one that is held is a good one.
    overtakes_well: bool,
    step: Mutex<Step>,
    changed: Condvar,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Wanted,
    Held,
    Overtaken,
    Released,
    Ended,
}

/// What an exchange of the place is to be.
pub(crate) enum Part {
    /// Good, but held until then.
    Held(Arc<Hold>),
    Good,
    Failing,
}

/// Ends a hold.
pub(crate) struct Holding<'a> {
    holds: &'a Holds,
    hold: Arc<Hold>,
}

impl Holds {
    /// The next exchange of a place is to be held.
    pub(crate) fn want(&self, place: &Arc<Place>) -> Holding<'_> {
        self.begin(place, Step::Wanted, true)
    }

    /// The next exchange of a place is good, and those after it fail.
    pub(crate) fn want_last(&self, place: &Arc<Place>) -> Holding<'_> {
        self.begin(place, Step::Held, true)
    }

    /// The next exchange of a place is to be held, and those after it fail.
    pub(crate) fn want_late(&self, place: &Arc<Place>) -> Holding<'_> {
        self.begin(place, Step::Wanted, false)
    }

    fn begin(&self, place: &Arc<Place>, step: Step, overtakes_well: bool) -> Holding<'_> {
        let hold = Arc::new(Hold {
            place: place.clone(),
            overtakes_well,
            step: Mutex::new(step),
            changed: Condvar::new(),
        });
        *self.0.lock().unwrap() = Some(hold.clone());
        Holding { holds: self, hold }
    }

    /// What the exchange that begins now is to be, if there is a hold of its place.
    pub(crate) fn part(&self, place: &Arc<Place>) -> Option<Part> {
        let hold = self.0.lock().unwrap().clone()?;
        if !Arc::ptr_eq(&hold.place, place) {
            return None;
        }
        let step = *hold.step.lock().unwrap();
        Some(match step {
            Step::Wanted => {
                hold.go_on(Step::Held);
                Part::Held(hold)
            }
            Step::Held => {
                hold.go_on(Step::Overtaken);
                match hold.overtakes_well {
                    true => Part::Good,
                    false => Part::Failing,
                }
            }
            _ => Part::Failing,
        })
    }
}

impl Part {
    /// What the exchange waits for.
    pub(crate) fn hold(self) -> Option<Arc<Hold>> {
        match self {
            Self::Held(hold) => Some(hold),
            Self::Good | Self::Failing => None,
        }
    }
}

impl Hold {
    /// Waits until the exchange is to go on.
    pub(crate) fn wait(&self) {
        self.reaches(Step::Released, LONGEST);
    }

    /// The exchange has ended.
    pub(crate) fn ended(&self) {
        self.go_on(Step::Ended);
    }

    fn go_on(&self, step: Step) {
        let mut present = self.step.lock().unwrap();
        *present = step.max(*present);
        self.changed.notify_all();
    }

    /// Whether a step is reached within a time.
    fn reaches(&self, step: Step, within: Duration) -> bool {
        let present = self.step.lock().unwrap();
        let is_before = |present: &mut Step| *present < step;
        let waited = self.changed.wait_timeout_while(present, within, is_before);
        *waited.unwrap().0 >= step
    }
}

impl Holding<'_> {
    /// Whether an exchange is held within a time.
    pub(crate) fn is_held(&self, within: Duration) -> bool {
        self.hold.reaches(Step::Held, within)
    }

    /// Whether the last good exchange has begun within a time.
    pub(crate) fn is_overtaken(&self, within: Duration) -> bool {
        self.hold.reaches(Step::Overtaken, within)
    }

    /// Whether it has been overtaken, and ends now, within its time.
    pub(crate) fn release(&self) -> bool {
        let is_overtaken = self.is_overtaken(Duration::ZERO);
        self.hold.go_on(Step::Released);
        is_overtaken && self.hold.reaches(Step::Ended, LONGEST)
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        *self.holds.0.lock().unwrap() = None;
        self.hold.go_on(Step::Released);
    }
}
