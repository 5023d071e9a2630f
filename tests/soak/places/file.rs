//! Files of endpoint lines: replaced, written in place, swapped by a link, and gone, empty, too long or no file at all.
//! Who reads a file is not seen, so what counts is from when to when it could be read.

mod faults;
mod writing;

use std::fs;
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::faults::Fault;
use super::Kept;
use crate::chance::Chance;
use crate::lists::{self, Endpoint, Style};
use crate::stage::Stage;
use crate::support::{Hanging, write_at_rest};
use crate::truth::{Excuse, Give, Place};

/// As `max_size` has it; a good file may be as long.
const LARGEST: usize = 64 << 10;
/// A file that was written in place is at rest after so long.
const REST: Duration = Duration::from_millis(300);

/// No read of a file takes as long where nothing hangs.
const LONGEST_READ: Duration = Duration::from_millis(3200);

/// Who writes one file.
pub(crate) struct Writer {
    place: Arc<Place>,
    style: Style,
    chance: Chance,
    name: String,
    deck: Vec<Fault>,
    /// The version that can be read.
    present: Option<u64>,
    /// Where the file system can hang.
    mount: Option<Hanging>,
}

/// One in the folder of the configuration, or on a file system that hangs now and then.
pub(crate) fn new(seed: u64, number: u8, mount: Option<Hanging>) -> (Kept, Writer) {
    let name = format!("list-{number}.txt");
    let path = mount
        .as_ref()
        .map_or(PathBuf::from(&name), |mount| mount.path("list.txt"));
    let writer = Writer {
        place: Place::new(format!("file place {number}")),
        style: Style {
            place: number,
            most: 700,
            port: None,
            has_weights: true,
            has_ipv6: true,
        },
        chance: Chance::of(seed, &format!("file place {number}")),
        name,
        deck: Vec::new(),
        present: None,
        mount,
    };
    let source = format!(
        "{{path: {}, max_size: 64KiB, timeout: 2500ms}}",
        path.display()
    );
    (
        Kept {
            place: writer.place.clone(),
            kind: "file",
            source,
        },
        writer,
    )
}

impl Writer {
    /// Goes on writing until the end.
    pub(crate) fn start(mut self, stage: &Arc<Stage>) {
        self.replace(stage);
        let shared = stage.clone();
        let name = self.place.name.clone();
        stage.run(&name, move || {
            shared.pause(self.chance.ms(50..500));
            match self.mount.is_some() {
                true if self.chance.one_in(6) => self.hang(&shared),
                true => self.replace(&shared),
                false if self.chance.one_in(12) => self.replace_often(&shared),
                false if self.chance.one_in(4) => self.fail(&shared),
                false if self.chance.one_in(3) => self.write_in_place(&shared),
                false => self.replace(&shared),
            }
        });
    }

    fn path(&self, stage: &Stage) -> PathBuf {
        stage.vigie.setup.path(&self.name)
    }

    /// A new version with any number of endpoints, and its text.
    fn begin(&mut self) -> (u64, Vec<Endpoint>, String) {
        let version = self.place.draft();
        let list = self.style.list(version, &mut self.chance);
        self.written(version, list)
    }

    /// One with at least a few.
    fn begin_with(&mut self, counts: Range<usize>) -> (u64, Vec<Endpoint>, String) {
        let version = self.place.draft();
        let count = self.chance.number(counts);
        let list = self.style.exactly(count, version, &mut self.chance);
        self.written(version, list)
    }

    fn written(&mut self, version: u64, mut list: Vec<Endpoint>) -> (u64, Vec<Endpoint>, String) {
        lists::vary(&mut list, &mut self.chance);
        let text = lists::lines(&list, &mut self.chance);
        (version, list, text)
    }

    /// Now this version can be read, and the one before it no longer.
    fn present(&mut self, version: Option<u64>) {
        let now = Instant::now();
        if let Some(before) = std::mem::replace(&mut self.present, version) {
            self.place.gone(before, now);
        }
    }

    /// A good list in its place, at once.
    fn replace(&mut self, stage: &Stage) {
        let (version, list, mut text) = self.begin();
        if self.chance.one_in(6) {
            stage.tally.count("peers: file", "as large as may be");
            text = filled(text, LARGEST);
        }
        self.place.whole(version, &list, Give::standing());
        if let Some(mount) = &self.mount {
            // Not at once; and what is changed past a file system may be seen in pieces for a moment.
            let spans = [Excuse::Slow, Excuse::Failing].map(|excuse| self.place.begin(excuse));
            mount.write("list.txt", &text);
            let at_rest = Instant::now() + REST;
            spans
                .iter()
                .for_each(|span| self.place.end_at(*span, at_rest));
            stage.tally.count("peers: file", "written behind a mount");
            return self.present(Some(version));
        }
        let (path, new) = (
            self.path(stage),
            stage.vigie.setup.path(&format!("{}.new", self.name)),
        );
        let form = self
            .chance
            .of_these(&["renamed", "renamed when new", "linked"]);
        match form {
            "renamed" => write_at_rest(&new, &text),
            "renamed when new" => fs::write(&new, &text).unwrap(),
            _ => {
                let target = stage
                    .vigie
                    .setup
                    .path(&format!("{}.{}", self.name, version % 4));
                write_at_rest(&target.with_extension("new"), &text);
                fs::rename(target.with_extension("new"), &target).unwrap();
                symlink(target, &new).unwrap();
            }
        }
        fs::rename(new, path).unwrap();
        stage.tally.count("peers: file", form);
        self.present(Some(version));
    }

    /// The file system hangs for a while.
    fn hang(&mut self, stage: &Stage) {
        let Some(mount) = &self.mount else { return };
        stage.tally.count("peers: file", "hung");
        let span = self.place.begin(Excuse::Silent);
        mount.hang();
        // Long enough for a second read, now and then, which there must not be.
        let length = match self.chance.one_in(3) {
            true => 8000..9000,
            false => 200..4500,
        };
        stage.pause(self.chance.ms(length));
        let reads = stage.vigie.threads_since("blocking", LONGEST_READ);
        if reads > 1 && stage.goes_on() {
            stage.fail(format!("{} is read {reads} times at once", self.place.name));
        }
        mount.go_on();
        self.place.end_at(span, Instant::now() + REST);
    }
}

/// The text, made longer by a comment.
fn filled(text: String, size: usize) -> String {
    let text = text + "\n#";
    format!("{text}{}", "x".repeat(size - text.len()))
}
