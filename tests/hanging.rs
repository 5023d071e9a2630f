//! A file system that hangs holds up its own service and nothing else.

use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Authority, Connection, Hanging, Setup, Vigie, assert_says, only, wait_until};

/// A service `hung` on a file system that can hang, with these keys, and `free` beside it, which reads each time.
fn serve(promise: &str, file: &str, service: &str) -> Option<(Hanging, Vigie)> {
    let mount = Hanging::mount(promise, "list.txt", "10.0.0.1\n")?;
    let path = mount.path("list.txt");
    let hung = format!(
        "hung: {{file: {{path: {}, {file}}}, {service}}}",
        path.display()
    );
    let setup = Setup::services(&format!("{hung}\nfree: {{file: free.txt, cache_ttl: 0s}}"));
    Some((mount, setup.file("free.txt", "10.0.0.2\n").start()))
}

fn begin(vigie: &Vigie) -> Connection {
    let mut connection = vigie.connect();
    connection.send(b"GET /services?service_name=hung HTTP/1.1\r\nHost: x\r\n\r\n");
    // What is answered after it on the same loop shows that it has begun.
    assert_eq!(
        vigie.list("free").summary(),
        (200, only("10.0.0.2").as_str())
    );
    connection
}

/// The file system goes on, and all who have waited have their answer.
fn go_on(mount: &Hanging, waiting: Vec<Connection>) {
    mount.go_on();
    for mut connection in waiting {
        assert_eq!(
            connection.receive().summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
}

#[test]
fn other_services_are_answered_while_one_hangs() {
    let Some((mount, vigie)) = serve(
        "other services while one hangs",
        "timeout: 1m",
        "cache_ttl: 0s",
    ) else {
        return;
    };
    assert_eq!(
        vigie.list("hung").summary(),
        (200, only("10.0.0.1").as_str())
    );
    mount.hang();
    let mut waiting = begin(&vigie);
    for _ in 0..50 {
        assert_eq!(
            vigie.list("free").summary(),
            (200, only("10.0.0.2").as_str())
        );
    }
    assert!(
        waiting.is_silent(),
        "it should have been waiting all the while"
    );
    mount.go_on();
    assert_eq!(
        waiting.receive().summary(),
        (200, only("10.0.0.1").as_str())
    );
}

#[test]
fn a_file_system_that_hangs_is_504_in_time_and_recovers() {
    let Some((mount, vigie)) = serve(
        "504 when a file system hangs",
        "timeout: 300ms",
        "cache_ttl: 0s",
    ) else {
        return;
    };
    mount.hang();
    let begin = Instant::now();
    let answer = vigie.list("hung");
    let took = begin.elapsed();
    assert_eq!(answer.status, 504);
    assert_says(
        &answer.error(),
        &[
            "hung",
            &mount.path("list.txt").display().to_string(),
            "300ms",
        ],
    );
    assert!(
        (Duration::from_millis(300)..Duration::from_secs(3)).contains(&took),
        "{took:?}"
    );
    mount.write("list.txt", "10.0.0.3\n");
    mount.go_on();
    wait_until("it recovers", || {
        vigie.list("hung").summary() == (200, &only("10.0.0.3"))
    });
}

#[test]
fn no_second_read_starts_while_one_hangs() {
    let Some((mount, vigie)) = serve("one read at a time", "timeout: 100ms", "cache_ttl: 0s")
    else {
        return;
    };
    assert_eq!(
        (vigie.list("hung").status, vigie.list("free").status),
        (200, 200)
    );
    mount.hang();
    assert_eq!(
        (vigie.list("hung").status, vigie.list("free").status),
        (504, 200)
    );
    let held_by_one = vigie.count("task");
    for _ in 0..5 {
        thread::scope(|scope| {
            let asking = [(); 8].map(|()| scope.spawn(|| vigie.list("hung").status));
            assert_eq!(asking.map(|asking| asking.join().unwrap()), [504; 8]);
        });
        assert_eq!(vigie.list("free").status, 200);
        wait_until("no more threads are held than by one read", || {
            vigie.count("task") <= held_by_one
        });
    }
    mount.go_on();
    wait_until("it recovers", || vigie.list("hung").status == 200);
}

#[test]
fn all_who_wait_share_one_read_and_whoever_leaves_does_not_end_it() {
    let Some((mount, vigie)) = serve("waiters share a read", "timeout: 1m", "cache_ttl: 1h") else {
        return;
    };
    mount.hang();
    let first = begin(&vigie);
    let held_by_one = vigie.count("task");
    let waiting: Vec<_> = (0..100).map(|_| begin(&vigie)).collect();
    wait_until("no more threads are held than by one read", || {
        vigie.count("task") <= held_by_one
    });
    drop(first);
    mount.go_on();
    for mut connection in waiting {
        assert_eq!(
            connection.receive().summary(),
            (200, only("10.0.0.1").as_str())
        );
    }
}

#[test]
fn a_read_that_nobody_waits_for_any_more_is_kept() {
    let Some((mount, vigie)) = serve(
        "a read is kept without clients",
        "timeout: 1m",
        "cache_ttl: 1h",
    ) else {
        return;
    };
    mount.hang();
    drop(begin(&vigie));
    mount.go_on();
    let age = |vigie: &Vigie| {
        vigie
            .list("hung")
            .header("age")
            .unwrap()
            .parse::<u32>()
            .unwrap()
    };
    wait_until("the read is a second old", || age(&vigie) > 0);
    mount.hang();
    assert_eq!(
        vigie.list("hung").summary(),
        (200, only("10.0.0.1").as_str()),
        "nothing is read again"
    );
    mount.go_on();
}

#[test]
fn while_a_list_may_stand_in_nobody_waits_longer_than_a_second_or_so() {
    let keys = "cache_ttl: 0s, max_stale: 1h";
    let Some((mount, vigie)) = serve("a list stands in for a slow one", "timeout: 1m", keys) else {
        return;
    };
    assert_eq!(vigie.list("hung").status, 200);
    mount.hang();
    let begin = Instant::now();
    let stale = vigie.list("hung");
    let took = begin.elapsed();
    assert_eq!(stale.summary(), (200, only("10.0.0.1").as_str()));
    assert!(
        stale.header("vigie-stale").is_some() && stale.header("vigie-error").is_some(),
        "{stale:?}"
    );
    assert!(
        (Duration::from_millis(900)..Duration::from_secs(5)).contains(&took),
        "{took:?}"
    );
    mount.write("list.txt", "10.0.0.3\n");
    mount.go_on();
    wait_until("the read has gone on", || {
        vigie.list("hung").header("vigie-stale").is_none()
    });
    assert_eq!(vigie.list("hung").text(), only("10.0.0.3"));
}

#[test]
fn a_read_from_before_a_reload_gives_nothing_fresh_after_it() {
    let keys = "default_port: 1, cache_ttl: 1h";
    let Some((mount, vigie)) = serve("a read does not outlive a reload", "timeout: 1m", keys)
    else {
        return;
    };
    mount.hang();
    let mut before = begin(&vigie);
    let path = mount.path("list.txt");
    let services = format!(
        "hung: {{file: {{path: {}, timeout: 1m}}, default_port: 2, cache_ttl: 1h}}\n",
        path.display()
    );
    vigie.setup.write_services(&format!(
        "{services}free: {{file: free.txt, cache_ttl: 0s}}"
    ));
    assert_eq!(vigie.reload().status, 200);
    let mut after = begin(&vigie);
    mount.go_on();
    let with_port = |port: &str| only("10.0.0.1").replace("80", port);
    assert_eq!(before.receive().summary(), (200, with_port("1").as_str()));
    assert_eq!(after.receive().summary(), (200, with_port("2").as_str()));
    assert_eq!(vigie.list("hung").summary(), (200, with_port("2").as_str()));
}

#[test]
fn a_read_that_hangs_is_not_begun_again_beside_itself_after_a_reload() {
    let Some((mount, vigie)) = serve(
        "one read at a time across reloads",
        "timeout: 1m",
        "cache_ttl: 0s",
    ) else {
        return;
    };
    let path = mount.path("list.txt");
    mount.hang();
    let mut waiting = vec![begin(&vigie)];
    for (file, service) in [
        ("timeout: 2m", "cache_ttl: 0s"),
        ("timeout: 2m, max_size: 1MiB", "cache_ttl: 0s"),
        ("timeout: 2m, max_size: 1MiB", "cache_ttl: 1s"),
        (
            "timeout: 2m, max_size: 1MiB",
            "cache_ttl: 1s, default_port: 80",
        ),
        ("timeout: 1m", "default_port: 80"),
    ] {
        vigie.setup.write_services(&format!(
            "hung: {{file: {{path: {}, {file}}}, {service}}}\nfree: {{file: free.txt, cache_ttl: 0s}}",
            path.display()
        ));
        assert_eq!(vigie.reload().status, 200);
        waiting.push(begin(&vigie));
        wait_until("only one read holds a thread", || {
            vigie.threads("blocking") == 1
        });
    }
    go_on(&mount, waiting);
}

#[test]
fn nor_is_it_after_reloads_that_lead_away_from_it_and_back() {
    let Some((mount, vigie)) = serve("one read at a time of a path", "timeout: 1m", "") else {
        return;
    };
    let path = mount.path("list.txt");
    let there = |name: &str| {
        format!(
            "{name}: {{file: {{path: {}, timeout: 1m}}}}",
            path.display()
        )
    };
    mount.hang();
    let mut waiting = vec![begin(&vigie)];
    for away in [
        "hung: {file: free.txt}",
        "hung: {url: 'http://127.0.0.1:1/'}",
        &there("other"),
    ] {
        for services in [away, &there("hung")] {
            vigie.setup.write_services(&format!(
                "{services}\nfree: {{file: free.txt, cache_ttl: 0s}}"
            ));
            assert_eq!(vigie.reload().status, 200);
        }
        waiting.push(begin(&vigie));
        wait_until("only one read holds a thread", || {
            vigie.threads("blocking") == 1
        });
    }
    go_on(&mount, waiting);
}

#[test]
fn nor_is_one_that_began_while_the_reload_that_leads_away_was_prepared() {
    let promise = "one read at a time of a path";
    let Some((mount, vigie)) = serve(promise, "timeout: 1m", "cache_ttl: 0s") else {
        return;
    };
    let authority = Authority::new().pem();
    let Some(slow) = Hanging::mount(promise, "ca.pem", &authority) else {
        return;
    };
    let free = "free: {file: free.txt, cache_ttl: 0s}";
    let there = format!(
        "hung: {{file: {{path: {}, timeout: 1m}}, cache_ttl: 0s}}\n{free}",
        mount.path("list.txt").display()
    );
    let ca_file = slow.path("ca.pem").display().to_string();
    vigie.setup.write_services(&format!(
        "other: {{url: {{url: 'https://127.0.0.1:1/', ca_file: {ca_file}}}}}\n{free}"
    ));
    slow.hang();
    let mut away = vigie.connect();
    away.send(b"POST /reload HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_until("the reload reads the certificate", || {
        vigie.threads("blocking") == 1
    });
    mount.hang();
    let mut waiting = vec![begin(&vigie)];
    slow.go_on();
    assert_eq!(away.receive().status, 200);
    vigie.setup.write_services(&there);
    assert_eq!(vigie.reload().status, 200);
    waiting.push(begin(&vigie));
    wait_until("only one read holds a thread", || {
        vigie.threads("blocking") == 1
    });
    go_on(&mount, waiting);
}

#[test]
fn a_reload_leads_away_from_a_file_system_that_hangs() {
    let Some((mount, vigie)) = serve("a reload away from a hung file", "timeout: 1m", "") else {
        return;
    };
    mount.hang();
    let mut waiting = begin(&vigie);
    vigie
        .setup
        .write_services("hung: {file: free.txt}\nfree: {file: free.txt, cache_ttl: 0s}");
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(
        vigie.list("hung").summary(),
        (200, only("10.0.0.2").as_str())
    );
    assert!(waiting.is_silent(), "what is asked of the old is");
    mount.go_on();
    assert_eq!(
        waiting.receive().summary(),
        (200, only("10.0.0.1").as_str())
    );
}
