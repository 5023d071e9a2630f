//! The query of a request: which service it asks for.

use std::borrow::Cow;
use std::str;

use memchr::memchr2;

use super::refusal::Refusal;

const SERVICE_NAME: &[u8] = b"service_name";
const NOT_UTF8: Refusal = Refusal::BadQuery("service_name is not UTF-8");

/// The value of the first `service_name`, decoded; `None` when there is none.
///
/// A query may have thousands of parameters, so those that are others cost next to nothing.
pub fn service_name(query: Option<&str>) -> Result<Option<Cow<'_, str>>, Refusal> {
    let parameters = query
        .unwrap_or_default()
        .as_bytes()
        .split(|byte| *byte == b'&');
    for parameter in parameters {
        // No key is shorter when it is encoded.
        if parameter.len() >= SERVICE_NAME.len()
            && let Some(value) = value(parameter)
        {
            return decode(value).map(Some);
        }
    }
    Ok(None)
}

/// The value of a parameter whose key is `service_name`, encoded or not. A key that cannot be decoded is
/// another one.
fn value(parameter: &[u8]) -> Option<&[u8]> {
    let mut rest = parameter;
    for expected in SERVICE_NAME {
        let (byte, tail) = match rest {
            [b'%', encoded @ ..] => hex_pair(encoded)?,
            [byte, tail @ ..] => (*byte, tail),
            [] => return None,
        };
        if byte != *expected {
            return None;
        }
        rest = tail;
    }
    match rest {
        [] => Some(rest),
        [b'=', value @ ..] => Some(value),
        _ => None,
    }
}

/// Undoes percent-encoding and `+` for a blank, as in HTML forms.
fn decode(text: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    if memchr2(b'%', b'+', text).is_none() {
        return str::from_utf8(text)
            .map(Cow::Borrowed)
            .map_err(|_| NOT_UTF8);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let (byte, tail) = hex_pair(tail)
                    .ok_or(Refusal::BadQuery("a % is not followed by two hex digits"))?;
                bytes.push(byte);
                rest = tail;
            }
            other => bytes.push(*other),
        }
    }
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| NOT_UTF8)
}

fn hex_pair(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let [high, low, rest @ ..] = bytes else {
        return None;
    };
    let digit = |byte: &u8| {
        (*byte as char)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    Some((digit(high)? * 16 + digit(low)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(query: &str) -> Result<Option<String>, Refusal> {
        service_name(Some(query)).map(|name| name.map(Cow::into_owned))
    }

    #[test]
    fn the_first_service_name_counts_and_is_decoded() {
        assert_eq!(service_name(None), Ok(None));
        assert_eq!(name("x=%zz&y"), Ok(None));
        assert_eq!(name("service_name"), Ok(Some(String::new())));
        assert_eq!(
            name("x=1&service_name=a&service_name=b"),
            Ok(Some("a".into()))
        );
        assert_eq!(
            name("service%5fname=sp+ace%2f%C3%BC=%2B"),
            Ok(Some("sp ace/ü=+".into()))
        );
        for other in [
            "service_names=a",
            "service_nam=a",
            "=a",
            "service%5=a",
            "service%zzname=a",
            "service+name=a",
            "Service_name=a",
            "service_name%=a",
        ] {
            assert_eq!(name(other), Ok(None), "{other}");
        }
        let encoded = "%73%65%72%76%69%63%65%5F%6E%61%6D%65=a&service_name=b";
        assert_eq!(name(encoded), Ok(Some("a".into())));
        for bad in [
            "service_name=%",
            "service_name=%2",
            "service_name=%+1",
            "service_name=%zz",
            "service_name=%ff",
        ] {
            assert!(matches!(name(bad), Err(Refusal::BadQuery(_))), "{bad}");
        }
    }
}
