//! The page as bytes: what it holds, and what it lets a browser do.

use crate::support::{Answer, Setup};

/// What stands between two marks, each of which is there once.
fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    assert!(!rest.contains(begin), "{begin} is there twice");
    rest.split_once(end).unwrap().0
}

fn page(services: &str) -> Answer {
    let answer = Setup::services(services).start().get("/");
    assert_eq!(answer.status, 200);
    answer
}

#[test]
fn the_page_lets_a_browser_do_only_what_it_is_for() {
    let page = page("one: {file: one.txt}");
    let policy = page.header("content-security-policy").unwrap();
    let parts: Vec<_> = policy
        .split("; ")
        .map(|part| match part.split_once(" 'sha256-") {
            Some((name, hash)) => {
                assert!(hash.len() == 45 && hash.ends_with('\''), "{hash}");
                format!("{name} HASH")
            }
            None => part.to_owned(),
        })
        .collect();
    assert_eq!(
        parts,
        [
            "default-src 'none'",
            "script-src HASH",
            "style-src HASH",
            "img-src data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'"
        ]
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-cache"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
}

#[test]
fn without_its_rows_the_page_has_less_than_20_kib() {
    let page = page("");
    assert!(page.body.len() < 20 << 10, "{}", page.body.len());
    assert!(
        page.text().contains("No service is configured."),
        "{}",
        page.text()
    );
}

#[test]
fn without_script_the_page_lists_the_services_with_links_to_their_json() {
    let setup = Setup::services(
        "web: {file: /lists/web.txt}\n'sp ace/ü&x=\"1\" <script>alert(1)</script> ''🦀''': {file: '/lists/<b>&.txt'}",
    );
    let vigie = setup.start();
    let page = vigie.get("/");
    let rows = between(page.text(), "<ul id=\"services\" role=\"list\">\n", "</ul>");
    let link = "services?service_name=sp%20ace%2F%C3%BC%26x%3D%221%22%20%3Cscript%3Ealert%281%29%3C%2Fscript%3E%20%27%F0%9F%A6%80%27";
    assert_eq!(
        rows,
        format!(
            "<li><a href=\"{link}\"><bdi>sp ace/ü&amp;x=&quot;1&quot; &lt;script&gt;alert(1)&lt;/script&gt; &#39;🦀&#39;</bdi></a>\
             <span class=\"source\"><b>file</b> <bdi>/lists/&lt;b&gt;&amp;.txt</bdi></span></li>\n\
             <li><a href=\"services?service_name=web\"><bdi>web</bdi></a>\
             <span class=\"source\"><b>file</b> <bdi>/lists/web.txt</bdi></span></li>\n"
        )
    );
    assert_eq!(
        vigie.get(&format!("/{link}")).status,
        502,
        "the link names the service"
    );
}

#[test]
fn the_page_has_no_inline_handler_no_inline_style_and_no_outside_address() {
    let page = page("one: {file: one.txt}");
    let icon = between(page.text(), "<link rel=\"icon\" href=\"", "\"");
    let text = page.text().replace(icon, "");
    let script = between(&text, "<script>", "</script>");
    for markup in [
        " style=",
        " onclick=",
        " onload=",
        " src=",
        "http:",
        "https:",
        "//cdn",
    ] {
        assert!(!text.contains(markup), "{markup}");
    }
    for call in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!script.contains(call), "{call}");
    }
}

#[test]
fn a_reload_changes_the_page() {
    let vigie = Setup::services("one: {file: one.txt}").start();
    assert!(vigie.get("/").text().contains("<bdi>one</bdi>"));
    vigie.setup.write_services("two: {file: one.txt}");
    assert_eq!(vigie.reload().status, 200);
    let page = vigie.get("/");
    assert!(page.text().contains("<bdi>two</bdi>") && !page.text().contains("<bdi>one</bdi>"));
    assert_eq!(vigie.ask("HEAD", "/", &[]).status, 200);
}
