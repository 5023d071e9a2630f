//! A list that is written in place, instead of replaced, is served whole or not at all.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::support::{
    Answer, Setup, Stop, Vigie, assert_says, endpoints, wait_until, write_at_rest,
};

const ENDPOINTS: usize = 400;

/// A list of some endpoints with this address, two megabytes long.
fn list(address: u8) -> Vec<u8> {
    let line = format!("10.0.0.{address} #{}\n", "-".repeat(5_000));
    line.repeat(ENDPOINTS).into_bytes()
}

fn serve() -> Vigie {
    let hasty = "hasty: {file: {path: web.txt, timeout: 300ms}, cache_ttl: 0s}";
    Setup::services(&format!("web: {{file: web.txt, cache_ttl: 0s}}\n{hasty}"))
        .file("web.txt", list(1))
        .start()
}

/// The address that every endpoint of an answer has.
#[track_caller]
fn address(answer: &Answer) -> u8 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let count = |address: u8| {
        let words = format!("\"10.0.0.{address}\"");
        answer.text().matches(&words).count()
    };
    match (count(1), count(2)) {
        (ENDPOINTS, 0) => 1,
        (0, ENDPOINTS) => 2,
        (one, other) => panic!("{one} endpoints of one list and {other} of the other"),
    }
}

/// Somebody who writes to a list in steps.
struct Writer {
    path: PathBuf,
    file: File,
    begun: Option<Sender<()>>,
    last: Instant,
    longest_pause: Duration,
}

impl Writer {
    fn new(vigie: &Vigie, begun: Sender<()>) -> Self {
        let path = vigie.setup.path("web.txt");
        Self {
            file: File::options().write(true).open(&path).unwrap(),
            path,
            begun: Some(begun),
            last: Instant::now(),
            longest_pause: Duration::ZERO,
        }
    }

    /// Goes on with another file, which is not in the place of the list yet.
    fn replace(&mut self) {
        self.file = File::create(self.path.with_extension("new")).unwrap();
    }

    fn put_in_place(&self) {
        fs::rename(self.path.with_extension("new"), &self.path).unwrap();
    }

    fn step(&mut self, write: impl FnOnce(&File)) {
        self.longest_pause = self.longest_pause.max(self.last.elapsed());
        self.last = Instant::now();
        write(&self.file);
        self.longest_pause = self.longest_pause.max(self.last.elapsed());
        if let Some(begun) = self.begun.take() {
            begun.send(()).unwrap();
        }
    }
}

/// Asks while `write` turns the list into that of an address, several times.
fn ask_while_written(write: impl Fn(&mut Writer, u8) + Sync, good: impl Fn(&Answer, u8)) {
    let vigie = serve();
    let (mut round, mut counted) = (0, 0);
    while counted < 8 {
        let new = [2, 1][round % 2];
        round += 1;
        assert!(round < 100, "the writer is always kept from writing");
        let (begin, begun) = mpsc::channel();
        let mut writer = Writer::new(&vigie, begin);
        let during = thread::scope(|scope| {
            let writing = scope.spawn(|| {
                write(&mut writer, new);
                writer.longest_pause
            });
            begun.recv().unwrap();
            let answer = vigie.list("web");
            // Who is kept from writing by the system for too long has left a list at rest.
            let counts = writing.join().unwrap() < Duration::from_millis(60);
            counts.then_some(answer)
        });
        if let Some(answer) = during {
            good(&answer, new);
            counted += 1;
        }
        assert_eq!(address(&vigie.list("web")), new);
    }
}

#[test]
fn a_list_that_is_overwritten_by_one_large_write_is_never_a_mix() {
    let write = |writer: &mut Writer, new| {
        for address in [new, 3 - new].repeat(10).into_iter().chain([new]) {
            let list = list(address);
            writer.step(|file| file.write_all_at(&list, 0).unwrap());
        }
    };
    // Each of the lists was whole.
    ask_while_written(write, |answer, _| {
        assert!([1, 2].contains(&address(answer)))
    });
}

#[test]
fn a_list_that_is_emptied_and_written_in_steps_is_never_a_part() {
    let write = |writer: &mut Writer, new| {
        let list = list(new);
        writer.step(|file| file.set_len(0).unwrap());
        let size = list.len() / 10;
        for (i, part) in list.chunks(size).enumerate() {
            // The pace of the writer, not a wait.
            thread::sleep(Duration::from_millis(5));
            writer.step(|file| file.write_all_at(part, (i * size) as u64).unwrap());
        }
    };
    ask_while_written(write, |answer, new| assert_eq!(address(answer), new));
}

#[test]
fn a_list_that_is_replaced_before_it_is_finished_is_never_a_part() {
    let write = |writer: &mut Writer, new| {
        let list = list(new);
        let (half, rest) = list.split_at(list.len() / 2);
        // Who asks waits until this one is at rest, and meets the other one.
        writer.step(|file| file.set_modified(SystemTime::now()).unwrap());
        thread::sleep(Duration::from_millis(40));
        writer.replace();
        writer.step(|file| file.write_all_at(half, 0).unwrap());
        writer.put_in_place();
        thread::sleep(Duration::from_millis(40));
        writer.step(|file| file.write_all_at(rest, half.len() as u64).unwrap());
    };
    ask_while_written(write, |answer, _| {
        assert!([1, 2].contains(&address(answer)))
    });
}

#[test]
fn a_list_that_has_just_been_emptied_is_read_when_it_is_written_again() {
    let vigie = serve();
    // As it looks for a moment to who reads while it is emptied: its time of change is still the old one.
    write_at_rest(&vigie.setup.path("web.txt"), "");
    let answer = thread::scope(|scope| {
        let asking = scope.spawn(|| vigie.list("web"));
        wait_until("it is looked at", || {
            vigie.threads("blocking") > 0 || asking.is_finished()
        });
        fs::write(vigie.setup.path("web.txt"), list(2)).unwrap();
        asking.join().unwrap()
    });
    assert_eq!(address(&answer), 2);
}

#[test]
fn a_list_that_is_written_to_all_the_time_is_a_failure_that_says_so() {
    let vigie = serve();
    let asking = AtomicBool::new(true);
    thread::scope(|scope| {
        let file = File::options()
            .write(true)
            .open(vigie.setup.path("web.txt"));
        let writing = scope.spawn(|| {
            let (file, list) = (file.unwrap(), list(1));
            while asking.load(Relaxed) {
                file.write_all_at(&list[..100], 0).unwrap();
                thread::sleep(Duration::from_millis(5));
            }
        });
        let stop = Stop(&asking);
        let hasty = scope.spawn(|| ask_until(&vigie, "hasty", 504));
        let (answer, took) = ask_until(&vigie, "web", 502);
        assert_says(
            &answer.error(),
            &["web", "written to all the time", "rename"],
        );
        let usual = Duration::from_millis(1_500)..Duration::from_secs(4);
        assert!(usual.contains(&took), "{took:?}");
        let (answer, took) = hasty.join().unwrap();
        assert_says(&answer.error(), &["hasty", "300ms"]);
        assert!(took < Duration::from_millis(1_500), "{took:?}");
        drop(stop);
        writing.join().unwrap();
    });
    wait_until("it is read when nobody writes any more", || {
        vigie.list("web").status == 200
    });
}

/// Asks until the answer is this one, since the system may keep the writer from writing; and how long it took.
fn ask_until(vigie: &Vigie, service: &str, status: u16) -> (Answer, Duration) {
    let mut last = None;
    wait_until("the list is written to all the time", || {
        let begin = Instant::now();
        let answer = vigie.list(service);
        let found = answer.status == status;
        last = Some((answer, begin.elapsed()));
        found
    });
    last.unwrap()
}

/// Whether the server reads its list at this moment.
fn is_reading(vigie: &Vigie) -> bool {
    let list = vigie.setup.path("web.txt");
    let files = fs::read_dir(vigie.proc("fd")).unwrap();
    files
        .flatten()
        .any(|file| fs::read_link(file.path()).is_ok_and(|path| path == list))
}

#[test]
fn a_list_at_rest_that_is_written_to_while_it_is_read_is_never_a_mix() {
    write_while_it_is_read(|_, _| {});
}

#[test]
fn nor_is_one_whose_time_of_writing_is_put_back() {
    write_while_it_is_read(|file, _| put_back(file));
}

#[test]
fn nor_is_one_that_gets_another_name_at_the_same_time() {
    let names = AtomicUsize::new(0);
    write_while_it_is_read(|file, path| {
        put_back(file);
        let name = format!("name{}", names.fetch_add(1, Relaxed));
        fs::hard_link(path, path.with_extension(name)).unwrap();
    });
}

fn put_back(file: &File) {
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
}

/// Writes to a list at rest while it is read, and then does this.
fn write_while_it_is_read(and_then: impl Fn(&File, &Path)) {
    // Long enough to be written to between its first line and its last.
    let padding = format!("#{}\n", "-".repeat(1 << 20)).repeat(64);
    let lines = format!("10.0.0.1\n{padding}10.0.0.1\n");
    let last = lines.len() as u64 - 2;
    let vigie = Setup::services(
        "web: {file: {path: web.txt, max_size: 128MiB, timeout: 1m}, cache_ttl: 0s}",
    )
    .file("web.txt", lines)
    .start();
    let path = vigie.setup.path("web.txt");
    let file = File::options().write(true).open(&path).unwrap();
    and_then(&file, &path);
    let (mut round, mut counted) = (0_u8, 0);
    while counted < 3 {
        round += 1;
        assert!(round < 100, "the list is never written to while it is read");
        let new = [b"2", b"1"][usize::from(round % 2 == 0)];
        let answer = thread::scope(|scope| {
            let asking = scope.spawn(|| vigie.list("web"));
            wait_until("it is read", || is_reading(&vigie) || asking.is_finished());
            let begin = Instant::now();
            file.write_all_at(new, last).unwrap();
            let landed = is_reading(&vigie);
            file.write_all_at(new, 7).unwrap();
            and_then(&file, &path);
            // Who is kept from writing by the system for too long has left a list at rest.
            let counts = begin.elapsed() < Duration::from_millis(60);
            counted += usize::from(landed && counts);
            let answer = asking.join().unwrap();
            counts.then_some(answer)
        });
        if let Some(answer) = answer {
            let addresses = endpoints(&answer);
            assert_eq!(addresses[0], addresses[1]);
        }
        wait_until("the next is served", || {
            endpoints(&vigie.list("web"))[0].contains(&format!("10.0.0.{}", char::from(new[0])))
        });
    }
}
