//! How much a client may send.

/// The most bytes that the head of a request may have, request line and fields together.
pub const MAX_HEAD: usize = 16 * 1024;
/// The most fields that a head may have.
pub const MAX_FIELDS: usize = 100;
/// The most bytes that a body may have.
pub const MAX_BODY: u64 = 64 * 1024;
