//! Files of endpoint lines: replaced, written in place, swapped by a link, and gone, empty, too long or no file at all.
//! Who reads a file is not seen, so what counts is from when to when it could be read.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::Kept;
use crate::chance::Chance;
use crate::lists::{self, Endpoint, Style};
use crate::stage::Stage;
use crate::support::{Hanging, write_at_rest};
use crate::truth::{Excuse, Give, Place};

#[derive(Clone, Copy, Debug)]
enum Fault {
    Missing,
    ZeroBytes,
    Folder,
    Fifo,
    TooLarge,
    BadLine,
    NotUtf8,
}

const FAULTS: [Fault; 7] = [
    Fault::Missing,
    Fault::ZeroBytes,
    Fault::Folder,
    Fault::Fifo,
    Fault::TooLarge,
    Fault::BadLine,
    Fault::NotUtf8,
];

/// As `max_size` has it; no good file is as long.
const LARGEST: usize = 64 << 10;
/// A file that was written in place is at rest after so long.
const REST: Duration = Duration::from_millis(300);

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
            shared.pause(self.chance.ms(50..800));
            match self.mount.is_some() {
                true if self.chance.one_in(6) => self.hang(&shared),
                true => self.replace(&shared),
                false if self.chance.one_in(4) => self.fail(&shared),
                false if self.chance.one_in(3) => self.write_in_place(&shared),
                false => self.replace(&shared),
            }
        });
    }

    fn path(&self, stage: &Stage) -> PathBuf {
        stage.vigie.setup.path(&self.name)
    }

    fn begin(&mut self) -> (u64, Vec<Endpoint>) {
        let version = self.place.draft();
        (version, self.style.list(version, &mut self.chance))
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
        let (version, list) = self.begin();
        let text = lists::lines(&list, &mut self.chance);
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

    /// Written in several steps, each cut within an address, so that no part of it is a list. Vigie reads it when it has
    /// been left alone for 100 ms, which it is only when this thread is held up.
    fn write_in_place(&mut self, stage: &Stage) {
        let path = self.path(stage);
        if path.is_symlink() {
            return self.replace(stage);
        }
        // A file that has just been put there by a rename is taken for whole sooner.
        stage.pause(REST);
        let version = self.place.draft();
        let count = self.chance.number(3..100);
        let list = self.style.exactly(count, version, &mut self.chance);
        let text = lists::lines(&list, &mut self.chance);
        let slow = self.place.begin(Excuse::Slow);
        let mut from = 0;
        let mut held_up = self.may_be_held_up();
        let mut file = File::create(&path).unwrap();
        self.present(None);
        for cut in self.cuts(&text) {
            let next = self.may_be_held_up();
            file.write_all(&text.as_bytes()[from..cut]).unwrap();
            self.was_written(held_up);
            (held_up, from) = (next, cut);
            stage.pause(self.chance.ms(1..60));
        }
        self.place.whole(version, &list, Give::standing());
        file.write_all(&text.as_bytes()[from..]).unwrap();
        self.was_written(held_up);
        self.present = Some(version);
        self.place.end_at(slow, Instant::now() + REST);
        stage.tally.count("peers: file", "written in place");
    }

    /// Within addresses, in their order.
    fn cuts(&mut self, text: &str) -> Vec<usize> {
        let begins = text
            .match_indices('\n')
            .map(|(at, _)| at + 1 + "10.1".len());
        let within: Vec<usize> = begins.filter(|at| *at < text.len()).collect();
        let count = self.chance.number(1..4);
        let mut cuts: Vec<usize> = (0..count).map(|_| self.chance.of_these(&within)).collect();
        cuts.sort_unstable();
        // To write nothing is no sign of life.
        cuts.dedup();
        cuts
    }

    /// When nothing more is written for a while, a part may be read.
    fn may_be_held_up(&self) -> u64 {
        let held_up = Instant::now() + Duration::from_millis(80);
        self.place.begin_at(Excuse::Failing, held_up)
    }

    /// More was written; in time, or until now it may have been read.
    fn was_written(&self, held_up: u64) {
        self.place.end(held_up);
    }

    /// Something else than a list in its place for a while, then a list again.
    fn fail(&mut self, stage: &Stage) {
        let fault = self.chance.deal(&mut self.deck, &FAULTS);
        stage.tally.count("peers: file", format!("{fault:?}"));
        let version = self.place.draft();
        let count = self.chance.number(2..50);
        let list = self.style.exactly(count, version, &mut self.chance);
        let text = lists::lines(&list, &mut self.chance);
        let path = self.path(stage);
        let span = self.place.begin(Excuse::Failing);
        // The file at the end of a link is not touched.
        fs::remove_file(&path).unwrap();
        match fault {
            Fault::Missing => {}
            Fault::ZeroBytes => write_at_rest(&path, ""),
            Fault::Folder => fs::create_dir(&path).unwrap(),
            Fault::Fifo => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
            Fault::TooLarge => {
                self.put(stage, format!("{text}#{}", "x".repeat(LARGEST)).as_bytes())
            }
            Fault::BadLine => self.put(stage, format!("{text}10.0.0.1:80 lots\n").as_bytes()),
            Fault::NotUtf8 => self.put(stage, &[text.as_bytes(), b"# \xff\n"].concat()),
        }
        self.present(None);
        let length = if self.chance.one_in(6) {
            self.chance.ms(3000..6000)
        } else {
            self.chance.ms(50..1200)
        };
        stage.pause(length);
        if path.is_dir() {
            fs::remove_dir(&path).unwrap();
        }
        self.replace(stage);
        self.place.end(span);
    }

    fn put(&self, stage: &Stage, bytes: &[u8]) {
        let new = stage.vigie.setup.path(&format!("{}.new", self.name));
        write_at_rest(&new, bytes);
        fs::rename(new, self.path(stage)).unwrap();
    }

    /// The file system hangs for a while.
    fn hang(&mut self, stage: &Stage) {
        let Some(mount) = &self.mount else { return };
        stage.tally.count("peers: file", "hung");
        let span = self.place.begin(Excuse::Silent);
        mount.hang();
        stage.pause(self.chance.ms(200..4500));
        mount.go_on();
        self.place.end_at(span, Instant::now() + REST);
    }
}
