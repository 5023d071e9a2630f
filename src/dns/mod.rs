//! Questions to DNS servers, and the addresses of host names.
//!
//! A stub client: it asks the servers that it is given, or those of resolv.conf, and leaves the walk
//! through the zones to them. It keeps nothing between two questions, neither answer nor socket. What a
//! question ends in is never a part: records, "there are none", "there is no such name" (RFC 2308), or a
//! [`Failure`] that says in words which server did what.
//!
//! hickory-proto reads and writes names, headers and questions. The records are walked here, so that
//! those nobody asked for are skipped whatever is in them, and a message that holds less, or more, than
//! its counts say is refused.

mod addresses;
mod answer;
mod ask;
mod exchange;
mod failure;
mod hosts;
mod message;
mod name;
mod question;
mod resolv_conf;
mod server;
mod standing;
mod system;
mod tcp;
mod udp;

pub use addresses::{Family, addresses};
pub use answer::{Answer, Cut, End, Read, read};
pub use ask::{Asker, Protocol};
pub use failure::{Failure, Lack, Problem};
pub use hickory_proto::rr::Name;
pub use hosts::Hosts;
pub use message::{Addresses, Data};
pub use name::{Wanted, plain, to_text};
pub use question::{Kind, Question};
pub use resolv_conf::ResolvConf;
pub use server::Server;
pub use system::System;

/// Where DNS servers listen.
pub const PORT: u16 = 53;
