//! A reload swaps all services at once or none, and no client notices more than that.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Setup, Vigie, assert_says, only, wait_until};

fn serve() -> Vigie {
    Setup::services("web: {file: a.txt}\nmore: {file: b.txt}")
        .top("cache: {ttl: 1h}")
        .file("a.txt", "10.0.0.1\n")
        .file("b.txt", "10.0.0.2\n")
        .start()
}

#[test]
fn a_reload_in_the_middle_of_writing_reads_the_whole_file() {
    let vigie = serve();
    let path = vigie.setup.path("config.yml");
    let text = fs::read_to_string(&path).unwrap();
    let half = &text[..text.find("  more:").unwrap()];
    let mut counted = [0; 2];
    for (round, begun) in ["", half].into_iter().cycle().enumerate() {
        assert!(round < 100, "the writer is always kept from writing");
        let begin = Instant::now();
        fs::write(&path, begun).unwrap();
        let mut reload = vigie.connect();
        reload.send(b"POST /reload HTTP/1.1\r\nHost: x\r\n\r\n");
        // The pace of a writer.
        thread::sleep(Duration::from_millis(10));
        fs::write(&path, &text).unwrap();
        let pause = begin.elapsed();
        let answer = reload.receive();
        // Who is kept from writing by the system for too long has left a file at rest.
        if pause < Duration::from_millis(60) {
            assert_eq!(answer.summary(), (200, "{\"services\":2}\n"));
            counted[round % 2] += 1;
        }
        if counted.iter().all(|count| *count >= 4) {
            break;
        }
    }
}

#[test]
fn a_request_reloads_and_says_how_many_services_there_are() {
    let vigie = serve();
    let answer = vigie.reload();
    assert_eq!(answer.summary(), (200, "{\"services\":2}\n"));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    vigie.setup.write_services("web: {file: b.txt}");
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":1}\n"));
    assert_eq!(
        (vigie.list("web").text(), vigie.list("more").status),
        (only("10.0.0.2").as_str(), 404)
    );
    vigie.setup.write_services("");
    assert_eq!(vigie.reload().summary(), (200, "{\"services\":0}\n"));
    assert_eq!(vigie.list("web").status, 404);
}

#[test]
fn sighup_reloads_again_and_again() {
    let vigie = serve();
    for i in 0..3 {
        vigie
            .setup
            .write_services(&format!("new{i}: {{file: a.txt}}"));
        vigie.signal(Signal::HUP);
        wait_until("the new service is there", || {
            vigie.list(&format!("new{i}")).status == 200
        });
        assert_eq!(vigie.list("web").status, 404);
    }
}

#[test]
fn nothing_that_was_kept_before_is_served_after() {
    let vigie = serve();
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    vigie.setup.write("a.txt", "10.0.0.9\n");
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").text(), only("10.0.0.9"));
}

#[test]
fn a_reload_of_the_same_changes_no_answer_and_no_tag() {
    let vigie = serve();
    let before = vigie.list("web");
    assert_eq!(vigie.reload().status, 200);
    let after = vigie.list("web");
    assert_eq!(
        (after.summary(), after.header("etag")),
        (before.summary(), before.header("etag"))
    );
}

#[test]
fn a_new_ttl_comes_with_the_reload() {
    let vigie = serve();
    vigie
        .setup
        .write_config("", "cache: {ttl: 0s}", "web: {file: a.txt}");
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").text(), only("10.0.0.1"));
    vigie.setup.write("a.txt", "10.0.0.9\n");
    assert_eq!(vigie.list("web").text(), only("10.0.0.9"));
}

#[test]
fn what_needs_a_restart_is_warned_of() {
    for (server, top) in [
        ("idle_timeout: 74s", ""),
        ("", "log: {level: debug}"),
        ("", "disable_reload_by_request: true"),
    ] {
        let vigie = Setup::services("web: {file: a.txt}")
            .file("a.txt", "10.0.0.1\n")
            .start();
        assert_eq!(vigie.reload().status, 200);
        vigie.log.wait_for("reloaded");
        assert!(
            !vigie.log.text().contains("restart"),
            "nothing has changed yet"
        );
        vigie.setup.write_config(server, top, "web: {file: a.txt}");
        assert_eq!(vigie.reload().status, 200);
        vigie.log.wait_for("restart");
        assert_eq!(
            vigie.reload().status,
            200,
            "and it goes by the old settings"
        );
    }
}

const INVALID: [(&str, &str); 6] = [
    (": [", "config.yml:"),
    ("web: {file: a.txt, cach_ttl: 1s}", "cach_ttl"),
    ("web: {}", "config.yml:6:"),
    ("web: {file: a.txt, default_port: 70000}", "65535"),
    ("web: {file: b.txt}\nweb: {file: a.txt}", "web"),
    ("web: {file: b.txt, cache_ttl: 5}", "5s"),
];

#[test]
fn an_invalid_file_keeps_every_service_and_says_what_is_wrong() {
    let vigie = serve();
    let kept = || {
        let answers =
            [vigie.list("web"), vigie.list("more")].map(|answer| answer.text().to_owned());
        assert_eq!(answers, [only("10.0.0.1"), only("10.0.0.2")]);
    };
    for (services, word) in INVALID {
        vigie.setup.write_services(services);
        let answer = vigie.reload();
        assert_eq!(answer.status, 500, "{services}");
        assert_says(&answer.error(), &["config.yml", word]);
        kept();
    }
    for nothing in ["", "\n", "\u{feff} \r\n"] {
        vigie.setup.write("config.yml", nothing);
        let answer = vigie.reload();
        assert_eq!(answer.status, 500, "{nothing:?}");
        assert_says(&answer.error(), &["config.yml", "there is nothing in it"]);
        kept();
    }
    fs::remove_file(vigie.setup.path("config.yml")).unwrap();
    let answer = vigie.reload();
    assert_eq!(answer.status, 500);
    assert_says(&answer.error(), &["config.yml", "No such file"]);
    kept();
    vigie.setup.write_services("web: {file: b.txt}");
    assert_eq!(
        (vigie.reload().status, vigie.list("web").text()),
        (200, only("10.0.0.2").as_str())
    );
}

#[test]
fn an_invalid_file_at_sighup_is_logged_and_keeps_every_service() {
    let vigie = serve();
    vigie
        .setup
        .write_services("web: {file: a.txt, cach_ttl: 1s}");
    vigie.signal(Signal::HUP);
    assert_says(&vigie.log.wait_for("cach_ttl"), &["config.yml"]);
    assert_eq!(
        (vigie.list("web").status, vigie.list("more").status),
        (200, 200)
    );
}

/// Services `a` and `b` of one generation, each with a list that tells it.
fn generation(number: usize) -> String {
    format!("a: {{file: {number}.txt}}\nb: {{file: {number}.txt}}")
}

#[test]
fn everyone_sees_the_old_services_or_the_new_and_never_a_mix() {
    let setup = (0..200).fold(Setup::services(&generation(0)), |setup, number| {
        setup.file(&format!("{number}.txt"), format!("10.0.0.{number}\n"))
    });
    let vigie = setup.start();
    let reloading = AtomicBool::new(true);
    let polls = AtomicUsize::new(0);
    // The lists differ by their generation alone, so a later one never goes before an earlier one.
    let poll = || {
        let mut connection = vigie.connect();
        let mut last = 0;
        while reloading.load(Ordering::Relaxed) {
            for service in ["a", "b"] {
                let answer =
                    connection.ask("GET", &format!("/services?service_name={service}"), &[]);
                let seen = (last..200)
                    .find(|number| answer.summary() == (200, &only(&format!("10.0.0.{number}"))));
                last = seen
                    .unwrap_or_else(|| panic!("after generation {last}: {:?}", answer.summary()));
                polls.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        let pollers = [(); 4].map(|()| scope.spawn(poll));
        for number in 1..200 {
            vigie.setup.write_services(&generation(number));
            assert_eq!(vigie.reload().status, 200);
            assert_eq!(
                vigie.list("b").text(),
                only(&format!("10.0.0.{number}")),
                "a reload is over when it is answered"
            );
        }
        reloading.store(false, Ordering::Relaxed);
        for poller in pollers {
            poller.join().unwrap();
        }
    });
    assert!(polls.into_inner() > 200);
}

#[test]
fn reloads_that_arrive_during_one_share_the_next() {
    let many: String = (0..5_000)
        .map(|i| format!("s{i}: {{file: a.txt}}\n"))
        .collect();
    let mut vigie = Setup::services(&many).file("a.txt", "10.0.0.1\n").start();
    vigie
        .setup
        .write_services(&format!("{many}new: {{file: a.txt}}"));
    let mut connections: Vec<_> = (0..50).map(|_| vigie.connect()).collect();
    for connection in &mut connections {
        connection.send(b"POST /reload HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for connection in &mut connections {
        assert_eq!(
            connection.receive().summary(),
            (200, "{\"services\":5001}\n")
        );
    }
    assert_eq!(vigie.stop(), Some(0));
    let log = vigie.log.wait_for_end();
    let reloads = log.lines().filter(|line| line.contains("reload")).count();
    assert!(
        (1..10).contains(&reloads),
        "{reloads} reloads for 50 requests: {log}"
    );
}

#[test]
fn the_last_good_list_outlives_a_reload_unless_its_source_changes() {
    let service = |file: &str, port: u16| {
        format!("web: {{file: {file}, default_port: {port}, cache_ttl: 0s, max_stale: 1h}}")
    };
    let changes = [
        (service("a.txt", 80), 200),
        (service("./b.txt", 80), 502),
        (service("a.txt", 81), 502),
    ];
    for (changed, status) in changes {
        let vigie = Setup::services(&service("a.txt", 80))
            .file("a.txt", "10.0.0.1\n")
            .start();
        assert_eq!(vigie.list("web").status, 200);
        fs::remove_file(vigie.setup.path("a.txt")).unwrap();
        vigie.setup.write_services(&changed);
        assert_eq!(vigie.reload().status, 200);
        let answer = vigie.list("web");
        assert_eq!(
            (answer.status, answer.header("vigie-stale").is_some()),
            (status, status == 200),
            "{changed}"
        );
    }
}

#[test]
fn a_service_that_left_and_came_back_has_forgotten_its_list() {
    let service = "web: {file: a.txt, cache_ttl: 0s, max_stale: 1h}";
    let vigie = Setup::services(service).file("a.txt", "10.0.0.1\n").start();
    assert_eq!(vigie.list("web").status, 200);
    fs::remove_file(vigie.setup.path("a.txt")).unwrap();
    for services in ["", service] {
        vigie.setup.write_services(services);
        assert_eq!(vigie.reload().status, 200);
    }
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn raising_max_stale_lets_the_list_that_is_kept_stand_in() {
    let service = |max_stale: &str| format!("web: {{file: a.txt, max_stale: {max_stale}}}");
    let vigie = Setup::services(&service("0s"))
        .file("a.txt", "10.0.0.1\n")
        .start();
    assert_eq!(vigie.list("web").status, 200);
    fs::remove_file(vigie.setup.path("a.txt")).unwrap();
    vigie.setup.write_services(&service("1h"));
    assert_eq!(vigie.reload().status, 200);
    let answer = vigie.list("web");
    assert_eq!(answer.summary(), (200, only("10.0.0.1").as_str()));
    assert!(answer.header("vigie-stale").is_some());
}

#[test]
fn a_service_that_a_reload_repairs_says_so_once_and_after_how_long() {
    let mut vigie = Setup::services("web: {file: missing.txt, cache_ttl: 0s}")
        .file("a.txt", "10.0.0.1\n")
        .start();
    assert_eq!(vigie.list("web").status, 502);
    for _ in 0..2 {
        vigie
            .setup
            .write_services("web: {file: a.txt, cache_ttl: 0s}");
        assert_eq!(
            (vigie.reload().status, vigie.list("web").status),
            (200, 200)
        );
    }
    assert_eq!(vigie.stop(), Some(0));
    let log = vigie.log.wait_for_end();
    let lines: Vec<_> = log
        .lines()
        .filter(|line| line.contains("answers again"))
        .collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert_says(lines[0], &["INFO", "service web", "after 0 s"]);
}
