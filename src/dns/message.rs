//! The bytes of an answer, walked once from the first to the last.

use std::collections::HashMap;
use std::net::IpAddr;

use hickory_proto::op::{Header, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RecordType};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder, DecodeError};

use super::failure::Problem;
use super::question::{Kind, Question};

/// What a record of the kind that was asked for holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// An A or AAAA record.
    Address(IpAddr),
    /// A SRV record (RFC 2782); the priority is of no use here.
    Service {
        /// The port; 0 counts as none.
        port: u16,
        /// The weight.
        weight: u16,
        /// The host, or the root for a service that is not there.
        target: Name,
    },
    /// A TXT record, its strings joined.
    Text(Box<[u8]>),
}

/// Addresses that came along, by the name that they belong to.
pub type Addresses = HashMap<Name, Vec<IpAddr>>;

/// An answer whose bytes have been read; nothing has been concluded yet.
pub(super) struct Message {
    /// False for NXDOMAIN.
    pub(super) exists: bool,
    /// Records of the kind that was asked for.
    pub(super) records: Vec<(Name, Data)>,
    /// CNAME records: the name, what it stands for.
    pub(super) aliases: Vec<(Name, Name)>,
    /// Whose names below them DNAME records rename (RFC 6672).
    pub(super) renamed: Vec<Name>,
    /// Whether anything else stands with the answer; a signature says nothing.
    pub(super) has_others: bool,
    /// The zone whose SOA record says that there is no such record (RFC 2308, section 2).
    pub(super) soa: Option<Name>,
    /// Whether it only refers to servers that may know more.
    pub(super) is_referral: bool,
    /// Of questions for SRV records.
    pub(super) additional: Addresses,
}

/// What a message that belongs to a question is.
pub(super) enum Reply {
    /// One that says that it is not whole.
    Truncated,
    Whole(Box<Message>),
}

/// Reads a message; `None` when it does not belong to the question.
pub(super) fn read(bytes: &[u8], question: &Question, id: u16) -> Option<Result<Reply, Problem>> {
    let mut decoder = BinDecoder::new(bytes);
    let header = Header::read(&mut decoder).ok()?;
    let is_ours = header.id == id
        && header.message_type == MessageType::Response
        && header.op_code == OpCode::Query;
    if !is_ours {
        return None;
    }
    let code = header.response_code;
    match header.counts.queries {
        0 if may_be_bare(code) => {}
        1 => repeats(&mut decoder, question).then_some(())?,
        _ => return None,
    }
    Some(match code {
        ResponseCode::NoError | ResponseCode::NXDomain if header.truncation => Ok(Reply::Truncated),
        ResponseCode::NoError | ResponseCode::NXDomain => {
            whole(bytes, decoder, &header, question.kind)
        }
        code => Err(Problem::Answered(code)),
    })
}

/// What a message is that ends in the middle, for instance.
pub(super) const BROKEN: Problem = Problem::Malformed("its records cannot be read to the end");

/// Whether an answer with the code may come without the question: from who does not know EDNS (RFC 6891,
/// section 7), or does not care to look at it.
fn may_be_bare(code: ResponseCode) -> bool {
    use ResponseCode::{FormErr, NotImp, Refused, ServFail};
    matches!(code, FormErr | NotImp | Refused | ServFail)
}

/// Whether the question stands in the answer as it was asked, but for the case of letters.
fn repeats(decoder: &mut BinDecoder<'_>, question: &Question) -> bool {
    Query::read(decoder).is_ok_and(|query| {
        *query.name() == question.name
            && query.query_type() == question.kind.into()
            && query.query_class() == DNSClass::IN
    })
}

fn whole<'b>(
    bytes: &'b [u8],
    mut decoder: BinDecoder<'b>,
    header: &Header,
    kind: Kind,
) -> Result<Reply, Problem> {
    let mut walk = Walk::new(bytes, header, kind);
    let walked = walk.all(&mut decoder, header);
    walked.map_err(|_| BROKEN)?;
    if !decoder.is_empty() {
        // One whose counts are wrong may hide records.
        return Err(Problem::Malformed("more follows its last record"));
    }
    match walk.code_high {
        0 => Ok(Reply::Whole(Box::new(walk.message))),
        high => Err(Problem::Answered(ResponseCode::from(
            high,
            header.response_code.low(),
        ))),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Answer,
    Authority,
    Additional,
}

struct Walk<'b> {
    /// The whole message.
    bytes: &'b [u8],
    kind: Kind,
    message: Message,
    /// The upper bits of the response code (RFC 6891, section 6.1.3).
    code_high: u8,
}

impl<'b> Walk<'b> {
    fn new(bytes: &'b [u8], header: &Header, kind: Kind) -> Self {
        Self {
            bytes,
            kind,
            code_high: 0,
            message: Message {
                exists: header.response_code == ResponseCode::NoError,
                records: Vec::new(),
                aliases: Vec::new(),
                renamed: Vec::new(),
                has_others: false,
                soa: None,
                is_referral: false,
                additional: Addresses::new(),
            },
        }
    }

    fn all(&mut self, decoder: &mut BinDecoder<'b>, header: &Header) -> Result<(), DecodeError> {
        let counts = header.counts;
        for (section, count) in [
            (Section::Answer, counts.answers),
            (Section::Authority, counts.authorities),
            (Section::Additional, counts.additionals),
        ] {
            for _ in 0..count {
                self.record(decoder, section)?;
            }
        }
        let message = &mut self.message;
        let empty = counts.answers == 0 && message.exists && message.soa.is_none();
        message.is_referral &= empty && !header.authoritative && !header.recursion_available;
        Ok(())
    }

    /// Reads one record; of those that nobody asked for only their length counts.
    fn record(
        &mut self,
        decoder: &mut BinDecoder<'b>,
        section: Section,
    ) -> Result<(), DecodeError> {
        let owner = name(decoder, self.bytes)?;
        let kind = RecordType::read(decoder)?;
        let class = DNSClass::read(decoder)?;
        let ttl = decoder.read_u32()?.unverified();
        let length = usize::from(decoder.read_u16()?.unverified());
        let mut data = Rdata::begin(decoder, self.bytes, length)?;
        match (section, kind) {
            (Section::Additional, RecordType::OPT) => {
                let [high, ..] = ttl.to_be_bytes();
                self.code_high |= high;
                data.skip()?;
            }
            (Section::Answer, _) => {
                self.message
                    .answer(owner, (class, kind), self.kind, &mut data)?
            }
            _ if class != DNSClass::IN => data.skip()?,
            (Section::Authority, RecordType::SOA) => {
                self.message.soa = Some(owner);
                data.skip()?;
            }
            (Section::Authority, RecordType::NS) => {
                self.message.is_referral = true;
                data.skip()?;
            }
            (Section::Additional, RecordType::A | RecordType::AAAA) if self.kind == Kind::Srv => {
                let ip = data.address(kind)?;
                self.message.additional.entry(owner).or_default().push(ip);
            }
            _ => data.skip()?,
        }
        data.end()
    }
}

impl Message {
    /// Takes one record of the answer section to a question for records of the kind `asked`.
    fn answer(
        &mut self,
        owner: Name,
        what: (DNSClass, RecordType),
        asked: Kind,
        data: &mut Rdata<'_, '_>,
    ) -> Result<(), DecodeError> {
        match what {
            (DNSClass::IN, RecordType::CNAME) => {
                let target = name(data.decoder, data.bytes)?;
                self.aliases.push((owner, target));
                return Ok(());
            }
            (DNSClass::IN, kind) if kind == asked.into() => {
                self.records.push((owner, data.read(asked)?));
                return Ok(());
            }
            (DNSClass::IN, RecordType::DNAME) => self.renamed.push(owner),
            (DNSClass::IN, RecordType::RRSIG) => {}
            _ => self.has_others = true,
        }
        data.skip()
    }
}

/// The data of one record, which must be used up to its last byte.
struct Rdata<'a, 'b> {
    /// The whole message.
    bytes: &'b [u8],
    decoder: &'a mut BinDecoder<'b>,
    /// Where it ends.
    end: usize,
}

impl<'a, 'b> Rdata<'a, 'b> {
    fn begin(
        decoder: &'a mut BinDecoder<'b>,
        bytes: &'b [u8],
        length: usize,
    ) -> Result<Self, DecodeError> {
        if length > decoder.len() {
            return Err(DecodeError::InsufficientBytes);
        }
        let end = decoder.index() + length;
        Ok(Self {
            bytes,
            decoder,
            end,
        })
    }

    fn left(&self) -> usize {
        self.end.saturating_sub(self.decoder.index())
    }

    fn skip(&mut self) -> Result<(), DecodeError> {
        self.decoder.read_slice(self.left()).map(drop)
    }

    fn end(self) -> Result<(), DecodeError> {
        match self.decoder.index() == self.end {
            true => Ok(()),
            false => Err(DecodeError::InsufficientBytes),
        }
    }

    fn read(&mut self, kind: Kind) -> Result<Data, DecodeError> {
        Ok(match kind {
            Kind::A | Kind::Aaaa => Data::Address(self.address(kind.into())?),
            Kind::Srv => {
                let _priority = self.decoder.read_u16()?;
                Data::Service {
                    weight: self.decoder.read_u16()?.unverified(),
                    port: self.decoder.read_u16()?.unverified(),
                    target: name(self.decoder, self.bytes)?,
                }
            }
            Kind::Txt => Data::Text(self.text()?),
        })
    }

    /// Four bytes or sixteen; `end` sees to it that there are no more.
    fn address(&mut self, kind: RecordType) -> Result<IpAddr, DecodeError> {
        let wide = kind == RecordType::AAAA;
        let bytes = self
            .decoder
            .read_slice(if wide { 16 } else { 4 })?
            .unverified();
        let address = match wide {
            true => <[u8; 16]>::try_from(bytes).map(IpAddr::from),
            false => <[u8; 4]>::try_from(bytes).map(IpAddr::from),
        };
        address.map_err(|_| DecodeError::InsufficientBytes)
    }

    fn text(&mut self) -> Result<Box<[u8]>, DecodeError> {
        let mut text = Vec::with_capacity(self.left());
        while self.left() > 0 {
            text.extend_from_slice(self.decoder.read_character_data()?.unverified());
        }
        Ok(text.into())
    }
}

/// A name, whose rest may stand anywhere before it.
fn name(decoder: &mut BinDecoder<'_>, bytes: &[u8]) -> Result<Name, DecodeError> {
    match points_too_often(bytes, decoder.index()) {
        true => Err(DecodeError::UnrecognizedLabelCode(POINTER)),
        false => Name::read(decoder),
    }
}

/// The upper bits of a label that is a pointer (RFC 1035, section 4.1.4).
const POINTER: u8 = 0b1100_0000;
/// As many as a name can have labels. Rows of pointers to pointers would make the reading of one
/// message take a fifth of a second.
const MOST_POINTERS: usize = 127;

fn points_too_often(bytes: &[u8], mut at: usize) -> bool {
    let mut pointers = 0;
    while let Some(&length) = bytes.get(at).filter(|length| **length != 0) {
        if length & POINTER != POINTER {
            at += 1 + usize::from(length);
            continue;
        }
        pointers += 1;
        let low = bytes.get(at + 1).copied().unwrap_or_default();
        at = usize::from(u16::from_be_bytes([length & !POINTER, low]));
        if pointers > MOST_POINTERS {
            return true;
        }
    }
    false
}
