//! How many answers each handler has given, by status.

use super::route::Handler;
use crate::metrics::Counter;

/// The statuses there are, the frequent ones first; see [`super::refusal`] for the others.
const CODES: [u16; 18] = [
    200, 304, 404, 502, 504, 400, 403, 405, 408, 413, 414, 417, 431, 500, 501, 503, 505,
    // For one that is missing above, so that nothing goes uncounted; a test watches over it.
    0,
];

/// A counter for each handler and status: which one it is takes neither a lock nor a map.
#[derive(Debug, Default)]
pub struct Counts([[Counter; CODES.len()]; Handler::ALL.len()]);

impl Counts {
    /// Counts an answer.
    pub fn add(&self, handler: Handler, status: u16) {
        let known = CODES.iter().position(|code| *code == status);
        let column = known.unwrap_or(CODES.len() - 1);
        self.0[handler as usize][column].add_one();
    }

    /// What has been counted: handler, status, and how many, which is not zero.
    pub fn all(&self) -> impl Iterator<Item = (Handler, u16, u64)> {
        let rows = Handler::ALL.into_iter().zip(&self.0);
        let cells = rows.flat_map(|(handler, row)| {
            let columns = CODES.into_iter().zip(row);
            columns.map(move |(code, counter)| (handler, code, counter.get()))
        });
        cells.filter(|(_, _, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::refusal::Refusal;
    use crate::source::Failure;

    #[test]
    fn every_status_of_a_refusal_has_a_counter_of_its_own() {
        let refusals = [
            Refusal::BadQuery(""),
            Refusal::ReloadDisabled,
            Refusal::NoSuchPath("".into()),
            Refusal::WrongMethod { allow: "" },
            Refusal::TooSlow,
            Refusal::BodyTooLarge,
            Refusal::TargetTooLong,
            Refusal::Expectation,
            Refusal::HeadTooLarge,
            Refusal::ReloadFailed("".into()),
            Refusal::TransferCoding,
            Refusal::Source(Failure::Unreadable("".into())),
            Refusal::TooManyConnections,
            Refusal::Source(Failure::TimedOut("".into())),
            Refusal::Version,
        ];
        let counts = Counts::default();
        let statuses = refusals
            .iter()
            .map(|refusal| u16::from(refusal.status()))
            .chain([200, 304]);
        let mut want: Vec<_> = statuses.collect();
        for status in &want {
            counts.add(Handler::Reload, *status);
        }
        let mut counted: Vec<_> = counts
            .all()
            .map(|(handler, code, count)| {
                assert_eq!((handler, count), (Handler::Reload, 1), "{code}");
                code
            })
            .collect();
        want.sort_unstable();
        counted.sort_unstable();
        assert_eq!(counted, want);
    }
}
