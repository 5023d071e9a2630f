//! A list as it is served.

use siphasher::sip::SipHasher13;

use crate::endpoint::Endpoint;
use crate::format::json;

/// A list as clients get it, made once a read.
#[derive(Debug, PartialEq, Eq)]
pub struct Listing {
    /// How many endpoints it has.
    pub endpoints: usize,
    /// The JSON body.
    pub body: Box<[u8]>,
    /// The strong entity tag of the body, with its quotes (RFC 9110, section 8.8.3).
    pub etag: Box<str>,
    /// What HTTP says of it, written once: see [`Listing::fields`].
    fields: Box<str>,
    /// Where the fields begin that go with a 304 too.
    at_304: usize,
}

impl Listing {
    /// Renders a list and its entity tag.
    pub fn new(endpoints: &[Endpoint]) -> Self {
        let body = json::render(endpoints).into_boxed_slice();
        // A published function with fixed keys: each Vigie gives the same list the same tag.
        let length = body.len();
        let etag = format!("\"{length:x}-{:016x}\"", SipHasher13::new().hash(&body));
        let media_type = json::MEDIA_TYPE;
        let mut fields = format!("Content-Type: {media_type}\r\nContent-Length: {length}\r\n");
        let at_304 = fields.len();
        fields += &format!("Cache-Control: no-cache\r\nETag: {etag}\r\n");
        Self {
            endpoints: endpoints.len(),
            body,
            etag: etag.into(),
            fields: fields.into(),
            at_304,
        }
    }

    /// The fields of a 200 that stay the same, each with its line end.
    pub fn fields(&self) -> &str {
        &self.fields
    }

    /// Those of them that go with a 304 (RFC 9110, section 15.4.5).
    pub fn fields_of_304(&self) -> &str {
        &self.fields[self.at_304..]
    }
}
