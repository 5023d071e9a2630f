//! A question, and its bytes.

use std::fmt;

use hickory_proto::ProtoError;
use hickory_proto::op::{Header, HeaderCounts, MessageType, Metadata, OpCode, Query};
use hickory_proto::rr::{Name, RecordType};
use hickory_proto::serialize::binary::{BinEncodable, BinEncoder};

use super::name::to_text;

/// The largest UDP answer that is asked for: it crosses every network unfragmented (RFC 6891, section
/// 6.2.5; RFC 9715).
pub(super) const UDP_PAYLOAD: u16 = 1232;

/// The records that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// IPv4 addresses.
    A,
    /// IPv6 addresses.
    Aaaa,
    /// Services: priority, weight, port and target (RFC 2782).
    Srv,
    /// Text.
    Txt,
}

impl From<Kind> for RecordType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::A => Self::A,
            Kind::Aaaa => Self::AAAA,
            Kind::Srv => Self::SRV,
            Kind::Txt => Self::TXT,
        }
    }
}

/// What is asked: records of one kind, in the class IN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Absolute.
    pub name: Name,
    /// Of which kind.
    pub kind: Kind,
}

/// `AAAA of web.example.net`.
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = RecordType::from(self.kind);
        write!(f, "{kind} of {}", to_text(&self.name))
    }
}

impl Question {
    /// The message that asks it, recursion desired; with EDNS (RFC 6891) a larger answer may come.
    ///
    /// Errors: only for a name that DNS cannot hold.
    pub fn encode(&self, id: u16, edns: bool) -> Result<Vec<u8>, ProtoError> {
        let mut bytes = Vec::with_capacity(512);
        let mut encoder = BinEncoder::new(&mut bytes);
        let mut metadata = Metadata::new(id, MessageType::Query, OpCode::Query);
        metadata.recursion_desired = true;
        let counts = HeaderCounts {
            queries: 1,
            additionals: u16::from(edns),
            ..HeaderCounts::default()
        };
        Header { metadata, counts }.emit(&mut encoder)?;
        Query::query(self.name.clone(), self.kind.into()).emit(&mut encoder)?;
        if edns {
            // The OPT record: no name, the payload as its class, version 0, no options.
            Name::root().emit(&mut encoder)?;
            RecordType::OPT.emit(&mut encoder)?;
            encoder.emit_u16(UDP_PAYLOAD)?;
            encoder.emit_u32(0)?;
            encoder.emit_u16(0)?;
        }
        Ok(bytes)
    }
}
