//! All services, and the one pointer that a reload swaps.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use crate::config::{self, Config};
use crate::service::{Hanging, Service};
use crate::source::Common;
use crate::wording::count;
use crate::yaml::Diagnostic;

/// The services of one configuration. It never changes; a reload makes another.
#[derive(Default)]
pub struct Catalog {
    /// Each on its own, so that whoever waits for one holds none of the others.
    services: HashMap<Box<str>, Arc<Service>>,
    common: Common,
    /// Reads that began before reloads and have not ended.
    hanging: Vec<Hanging>,
    warnings: Vec<Diagnostic>,
}

impl Catalog {
    /// Reads a configuration file and builds every service of it; `old` is the catalog before a reload,
    /// whose memory is taken over. It reads files, so it is nothing for the thread that answers.
    ///
    /// Errors: all there are, of the text and of what cannot be built, in the order of the file.
    pub fn load(file: &Path, old: Option<&Self>) -> Result<(Config, Self), config::Errors> {
        let at_stake = old.is_some_and(|old| old.count() > 0);
        let build = |services| Self::build(services, old);
        let (mut config, mut catalog) = config::load_and(file, at_stake, build)?;
        config.warnings.append(&mut catalog.warnings);
        Ok((config, catalog))
    }

    /// Builds every service; reads no list.
    ///
    /// Errors: all that keeps a source from being built.
    pub fn build(
        services: Vec<config::Service>,
        old: Option<&Self>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut common = old.map_or_else(Common::default, |old| old.common.renewed());
        let hanging = old.map_or_else(Vec::new, Self::hanging);
        let (mut built, mut errors) = (HashMap::with_capacity(services.len()), Vec::new());
        for settings in services {
            let name = settings.name.clone();
            let old = old.and_then(|old| old.get(&name)).map(Arc::as_ref);
            match Service::build(settings, old, &hanging, &mut common) {
                Ok(service) => drop(built.insert(name, Arc::new(service))),
                Err(wrong) => errors.extend(wrong),
            }
        }
        match errors.is_empty() {
            true => Ok(Self {
                services: built,
                hanging,
                warnings: common.warnings().collect(),
                // What was read of files is not held on to.
                common: common.renewed(),
            }),
            false => Err(errors),
        }
    }

    /// The service of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<Service>> {
        self.services.get(name)
    }

    /// How many services there are.
    pub fn count(&self) -> usize {
        self.services.len()
    }

    /// How many services there are, and of how many the last read failed: `3 services, 1 failing`.
    pub fn summary(&self) -> String {
        let services = count(self.count(), "service");
        match self
            .services
            .values()
            .filter(|service| service.is_failing())
            .count()
        {
            0 => services,
            failing => format!("{services}, {failing} failing"),
        }
    }

    /// All services, by name.
    pub fn sorted(&self) -> Vec<&Service> {
        let mut services: Vec<&Service> = self.services.values().map(Arc::as_ref).collect();
        services.sort_unstable_by_key(|service| service.name());
        services
    }

    /// Each read that has not ended, be it of a service that is there or of one from before.
    fn hanging(&self) -> Vec<Hanging> {
        let of_services = self
            .services
            .values()
            .filter_map(|service| service.hanging());
        let mut hanging: Vec<_> = of_services.collect();
        for from_before in self.hanging.iter().filter(|one| one.lane.is_busy()) {
            if !hanging.iter().any(|one| one.lane.is(&from_before.lane)) {
                hanging.push(from_before.clone());
            }
        }
        hanging
    }

    fn changes_from(&self, old: &Self) -> Changes {
        let lacking = |lacking: &Self, having: &Self| {
            names(
                having
                    .services
                    .keys()
                    .filter(|name| lacking.get(name).is_none()),
            )
        };
        let changed = self
            .services
            .iter()
            .filter(|(name, service)| old.get(name).is_some_and(|old| !service.same_settings(old)));
        Changes {
            services: self.count(),
            added: lacking(old, self),
            removed: lacking(self, old),
            changed: names(changed.map(|(name, _)| name)),
        }
    }
}

fn names<'a>(names: impl Iterator<Item = &'a Box<str>>) -> Vec<Box<str>> {
    let mut names: Vec<_> = names.cloned().collect();
    names.sort_unstable();
    names
}

/// The pointer to the present catalog.
pub struct Current(ArcSwap<Catalog>);

impl Current {
    /// Serves `catalog` from the start.
    pub fn new(catalog: Catalog) -> Self {
        Self(ArcSwap::from_pointee(catalog))
    }

    /// The present catalog. Load it once a request: then the request sees one generation only.
    pub fn load(&self) -> Guard<Arc<Catalog>> {
        self.0.load()
    }

    /// The present catalog, to hold on to. While a read is waited for, hold on to its service alone.
    pub fn snapshot(&self) -> Arc<Catalog> {
        self.0.load_full()
    }

    /// Swaps all services at once, and says what changed. Nothing kept before is fresh after.
    ///
    /// With many services this takes a while, so it is not for the thread that answers.
    pub fn replace(&self, mut catalog: Catalog) -> Changes {
        let old = self.0.load_full();
        let changes = catalog.changes_from(&old);
        // Others may have begun since it was built.
        catalog.hanging = old.hanging();
        self.0.store(Arc::new(catalog));
        changes
    }
}

/// What a reload changed, the names sorted.
#[derive(Debug, PartialEq, Eq)]
pub struct Changes {
    /// How many services there are now.
    pub services: usize,
    /// Those that were not there before.
    pub added: Vec<Box<str>>,
    /// Those that are gone.
    pub removed: Vec<Box<str>>,
    /// Those with another source, port, ttl or max_stale.
    pub changed: Vec<Box<str>>,
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&count(self.services, "service"))?;
        for (what, names) in [
            ("added", &self.added),
            ("removed", &self.removed),
            ("changed", &self.changed),
        ] {
            write!(f, "; {} {what}", names.len())?;
            write_names(f, names)?;
        }
        Ok(())
    }
}

/// A log line names a few: ten thousand names would help nobody.
fn write_names(f: &mut fmt::Formatter<'_>, names: &[Box<str>]) -> fmt::Result {
    const SHOWN: usize = 10;
    if names.is_empty() {
        return Ok(());
    }
    write!(f, " ({}", names[..names.len().min(SHOWN)].join(", "))?;
    f.write_str(if names.len() > SHOWN { ", …)" } else { ")" })
}
