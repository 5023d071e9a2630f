//! A configuration in the making. Its section `cache` says what services have that say nothing of it.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use super::TTLS;
use crate::chance::Chance;
use crate::truth::Spec;

/// Zero is what holds where the section says nothing.
const MAX_STALES: [u64; 5] = [0, 2000, 2000, 3000, 4000];

/// A configuration in the making.
pub(super) struct Draft {
    chance: Chance,
    /// What services have that say nothing, and the section that says so.
    default: (Duration, Duration),
    pub(super) cache: String,
    pub(super) text: String,
    pub(super) specs: HashMap<String, Spec>,
}

impl Draft {
    pub(super) fn new(chance: &mut Chance) -> Self {
        let [ttl, max_stale] = [&TTLS, &MAX_STALES].map(|all| chance.of_these(all));
        let cache = match max_stale {
            0 => format!("cache: {{ttl: {ttl}ms}}"),
            _ => format!("cache: {{ttl: {ttl}ms, max_stale: {max_stale}ms}}"),
        };
        Self {
            chance: chance.fork(),
            default: (Duration::from_millis(ttl), Duration::from_millis(max_stale)),
            cache,
            text: String::new(),
            specs: HashMap::new(),
        }
    }

    /// A service in both forms.
    pub(super) fn add(&mut self, name: &str, spec: Spec) {
        let Spec { kind, source, .. } = &spec;
        let port = spec.default_port;
        let _ = write!(
            self.text,
            "{name}: {{{kind}: {source}, default_port: {port}"
        );
        for (key, value, default) in [
            ("cache_ttl", spec.ttl, self.default.0),
            ("max_stale", spec.max_stale, self.default.1),
        ] {
            if value != default || self.chance.one_in(3) {
                let _ = write!(self.text, ", {key}: {}ms", value.as_millis());
            }
        }
        self.text.push_str("}\n");
        self.specs.insert(name.into(), spec);
    }
}
