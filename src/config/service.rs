//! The section `services`.

use std::num::NonZeroU16;

use super::cache;
use crate::slot::Policy;
use crate::source::{self, Source};
use crate::wording::{quote, shorten};
use crate::yaml::{Anchored, Entry, Field, Key, Mapping, Reader, Value};

/// One service, as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// 1 to 255 bytes without control characters.
    pub name: Box<str>,
    /// Where its endpoints are listed.
    pub source: Source,
    /// For endpoints that come without a port.
    pub default_port: NonZeroU16,
    /// How long its answers are kept.
    pub cache: Policy,
}

/// A name has at most this many bytes.
const LONGEST_NAME: usize = 255;
/// For endpoints that come without a port where the file says nothing.
const DEFAULT_PORT: NonZeroU16 = NonZeroU16::new(80).unwrap();

/// All services, in the order of the file; `default` is the policy of those that set none.
pub(super) fn parse_all(
    field: Field<'_>,
    default: Policy,
    reader: &mut Reader<'_>,
) -> Vec<Service> {
    let known: Vec<&str> = source::keys()
        .chain(["default_port", "cache_ttl", "max_stale"])
        .collect();
    let entries = reader.entries(field);
    entries
        .iter()
        .filter_map(|entry| parse(entry, &known, default, reader))
        .collect()
}

fn parse(
    entry: &Entry,
    known: &[&str],
    default: Policy,
    reader: &mut Reader<'_>,
) -> Option<Service> {
    let named = check(&entry.key, reader);
    let field = Field {
        name: &entry.key.text,
        node: &entry.node,
    };
    if let Value::Plain(_) | Value::Quoted(_) | Value::Sequence(_) = entry.node.value {
        refuse_bare(entry, reader);
        return None;
    }
    let keys = reader.mapping(field, known);
    let default_port = keys
        .get("default_port")
        .map_or(Some(DEFAULT_PORT), |field| port(field, reader));
    let mut duration = |key| {
        keys.get(key)
            .and_then(|field| reader.duration(field, cache::RANGE))
    };
    let cache = Policy {
        ttl: duration("cache_ttl").unwrap_or(default.ttl),
        max_stale: duration("max_stale").unwrap_or(default.max_stale),
    };
    let source = source(&entry.key, &keys, reader);
    warn_of_ignored(&entry.key, &keys, reader);
    Some(Service {
        name: named?,
        source: source?,
        default_port: default_port?,
        cache,
    })
}

fn check(name: &Key, reader: &mut Reader<'_>) -> Option<Box<str>> {
    let wrong = match &*name.text {
        "" => "is empty",
        text if text.len() > LONGEST_NAME => "is too long",
        text if text.contains(char::is_control) => "has a control character",
        text => return Some(text.into()),
    };
    let right = format!("write 1 to {LONGEST_NAME} bytes without control characters");
    reader.error(
        name.position,
        format!("the name of this service {wrong}: {right}"),
    );
    None
}

/// A source whose kind has been left out. It is not quoted: it may be a URL with a password.
fn refuse_bare(Entry { key, node }: &Entry, reader: &mut Reader<'_>) {
    let name = match key.anchored {
        Anchored::Itself => "NAME".into(),
        _ => shorten(&key.text, LONGEST_NAME),
    };
    let message = format!(
        "{} is {}, which does not say what it is: write {name}: {{file: PATH}}, or dns, url or kubernetes instead of file",
        called(key),
        node.kind()
    );
    reader.error(node.position, message);
}

/// A service in a message; a name that an alias may have brought is not quoted.
fn called(name: &Key) -> String {
    match name.anchored {
        Anchored::Itself => "this service".into(),
        _ => format!("the service {}", quote(&name.text)),
    }
}

fn source(name: &Key, keys: &Mapping<'_>, reader: &mut Reader<'_>) -> Option<Source> {
    match source::parse(keys, reader) {
        Some(read) => read,
        // An unknown key was meant to be it, as an error says already.
        None if keys.is_doubtful() => None,
        None => {
            let known = source::keys().collect::<Vec<_>>().join(" or ");
            let message = format!("{} has no source: set {known}", called(name));
            reader.error(name.position, message);
            None
        }
    }
}

/// Names the sources that are set beside the one that wins.
fn warn_of_ignored(name: &Key, keys: &Mapping<'_>, reader: &mut Reader<'_>) {
    let winner = source::keys().find(|key| keys.get(key).is_some());
    for field in source::ignored(keys, reader) {
        let message = format!(
            "{} has {}, so its {} is ignored: remove one of them",
            called(name),
            winner.unwrap_or_default(),
            field.name
        );
        reader.warn(field.node.position, message);
    }
}

fn port(field: Field<'_>, reader: &mut Reader<'_>) -> Option<NonZeroU16> {
    let number = reader.integer(field, 1..=u64::from(u16::MAX))?;
    u16::try_from(number).ok().and_then(NonZeroU16::new)
}

#[cfg(test)]
mod tests {
    use super::super::{bad, good};
    use crate::source::Source;

    #[test]
    fn a_service_has_the_policy_of_cache_where_it_sets_none() {
        let config = good(
            "cache: {ttl: 1s, max_stale: 1h}\nservices:\n  a: {file: x}\n  b: {file: /x, default_port: 8080, cache_ttl: 0s, max_stale: 2h}\n",
        );
        let [a, b] = &*config.services else {
            panic!("{config:?}")
        };
        assert_eq!(
            (
                &*a.name,
                a.default_port.get(),
                a.cache.ttl.as_secs(),
                a.cache.max_stale.as_secs()
            ),
            ("a", 80, 1, 3600)
        );
        assert_eq!(
            (
                &*b.name,
                b.default_port.get(),
                b.cache.ttl.as_secs(),
                b.cache.max_stale.as_secs()
            ),
            ("b", 8080, 0, 7200)
        );
        let Source::File(file) = &a.source else {
            panic!("{:?}", a.source)
        };
        assert_eq!(file.path.to_str(), Some("dir/x"));
    }

    #[test]
    fn a_name_is_1_to_255_bytes_without_control_characters() {
        let longest = "é".repeat(127) + "n";
        let config = good(&format!(
            "services: {{{longest}: {{file: x}}, 'sp ace/ü': {{file: x}}, 1: {{file: x}}}}"
        ));
        assert_eq!(
            config
                .services
                .iter()
                .map(|service| &*service.name)
                .collect::<Vec<_>>(),
            [&*longest, "sp ace/ü", "1"]
        );
        for (name, wrong) in [
            ("é".repeat(128), "is too long"),
            ("''".into(), "is empty"),
            ("\"a\\tb\"".into(), "has a control character"),
            ("\"\\u0085\"".into(), "has a control character"),
        ] {
            assert_eq!(
                bad(&format!("services: {{{name}: {{file: x}}}}")),
                format!(
                    "c.yml:1:12: the name of this service {wrong}: write 1 to 255 bytes without control characters"
                )
            );
        }
    }

    #[test]
    fn a_service_that_is_a_bare_value_gives_one_error_that_says_how_to_name_its_kind() {
        for (value, kind) in [
            ("web.txt", "text"),
            ("'https://me:hunter2@h/'", "text"),
            ("[web.txt]", "a list"),
        ] {
            assert_eq!(
                bad(&format!("services: {{web: {value}}}")),
                format!(
                    "c.yml:1:17: the service \"web\" is {kind}, which does not say what it is: write web: {{file: PATH}}, or dns, url or kubernetes instead of file"
                )
            );
        }
    }

    #[test]
    fn a_service_needs_a_source() {
        assert_eq!(
            bad("services: {a: {cache_ttl: 1s}}"),
            "c.yml:1:12: the service \"a\" has no source: set kubernetes or url or file or dns"
        );
        assert_eq!(
            bad("services: {a: }"),
            "c.yml:1:12: the service \"a\" has no source: set kubernetes or url or file or dns"
        );
        assert_eq!(
            bad("services: {a: {fil: x}, a: {file: y}}"),
            "c.yml:1:16: unknown key \"fil\": did you mean file? Known are kubernetes, url, file, dns, default_port, cache_ttl, max_stale\n\
             c.yml:1:25: the key \"a\" is set twice, first in line 1: remove one"
        );
        assert_eq!(
            bad("services: {a: {cache_tll: 1s}}"),
            "c.yml:1:16: unknown key \"cache_tll\": did you mean cache_ttl? Known are kubernetes, url, file, dns, default_port, cache_ttl, max_stale"
        );
    }
}
