//! Messages of a DNS server, written byte by byte: what is tested must not write its own tests.

use std::fmt;
use std::net::SocketAddr;

use super::Act;

/// A question as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// In lower case, without its last dot.
    pub(crate) name: String,
    /// `A`, `AAAA`, `SRV` or `TXT`.
    pub(crate) kind: &'static str,
    pub(crate) tcp: bool,
    pub(crate) edns: bool,
    pub(crate) id: u16,
    /// Who asked.
    pub(crate) peer: SocketAddr,
    /// How many times the same was asked before.
    pub(crate) before: usize,
    /// The question section as it came.
    question: Vec<u8>,
}

const KINDS: [(&str, u16); 9] = [
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("SOA", 6),
    ("MX", 15),
    ("TXT", 16),
    ("AAAA", 28),
    ("SRV", 33),
    ("RRSIG", 46),
];

/// `web.test A`, `web.test A over TCP`.
impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.tcp { " over TCP" } else { "" };
        write!(f, "{} {}{how}", self.name, self.kind)
    }
}

impl Asked {
    pub(super) fn read(bytes: &[u8], tcp: bool, peer: SocketAddr, earlier: &[Self]) -> Self {
        let mut labels = Vec::new();
        let mut at = 12;
        while bytes[at] != 0 {
            let end = at + 1 + usize::from(bytes[at]);
            labels.push(String::from_utf8_lossy(&bytes[at + 1..end]).to_lowercase());
            at = end;
        }
        let number = u16::from_be_bytes([bytes[at + 1], bytes[at + 2]]);
        assert_eq!(bytes[2], 1, "a query that desires recursion");
        let mut asked = Self {
            name: labels.join("."),
            kind: KINDS.iter().find(|(_, known)| *known == number).unwrap().0,
            tcp,
            edns: bytes[11] == 1,
            id: u16::from_be_bytes([bytes[0], bytes[1]]),
            peer,
            before: 0,
            question: bytes[12..at + 5].to_vec(),
        };
        let is_same = |other: &&Self| other.to_string() == asked.to_string();
        asked.before = earlier.iter().filter(is_same).count();
        asked
    }

    /// A question for messages that no server is asked for.
    pub(crate) fn of(name: &str, kind: &str, id: u16) -> Self {
        let (kind, number) = KINDS.into_iter().find(|(known, _)| *known == kind).unwrap();
        let number = number.to_be_bytes();
        Self {
            name: name.to_lowercase(),
            kind,
            tcp: false,
            edns: true,
            id,
            peer: ([127, 0, 0, 1], 0).into(),
            before: 0,
            question: [&encode(name)[..], &number, &[0, 1]].concat(),
        }
    }

    /// An answer without an error, with these records: `web.test A 10.0.0.1`.
    pub(crate) fn answer(&self, records: &[&str]) -> Reply {
        Reply {
            id: self.id,
            // A response, recursion desired and available.
            flags: 0x8180,
            question: self.question.clone(),
            sections: [Vec::new(), Vec::new(), Vec::new()],
            counts: None,
        }
        .records(0, records)
    }

    /// What a name has whose only record is this IPv4 address.
    pub(crate) fn only(&self, ip: &str) -> Vec<Act> {
        let record = format!("{} A {ip}", self.name);
        let records = [&*record];
        self.answer(&records[..usize::from(self.kind == "A")])
            .send()
    }

    /// An answer with an error code and nothing else.
    pub(crate) fn error(&self, code: u16) -> Vec<Act> {
        self.answer(&[]).code(code).send()
    }
}

/// A message to be sent.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) id: u16,
    pub(crate) flags: u16,
    /// The question section, one question.
    pub(crate) question: Vec<u8>,
    /// Each record as its bytes.
    pub(crate) sections: [Vec<Vec<u8>>; 3],
    /// Said of the sections instead of the truth.
    pub(crate) counts: Option<[u16; 3]>,
}

pub(crate) const FORMERR: u16 = 1;
pub(crate) const SERVFAIL: u16 = 2;
pub(crate) const NXDOMAIN: u16 = 3;
pub(crate) const NOTIMP: u16 = 4;
pub(crate) const REFUSED: u16 = 5;

impl Reply {
    pub(crate) fn code(mut self, code: u16) -> Self {
        self.flags |= code;
        self
    }

    pub(crate) fn truncated(mut self) -> Self {
        self.flags |= 0x0200;
        self
    }

    /// Without recursion, as a server answers that knows its own zones only.
    pub(crate) fn not_recursive(mut self) -> Self {
        self.flags &= !0x0080;
        self
    }

    /// With the question in capitals.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn capitals(mut self) -> Self {
        // No length of a label is a letter, and no number that follows the name.
        self.question.make_ascii_uppercase();
        self
    }

    /// With this TTL of its answers.
    #[allow(dead_code, reason = "for the soak")]
    pub(crate) fn lasting(mut self, ttl: u32) -> Self {
        for record in &mut self.sections[0] {
            let at = end_of_name(record) + 4;
            record[at..at + 4].copy_from_slice(&ttl.to_be_bytes());
        }
        self
    }

    pub(crate) fn authority(self, records: &[&str]) -> Self {
        self.records(1, records)
    }

    pub(crate) fn additional(self, records: &[&str]) -> Self {
        self.records(2, records)
    }

    /// A record whose bytes are given.
    pub(crate) fn raw(mut self, section: usize, record: Vec<u8>) -> Self {
        self.sections[section].push(record);
        self
    }

    fn records(mut self, section: usize, records: &[&str]) -> Self {
        for record in records {
            let bytes = self.record(record);
            self.sections[section].push(bytes);
        }
        self
    }

    fn record(&self, text: &str) -> Vec<u8> {
        let words: Vec<&str> = text.splitn(3, ' ').collect();
        let [owner, kind, data] = words[..] else {
            panic!("{text}: write NAME KIND DATA");
        };
        let data = match kind {
            "A" => data
                .parse::<std::net::Ipv4Addr>()
                .unwrap()
                .octets()
                .to_vec(),
            "AAAA" => data
                .parse::<std::net::Ipv6Addr>()
                .unwrap()
                .octets()
                .to_vec(),
            "CNAME" | "NS" => self.name(data),
            "SRV" => {
                let words: Vec<&str> = data.split(' ').collect();
                let numbers = words[..3]
                    .iter()
                    .flat_map(|word| word.parse::<u16>().unwrap().to_be_bytes());
                numbers.chain(self.name(words[3])).collect()
            }
            // Strings of one record stand behind each other, split by |.
            "TXT" => data
                .split('|')
                .flat_map(|text| character_string(text.as_bytes()))
                .collect(),
            "SOA" => [self.name("ns.test"), self.name("admin.test"), vec![0; 20]].concat(),
            _ => data.as_bytes().to_vec(),
        };
        let number = KINDS.iter().find(|(known, _)| *known == kind).unwrap().1;
        // The TTL is 0: it changes nothing.
        record(&self.name(owner), number, &data)
    }

    /// A name, whose end stands in the question perhaps.
    fn name(&self, text: &str) -> Vec<u8> {
        let whole = encode(text);
        let mut at = 0;
        while whole[at] != 0 {
            let rest = &whole[at..];
            let name = &self.question[..self.question.len().saturating_sub(4)];
            if name.ends_with(rest) {
                let place = u16::try_from(12 + name.len() - rest.len()).unwrap() | 0xc000;
                return [&whole[..at], &place.to_be_bytes()].concat();
            }
            at += 1 + usize::from(whole[at]);
        }
        whole
    }

    /// The bytes of the message.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let counts = self
            .counts
            .unwrap_or_else(|| [0, 1, 2].map(|at| self.sections[at].len() as u16));
        let questions = u16::from(!self.question.is_empty());
        let head = [
            self.id, self.flags, questions, counts[0], counts[1], counts[2],
        ];
        let head: Vec<u8> = head.into_iter().flat_map(u16::to_be_bytes).collect();
        [head, self.question.clone(), self.sections.concat().concat()].concat()
    }

    /// To do as the only act.
    pub(crate) fn send(self) -> Vec<Act> {
        vec![Act::Send(self.bytes())]
    }
}

/// The bytes of a record in the class IN with TTL 0.
pub(crate) fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [
        owner,
        &kind.to_be_bytes(),
        &[0, 1, 0, 0, 0, 0],
        &length,
        data,
    ]
    .concat()
}

/// The bytes of a name without compression.
pub(crate) fn encode(name: &str) -> Vec<u8> {
    let labels = name.split('.').filter(|label| !label.is_empty());
    let mut bytes: Vec<u8> = labels
        .flat_map(|label| character_string(label.as_bytes()))
        .collect();
    bytes.push(0);
    bytes
}

/// How many bytes the name has with which a record begins.
fn end_of_name(record: &[u8]) -> usize {
    let mut at = 0;
    while (1..0xc0).contains(&record[at]) {
        at += 1 + usize::from(record[at]);
    }
    at + if record[at] == 0 { 1 } else { 2 }
}

fn character_string(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap()], text].concat()
}
