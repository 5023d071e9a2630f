//! Where a request goes: a URL without its secrets.

use std::fmt;

use percent_encoding::percent_decode_str;
use ureq_proto::http::{HeaderValue, Uri};
use url::{Host, Origin, Url};

use super::Failure;
use super::failure::Kind;
use super::slip;
use crate::wording::shorten;

/// An `http` or `https` URL without user, password and fragment. Displayed, it is
/// `SCHEME://HOST[:PORT]/PATH`: a query may hold a secret and is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    url: Url,
    uri: Uri,
}

/// A user and a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The user; no colon.
    pub username: String,
    /// The password.
    pub password: String,
}

/// A message shows so many characters.
const LONGEST: usize = 255;
/// A longer one is no URL that anyone means.
const LONGEST_URL: usize = 8 << 10;
pub(super) const NO_HOST: &str = "it has no host: write http://HOST/PATH or https://HOST/PATH";
const RIGHT: &str = "write http://HOST/PATH or https://HOST/PATH";

impl Target {
    /// Reads a URL, and the user and password that stand in it, percent-decoded. A fragment is dropped.
    ///
    /// Errors say what would be right and quote nothing.
    pub fn parse(text: &str) -> Result<(Self, Option<Login>), &'static str> {
        if text.len() > LONGEST_URL {
            return Err("write a URL of at most 8 KiB");
        }
        // A URL crate makes many a text a URL, as browsers do; a slip of the pen is better told.
        let (scheme, rest) = text.split_once("://").ok_or(RIGHT)?;
        let is_scheme = |known: &str| scheme.eq_ignore_ascii_case(known);
        if !is_scheme("http") && !is_scheme("https") {
            return Err(RIGHT);
        }
        slip::in_text(rest)?;
        let mut url = Url::parse(text).map_err(|error| match error {
            url::ParseError::EmptyHost => NO_HOST,
            url::ParseError::IdnaError => {
                "write its host in its ASCII form, as in xn--bcher-kva.example"
            }
            url::ParseError::InvalidPort => "its port is not a number from 1 to 65535",
            url::ParseError::InvalidIpv6Address => {
                "its IPv6 address cannot be read: write http://[ADDRESS]:PORT/PATH, without a zone"
            }
            _ => RIGHT,
        })?;
        slip::in_host(&url, rest)?;
        let login = login(&url)?;
        strip(&mut url);
        Ok((Self::new(url).ok_or(RIGHT)?, login))
    }

    fn new(url: Url) -> Option<Self> {
        let uri = url.as_str().parse().ok()?;
        (url.port_or_known_default() != Some(0)).then_some(Self { url, uri })
    }

    /// Where a `Location` leads from here (RFC 3986, section 5). What stands in it of a user and a password
    /// is dropped.
    pub(super) fn join(&self, location: &str) -> Result<Self, Failure> {
        let unreadable =
            || Failure::new(Kind::Redirect, "redirected to what is no http or https URL");
        let mut url = self.url.join(location).map_err(|_| unreadable())?;
        if !matches!(url.scheme(), "http" | "https") || url.as_str().len() > LONGEST_URL {
            return Err(unreadable());
        }
        strip(&mut url);
        Self::new(url).ok_or_else(unreadable)
    }

    /// Scheme, host and port: who gets the credentials.
    pub(super) fn origin(&self) -> Origin {
        self.url.origin()
    }

    /// Whether both have the same scheme, host and port.
    pub fn is_at_origin_of(&self, other: &Self) -> bool {
        self.origin() == other.origin()
    }

    /// Whether TLS is spoken there.
    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(super) fn host(&self) -> Option<Host<&str>> {
        self.url.host()
    }

    /// What is behind `?`; it may be a secret.
    pub fn query(&self) -> Option<&str> {
        self.url.query()
    }

    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before_query = self.url.as_str().split('?').next().unwrap_or_default();
        f.write_str(&shorten(before_query, LONGEST))
    }
}

/// What a log or a panic would show of it: no query.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

impl Login {
    /// The value of `Authorization` (RFC 7617, section 2).
    pub fn basic(&self) -> Option<HeaderValue> {
        use base64::Engine;
        let pair = format!("{}:{}", self.username, self.password);
        let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
        let mut value = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

fn login(url: &Url) -> Result<Option<Login>, &'static str> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decode = |text: &str| {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded
            .map(String::from)
            .map_err(|_| "its user and password are not UTF-8")
    };
    let login = Login {
        username: decode(url.username())?,
        password: decode(url.password().unwrap_or_default())?,
    };
    match login.username.contains(':') {
        true => Err("a user has no colon (RFC 7617)"),
        false => Ok(Some(login)),
    }
}

fn strip(url: &mut Url) {
    url.set_fragment(None);
    // These fail for URLs without a host only, and http and https ones have one.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> Result<String, &'static str> {
        Target::parse(url).map(|(target, _)| target.to_string())
    }

    #[test]
    fn only_scheme_host_port_and_path_are_shown() {
        for (url, want) in [
            (
                "http://me:pw@h.example:81/list?k=pw#pw",
                "http://h.example:81/list",
            ),
            ("HTTPS://H.example", "https://h.example/"),
            ("https://h.example:443/", "https://h.example/"),
            ("http://[::1]:8080/a%20b", "http://[::1]:8080/a%20b"),
            (
                "http://xn--bcher-kva.example/",
                "http://xn--bcher-kva.example/",
            ),
            ("http://127.0.0.1?pw", "http://127.0.0.1/"),
        ] {
            assert_eq!(shown(url).as_deref(), Ok(want), "{url}");
        }
        let (target, login) = Target::parse("http://me:pw@h/?pw").unwrap();
        assert_eq!(
            format!("{target:?} {login:?}"),
            "Target(http://h/) Some(Login)"
        );
    }

    #[test]
    fn what_is_no_url_is_told_without_a_quote() {
        for url in [
            "",
            "h.example",
            "//h/",
            "http:h",
            "http:/h",
            "gopher://h/",
            "ftp://h",
            "http//h",
            "file:///etc/passwd",
        ] {
            assert_eq!(shown(url), Err(RIGHT), "{url}");
        }
        for host in ["b\u{fc}cher.example", "b%C3%BCcher.example", "\u{ff11}"] {
            let shown = shown(&format!("https://{host}/"));
            assert!(
                shown.is_err_and(|right| right.contains("ASCII form")),
                "{host}"
            );
        }
        for url in [
            "http://",
            "http://:80/",
            "http://u@/",
            "http:///x",
            "http:////h",
        ] {
            assert!(
                shown(url).is_err_and(|right| right.contains("no host")),
                "{url}"
            );
        }
        for url in [
            "http://h:0/",
            "http://h:65536/",
            "http://[fe80::1%25eth0]/",
            "http://h h/",
            "http://a%ff@h/",
            "http://a%3ab@h/",
            "http://h\\x",
            "http://\th/",
            "http://h/\n",
            "http://h/ ",
            "http://1",
            "http://0x7f.1/",
            "http://127.0.0.01/",
            "http://u:p@2130706433:80/",
            "http://256.1.1.1/",
            "http://a..b/",
            "http://./",
            "http://../",
            "http://.h/",
        ] {
            assert!(shown(url).is_err(), "{url}");
        }
        assert!(shown(&format!("http://h/{}", "x".repeat(9000))).is_err());
        assert!(shown(&format!("http://{}.h/", "x".repeat(64))).is_err());
        assert!(shown(&format!("http://{}h/", "x.".repeat(130))).is_err());
        for url in [
            "http://h.",
            "http://u:p@127.0.0.1:80?x",
            "http://[::ffff:1.2.3.4]/",
            "http://h/a b?c d",
        ] {
            assert!(shown(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn user_and_password_are_decoded_and_sent_as_basic() {
        let (_, login) = Target::parse("http://Aladdin:open%20sesame@h/").unwrap();
        // The example of RFC 7617, section 2.
        assert_eq!(
            login.unwrap().basic().unwrap(),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
        let (_, login) = Target::parse("http://t%C3%A9@h/").unwrap();
        assert_eq!(
            login.unwrap(),
            Login {
                username: "t\u{e9}".into(),
                password: String::new()
            }
        );
        assert_eq!(Target::parse("http://h/").unwrap().1, None);
    }
}
