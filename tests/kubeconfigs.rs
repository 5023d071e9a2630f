//! Kubeconfig files: what of them is used, what is refused, and where the errors stand.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fastrand::Rng;
use vigie::catalog::Catalog;
use vigie::config;

use crate::support::cluster::{Cluster, kubeconfig, list, status, vigie_outside};
use crate::support::{
    Authority, Hanging, Peer, Reply, Setup, Vigie, assert_says, only, wait_until, write_at_rest,
};

const WEB: &str = "web: {kubernetes: {service: web, kubeconfig: kube.yml}, cache_ttl: 0s}\n";

/// A cluster that answers whoever sends this, and tells others that they are nobody.
fn guarded(authorization: &'static str) -> Cluster {
    Cluster::start(move |asked| match asked.authorization().as_deref() {
        Some(sent) if sent == authorization => list(&["10.0.0.1"]),
        None if authorization.is_empty() => list(&["10.0.0.1"]),
        sent => status("401 Unauthorized", sent.unwrap_or_default()),
    })
}

#[track_caller]
fn is_read(vigie: &Vigie) {
    assert_eq!(
        vigie.list("web").summary(),
        (200, only("10.0.0.1").as_str())
    );
}

#[test]
fn a_user_has_a_token_a_file_of_one_or_a_password() {
    for (authorization, user) in [
        ("Bearer hunter2", "{token: hunter2}"),
        (
            "Bearer hunter2",
            "{token: hunter2, username: me, password: x}",
        ),
        ("Bearer hunter2", "{tokenFile: token}"),
        ("Bearer hunter2", "{tokenFile: token, token: other}"),
        ("Bearer other", "{tokenFile: missing, token: other}"),
        (
            "Basic bWU6aHVudGVyMg==",
            "{username: me, password: hunter2}",
        ),
        ("", "{}"),
    ] {
        let cluster = guarded(authorization);
        let setup = Setup::services(WEB).file("kube.yml", cluster.kubeconfig(user));
        is_read(&setup.file("token", "hunter2\r\n").start());
    }
}

#[test]
fn whoever_acts_as_nobody_else_is_read_and_whoever_does_is_refused() {
    let cluster = guarded("Bearer hunter2");
    let user = "{token: hunter2, as: \"\", as-uid: null, as-groups: [], as-user-extra: {}}";
    is_read(
        &Setup::services(WEB)
            .file("kube.yml", cluster.kubeconfig(user))
            .start(),
    );
    for other in ["as-uid: \"0\"", "as-groups: [a]", "as-user-extra: {a: [b]}"] {
        let user = format!("{{token: hunter2, {other}}}");
        let (code, says) = check(WEB.trim_end(), &cluster.kubeconfig(&user));
        assert_eq!(code, Some(1), "{other}");
        assert_says(&says, &["its user acts as another user (as)"]);
    }
}

#[test]
fn blanks_around_the_server_are_no_part_of_it() {
    let cluster = guarded("Bearer hunter2");
    let url = cluster.peer.url("");
    let kubeconfig = cluster.kubeconfig("{token: hunter2}");
    for server in [format!(" {url}"), format!("{url} "), format!("{url}/\\t ")] {
        let kubeconfig = kubeconfig.replace(&format!("\"{url}\""), &format!("\"{server}\""));
        assert!(kubeconfig.contains(&server));
        is_read(&Setup::services(WEB).file("kube.yml", kubeconfig).start());
    }
}

#[test]
fn a_merge_key_is_refused_at_its_place() {
    let cluster = guarded("Bearer hunter2");
    for (user, place) in [
        ("{<<: *secret}", "KUBE:10:10"),
        ("{\"<<\": {token: hunter2}}", "KUBE:10:10"),
    ] {
        let kubeconfig = cluster
            .kubeconfig(user)
            .replace("preferences: {}", "preferences: &secret {token: hunter2}");
        let (code, says) = check(WEB.trim_end(), &kubeconfig);
        assert_eq!(code, Some(1), "{says}");
        let words = format!(
            "{place}: a merge key (<<) has no meaning here: write out the keys that it merges\n"
        );
        assert!(says.ends_with(&words), "{says}");
    }
}

#[test]
fn ten_times_the_contexts_take_about_ten_times_as_long() {
    let folder = tempfile::tempdir().unwrap();
    let services = "services: {web: {kubernetes: {service: web, kubeconfig: kube.yml}}}";
    let took = |count: usize| {
        let mut text = "current-context: c7\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\ncontexts:\n".to_owned();
        for number in 0..count {
            text += &format!("- {{name: c{number}, context: {{cluster: c}}}}\n");
        }
        write_at_rest(&folder.path().join("kube.yml"), text);
        let begun = Instant::now();
        build(services, &folder.path().join("c.yml")).unwrap();
        begun.elapsed()
    };
    // What holds up one of the two says nothing about them.
    let is_far_from_square = |_| 20 * took(8000) > took(80_000);
    assert!((0..4).any(is_far_from_square));
}

#[test]
fn a_token_file_is_read_for_each_list_and_a_401_has_it_read_again() {
    let cluster = guarded("Bearer hunter3");
    let kubeconfig = cluster.kubeconfig("{tokenFile: token}");
    let setup = Setup::services(WEB).file("kube.yml", kubeconfig);
    let vigie = setup.start();
    let missing = vigie.list("web");
    assert_eq!(missing.status, 502);
    assert_says(
        &missing.error(),
        &[
            "kubernetes shop/web: tokenFile ",
            "/token: opening: No such file",
        ],
    );
    vigie.setup.write("token", "hunter2");
    assert_eq!(vigie.list("web").status, 502);
    assert_eq!(cluster.peer.requests().len(), 2);
    vigie.setup.write("token", "hunter3");
    is_read(&vigie);
    assert_eq!(cluster.peer.requests().len(), 3);
}

#[test]
fn a_401_to_the_token_of_before_says_why_there_is_no_newer_one() {
    let accepted = Arc::new(AtomicU32::new(2));
    let now = accepted.clone();
    let cluster = Cluster::start(move |asked| {
        let good = format!("Bearer hunter{}", now.load(Relaxed));
        match asked.authorization() == Some(good) {
            true => list(&["10.0.0.1"]),
            false => status("401 Unauthorized", "no"),
        }
    });
    let kubeconfig = cluster.kubeconfig("{tokenFile: token}");
    let setup = Setup::services(WEB).file("kube.yml", kubeconfig);
    let vigie = setup.file("token", "hunter2").start();
    is_read(&vigie);
    std::fs::remove_file(vigie.setup.path("token")).unwrap();
    is_read(&vigie);
    accepted.store(3, Relaxed);
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &[
            "401 Unauthorized: it does not accept the token from before, and tokenFile ",
            "/token: opening: No such file or directory; create it, or correct its path",
        ],
    );
    vigie.setup.write("token", "hunter4");
    let answer = vigie.list("web");
    assert_says(
        &answer.error(),
        &["401 Unauthorized: it does not accept who asks; renew"],
    );
    vigie.setup.write("token", "hunter3");
    is_read(&vigie);
}

#[test]
fn a_token_file_that_hangs_is_waited_for_a_moment_where_there_is_a_token() {
    let Some(mount) = Hanging::mount("a token file that hangs", "token", "hunter2\n") else {
        return;
    };
    let cluster = guarded("Bearer hunter2");
    let user = format!("{{tokenFile: {}}}", mount.path("token").display());
    let services = "web: {kubernetes: {service: web, kubeconfig: kube.yml, timeout: 1s}, cache_ttl: 0s}\n\
                    late: {kubernetes: {service: web, kubeconfig: late.yml, timeout: 300ms}, cache_ttl: 0s}\n";
    let late = kubeconfig(&cluster.peer, "insecure-skip-tls-verify: true", &user);
    let setup = Setup::services(services).file("kube.yml", cluster.kubeconfig(&user));
    let vigie = setup.file("late.yml", late).start();
    is_read(&vigie);
    mount.hang();
    is_read(&vigie);
    let answer = vigie.list("late");
    assert_eq!(answer.status, 504);
    assert_says(
        &answer.error(),
        &["kubernetes shop/web: reading the token: not done in time"],
    );
    mount.go_on();
}

#[test]
fn certificates_and_keys_are_files_or_data() {
    let (servers, clients) = (Authority::new(), Authority::new());
    let config = servers.sign(&["api.example"]).server(Some(&clients));
    let peer = Peer::tls(config, |_| match list(&["10.0.0.1"]) {
        Reply::Keep(bytes) => Reply::Keep(bytes),
        _ => unreachable!(),
    });
    let client = clients.sign(&["me"]);
    let base64 = |text: String| STANDARD.encode(text);
    let authority = base64(servers.pem());
    let (certificate, key) = (base64(client.pem()), base64(client.key_pem()));
    let data = format!("{{client-certificate-data: {certificate}, client-key-data: {key}}}");
    let files = "{client-certificate: pki/me.pem, client-key: pki/me.key}".to_owned();
    for (cluster, user) in [
        (
            "tls-server-name: api.example, certificate-authority: pki/ca.pem",
            &files,
        ),
        (
            &format!("tls-server-name: api.example, certificate-authority-data: {authority}"),
            &data,
        ),
        (
            &format!(
                "tls-server-name: api.example, certificate-authority: missing, certificate-authority-data: {authority}"
            ),
            &data,
        ),
        ("insecure-skip-tls-verify: true", &files),
    ] {
        let setup = Setup::services(&WEB.replace("kube.yml", "kube/kube.yml"));
        std::fs::create_dir_all(setup.path("kube/pki")).unwrap();
        let setup = setup
            .file("kube/kube.yml", kubeconfig(&peer, cluster, user))
            .file("kube/pki/ca.pem", servers.pem())
            .file("kube/pki/me.pem", client.pem())
            .file("kube/pki/me.key", client.key_pem());
        is_read(&setup.start());
    }
}

/// Two contexts for two namespaces.
fn contexts(peer: &Peer, current: &str, names: [&str; 2]) -> String {
    let [a, b] = names;
    format!(
        "current-context: {current}\nclusters: [{{name: c, cluster: {{server: \"{}\", insecure-skip-tls-verify: true}}}}]\nusers:\n\
         contexts: [{{name: {a}, context: {{cluster: c, namespace: in-{a}}}}}, {{name: {b}, context: {{cluster: c}}}}]\n",
        peer.url("")
    )
}

fn namespaces(peer: &Peer) -> Vec<String> {
    let requests = peer.requests();
    let name = |head: &String| head.split('/').nth(5).unwrap().to_owned();
    requests.iter().map(name).collect()
}

#[test]
fn the_context_that_is_named_counts_else_the_current_one() {
    let cluster = guarded("");
    let services = "a: {kubernetes: {service: web, kubeconfig: kube.yml}}\n\
                    b: {kubernetes: {service: web, kubeconfig: kube.yml, context: b}}\n\
                    c: {kubernetes: {service: web, kubeconfig: kube.yml, context: b, namespace: mine}}\n";
    let setup = Setup::services(services);
    let vigie = setup
        .file("kube.yml", contexts(&cluster.peer, "a", ["a", "b"]))
        .start();
    for name in ["a", "b", "c"] {
        assert_eq!(vigie.list(name).status, 200);
    }
    assert_eq!(namespaces(&cluster.peer), ["in-a", "default", "mine"]);
    assert_eq!(cluster.peer.connections(), 1);
}

#[test]
fn outside_of_a_pod_the_files_of_the_environment_are_merged_and_the_first_counts() {
    let cluster = guarded("");
    let services = "a: {kubernetes: {service: web}}\nb: {kubernetes: {service: web, context: b}}\n";
    let shell = |setup: &Setup, variables: &str| {
        let folder = setup.path("").display().to_string();
        format!(
            "unset KUBERNETES_SERVICE_HOST KUBECONFIG\nexport {}",
            variables.replace('@', &folder)
        )
    };
    let first = contexts(&cluster.peer, "a", ["a", "x"]);
    let second =
        contexts(&cluster.peer, "b", ["b", "a"]).replace("cluster: c}}]", "cluster: gone}}]");
    for variables in [
        "HOME=@/nowhere KUBECONFIG=@/missing:@/one.yml::@/two.yml",
        "HOME=@ KUBECONFIG=",
    ] {
        let before = cluster.peer.requests().len();
        let setup = Setup::services(services);
        std::fs::create_dir(setup.path(".kube")).unwrap();
        let setup = setup
            .file(
                ".kube/config",
                contexts(&cluster.peer, "a", ["a", "b"])
                    .replace("{cluster: c}", "{cluster: c, namespace: in-b}"),
            )
            .file("one.yml", &first)
            .file("two.yml", &second);
        let shell = shell(&setup, variables);
        let vigie = setup.after(&shell).start();
        for name in ["a", "b"] {
            assert_eq!(vigie.list(name).status, 200, "{variables}");
        }
        assert_eq!(namespaces(&cluster.peer)[before..], ["in-a", "in-b"]);
    }
}

/// What check-config says of a kubeconfig; `KUBE` stands for its path and `FILE` for that of the configuration.
fn check(services: &str, kubeconfig: &str) -> (Option<i32>, String) {
    let setup = Setup::services("")
        .file("config.yml", format!("services:\n  {services}"))
        .file("kube.yml", kubeconfig);
    let file = setup.path("config.yml");
    let output = vigie_outside(&["check-config"], &file);
    let text = String::from_utf8(output.stderr).unwrap();
    let text = text.replace(&file.display().to_string(), "FILE");
    (
        output.status.code(),
        text.replace(&setup.path("kube.yml").display().to_string(), "KUBE"),
    )
}

#[test]
fn a_kubeconfig_that_cannot_be_used_is_refused_at_its_place_without_a_secret() {
    let user = |keys: &str| {
        format!(
            "current-context: here\nclusters: [{{name: c, cluster: {{server: \"https://127.0.0.1:1/\"}}}}]\n\
             users: [{{name: u, user: {keys}}}]\ncontexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
        )
    };
    let cluster =
        |keys: &str| user("{token: hunter2}").replace("server: \"https://127.0.0.1:1/\"", keys);
    let whole = user("{token: hunter2}");
    let instead = "use a service account with token or tokenFile, or a client certificate";
    let of_user = |wrong: &str| format!("kubeconfig KUBE: the context \"here\": its user {wrong}");
    let of_context = |wrong: &str| format!("kubeconfig KUBE: the context \"here\": {wrong}");
    let cases = [
        (
            user("{exec: {command: aws, args: [hunter2]}}"),
            of_user(&format!(
                "gets its credentials from a command (exec), and Vigie runs none: {instead}"
            )),
        ),
        (
            user("{auth-provider: {name: gcp, config: {access-token: hunter2}}}"),
            of_user(&format!(
                "gets its credentials from an auth-provider, which Vigie does not have: {instead}"
            )),
        ),
        (
            user("{token: hunter2, as: root}"),
            of_user(
                "acts as another user (as), which Vigie does not do: use the token of that user",
            ),
        ),
        (
            user("{token: \"hunter2 x\"}"),
            of_user("has a token that is no word of visible ASCII"),
        ),
        (user("{client-key: me.key}"), of_user("client-key ")),
        (
            user("{client-certificate-data: \"hunter2!\", client-key-data: x}"),
            of_user("client-certificate-data: it is not base64"),
        ),
        (
            user(&format!(
                "{{client-certificate-data: {}, client-key-data: aHVudGVyMg==}}",
                STANDARD.encode(Authority::new().pem())
            )),
            of_user("client-key: it holds no private key in PEM that can be read"),
        ),
        (
            cluster("server: \"ftp://hunter2\""),
            of_context("its cluster has no server that can be used: write https://HOST:PORT"),
        ),
        (
            cluster("server: \"https://me:hunter2@h\""),
            of_context("its cluster has no server that can be used: write https://HOST:PORT"),
        ),
        (
            cluster("server: \"https://h\", proxy-url: \"http://hunter2\""),
            of_context("its cluster has a proxy-url, and Vigie uses no proxy: remove it"),
        ),
        (
            cluster("server: \"https://h\", certificate-authority-data: aHVudGVyMg=="),
            of_context("certificate-authority: it holds no certificate in PEM"),
        ),
        (
            cluster("server: \"https://h\", certificate-authority: nope.pem"),
            of_context("certificate-authority "),
        ),
        (
            whole.replace("user: u}", "user: v}"),
            of_context("it names a user that is not there"),
        ),
        (
            whole.replace("cluster: c,", "cluster: d,"),
            of_context("it names a cluster that is not there"),
        ),
        (
            whole.replace("user: u}", "user: u, namespace: a/b}"),
            of_context("its namespace is no name of one"),
        ),
        (
            whole.replace("current-context: here", ""),
            "kubeconfig KUBE: it has no current-context; name one with context".into(),
        ),
        (
            whole.replace("{token: hunter2}", "[hunter2]"),
            "kubeconfig KUBE:3:".into(),
        ),
        (
            whole.replace("{token: hunter2}", "{token: hunter2"),
            "kubeconfig KUBE:".into(),
        ),
        (
            whole.clone() + "x: " + &"[".repeat(100_000),
            "kubeconfig KUBE:5:".into(),
        ),
        (
            format!(
                "{whole}x: &t {}\ny: &l [*t, *t, *t, *t]\nz: [*l, *l, *l, *l]\n",
                "z".repeat(1 << 20)
            ),
            "kubeconfig KUBE:7:17: too much text: aliases may repeat 16 MiB of it at most".into(),
        ),
        (
            String::new(),
            "kubeconfig KUBE: it has no current-context; name one with context".into(),
        ),
        ("\u{0}".into(), "kubeconfig KUBE".into()),
    ];
    let shift = "  web: {kubernetes: {service: web, kubeconfig: ".len() + 1;
    for (kubeconfig, want) in cases {
        let (code, says) = check(
            "web: {kubernetes: {service: web, kubeconfig: kube.yml}}",
            &kubeconfig,
        );
        assert_eq!(code, Some(1), "{kubeconfig}");
        assert!(
            says.starts_with(&format!("FILE:2:{shift}: {want}")),
            "{kubeconfig}: {says}"
        );
        assert!(!says.contains("hunter2"), "{says}");
        assert_eq!(says.lines().count(), 1, "{says}");
    }
}

#[test]
fn what_a_kubeconfig_holds_beside_what_is_used_means_nothing_however_deep_it_is() {
    let cluster = guarded("Bearer hunter2");
    let lists = "[".repeat(55) + &"]".repeat(55);
    let mappings = "{a: ".repeat(55) + "1" + &"}".repeat(55);
    let user =
        format!("{{token: hunter2, x: {mappings}, extensions: [{{name: a, extension: {lists}}}]}}");
    let kubeconfig = format!("{}y: {lists}\n", cluster.kubeconfig(&user));
    is_read(&Setup::services(WEB).file("kube.yml", kubeconfig).start());
}

#[test]
fn a_context_that_is_not_there_is_an_error_at_its_own_place() {
    let services = "web: {kubernetes: {service: web, kubeconfig: kube.yml,\n  context: ther}}";
    let kubeconfig = "contexts: [{name: there, context: {cluster: c}}, {name: here}]\n";
    assert_eq!(
        check(services, kubeconfig),
        (
            Some(1),
            "FILE:3:12: kubeconfig KUBE: there is no context \"ther\"; it has here, there\n".into()
        )
    );
    let (code, says) = check("web: {kubernetes: {service: web, context: a}}", "");
    assert_eq!(
        (code, says.as_str()),
        (
            Some(1),
            "FILE:2:45: there is no kubeconfig, neither at $KUBECONFIG nor, where that is not set, at ~/.kube/config: name one with kubeconfig\n"
        )
    );
}

#[test]
fn a_cluster_that_any_certificate_is_taken_of_is_warned_of_once() {
    let cluster = guarded("Bearer hunter2");
    let insecure = kubeconfig(
        &cluster.peer,
        "insecure-skip-tls-verify: true",
        "{token: hunter2}",
    );
    let services = "web: {kubernetes: {service: web, kubeconfig: kube.yml}}\n\
                    web2: {kubernetes: {service: web, kubeconfig: kube.yml}}\n";
    let message = format!(
        "the cluster {} has insecure-skip-tls-verify, which takes any certificate, so whoever is on the way can read and change the list: set certificate-authority instead",
        cluster.peer.url("")
    );
    let (code, said) = check(&services.replace('\n', "\n  "), &insecure);
    assert_eq!(
        (code, said),
        (Some(0), format!("FILE:2:48: warning: {message}\n"))
    );
    let vigie = Setup::services(services).file("kube.yml", insecure).start();
    is_read(&vigie);
    let warnings = || vigie.log.text().matches(&message).count();
    assert_eq!(warnings(), 1);
    assert_eq!(vigie.reload().status, 200);
    wait_until("the reload is warned of", || warnings() == 2);
}

#[test]
fn a_reload_reads_the_authorities_of_the_system_again() {
    let cluster = guarded("");
    let setup = Setup::services(WEB);
    let system = setup.path("system.pem");
    let vigie = setup
        .file("system.pem", Authority::new().pem())
        .file("kube.yml", kubeconfig(&cluster.peer, "", "{}"))
        .after(&format!("export SSL_CERT_FILE={}", system.display()))
        .start();
    let answer = vigie.list("web");
    assert_eq!(answer.status, 502);
    assert_says(
        &answer.error(),
        &[
            "service web: kubernetes shop/web: TLS: ",
            "unknown authority",
        ],
    );
    vigie.setup.write("system.pem", cluster.authority.pem());
    assert_eq!(vigie.reload().status, 200);
    is_read(&vigie);
}

#[test]
fn a_reload_with_a_kubeconfig_that_cannot_be_used_changes_nothing() {
    let cluster = guarded("Bearer hunter2");
    let vigie = cluster.setup(WEB).start();
    is_read(&vigie);
    vigie
        .setup
        .write("kube.yml", cluster.kubeconfig("{exec: {command: x}}"));
    let reload = vigie.reload();
    assert_eq!(reload.status, 500);
    assert_says(
        &reload.error(),
        &["its user gets its credentials from a command (exec)"],
    );
    is_read(&vigie);
    vigie
        .setup
        .write("kube.yml", cluster.kubeconfig("{token: hunter3}"));
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn the_last_good_list_of_one_cluster_stands_in_for_no_other() {
    let cluster = guarded("Bearer hunter2");
    let other = Cluster::start(|_| status("503 Service Unavailable", "starting"));
    let web =
        "web: {kubernetes: {service: web, kubeconfig: kube.yml}, cache_ttl: 0s, max_stale: 1h}";
    let vigie = cluster.setup(web).start();
    is_read(&vigie);
    let wrong_token = cluster.kubeconfig("{token: hunter3}");
    for (kubeconfig, status) in [(wrong_token, 200), (other.kubeconfig("{token: x}"), 502)] {
        vigie.setup.write("kube.yml", kubeconfig);
        assert_eq!(vigie.reload().status, 200);
        let answer = vigie.list("web");
        let is_stale = answer.header("vigie-stale").is_some();
        assert_eq!((answer.status, is_stale), (status, status == 200));
    }
}

#[test]
fn a_token_file_that_hangs_is_read_once_though_reloads_lead_away_from_it_and_back() {
    let promise = "one read at a time of a token file that hangs";
    let Some(mount) = Hanging::mount(promise, "token", "hunter2") else {
        return;
    };
    let cluster = guarded("Bearer hunter2");
    let user = |token: &str| {
        let file = mount.path("token");
        cluster.kubeconfig(&format!("{{{token}tokenFile: {}}}", file.display()))
    };
    let web = "web: {kubernetes: {service: web, kubeconfig: kube.yml, timeout: 1s}}";
    let vigie = Setup::services(web).file("kube.yml", user("")).start();
    is_read(&vigie);
    mount.hang();
    for round in 0..4 {
        vigie.setup.write_services("other: {file: other.txt}");
        assert_eq!(vigie.reload().status, 200);
        // Another token until the file can be read makes it another cluster.
        let token = format!("token: old-{round}, ");
        vigie
            .setup
            .write("kube.yml", user(if round < 2 { "" } else { &token }));
        vigie.setup.write_services(web);
        assert_eq!(vigie.reload().status, 200);
        assert_eq!(vigie.list("web").status, if round < 2 { 504 } else { 502 });
        assert_eq!(vigie.threads("blocking"), 1, "round {round}");
    }
    mount.go_on();
    wait_until("the token is read", || vigie.list("web").status == 200);
}

#[test]
fn a_last_good_list_outlives_a_kubeconfig_of_the_environment_that_cannot_be_used_for_a_while() {
    let cluster = guarded("Bearer hunter2");
    let other = Cluster::start(|_| status("503 Service Unavailable", "starting"));
    let web = "web: {kubernetes: {service: web}, cache_ttl: 0s, max_stale: 1h}";
    let setup = cluster.setup(web);
    let shell = format!(
        "unset KUBERNETES_SERVICE_HOST\nexport KUBECONFIG={}",
        setup.path("kube.yml").display()
    );
    let vigie = setup.after(&shell).start();
    is_read(&vigie);
    let good = vigie.list("web").text().to_owned();
    for unusable in ["", "x", "{}"] {
        vigie.setup.write("kube.yml", unusable);
        assert_eq!(vigie.reload().status, 200);
        assert_eq!(vigie.list("web").summary(), (200, &*good), "{unusable:?}");
    }
    vigie
        .setup
        .write("kube.yml", cluster.kubeconfig("{token: hunter3}"));
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").summary(), (200, &*good));
    vigie
        .setup
        .write("kube.yml", other.kubeconfig("{token: x}"));
    assert_eq!(vigie.reload().status, 200);
    assert_eq!(vigie.list("web").status, 502);
}

#[test]
fn the_keys_are_checked_each_at_its_place() {
    let short = "write NAMESPACE/SERVICE or NAMESPACE/SERVICE:PORT, or {service: SERVICE}";
    let label = "write 1 to 63 lower case letters, digits and -, which neither begin nor end it";
    for (value, column, want) in [
        ("web", 21, format!("kubernetes: web is wrong here: {short}")),
        ("Shop/web", 21, format!("kubernetes: Shop/web is wrong here: {short}")),
        ("shop/web:", 21, format!("kubernetes: \"shop/web:\" is wrong here: {short}")),
        ("shop/web:0", 21, format!("kubernetes: shop/web:0 is wrong here: {short}")),
        ("shop/a/b", 21, format!("kubernetes: shop/a/b is wrong here: {short}")),
        ("[]", 21, format!("kubernetes: a list is wrong here: {short}")),
        ("{}", 21, "kubernetes has no service: add service: SERVICE".into()),
        ("{service: shop/web}", 31, format!("service: shop/web is wrong here: {label}")),
        ("{service: web, namespace: -a}", 47, format!("namespace: -a is wrong here: {label}")),
        ("{service: web, port: 65536}", 42, "port: 65536 is wrong here: write the name of a port, or its number from 1 to 65535".into()),
        ("{service: web, family: ip4}", 44, "family: ip4 is wrong here: did you mean ipv4? Known are any, ipv4, ipv6".into()),
        ("{service: web, nmespace: a}", 36, "unknown key \"nmespace\": did you mean namespace? Known are service, namespace, port, kubeconfig, context, family, timeout".into()),
    ] {
        let value = if value.ends_with(':') { format!("\"{value}\"") } else { value.into() };
        let (code, says) = check(&format!("web: {{kubernetes: {value}}}"), "");
        assert_eq!((code, says), (Some(1), format!("FILE:2:{column}: {want}\n")), "{value}");
    }
    for good in [
        "shop/web",
        "shop/web:http",
        "shop/web:8080",
        "{service: web}",
        "{service: web, port: http-2}",
    ] {
        assert_eq!(
            check(&format!("web: {{kubernetes: {good}}}"), ""),
            (Some(0), String::new()),
            "{good}"
        );
    }
}

/// Builds the services of a text as a start does.
fn build(text: &str, file: &Path) -> Result<(), String> {
    let config = config::parse(text, file).map_err(|errors| errors.to_string())?;
    let built = Catalog::build(config.services, None);
    built.map(|_| ()).map_err(|errors| format!("{errors:?}"))
}

#[test]
fn a_broken_kubeconfig_fails_in_words_without_a_secret() {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ": ",
        "- ",
        "\n",
        "\n  ",
        "&a ",
        "*a",
        "!!str ",
        "|\n",
        "null",
        "~",
        "\"",
        "'",
        "#",
        "\t",
        "\0",
        "name: ",
        "user: ",
        "exec: {command: x}\n",
        "---\n",
        "[[[[[[[[[[",
        "%YAML 1.2\n",
    ];
    let count: usize =
        std::env::var("VIGIE_MUTATIONS").map_or(100_000, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kube.yml");
    let good = "current-context: here\nclusters:\n- name: c\n  cluster: {server: \"https://127.0.0.1:1/\"}\nusers:\n- name: u\n  user:\n    token: hunter2\n\
                contexts:\n- name: here\n  context: {cluster: c, user: u, namespace: shop}\n";
    let mut random = Rng::with_seed(1123);
    let (mut built, mut failed) = (0, 0);
    for _ in 0..count.div_ceil(20) {
        let mut text = good.as_bytes().to_vec();
        for _ in 0..random.usize(1..=3) {
            let at = random.usize(..=text.len());
            let end = at + random.usize(..=(text.len() - at).min(20));
            let word = random.choice(words).unwrap().as_bytes().to_vec();
            match random.u8(..3) {
                0 => drop(text.splice(at..end, word)),
                1 => drop(text.splice(at..at, word)),
                _ => drop(text.drain(at..end)),
            }
        }
        write_at_rest(&file, &text);
        match build(
            "services: {web: {kubernetes: {service: web, kubeconfig: kube.yml}}}",
            &folder.path().join("c.yml"),
        ) {
            Ok(()) => built += 1,
            Err(error) => {
                failed += 1;
                assert!(
                    !error.contains("hunter2"),
                    "{error}: {}",
                    String::from_utf8_lossy(&text)
                );
            }
        }
    }
    assert!(built > 0 && failed > 0, "{built} built, {failed} failed");
}
