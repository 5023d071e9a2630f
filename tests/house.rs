//! The map of the house, which the documentation of the crate is, against the house itself.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The floor of each room, as the map has it.
fn map() -> HashMap<String, u32> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("//! | ")?.split(" | ");
        let floor = cells.next()?.parse().ok()?;
        let room = cells.next()?.trim_matches(['[', ']', '`']);
        Some((room.trim_start_matches("mod@").to_owned(), floor))
    };
    read("lib.rs").lines().filter_map(row).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(source().join(path)).unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The rooms that a text names, in a `use` or in passing.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn each_room_is_on_the_map() {
    let map = map();
    let declared = |line: &str| {
        line.strip_prefix("pub mod ")
            .map(|rest| rest.trim_end_matches(';').to_owned())
    };
    let mut rooms: Vec<_> = read("lib.rs").lines().filter_map(declared).collect();
    let mut mapped: Vec<_> = map.into_keys().collect();
    rooms.sort_unstable();
    mapped.sort_unstable();
    assert_eq!(rooms, mapped);
}

#[test]
fn each_room_uses_only_rooms_on_floors_below_its_own() {
    let map = map();
    let mut uses = 0;
    for path in files(&source()) {
        let within = path.strip_prefix(source()).unwrap();
        let first = within.components().next().unwrap().as_os_str();
        let room = Path::new(first).file_stem().unwrap().to_str().unwrap();
        let Some(floor) = map.get(room) else { continue };
        for used in named(&fs::read_to_string(&path).unwrap()) {
            let Some(below) = map.get(used) else { continue };
            uses += 1;
            let allowed = used == room || used == "wording" || below < floor;
            assert!(
                allowed,
                "{}: {room} uses {used}, which is not below it",
                within.display()
            );
        }
    }
    assert!(uses > 50, "only {uses} uses were found");
}
