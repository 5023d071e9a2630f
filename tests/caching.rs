//! How long an answer is kept, what a failed read does, and what may stand in for it.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{Setup, Vigie, assert_says, only, wait_until};

/// A service `web` with these keys beside its file.
fn serve(keys: &str) -> Vigie {
    Setup::services(&format!("web: {{file: web.txt{keys}}}"))
        .file("web.txt", "10.0.0.1\n")
        .start()
}

fn remove(vigie: &Vigie, name: &str) {
    fs::remove_file(vigie.setup.path(name)).unwrap();
}

#[test]
fn an_answer_is_kept_for_its_ttl_and_tells_its_age() {
    let vigie = serve(", cache_ttl: 1h");
    let first = vigie.list("web");
    assert_eq!(
        (first.summary(), first.header("age")),
        ((200, only("10.0.0.1").as_str()), Some("0"))
    );
    vigie.setup.write("web.txt", "10.0.0.2\n");
    wait_until("the answer is a second old", || {
        vigie.list("web").header("age") == Some("1")
    });
    let second = vigie.list("web");
    assert_eq!(
        (second.summary(), second.header("etag")),
        (first.summary(), first.header("etag"))
    );
}

#[test]
fn a_change_shows_when_the_ttl_is_over() {
    let vigie = serve(", cache_ttl: 200ms");
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    vigie.setup.write("web.txt", "10.0.0.2\n");
    wait_until("the change shows", || {
        vigie.list("web").text() == only("10.0.0.2")
    });
}

#[test]
fn the_ttl_of_a_service_goes_before_that_of_all() {
    let services = "long: {file: web.txt}\nshort: {file: web.txt, cache_ttl: 0s}";
    let vigie = Setup::services(services)
        .top("cache: {ttl: 1h}")
        .file("web.txt", "10.0.0.1\n")
        .start();
    assert_eq!(
        [vigie.list("long"), vigie.list("short")].map(|answer| answer.text().to_owned()),
        [only("10.0.0.1"), only("10.0.0.1")]
    );
    vigie.setup.write("web.txt", "10.0.0.2\n");
    assert_eq!(
        [vigie.list("long"), vigie.list("short")].map(|answer| answer.text().to_owned()),
        [only("10.0.0.1"), only("10.0.0.2")]
    );
}

#[test]
fn with_a_ttl_of_zero_each_request_reads() {
    let vigie = serve(", cache_ttl: 0s");
    for i in 1..20 {
        vigie.setup.write("web.txt", format!("10.0.0.{i}\n"));
        let answer = vigie.list("web");
        assert_eq!(
            (answer.text(), answer.header("age")),
            (only(&format!("10.0.0.{i}")).as_str(), Some("0"))
        );
    }
}

#[test]
fn a_failure_is_not_kept() {
    let vigie = Setup::services("web: {file: web.txt, cache_ttl: 1h}").start();
    for _ in 0..3 {
        assert_eq!(vigie.list("web").status, 502);
    }
    vigie.setup.write("web.txt", "10.0.0.1\n");
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
    remove(&vigie, "web.txt");
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str()),
        "but a good answer is"
    );
}

#[test]
fn the_last_good_list_stands_in_and_says_so() {
    let vigie = serve(", cache_ttl: 0s, max_stale: 1h");
    let good = vigie.list("web");
    assert_eq!(
        (good.header("vigie-stale"), good.header("vigie-error")),
        (None, None)
    );
    remove(&vigie, "web.txt");
    let stale = vigie.list("web");
    assert_eq!(
        (stale.summary(), stale.header("etag")),
        (good.summary(), good.header("etag"))
    );
    assert_eq!(stale.header("cache-control"), Some("no-cache"));
    assert_says(
        stale.header("vigie-error").unwrap(),
        &["web.txt", "No such file"],
    );
    wait_until("it is two seconds past its ttl", || {
        vigie.list("web").header("vigie-stale") == Some("2")
    });
    assert!(
        vigie
            .list("web")
            .header("age")
            .unwrap()
            .parse::<u32>()
            .unwrap()
            >= 2
    );
    vigie.setup.write("web.txt", "10.0.0.2\n");
    let fresh = vigie.list("web");
    assert_eq!(
        (
            fresh.text(),
            fresh.header("vigie-stale"),
            fresh.header("vigie-error")
        ),
        (only("10.0.0.2").as_str(), None, None)
    );
}

#[test]
fn the_last_good_list_may_not_stand_in_for_ever() {
    let vigie = serve(", cache_ttl: 0s, max_stale: 300ms");
    assert_eq!(vigie.list("web").status, 200);
    remove(&vigie, "web.txt");
    wait_until("it has expired", || vigie.list("web").status == 502);
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn nothing_stands_in_unless_it_is_allowed() {
    let vigie = serve(", cache_ttl: 0s");
    assert_eq!(vigie.list("web").status, 200);
    remove(&vigie, "web.txt");
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn nothing_stands_in_before_there_was_a_good_list() {
    let vigie = Setup::services("web: {file: web.txt, max_stale: 1h}").start();
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn max_stale_of_all_services_counts_where_a_service_has_none() {
    let services = "web: {file: web.txt}\nstrict: {file: web.txt, max_stale: 0s}";
    let setup = Setup::services(services)
        .top("cache: {ttl: 0s, max_stale: 1h}")
        .file("web.txt", "10.0.0.1\n");
    let vigie = setup.start();
    assert_eq!(
        (vigie.list("web").status, vigie.list("strict").status),
        (200, 200)
    );
    remove(&vigie, "web.txt");
    assert_eq!(
        (vigie.list("web").status, vigie.list("strict").status),
        (200, 502)
    );
}

#[test]
fn the_reason_that_comes_with_a_stale_list_is_visible_ascii() {
    let vigie = Setup::services("web: {file: \"ü\u{1F980}.txt\", cache_ttl: 0s, max_stale: 1h}")
        .file("ü\u{1F980}.txt", "10.0.0.1\n")
        .start();
    assert_eq!(vigie.list("web").status, 200);
    for content in ["10.0.0.1 \u{7f}\u{0}é\r\u{85}\n", "\u{202e}\n"] {
        vigie.setup.write("ü\u{1F980}.txt", content);
        let answer = vigie.list("web");
        let reason = answer.header("vigie-error").unwrap();
        assert!(
            !reason.is_empty() && reason.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
            "{reason:?}"
        );
    }
}

#[test]
fn a_list_that_is_really_empty_is_no_failure() {
    let vigie = serve(", cache_ttl: 0s, max_stale: 1h");
    assert_eq!(vigie.list("web").status, 200);
    vigie.setup.write("web.txt", "# nobody\n");
    let answer = vigie.list("web");
    assert_eq!(
        (answer.summary(), answer.header("vigie-stale")),
        ((200, "[]\n"), None)
    );
    vigie.setup.write("web.txt", "");
    let answer = vigie.list("web");
    assert_eq!(
        (answer.summary(), answer.header("vigie-stale")),
        ((200, "[]\n"), Some("0")),
        "but zero bytes are"
    );
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let vigie = Setup::services(
        "fifo: {file: fifo}\nfolder: {file: .}\nzero: {file: /dev/zero}\nnothing: {file: /dev/null}\nsocket: {file: socket}\n\
         loop: {file: loop}\nbelow: {file: fifo/below}",
    )
    .start();
    mknodat(CWD, vigie.setup.path("fifo"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    symlink("loop", vigie.setup.path("loop")).unwrap();
    let _socket = UnixListener::bind(vigie.setup.path("socket")).unwrap();
    for name in [
        "fifo", "folder", "zero", "nothing", "socket", "loop", "below",
    ] {
        // A read that hung would be a 504.
        let answer = vigie.list(name);
        assert_eq!(answer.status, 502, "{name}");
        assert_says(&answer.error(), &[name]);
    }
}

/// Polls while a list is swapped without end: no answer is a failure, none is anything but one of the two.
fn poll_during(vigie: &Vigie, swap: impl Fn(usize) + Sync) {
    let polled = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| (0..).take_while(|_| !polled.load(Relaxed)).for_each(&swap));
        let mut seen = [0, 0];
        for _ in 0..25 {
            let answer = vigie.list("web");
            let which = ["10.0.0.1", "10.0.0.2"]
                .iter()
                .position(|address| answer.summary() == (200, &only(address)));
            let Some(which) = which else {
                polled.store(true, Relaxed);
                panic!("{:?}", answer.summary());
            };
            seen[which] += 1;
        }
        polled.store(true, Relaxed);
        assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
    });
}

#[test]
fn a_list_that_is_replaced_by_rename_is_never_seen_in_between() {
    let vigie = serve(", cache_ttl: 0s");
    poll_during(&vigie, |i| {
        vigie
            .setup
            .write_now("web.txt", format!("10.0.0.{}\n", i % 2 + 1))
    });
}

#[test]
fn a_list_behind_a_symlink_that_is_swapped_is_never_seen_in_between() {
    let setup = Setup::services("web: {file: data/web.txt, cache_ttl: 0s}");
    for folder in ["1", "2"] {
        fs::create_dir(setup.path(folder)).unwrap();
        setup.write(&format!("{folder}/web.txt"), format!("10.0.0.{folder}\n"));
    }
    symlink("1", setup.path("data")).unwrap();
    let vigie = setup.start();
    poll_during(&vigie, |i| {
        symlink((i % 2 + 1).to_string(), vigie.setup.path("next")).unwrap();
        fs::rename(vigie.setup.path("next"), vigie.setup.path("data")).unwrap();
    });
}
