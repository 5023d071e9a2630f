//! The date of the machine jumps: it is shown, and decides nothing but whether a certificate is valid.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use crate::support::peer::list;
use crate::support::{
    Answer, Authority, PATIENCE, Peer, Reply, Setup, Vigie, assert_says, only, skip, wait_until,
};

/// A server to which another date can be shown (libfaketime); monotonic time, and that of files, stay as they are.
struct Dated(Vigie);

impl Dated {
    fn start(promise: &str, setup: Setup) -> Option<Self> {
        let Some(library) = library() else {
            skip(promise, "faketime is not installed");
            return None;
        };
        let shell = format!(
            "export LD_PRELOAD={} FAKETIME_TIMESTAMP_FILE={} FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1",
            library.display(),
            setup.path("date").display()
        );
        fs::write(setup.path("date"), "+0\n").unwrap();
        Some(Self(setup.after(&shell).start()))
    }

    /// The date jumps to so many seconds from the true one; waits until answers show it, within what HTTP can write.
    fn jump(&self, seconds: i64) {
        self.0.setup.write_now("date", format!("{seconds:+}\n"));
        for target in ["/services?service_name=kept", "/livez"] {
            let shown = || {
                let answer = self.0.get(target);
                let date = httpdate::parse_http_date(answer.header("date").unwrap()).unwrap();
                let wanted = (since_1970(SystemTime::now()) + seconds).clamp(0, END_OF_9999);
                (since_1970(date) - wanted).abs() < 60
            };
            wait_until("the date is shown", shown);
        }
    }
}

const DAY: i64 = 86_400;
const YEAR: i64 = 365 * DAY;
const END_OF_9999: i64 = 253_402_300_799;
/// What was there before, and what is there at the end.
const JUMPS: [i64; 7] = [
    DAY,
    -DAY,
    30 * YEAR,
    -30 * YEAR,
    9000 * YEAR,
    -100 * YEAR,
    0,
];

fn since_1970(date: SystemTime) -> i64 {
    let since = date.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    since.as_secs().try_into().unwrap()
}

/// Where libfaketime lies, for this kind of processor.
fn library() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").ok()?;
    let libraries =
        folders.map(|folder| folder.unwrap().path().join("faketime/libfaketimeMT.so.1"));
    libraries.into_iter().find(|library| library.exists())
}

const KEPT: &str = "kept: {file: one.txt, cache_ttl: 1h}\n";

#[test]
fn a_jump_of_the_date_makes_no_list_old_and_keeps_none_young() {
    let services = "soon: {file: soon.txt, cache_ttl: 300ms}\n\
                    gone: {file: gone.txt, cache_ttl: 0s, max_stale: 1h}\n";
    let setup = Setup::services(&(KEPT.to_owned() + services))
        .file("one.txt", "10.0.0.1\n")
        .file("soon.txt", "10.0.0.2\n")
        .file("gone.txt", "10.0.0.3\n");
    let Some(dated) = Dated::start("a jump of the date and lists", setup) else {
        return;
    };
    let vigie = &dated.0;
    for service in ["kept", "soon", "gone"] {
        assert_eq!(vigie.list(service).status, 200);
    }
    vigie.setup.write("one.txt", "10.0.0.9\n");
    fs::remove_file(vigie.setup.path("gone.txt")).unwrap();
    let begin = Instant::now();
    let seconds =
        |answer: &Answer, header: &str| -> u64 { answer.header(header).unwrap().parse().unwrap() };
    for (number, jump) in JUMPS.into_iter().enumerate() {
        dated.jump(jump);
        let kept = vigie.list("kept");
        assert_eq!(kept.summary(), (200, &*only("10.0.0.1")), "{jump}");
        let stale = vigie.list("gone");
        assert_eq!(stale.summary(), (200, &*only("10.0.0.3")), "{jump}");
        let most = begin.elapsed().as_secs() + 1;
        let ages = [
            seconds(&kept, "age"),
            seconds(&stale, "age"),
            seconds(&stale, "vigie-stale"),
        ];
        assert!(ages.iter().all(|age| *age <= most), "{jump}: {ages:?}");
        let new = format!("10.1.0.{number}");
        vigie.setup.write_now("soon.txt", format!("{new}\n"));
        wait_until("the change shows", || {
            vigie.list("soon").summary() == (200, &*only(&new))
        });
    }
}

#[test]
fn a_jump_of_the_date_neither_shortens_nor_lengthens_the_time_that_anybody_has() {
    let silent = Peer::start(|_| Reply::Act(Box::new(|_| std::thread::park_timeout(PATIENCE))));
    let services = format!(
        "{KEPT}silent: {{url: {{url: \"{}\", timeout: 2s}}}}",
        silent.url("/")
    );
    let setup = Setup::services(&services)
        .server("request_timeout: 1h\nidle_timeout: 1h")
        .file("one.txt", "10.0.0.1\n");
    let Some(dated) = Dated::start("a jump of the date and time-outs", setup) else {
        return;
    };
    let vigie = &dated.0;
    let request = b"GET /services?service_name=kept HTTP/1.1\r\nHost: x\r\n\r\n";
    let [mut idle, mut begun, mut waiting] = [(); 3].map(|()| vigie.connect());
    assert_eq!(idle.send(request).receive().status, 200);
    begun.send(&request[..20]);
    for jump in JUMPS {
        waiting.send(b"GET /services?service_name=silent HTTP/1.1\r\nHost: x\r\n\r\n");
        let begin = Instant::now();
        dated.jump(jump);
        assert!(idle.is_silent() && begun.is_silent(), "{jump}");
        let answer = waiting.receive();
        let took = begin.elapsed();
        assert_eq!(answer.status, 504, "{jump}");
        assert!(
            (Duration::from_millis(1900)..PATIENCE / 2).contains(&took),
            "{jump}: {took:?}"
        );
    }
    assert_eq!(begun.send(&request[20..]).receive().status, 200);
    assert_eq!(idle.send(request).receive().status, 200);
}

#[test]
fn a_client_is_late_in_its_time_whatever_the_date_does() {
    let setup = Setup::services(KEPT)
        .server("request_timeout: 1s\nidle_timeout: 1s")
        .file("one.txt", "10.0.0.1\n");
    let Some(dated) = Dated::start("a jump of the date and late clients", setup) else {
        return;
    };
    for jump in [-YEAR, YEAR, 0] {
        let [mut late, mut idle] = [(); 2].map(|()| dated.0.connect());
        late.send(b"GET / HT");
        assert_eq!(idle.ask("GET", "/livez", &[]).status, 200);
        dated.jump(jump);
        assert_eq!(late.receive().status, 408, "{jump}");
        idle.wait_for_close();
    }
}

#[test]
fn a_certificate_out_of_its_time_by_a_wrong_date_is_said_and_taken_when_the_date_is_right() {
    let authority = Authority::new();
    let config = authority.sign_for(&["127.0.0.1"], 2001, 2999).server(None);
    let peer = Peer::tls(config, |_| Reply::End(list("10.0.0.1")));
    let url = peer.url("/");
    let services = format!(
        "{KEPT}tls: {{url: {{url: \"{url}\", ca_file: ca.pem}}, cache_ttl: 0s}}\n\
         any: {{url: {{url: \"{url}\", insecure_skip_verify: true}}, cache_ttl: 0s}}\n"
    );
    let setup = Setup::services(&services)
        .file("one.txt", "10.0.0.1\n")
        .file("ca.pem", authority.pem());
    let Some(dated) = Dated::start("a wrong date and certificates", setup) else {
        return;
    };
    for (jumps, words) in [
        (
            &[-100 * YEAR, -40 * YEAR][..],
            "is not valid before 2001-01-01T00:00:00Z; see whether the clock of this machine is right",
        ),
        (&[2000 * YEAR], "expired at 2999-01-01T00:00:00Z"),
    ] {
        for jump in jumps {
            dated.jump(*jump);
            let answer = dated.0.list("tls");
            assert_eq!(answer.status, 502);
            assert_says(&answer.error(), &["service tls: ", words]);
            assert_eq!(dated.0.list("any").summary(), (200, &*only("10.0.0.1")));
        }
        dated.jump(0);
        assert_eq!(dated.0.list("tls").summary(), (200, &*only("10.0.0.1")));
    }
}

#[test]
fn log_lines_and_metrics_show_the_date_as_it_is() {
    let setup = Setup::services(KEPT).file("one.txt", "10.0.0.1\n");
    let Some(dated) = Dated::start("a jump of the date and the log", setup) else {
        return;
    };
    let vigie = &dated.0;
    for (jump, begin) in [
        (9000 * YEAR, "9999-12-31T23:59:59"),
        (-100 * YEAR, "1970-01-01T00:00:00"),
    ] {
        dated.jump(jump);
        assert_eq!(vigie.reload().status, 200);
        let is_reload = |line: &String| line.starts_with(begin) && line.contains("reloaded");
        wait_until("a line has the date", || {
            vigie.log.lines().iter().any(is_reload)
        });
        assert_eq!(vigie.list("kept").status, 200);
        assert_eq!(vigie.get("/metrics").status, 200);
    }
}
