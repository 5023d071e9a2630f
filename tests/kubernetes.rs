//! The ready endpoints of a Service: what is asked for, page by page, and what an answer means that is no list.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::cluster::{Cluster, list, page, slice, status};
use crate::support::peer::answer;
use crate::support::{PATIENCE, Reply, Setup, assert_says, endpoints, only, wait_until};

const WEB: &str = "web: {kubernetes: {service: web, kubeconfig: kube.yml}, cache_ttl: 0s}\n";

#[test]
fn the_slices_of_a_service_are_asked_for_from_the_cache_of_the_api_server() {
    let cluster = Cluster::start(|_| list(&["10.0.0.2", "10.0.0.1"]));
    let vigie = cluster.setup(WEB).start();
    assert_eq!(
        endpoints(&vigie.list("web")),
        ["10.0.0.1 80 0", "10.0.0.2 80 0"]
    );
    let requests = cluster.peer.requests();
    let [head] = &*requests else {
        panic!("{requests:?}")
    };
    let mut lines: Vec<_> = head.trim_end().split("\r\n").collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "GET /apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?labelSelector=kubernetes.io/service-name%3Dweb&limit=500&resourceVersion=0 HTTP/1.1",
            "accept-encoding: gzip",
            "accept: application/json",
            "authorization: Bearer hunter2",
            &format!("host: {}", cluster.peer.address),
            concat!("user-agent: vigie/", env!("CARGO_PKG_VERSION")),
        ]
    );
}

#[test]
fn the_settings_say_which_namespace_port_and_family() {
    let cluster = Cluster::start(|asked| {
        assert!(asked.path().contains("/namespaces/other/"));
        let four = r#"{"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"name":"http","port":8080},{"name":"admin","port":9090}]}"#;
        let six = r#"{"addressType":"IPv6","endpoints":[{"addresses":["2001:DB8::1"]}],"ports":[{"name":"http","port":8080},{"name":"bare"}]}"#;
        page(&[four.into(), six.into()], "")
    });
    let service = |name: &str, keys: &str| {
        format!(
            "{name}: {{kubernetes: {{service: web, namespace: other, kubeconfig: kube.yml{keys}}}, default_port: 9000}}\n"
        )
    };
    let services = [
        service("http", ", port: http"),
        service("number", ", port: 8080"),
        service("six", ", port: \"8080\", family: ipv6"),
        service("bare", ", port: bare"),
        service("none", ""),
        service("wrong", ", port: https"),
    ];
    let vigie = cluster.setup(&services.concat()).start();
    let both = ["10.0.0.1 8080 0", "2001:db8::1 8080 0"];
    assert_eq!(endpoints(&vigie.list("http")), both);
    assert_eq!(endpoints(&vigie.list("number")), both);
    assert_eq!(endpoints(&vigie.list("six")), ["2001:db8::1 8080 0"]);
    assert_eq!(endpoints(&vigie.list("bare")), ["2001:db8::1 9000 0"]);
    let ports = "admin (9090), bare (without a number), http (8080)";
    for (name, words) in [
        (
            "none",
            format!("the slices have several ports: {ports}; name one with port"),
        ),
        (
            "wrong",
            format!("no slice has the port https; the slices have {ports}; correct port"),
        ),
    ] {
        let answer = vigie.list(name);
        assert_eq!(answer.status, 502);
        assert_eq!(
            answer.error(),
            format!("service {name}: kubernetes other/web: {words}")
        );
    }
}

#[test]
fn the_page_and_the_metrics_name_the_service() {
    let cluster = Cluster::start(|_| list(&["10.0.0.1"]));
    let services =
        "web: {kubernetes: {service: web, namespace: mine, port: http, kubeconfig: kube.yml}}";
    let vigie = cluster.setup(services).start();
    assert_eq!(vigie.list("web").status, 200);
    let metric = r#"vigie_source_reads_total{service="web",source="kubernetes",result="ok"} 1"#;
    assert!(vigie.get("/metrics").text().contains(metric));
    let page = vigie.get("/");
    assert_says(page.text(), &["kubernetes", "mine/web:http"]);
    assert!(!page.text().contains("hunter2"));
}

#[test]
fn no_slices_are_an_empty_list_and_so_are_the_slices_of_a_service_without_pods() {
    let asked = AtomicUsize::new(0);
    let cluster = Cluster::start(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0 => page(&[], ""),
        _ => page(
            &[r#"{"addressType":"IPv4","endpoints":null,"ports":null}"#.into()],
            "",
        ),
    });
    let web = "web: {kubernetes: {service: web, port: http, kubeconfig: kube.yml}, cache_ttl: 0s}";
    let vigie = cluster.setup(web).start();
    for _ in 0..2 {
        assert_eq!(vigie.list("web").summary(), (200, "[]\n"));
    }
}

/// Three pages, each of which must be asked for with what the one before it says.
fn three_pages(more: Option<&str>) -> Reply {
    match more {
        None => page(&[slice(&["10.0.0.3"])], "a+b/c= &\u{fc}"),
        Some("a+b/c= &\u{fc}") => page(&[slice(&["10.0.0.1", "10.0.0.3"])], "last"),
        Some("last") => page(&[slice(&["10.0.0.2"])], ""),
        other => panic!("{other:?}"),
    }
}

const THREE: [&str; 3] = ["10.0.0.1 80 0", "10.0.0.2 80 0", "10.0.0.3 80 0"];

#[test]
fn all_pages_are_read_and_those_after_the_first_name_no_version() {
    let cluster = Cluster::start(|asked| {
        let more = asked.query("continue");
        assert_eq!(asked.query("resourceVersion").is_some(), more.is_none());
        assert_eq!(asked.query("limit").as_deref(), Some("500"));
        let selector = asked.query("labelSelector");
        assert_eq!(selector.as_deref(), Some("kubernetes.io/service-name=web"));
        three_pages(more.as_deref())
    });
    let vigie = cluster.setup(WEB).start();
    assert_eq!(endpoints(&vigie.list("web")), THREE);
    assert_eq!(
        (cluster.peer.requests().len(), cluster.peer.connections()),
        (3, 1)
    );
}

#[test]
fn a_list_that_the_server_forgets_between_two_pages_is_read_again_once() {
    let forgets = AtomicBool::new(true);
    let cluster = Cluster::start(move |asked| match asked.query("continue").as_deref() {
        Some("last") if forgets.swap(false, Ordering::Relaxed) => status("410 Gone", "expired"),
        more => three_pages(more),
    });
    let vigie = cluster.setup(WEB).start();
    assert_eq!(endpoints(&vigie.list("web")), THREE);
    assert_eq!(cluster.peer.requests().len(), 6);

    for (first, requests) in [(true, 1), (false, 4)] {
        let cluster = Cluster::start(move |asked| match asked.query("continue") {
            None if !first => page(&[slice(&["10.0.0.1"])], "a"),
            _ => status("410 Gone", "expired"),
        });
        let answer = cluster.setup(WEB).start().list("web");
        assert_eq!(answer.status, 502);
        let words = match first {
            true => "it says so of the first page; see whether it is an API server",
            false => "it forgot the list while the pages were read; ask again",
        };
        assert_says(&answer.error(), &[&format!("410 Gone: {words}")]);
        assert_eq!(cluster.peer.requests().len(), requests);
    }
}

#[test]
fn a_page_that_fails_fails_the_list() {
    let asked = AtomicUsize::new(0);
    let cluster = Cluster::start(move |more| {
        match (
            more.query("continue"),
            asked.fetch_add(1, Ordering::Relaxed),
        ) {
            (None, _) => page(&[slice(&["10.0.0.1"])], "a"),
            (Some(_), 1) => status("500 Internal Server Error", "x"),
            (Some(_), 3) => page(&[slice(&["10.0.0.256"])], ""),
            (Some(_), 5) => Reply::Keep(answer("200 OK", "", "<html>")),
            _ => {
                Reply::End(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"items\":[]}".to_vec())
            }
        }
    });
    let vigie = cluster.setup(WEB).start();
    for words in [
        "500 Internal Server Error: see what is wrong with the API server",
        "the address \"10.0.0.256\" of the slice web-x is not IPv4",
        "byte 0: an object is expected",
        "cut short",
    ] {
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        assert_says(
            &answer.error(),
            &["service web: kubernetes shop/web: ", words],
        );
    }
}

#[test]
fn what_is_no_list_is_told_in_words_and_never_in_those_of_the_server() {
    let refusals = [
        (
            "401 Unauthorized",
            "it does not accept who asks; renew the token or the client certificate",
        ),
        (
            "403 Forbidden",
            "who asks may not list endpointslices (discovery.k8s.io) in the namespace shop; bind a Role there with apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list]",
        ),
        (
            "404 Not Found",
            "discovery.k8s.io/v1 is missing there; it needs Kubernetes 1.21 or later, and the address of an API server",
        ),
        (
            "429 Too Many Requests",
            "it has too much to do; raise cache_ttl, so that Vigie asks less often",
        ),
        (
            "503 Service Unavailable",
            "see what is wrong with the API server",
        ),
        ("206 Partial Content", "see whether it is an API server"),
    ];
    let next = AtomicUsize::new(0);
    let cluster = Cluster::start(move |asked| {
        let echo = asked.authorization().unwrap();
        match refusals.get(next.fetch_add(1, Ordering::Relaxed)) {
            Some((line, _)) => status(line, &echo),
            None => Reply::Keep(answer(
                "302 Found",
                &format!("Location: /{}\r\n", echo.replace(' ', "")),
                echo,
            )),
        }
    });
    let vigie = cluster.setup(WEB).top("log: {level: trace}").start();
    for (line, words) in refusals {
        let answer = vigie.list("web");
        assert_eq!(answer.status, 502);
        let want =
            format!("service web: kubernetes shop/web: the API server answered {line}: {words}");
        assert_eq!(answer.error(), want);
    }
    let answer = vigie.list("web");
    assert_eq!(
        (answer.status, answer.error().as_str()),
        (
            502,
            "service web: kubernetes shop/web: the API server redirects, which is not followed; correct its address"
        )
    );
    assert_eq!(cluster.peer.requests().len(), refusals.len() + 1);
    vigie.log.wait_for("GET /services of web: 502");
    assert!(
        !vigie.log.text().contains("hunter2"),
        "{}",
        vigie.log.text()
    );
}

/// Lists that hold this in each place whose text a failure may show.
fn echoes(secret: &str) -> Vec<String> {
    let secret = secret.replace('\\', "\\\\").replace('"', "\\\"");
    let items = |item: &str| format!(r#"{{"items":[{item}]}}"#);
    vec![
        format!(r#"{{"kind":"{secret}"}}"#),
        format!(r#"{{"kind":"xx{}"}}"#, secret.replacen('h', "\\u0068", 1)),
        items(&format!(r#"{{"addressType":"{secret}"}}"#)),
        items(&format!(r#"{{"metadata":{{"name":"{secret}"}}}}"#)),
        items(&format!(
            r#"{{"addressType":"IPv4","endpoints":[{{"addresses":["{secret}"]}}]}}"#
        )),
        items(&format!(
            r#"{{"addressType":"IPv4","ports":[{{"name":"{secret}"}},{{"name":"b"}}]}}"#
        )),
        items(&format!(
            r#"{{"addressType":"IPv4","ports":[{{"name":"{secret}","port":1}},{{"name":"{secret}"}}]}}"#
        )),
    ]
}

#[test]
fn a_server_that_echoes_a_secret_gets_it_into_no_message() {
    let long = "hunter2.".to_owned() + &"abcdefghijklmnopqrstuvwxyz0123456789".repeat(20);
    for (user, secret, shown) in [
        ("{token: hunter2}", "hunter2", "hunter"),
        ("{token: hunter2}", "Bearer hunter2", "hunter"),
        ("{token: 'hunter2\"x\\y'}", "hunter2\"x\\y", "hunter"),
        (&format!("{{token: {long}}}"), &long, "hunter2."),
        (
            "{username: me, password: hunter2}",
            "Basic bWU6aHVudGVyMg==",
            "bWU6",
        ),
        ("{username: me, password: hunter2}", "me:hunter2", "hunter"),
        ("{username: me, password: hunter2}", "hunter2", "hunter"),
    ] {
        let replies = Mutex::new(echoes(secret).into_iter());
        let count = echoes(secret).len();
        let cluster = Cluster::start(move |_| {
            let body = replies.lock().unwrap().next().unwrap();
            Reply::Keep(answer("200 OK", "Content-Type: application/json\r\n", body))
        });
        let setup = Setup::services(WEB).file("kube.yml", cluster.kubeconfig(user));
        let vigie = setup.top("log: {level: trace}").start();
        for _ in 0..count {
            let answer = vigie.list("web");
            assert_eq!(answer.status, 502);
            assert!(!answer.error().contains(shown), "{}", answer.error());
            assert_says(&answer.error(), &["[secret]"]);
        }
        assert!(!vigie.log.text().contains(shown), "{}", vigie.log.text());
    }
}

#[test]
fn a_continue_token_that_fits_into_no_url_is_told_as_such() {
    let cluster = Cluster::start(|_| page(&[slice(&["10.0.0.1"])], &"a".repeat(70_000)));
    let answer = cluster.setup(WEB).start().list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &["kubernetes shop/web: the server's continue token is too long"],
    );
}

#[test]
fn what_says_that_it_is_no_json_is_no_list() {
    let types = [
        ("text/html; charset=utf-8", Some("text/html")),
        ("TEXT/plain", Some("TEXT/plain")),
        ("application/jsonp", Some("application/jsonp")),
        (
            "application/vnd.kubernetes.protobuf",
            Some("application/vnd.kubernetes.protobuf"),
        ),
        ("Bearer hunter2", Some("Bearer [secret]")),
        ("application/json", None),
        ("Application/JSON;charset=utf-8", None),
        ("", None),
    ];
    let next = AtomicUsize::new(0);
    let cluster = Cluster::start(move |_| {
        let (name, _) = types[next.fetch_add(1, Ordering::Relaxed)];
        let body = format!(r#"{{"items":[{}]}}"#, slice(&["10.0.0.1"]));
        Reply::Keep(answer("200 OK", &format!("Content-Type: {name}\r\n"), body))
    });
    let vigie = cluster.setup(WEB).start();
    for (name, shown) in types {
        let answer = vigie.list("web");
        match shown {
            None => assert_eq!(answer.status, 200, "{name}"),
            Some(shown) => assert_eq!(
                (answer.status, answer.error()),
                (
                    502,
                    format!(
                        "service web: kubernetes shop/web: the server gave {shown}, no JSON; correct the address of the API server"
                    )
                )
            ),
        }
    }
}

#[test]
fn an_api_server_that_is_silent_is_504_in_time() {
    let (_hold, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let cluster = Cluster::start(move |_| {
        let _ = held.lock().unwrap().recv_timeout(PATIENCE);
        list(&["10.0.0.1"])
    });
    let web = "web: {kubernetes: {service: web, kubeconfig: kube.yml, timeout: 300ms}}";
    let answer = cluster.setup(web).start().list("web");
    assert_eq!(answer.status, 504);
    assert_says(
        &answer.error(),
        &["kubernetes shop/web: waiting for the answer: not done within 300ms"],
    );
}

#[test]
fn the_services_of_a_cluster_share_a_connection_which_outlives_a_reload() {
    let cluster = Cluster::start(|_| list(&["10.0.0.1"]));
    let services = "a: {kubernetes: {service: a, kubeconfig: kube.yml}, cache_ttl: 0s}\n\
                    b: {kubernetes: {service: b, namespace: other, kubeconfig: kube.yml}, cache_ttl: 0s}\n";
    let vigie = cluster.setup(services).start();
    for _ in 0..3 {
        for name in ["a", "b"] {
            assert_eq!(vigie.list(name).summary(), (200, only("10.0.0.1").as_str()));
        }
        assert_eq!(vigie.reload().status, 200);
    }
    assert_eq!(
        (cluster.peer.requests().len(), cluster.peer.connections()),
        (6, 1)
    );
}

#[test]
fn a_slow_answer_for_one_service_holds_up_no_other_of_its_cluster() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let (begun, has_begun) = mpsc::channel();
    let begun = Mutex::new(begun);
    let cluster = Cluster::start(move |asked| {
        if asked.query("labelSelector").unwrap().ends_with("=slow") {
            begun.lock().unwrap().send(()).unwrap();
            wait.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        }
        list(&["10.0.0.1"])
    });
    let service = |name| {
        format!(
            "{name}: {{kubernetes: {{service: {name}, kubeconfig: kube.yml, timeout: 1m}}, cache_ttl: 0s}}\n"
        )
    };
    let vigie = cluster
        .setup(&(service("slow") + &service("quick")))
        .start();
    thread::scope(|scope| {
        let slow = scope.spawn(|| vigie.list("slow").status);
        has_begun.recv_timeout(PATIENCE).unwrap();
        for _ in 0..10 {
            assert_eq!(vigie.list("quick").status, 200);
        }
        assert!(!slow.is_finished());
        go.send(()).unwrap();
        assert_eq!(slow.join().unwrap(), 200);
    });
}

/// A slice as the controller of Kubernetes writes it.
fn long_slice(number: usize) -> String {
    let endpoint = |index: usize| {
        let ip = format!("10.{}.{}.{index}", number / 250, number % 250);
        format!(
            r#"{{"addresses":["{ip}"],"conditions":{{"ready":true,"serving":true,"terminating":false}},"nodeName":"node-{index}.eu-central-1.compute.internal","targetRef":{{"kind":"Pod","name":"web-6d4b75cb6d-{number:05}{index:03}","namespace":"shop","uid":"0b29e9b1-4b1c-4b8d-9d3f-{index:012}"}},"zone":"eu-central-1a"}}"#
        )
    };
    let endpoints: Vec<_> = (1..=100).map(endpoint).collect();
    format!(
        r#"{{"metadata":{{"name":"web-{number}","generateName":"web-","namespace":"shop","labels":{{"kubernetes.io/service-name":"web"}},"managedFields":[{{"manager":"kube-controller-manager","fieldsV1":{{"f:addressType":{{}},"f:endpoints":{{}}}}}}]}},"addressType":"IPv4","endpoints":[{}],"ports":[{{"name":"http","protocol":"TCP","port":8080}}]}}"#,
        endpoints.join(",")
    )
}

#[test]
fn a_list_of_20_000_endpoints_takes_60_mib_at_most() {
    let cluster = Cluster::start(|_| page(&(0..200).map(long_slice).collect::<Vec<_>>(), ""));
    let web = "web: {kubernetes: {service: web, kubeconfig: kube.yml, timeout: 1m}, cache_ttl: 0s}";
    let vigie = cluster.setup(web).start();
    for _ in 0..3 {
        let list = endpoints(&vigie.list("web"));
        assert_eq!(list.len(), 20_000);
        assert_eq!(
            (&*list[0], &*list[19_999]),
            ("10.0.0.1 8080 0", "10.0.199.100 8080 0")
        );
    }
    let peak = vigie.status("VmHWM");
    let kib: usize = peak.trim_end_matches(" kB").parse().unwrap();
    assert!(kib <= 60 << 10, "{peak}");
}

#[test]
fn a_list_beyond_32_mib_is_refused() {
    let endless = AtomicUsize::new(0);
    let cluster = Cluster::start(move |_| {
        let slices = [(); 300].map(|()| long_slice(endless.fetch_add(1, Ordering::Relaxed)));
        page(&slices, "more")
    });
    let web = "web: {kubernetes: {service: web, kubeconfig: kube.yml, timeout: 1m}}";
    let answer = cluster.setup(web).start().list("web");
    assert_eq!(answer.status, 502);
    assert_says(&answer.error(), &["the slices have more than 32 MiB"]);
}

/// A list of one endpoint that has so many bytes, most of them blanks.
fn padded(size: usize) -> String {
    let list = format!(r#"{{"items":[{}]}}"#, slice(&["10.0.0.1"]));
    let blanks = " ".repeat(size - list.len());
    list + &blanks
}

#[test]
fn ten_large_lists_at_once_take_120_mib_at_most() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(padded(32 << 20).as_bytes()).unwrap();
    let list = answer(
        "200 OK",
        "Content-Encoding: gzip\r\n",
        encoder.finish().unwrap(),
    );
    let cluster = Cluster::start(move |_| Reply::Keep(list.clone()));
    let service = |number: usize| {
        format!(
            "s{number}: {{kubernetes: {{service: s{number}, kubeconfig: kube.yml, timeout: 2m}}, cache_ttl: 0s}}\n"
        )
    };
    let services: String = (0..10).map(service).collect();
    let vigie = cluster.setup(&services).start();
    for _ in 0..2 {
        thread::scope(|scope| {
            for number in 0..10 {
                let vigie = &vigie;
                let read = move || vigie.list(&format!("s{number}")).status;
                scope.spawn(move || assert_eq!(read(), 200));
            }
        });
    }
    let peak = vigie.status("VmHWM");
    let kib: usize = peak.trim_end_matches(" kB").parse().unwrap();
    assert!(kib <= 120 << 10, "{peak}");
}

/// A service whose list is read each time.
fn read_each_time(name: &str, timeout: &str) -> String {
    format!(
        "{name}: {{kubernetes: {{service: {name}, kubeconfig: kube.yml, timeout: {timeout}}}, cache_ttl: 0s}}\n"
    )
}

#[test]
fn large_lists_wait_for_each_other_and_small_ones_for_none() {
    let (begun, has_begun) = mpsc::channel();
    let go = Arc::new(AtomicBool::new(false));
    let may_go = go.clone();
    let asked_of = Mutex::new(Vec::new());
    let cluster = Cluster::start(move |asked| {
        let name = asked.query("labelSelector").unwrap();
        if name.ends_with("=small") {
            return list(&["10.0.0.1"]);
        }
        let is_again = {
            let mut asked_of = asked_of.lock().unwrap();
            asked_of.push(name.clone());
            asked_of.iter().filter(|known| **known == name).count() > 1
        };
        let large = answer("200 OK", "", padded(5 << 20));
        if !is_again {
            return Reply::Keep(large);
        }
        let (begun, go) = (begun.clone(), may_go.clone());
        Reply::Act(Box::new(move |wire| {
            wire.write_all(&large[..1000]).unwrap();
            wire.flush().unwrap();
            begun.send(()).unwrap();
            wait_until("the rest may go", || go.load(Ordering::Relaxed));
            // Whose time is up has gone.
            let _ = wire.write_all(&large[1000..]);
            let _ = wire.flush();
        }))
    });
    let services = [("a", "1m"), ("b", "1m"), ("late", "1s"), ("small", "5s")];
    let services = services.map(|(name, timeout)| read_each_time(name, timeout));
    let vigie = cluster.setup(&services.concat()).start();
    thread::scope(|scope| {
        let large = ["a", "b"].map(|name| {
            let vigie = &vigie;
            scope.spawn(move || vigie.list(name).status)
        });
        for _ in 0..2 {
            has_begun.recv_timeout(PATIENCE).unwrap();
        }
        let late = vigie.list("late");
        assert_eq!(late.status, 504);
        assert_says(
            &late.error(),
            &["kubernetes shop/late: waiting for other large lists to be read: not done within 1s"],
        );
        assert_eq!(vigie.list("small").status, 200);
        go.store(true, Ordering::Relaxed);
        for large in large {
            assert_eq!(large.join().unwrap(), 200);
        }
    });
}

#[test]
fn an_api_server_that_is_silent_holds_up_no_large_list_of_another() {
    let is_silent = Arc::new(AtomicBool::new(false));
    let silent = is_silent.clone();
    let cluster = Cluster::start(move |asked| {
        if !asked.query("labelSelector").unwrap().ends_with("=good") {
            wait_until("it speaks", || !silent.load(Ordering::Relaxed));
        }
        Reply::Keep(answer("200 OK", "", padded(5 << 20)))
    });
    let services = [("a", "1m"), ("b", "1m"), ("good", "5s")];
    let services = services.map(|(name, timeout)| read_each_time(name, timeout));
    let vigie = cluster.setup(&services.concat()).start();
    for name in ["a", "b", "good"] {
        assert_eq!(
            vigie.list(name).status,
            200,
            "its list is known to be large"
        );
    }
    is_silent.store(true, Ordering::Relaxed);
    let asked = cluster.peer.requests().len() + 2;
    thread::scope(|scope| {
        let waiting = ["a", "b"].map(|name| {
            let vigie = &vigie;
            scope.spawn(move || vigie.list(name).status)
        });
        wait_until("both are asked for", || {
            cluster.peer.requests().len() == asked
        });
        for _ in 0..3 {
            assert_eq!(vigie.list("good").status, 200);
        }
        assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
        is_silent.store(false, Ordering::Relaxed);
        for waiting in waiting {
            assert_eq!(waiting.join().unwrap(), 200);
        }
    });
}

#[test]
fn the_readme_names_the_rights_that_a_403_asks_for() {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    for right in [
        "apiGroups: [discovery.k8s.io]",
        "resources: [endpointslices]",
        "verbs: [list]",
    ] {
        assert!(readme.contains(right), "{right}");
    }
}
