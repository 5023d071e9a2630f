//! What must have happened in a soak of a minute: one in which something never happened proves nothing about it.

use std::collections::HashMap;

use crate::tally::Tally;

/// A shorter soak need not have seen everything.
pub(crate) const LENGTH: u64 = 60;

const ALWAYS: [(&str, &[&str]); 11] = [
    ("behind", &["200", "502"]),
    (
        "answers",
        &[
            "Fresh", "Empty", "304", "Stale", "Failed", "TimedOut", "Absent",
        ],
    ),
    (
        "requests",
        &[
            "Kept",
            "Alone",
            "Socket",
            "OldHttp",
            "Head",
            "Conditional",
            "WithBody",
            "Pipelined",
            "pair",
        ],
    ),
    (
        "reloads",
        &[
            "by request",
            "by SIGHUP",
            "of the same file",
            "between two reads",
            "handing over",
            "handing over what comes",
            "refused",
            "of a broken file",
            "with another ca.pem",
            "with another kube.yml",
        ],
    ),
    (
        "bad clients",
        &[
            "SlowHead",
            "HalfHead",
            "DeafReader",
            "EndlessLine",
            "LargeHead",
            "LargeBody",
            "Garbage",
            "Reset",
            "Tls",
            "Http2",
            "Smuggling",
            "ConnectAndLeave",
            "GarbageBehind",
            "OtherSite",
            "Unknown",
            "LeavesEarly",
        ],
    ),
    (
        "redirects",
        &[
            "301 Moved Permanently",
            "302 Found",
            "303 See Other",
            "307 Temporary Redirect",
            "308 Permanent Redirect",
        ],
    ),
    (
        "peers: url",
        &[
            "plain",
            "json",
            "json with more",
            "no byte",
            "as large as may be",
            "by length",
            "chunked",
            "until the end",
            "HTTP/1.0",
            "HTTP/1.0, kept",
            "gzip",
            "gzip of several members",
            "after a 103",
            "no entity tag",
            "long head",
            "in pieces",
            "left over",
            "ends upon the next request",
            "resets upon the next request",
            "408 upon the next request",
            "ends at rest",
            "new token",
            "no token",
            "new password",
            "no password",
            "redirect by path",
            "redirect by name",
            "redirect by steps",
            "redirect by host",
            "redirect with a login",
            "redirect by URL",
            "redirect elsewhere",
            "not modified",
            "Slow",
            "Silent",
            "Drip",
            "Reset",
            "Refuse",
            "CutHead",
            "CutBody",
            "CutChunk",
            "CutGzip",
            "DamagedGzip",
            "CutTls",
            "Status",
            "NotModified",
            "RedirectLoop",
            "TooManyRedirects",
            "WrongRedirect",
            "Ambiguous",
            "Coded",
            "LargeHead",
            "BadLine",
            "TooLarge",
            "WrongJson",
            "NotUtf8",
        ],
    ),
    (
        "peers: dns",
        &[
            "good Plain",
            "good Alias",
            "good OpenAlias",
            "good Others",
            "good Capitals",
            "good BehindOthers",
            "good Truncated",
            "good Overlong",
            "good NoEdns",
            "good NoName",
            "good Bare",
            "good Half",
            "good Trimmed",
            "first Good",
            "first Errors",
            "first Malformed",
            "first Silent",
            "first Closes",
            "first Late",
            "targets left out",
            "as large as can be",
            "in pieces",
            "Servfail",
            "Refused",
            "Silent",
            "Lost",
            "Malformed",
            "TruncatedForGood",
            "OneRefused",
            "OneSilent",
            "OneMalformed",
            "Trimmed",
            "TargetFails",
            "TargetSilent",
            "AllGone",
            "BadLine",
        ],
    ),
    (
        "peers: malformed dns",
        &[
            "FewerRecords",
            "MoreRecords",
            "ShortData",
            "LongData",
            "PointerLoop",
            "NoNameWithRecords",
            "TwoAliases",
            "AliasLoop",
            "OpenLoop",
            "LongChain",
            "OnlyOthers",
            "OtherKinds",
            "OtherClass",
            "Referral",
            "ExtendedCode",
            "OtherCode",
        ],
    ),
    (
        "peers: kubernetes",
        &[
            "good page",
            "good pages",
            "forgotten once",
            "new token",
            "new token between two pages",
            "Slow",
            "Silent",
            "Reset",
            "Forbidden",
            "Broken",
            "CutPage",
            "AlwaysGone",
            "SecondFails",
            "NoList",
            "Echo",
            "WrongPorts",
            "WrongSlice",
        ],
    ),
    (
        "peers: file",
        &[
            "renamed",
            "renamed when new",
            "linked",
            "written in place",
            "renamed again and again",
            "as large as may be",
            "Missing",
            "ZeroBytes",
            "Folder",
            "Fifo",
            "TooLarge",
            "JustTooLarge",
            "BadLine",
            "NotUtf8",
        ],
    ),
];

/// What has never happened.
pub(crate) fn missing(tally: &Tally) -> Vec<String> {
    let all = ALWAYS
        .iter()
        .flat_map(|(group, kinds)| kinds.iter().map(move |kind| (*group, *kind)));
    all.filter(|(group, kind)| tally.of(group, kind) == 0)
        .map(|(group, kind)| format!("{group}: {kind}"))
        .collect()
}

/// What the log must have said.
const LOGGED: [&str; 5] = [
    ": leaves out ",
    ": no longer leaves out ",
    ": its source answers again, after ",
    ": its source lists no endpoints now",
    " endpoints again",
];

/// Which service has said twice in a row that it fails, or that it is well again, or the same of its list; if any.
pub(crate) fn repeated(log: &str) -> Option<String> {
    let mut last: HashMap<(&str, bool), bool> = HashMap::new();
    for line in log.lines() {
        let Some((_, said)) = line.split_once("INFO  service ") else {
            continue;
        };
        let Some((service, words)) = said.split_once(": ") else {
            continue;
        };
        let (is_of_source, is_well) = match () {
            () if words.starts_with("its source answers again") => (true, true),
            () if words.starts_with("its source lists no endpoints now") => (false, false),
            () if words.starts_with("lists ") => (false, true),
            () if words.contains("leaves out ") => continue,
            () if KINDS.iter().any(|kind| words.starts_with(kind)) => (true, false),
            () => continue,
        };
        if last.insert((service, is_of_source), is_well) == Some(is_well) {
            return Some(line.to_owned());
        }
    }
    None
}

const KINDS: [&str; 4] = ["dns ", "file ", "kubernetes ", "url "];

/// What the log has never said.
pub(crate) fn unlogged(log: &str) -> Vec<&'static str> {
    LOGGED
        .iter()
        .copied()
        .filter(|words| !log.contains(words))
        .collect()
}
