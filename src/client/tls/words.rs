//! What goes wrong with TLS, in words that say what to do.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use futures_rustls::pki_types::UnixTime;
use futures_rustls::rustls::{AlertDescription, CertificateError, Error};

use crate::wording::shorten;

/// A message shows so many characters of what a certificate says.
const LONGEST_NAMES: usize = 200;

/// What went wrong, and what to do; `None` of an error that is not about TLS.
pub(in crate::client) fn words(error: &io::Error) -> Option<String> {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Some(
            "the connection ended without the end of TLS, so what came may be cut short".into(),
        );
    }
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(reason) => certificate(reason),
        Error::AlertReceived(alert) => said(*alert),
        Error::InvalidMessage(_) => "what the server says is no TLS; is it an http server?".into(),
        Error::NoCertificatesPresented => "the server shows no certificate".into(),
        Error::PeerIncompatible(_) => {
            "the server and Vigie have no version or cipher in common; Vigie speaks TLS 1.2 and 1.3"
                .into()
        }
        Error::PeerMisbehaved(_) => "the server breaks the protocol".into(),
        other => shorten(&other.to_string(), LONGEST_NAMES),
    })
}

fn certificate(reason: &CertificateError) -> String {
    let date = |time: &UnixTime| {
        // The last second that RFC 3339 can write.
        let time = Duration::from_secs(time.as_secs().min(253_402_300_799));
        humantime::format_rfc3339_seconds(UNIX_EPOCH + time).to_string()
    };
    match reason {
        CertificateError::UnknownIssuer => {
            "the server's certificate is signed by an unknown authority; name its authority with ca_file".into()
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("the server's certificate expired at {}; renew it", date(not_after))
        }
        CertificateError::Expired => "the server's certificate has expired; renew it".into(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            let clock = "see whether the clock of this machine is right";
            format!("the server's certificate is not valid before {}; {clock}", date(not_before))
        }
        CertificateError::NotValidYet => {
            "the server's certificate is not valid yet; see whether the clock of this machine is right".into()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<_> = presented.iter().map(|name| plain(name)).collect();
            let names = match names.is_empty() {
                true => "no name".to_owned(),
                false => shorten(&names.join(", "), LONGEST_NAMES),
            };
            let expected = shorten(&expected.to_str(), LONGEST_NAMES);
            if presented.contains(&format!("DnsName(\"{expected}\")")) {
                return format!("the server's certificate is for the name {expected}, not the address; issue one for IP:{expected}");
            }
            format!("the server's certificate is not for {expected} but for {names}; correct the url, or set server_name")
        }
        CertificateError::NotValidForName => "the server's certificate is for another name".into(),
        CertificateError::BadSignature => {
            "the server's certificate is signed by an authority that has the name of a known one and another key; name the right authority with ca_file".into()
        }
        CertificateError::Revoked => "the server's certificate is revoked".into(),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the server's certificate is not made for servers".into()
        }
        other => format!("the server's certificate {}", rare(&format!("{other:?}"))),
    }
}

/// What is wrong with a certificate for which the library has no words, by the names of its errors.
fn rare(error: &str) -> &'static str {
    const WORDS: [(&str, &str); 9] = [
        (
            "CaUsedAsEndEntity",
            "is that of an authority: a certificate of an authority is used as the server's own; issue one for the server, signed by it",
        ),
        (
            "EndEntityUsedAsCa",
            "is signed by a certificate that is not one of an authority; issue another",
        ),
        ("BadEncoding", "cannot be read; issue another"),
        (
            "SignatureAlgorithm",
            "is signed in a way that is not safe or not known; issue one with SHA-256 and RSA, ECDSA or Ed25519",
        ),
        (
            "PathLen",
            "comes through more authorities than one of them allows; issue another",
        ),
        (
            "NameConstraint",
            "is for a name that its authority may not sign; issue another",
        ),
        (
            "Maximum",
            "comes with too long or too tangled a chain of authorities; shorten the chain",
        ),
        (
            "UnsupportedCertVersion",
            "is not of version 3; issue one that names the host in subjectAltName",
        ),
        (
            "CriticalExtension",
            "has a critical extension that Vigie does not know; issue one without it",
        ),
    ];
    let found = WORDS.iter().find(|(name, _)| error.contains(name));
    found.map_or(
        "breaks the rules of RFC 5280; issue another",
        |(_, words)| words,
    )
}

/// A name as the library writes it: `DnsName("a.example")`, `IpAddress(127.0.0.1)`.
fn plain(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

/// What the server said before it hung up.
fn said(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server asks for a client certificate; set cert_file and key_file".into()
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::AccessDenied => {
            format!(
                "the server does not accept the client certificate ({alert:?}); correct cert_file and key_file"
            )
        }
        AlertDescription::UnrecognisedName => {
            "the server does not know this name; correct the url, or set server_name".into()
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            format!(
                "the server refuses ({alert:?}); Vigie speaks TLS 1.2 and 1.3, and the server may ask for a client certificate"
            )
        }
        other => format!("the server refuses ({other:?})"),
    }
}
