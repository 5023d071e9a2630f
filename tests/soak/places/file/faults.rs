//! What is no list in the place of one.

use std::fs;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{LARGEST, Writer, filled};
use crate::lists;
use crate::stage::Stage;
use crate::support::write_at_rest;
use crate::truth::Excuse;

#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    Missing,
    ZeroBytes,
    Folder,
    Fifo,
    TooLarge,
    /// By one byte.
    JustTooLarge,
    BadLine,
    NotUtf8,
}

const FAULTS: [Fault; 9] = [
    Fault::Missing,
    Fault::ZeroBytes,
    Fault::Folder,
    Fault::Fifo,
    Fault::TooLarge,
    Fault::JustTooLarge,
    Fault::JustTooLarge,
    Fault::BadLine,
    Fault::NotUtf8,
];

impl Fault {
    /// What the error says of it.
    /// Between one and the other there is none.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Missing => &[MISSING],
            Self::ZeroBytes => &[MISSING, "it has no byte"],
            Self::Folder => &[MISSING, "it is a folder, not a regular file"],
            Self::Fifo => &[MISSING, "it is a FIFO, not a regular file"],
            Self::TooLarge | Self::JustTooLarge => {
                &[MISSING, "it is too large; the limit is 65536 bytes"]
            }
            Self::BadLine => &[MISSING, "line "],
            Self::NotUtf8 => &[MISSING, "it is not UTF-8"],
        }
    }
}

const MISSING: &str = "No such file";

impl Writer {
    /// Something else than a list in its place for a while, then a list again.
    pub(super) fn fail(&mut self, stage: &Stage) {
        let fault = self.chance.deal(&mut self.deck, &FAULTS);
        stage.tally.count("peers: file", format!("{fault:?}"));
        let (_, _, text) = self.begin_with(2..50);
        let path = self.path(stage);
        let span = self.place.begin(Excuse::Saying(fault.words()));
        // The file at the end of a link is not touched.
        fs::remove_file(&path).unwrap();
        match fault {
            Fault::Missing => {}
            Fault::ZeroBytes => write_at_rest(&path, ""),
            Fault::Folder => fs::create_dir(&path).unwrap(),
            Fault::Fifo => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).unwrap(),
            Fault::TooLarge => self.put(stage, filled(text, 2 * LARGEST).as_bytes()),
            Fault::JustTooLarge => self.put(stage, filled(text, LARGEST + 1).as_bytes()),
            Fault::BadLine => {
                let bad = lists::bad_line(&mut self.chance);
                let text = match self.chance.one_in(2) {
                    true => format!("{text}\n{bad}"),
                    false => format!("{bad}\n{}", text.trim_start_matches('\u{feff}')),
                };
                self.put(stage, text.as_bytes());
            }
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
}
