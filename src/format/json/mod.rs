//! The JSON list that clients in the field read: a contract, byte for byte.

mod read;
mod value;

pub use read::{BadList, Broken, parse};

use crate::endpoint::Endpoint;
pub use crate::json::DEEPEST;

/// The media type of a list.
pub const MEDIA_TYPE: &str = "application/json";

/// About what one endpoint takes, so that the body rarely grows while it is written.
const BYTES_AN_ENDPOINT: usize = 96;

/// Renders a list as its HTTP body: three fields in a fixed order, indented by two spaces, a line
/// feed at the end; an empty list is `[]`.
pub fn render(endpoints: &[Endpoint]) -> Vec<u8> {
    if endpoints.is_empty() {
        return b"[]\n".to_vec();
    }
    let mut body = Vec::with_capacity(endpoints.len() * BYTES_AN_ENDPOINT);
    body.extend_from_slice(b"[");
    for (index, endpoint) in endpoints.iter().enumerate() {
        body.extend_from_slice(if index == 0 { b"\n  {\n" } else { b",\n  {\n" });
        write_fields(&mut body, endpoint);
    }
    body.extend_from_slice(b"\n]\n");
    body.shrink_to_fit();
    body
}

/// An address needs no escaping: see [`crate::endpoint::Address`].
fn write_fields(body: &mut Vec<u8>, endpoint: &Endpoint) {
    let (mut port, mut weight) = (itoa::Buffer::new(), itoa::Buffer::new());
    for part in [
        "    \"ip\": \"",
        endpoint.address.as_str(),
        "\",\n    \"port\": ",
        port.format(endpoint.port.get()),
        ",\n    \"load_balancing_weight\": ",
        weight.format(endpoint.weight),
        "\n  }",
    ] {
        body.extend_from_slice(part.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::render;
    use crate::lines;

    #[test]
    fn a_list_is_rendered_byte_for_byte() {
        let port = NonZeroU16::new(8080).expect("not 0");
        let endpoints = lines::parse("10.0.0.7 3\n[2001:db8::7]:65535 4294967295", port)
            .expect("two endpoints");
        let want = "[\n  {\n    \"ip\": \"10.0.0.7\",\n    \"port\": 8080,\n    \"load_balancing_weight\": 3\n  },\n  {\n    \
                    \"ip\": \"2001:db8::7\",\n    \"port\": 65535,\n    \"load_balancing_weight\": 4294967295\n  }\n]\n";
        assert_eq!(String::from_utf8_lossy(&render(&endpoints)), want);
        assert_eq!(render(&[]), b"[]\n");
    }
}
