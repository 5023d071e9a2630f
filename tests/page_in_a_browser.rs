//! The page as a person meets it, in a real browser.

use std::fs;

use crate::support::browser::{BLANK, Browser, ENTER, TAB, axe};
use crate::support::{Setup, Vigie};

/// One service in each state, and one whose name is hostile.
fn zoo() -> Vigie {
    let vigie = Setup::services(
        "web: {file: web.txt}\nnobody: {file: empty.txt}\nbroken: {file: bad.txt}\n\
         bridged: {file: gone.txt, cache_ttl: 0s, max_stale: 1h}\n\
         '<script>alert(1)</script>\"&''🦀': {file: web.txt}",
    )
    .file("web.txt", "10.0.0.7:8080 3\n[2001:db8::7]:8080 10\n")
    .file("empty.txt", "# nobody\n")
    .file("bad.txt", "10.0.0.1:<b>\n")
    .file("gone.txt", "10.0.0.9\n")
    .start();
    assert_eq!(vigie.list("bridged").status, 200);
    fs::remove_file(vigie.setup.path("gone.txt")).unwrap();
    vigie
}

fn url(vigie: &Vigie) -> String {
    format!("http://127.0.0.1:{}/", vigie.port())
}

/// Opens the page and waits until every state is known.
fn open(browser: &Browser, vigie: &Vigie) {
    browser.open(&url(vigie));
    browser.wait_for("!('asking' in document.body.dataset)");
}

/// The rows that are shown: state, name, source, count, note.
const ROWS: &str = "return [...document.querySelectorAll('#services > li:not([hidden])')].map((row) => \
    ['.state', 'a', '.source', '.count:not([hidden])', '.note'].map((part) => row.querySelector(part)?.textContent ?? '')\
    .join(' | ').replace(/for \\d+ s:/, 'for N s:')).join('\\n')";

/// Nothing was logged by the page itself, and nothing was asked of anyone but Vigie.
fn assert_quiet(browser: &Browser, vigie: &Vigie) {
    let said = browser.log("browser");
    // The browser itself tells of each answer that is an error.
    let own: Vec<_> = said
        .iter()
        .filter(|entry| !entry.contains("\"network\""))
        .collect();
    assert!(own.is_empty(), "{own:#?}");
    let mut requests = 0;
    for entry in browser.log("performance") {
        if !entry.contains("Network.requestWillBeSent\\\"") {
            continue;
        }
        requests += 1;
        let (_, rest) = entry.split_once("\\\"request\\\":").unwrap();
        let (_, rest) = rest.split_once("\\\"url\\\":\\\"").unwrap();
        assert!(
            rest.starts_with(&url(vigie)) || rest.starts_with("data:image/svg+xml,"),
            "{rest}"
        );
    }
    assert!(requests > 1, "{requests}");
}

#[test]
fn each_row_tells_its_state_in_words() {
    let Some(browser) = Browser::start("the states on the page") else {
        return;
    };
    let vigie = zoo();
    open(&browser, &vigie);
    let folder = vigie.setup.path("").display().to_string();
    let rows = browser.run(ROWS).replace(&folder, "");
    assert_eq!(
        rows.lines().collect::<Vec<_>>(),
        [
            "Serving | <script>alert(1)</script>\"&'🦀 | file web.txt | 2 endpoints | ",
            "Stale | bridged | file gone.txt | 1 endpoint | Stale for N s: file gone.txt: opening: \
             No such file or directory; create it, or correct its path",
            "Failing | broken | file bad.txt |  | file bad.txt: line 1: the port is not a number \
             from 1 to 65535: \"10.0.0.1:<b>\"",
            "Empty | nobody | file empty.txt |  | ",
            "Serving | web | file web.txt | 2 endpoints | ",
        ]
    );
    assert_eq!(
        browser.run("return document.querySelector('[role=status]').textContent"),
        "5 services: 1 failing, 1 stale, 1 empty, 2 serving"
    );
    assert_eq!(browser.run("return document.title"), "Vigie: 1 failing");
    let ages = "return [...document.querySelectorAll('.age')].map((age) => age.textContent.replace(/^\\d+ s/, 'N s')).join()";
    assert_eq!(browser.run(ages), "N s old,N s old,,N s old,N s old");
    assert_quiet(&browser, &vigie);
}

#[test]
fn the_page_can_be_used_by_keyboard_alone() {
    let Some(browser) = Browser::start("the keyboard on the page") else {
        return;
    };
    let vigie = zoo();
    open(&browser, &vigie);
    let focus =
        || browser.run("return document.activeElement.textContent || document.activeElement.id");
    let names = || {
        browser.run("return [...document.querySelectorAll('#services > li:not([hidden]) > a')].map((a) => a.textContent).join()")
    };
    browser.press(TAB);
    assert_eq!(focus(), "filter");
    browser.press("BR");
    assert_eq!(names(), "bridged,broken");
    browser.press(&TAB.repeat(2));
    assert_eq!(focus(), "Failing1");
    browser.press(ENTER);
    assert_eq!(names(), "broken");
    browser.press(TAB);
    browser.press(BLANK);
    assert_eq!((focus(), names()), ("Stale1".into(), "bridged".into()));
    let pressed = "return [...document.querySelectorAll('[aria-pressed=true]')].map((chip) => chip.textContent).join()";
    assert_eq!(browser.run(pressed), "Stale1");
    browser.press(&TAB.repeat(3));
    assert_eq!(focus(), "auto");
    browser.press(&TAB.repeat(2));
    assert_eq!(focus(), "bridged");
    browser.press(TAB);
    assert_eq!(focus(), "1 endpoint");
    let expanded = "return document.activeElement.getAttribute('aria-expanded')";
    assert_eq!(browser.run(expanded), "false");
    browser.press(ENTER);
    assert_eq!(browser.run(expanded), "true");
    let table = "return [...document.querySelectorAll('table tr, caption')].map((line) => \
        [...line.cells ?? [line]].map((cell) => cell.textContent).join(' ')).join('\\n')";
    assert_eq!(
        browser.run(table),
        "Endpoints of bridged\nAddress Port Weight\n10.0.0.9 80 0"
    );
    browser.press(BLANK);
    assert_eq!(browser.run(table), "");
    assert_eq!(
        browser.run("return document.getElementById('nothing').hidden + ''"),
        "true"
    );
    browser.run("document.getElementById('filter').focus(); return ''");
    browser.press("zzz");
    assert_eq!(
        (
            names(),
            browser.run("return document.getElementById('nothing').hidden + ''")
        ),
        (String::new(), "false".into())
    );
}

#[test]
fn of_a_long_list_the_page_shows_the_begin_and_says_so() {
    let Some(browser) = Browser::start("a long list on the page") else {
        return;
    };
    let list: String = (0..5_000)
        .map(|n| format!("10.0.{}.{}\n", n / 250, n % 250))
        .collect();
    let vigie = Setup::services("one: {file: one.txt}")
        .file("one.txt", list)
        .start();
    open(&browser, &vigie);
    browser.run("document.querySelector('.count').click(); return ''");
    assert_eq!(
        browser.run("const table = document.querySelector('table');\
            return [table.caption.textContent, table.tBodies[0].rows.length, table.tBodies[0].rows[199].textContent,\
            document.querySelector('.count').textContent].join('; ')"),
        "The first 200 of 5,000 endpoints; the JSON has them all; 200; 10.0.0.199800; 5,000 endpoints"
    );
}

#[test]
fn a_refresh_shows_what_has_changed() {
    let Some(browser) = Browser::start("a refresh of the page") else {
        return;
    };
    let mut vigie =
        Setup::services("one: {file: one.txt, cache_ttl: 0s}\ntwo: {file: one.txt, cache_ttl: 0s}")
            .file("one.txt", "10.0.0.1\n")
            .start();
    open(&browser, &vigie);
    assert_eq!(
        browser.run(ROWS),
        "Serving | one | file one.txt | 1 endpoint | \nServing | two | file one.txt | 1 endpoint | "
            .replace("file one", &format!("file {}one", vigie.setup.path("").display()))
    );
    let one = "document.querySelector('#services > li').textContent";
    browser.run("document.querySelector('.count').click(); return ''");
    vigie.setup.write("one.txt", "10.0.0.1\n10.0.0.2\n");
    browser.run("document.getElementById('refresh').click(); return ''");
    browser.wait_for(&format!(
        "{one}.includes('2 endpoints') && {one}.includes('10.0.0.2')"
    ));
    browser.run("document.getElementById('auto').click(); return ''");
    vigie.setup.write("one.txt", "# nobody\n");
    browser.wait_for(&format!("{one}.includes('Empty')"));
    vigie
        .setup
        .write_services("one: {file: one.txt, cache_ttl: 0s}");
    assert_eq!(vigie.reload().status, 200);
    browser.wait_for("document.body.textContent.includes('there is no service two')");
    assert_quiet(&browser, &vigie);
    assert_eq!(vigie.stop(), Some(0));
    browser.wait_for(&format!("{one}.includes('Vigie cannot be reached')"));
}

#[test]
fn the_automatic_refresh_rests_while_nobody_sees_the_page() {
    let Some(browser) = Browser::start("the automatic refresh of the page") else {
        return;
    };
    let vigie = zoo();
    let watch = "window.delays = []; const real = window.setTimeout;\
        window.setTimeout = (then, delay) => { delays.push(delay); return real(then, delay); };\
        window.unseen = true; Object.defineProperty(document, 'hidden', { get: () => unseen });";
    browser.command(
        "Page.addScriptToEvaluateOnNewDocument",
        &format!("{{\"source\":\"{watch}\"}}"),
    );
    open(&browser, &vigie);
    let due = || browser.run("return delays.filter((delay) => delay === 5000).length + ''");
    let see = |unseen: bool| {
        browser.run(&format!(
            "unseen = {unseen}; document.dispatchEvent(new Event('visibilitychange')); return ''"
        ))
    };
    browser.run("document.getElementById('auto').click(); return ''");
    assert_eq!(due(), "0");
    see(false);
    assert_eq!(due(), "1");
    see(true);
    assert_eq!(due(), "1");
}

#[test]
fn a_thousand_services_are_asked_for_six_at_a_time() {
    let Some(browser) = Browser::start("a page of a thousand services") else {
        return;
    };
    let services: String = (0..1_000)
        .map(|n| {
            format!(
                "service-{n}: {{file: {}}}\n",
                if n % 100 == 7 {
                    "missing.txt"
                } else {
                    "one.txt"
                }
            )
        })
        .collect();
    let vigie = Setup::services(&services)
        .file("one.txt", "10.0.0.1\n")
        .start();
    browser.command(
        "Page.addScriptToEvaluateOnNewDocument",
        "{\"source\":\"performance.setResourceTimingBufferSize(9999)\"}",
    );
    open(&browser, &vigie);
    assert_eq!(
        browser.run("return document.querySelector('[role=status]').textContent"),
        "1,000 services: 10 failing, 990 serving"
    );
    let most = "const ends = performance.getEntriesByType('resource').flatMap((one) => \
        [[one.startTime, 1], [one.responseEnd, -1]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);\
        let [now, most] = [0, 0];\
        for (const [, step] of ends) { now += step; most = Math.max(most, now); }\
        return `${ends.length / 2} ${most}`";
    assert_eq!(browser.run(most), "1000 6");
    browser.run("document.getElementById('filter').focus(); return ''");
    browser.press("service-99");
    assert_eq!(
        browser.run("return document.querySelectorAll('#services > li:not([hidden])').length + ''"),
        "11"
    );
    assert_quiet(&browser, &vigie);
}

#[test]
fn nobody_is_kept_from_using_the_page_by_light_by_dark_and_on_a_phone() {
    let promise = "what keeps people from using the page";
    let Some(axe) = axe(promise) else { return };
    let Some(browser) = Browser::start(promise) else {
        return;
    };
    let vigie = zoo();
    let mut grounds = Vec::new();
    for (scheme, width) in [
        ("light", 1200),
        ("dark", 1200),
        ("dark", 360),
        ("light", 360),
    ] {
        browser.command(
            "Emulation.setEmulatedMedia",
            &format!(
                "{{\"features\":[{{\"name\":\"prefers-color-scheme\",\"value\":\"{scheme}\"}}]}}"
            ),
        );
        browser.command(
            "Emulation.setDeviceMetricsOverride",
            &format!(
                "{{\"width\":{width},\"height\":800,\"deviceScaleFactor\":1,\"mobile\":{}}}",
                width < 500
            ),
        );
        open(&browser, &vigie);
        browser.run(
            "for (const count of document.querySelectorAll('.count')) count.click(); return ''",
        );
        let sideways = "return document.documentElement.scrollWidth - document.documentElement.clientWidth + ''";
        assert_eq!(browser.run(sideways), "0", "{width} px wide");
        grounds.push(browser.run("return getComputedStyle(document.body).backgroundColor"));
        let found = browser.run_async(&format!(
            "{axe};const done = arguments[arguments.length - 1];\
             axe.run(document).then((found) => done(JSON.stringify(found.violations.map((one) => \
             [one.id, one.nodes.map((node) => node.html + node.failureSummary)])) + found.passes.length))"
        ));
        let passes: usize = found
            .strip_prefix("[]")
            .unwrap_or_else(|| panic!("{scheme} {width}: {found}"))
            .parse()
            .unwrap();
        assert!(passes > 20, "only {passes} rules were looked at");
    }
    assert!(
        grounds[0] == grounds[3] && grounds[1] == grounds[2] && grounds[0] != grounds[1],
        "{grounds:?}"
    );
}

#[test]
fn without_script_the_list_is_there_and_nothing_that_would_do_nothing() {
    let Some(browser) = Browser::start("the page without script") else {
        return;
    };
    let vigie = zoo();
    browser.command("Emulation.setScriptExecutionDisabled", "{\"value\":true}");
    browser.open(&url(&vigie));
    let shown = "return [...document.querySelectorAll('a, button, input')].filter((one) => one.checkVisibility())\
        .map((one) => one.textContent).join()";
    assert_eq!(
        browser.run(shown),
        "<script>alert(1)</script>\"&'🦀,bridged,broken,nobody,web"
    );
    browser.open(&format!("{}services?service_name=web", url(&vigie)));
    assert!(
        browser
            .run("return document.body.textContent")
            .contains("10.0.0.7")
    );
}
