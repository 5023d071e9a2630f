//! The section `cache`: the policy of services that set none.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::slot::Policy;
use crate::yaml::{Field, Reader};

/// What holds where the file says nothing.
pub(super) const DEFAULT: Policy = Policy {
    ttl: Duration::from_secs(5),
    max_stale: Duration::ZERO,
};

/// Ten years at most, so that a moment and a policy can always be added.
pub(super) const RANGE: RangeInclusive<Duration> =
    Duration::ZERO..=Duration::from_secs(3650 * 86_400);

const KEYS: [&str; 2] = ["ttl", "max_stale"];

pub(super) fn parse(field: Field<'_>, reader: &mut Reader<'_>) -> Policy {
    let keys = reader.mapping(field, &KEYS);
    let mut duration = |key| {
        keys.get(key)
            .and_then(|field| reader.duration(field, RANGE))
    };
    Policy {
        ttl: duration("ttl").unwrap_or(DEFAULT.ttl),
        max_stale: duration("max_stale").unwrap_or(DEFAULT.max_stale),
    }
}
