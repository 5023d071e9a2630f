//! Endpoints as bytes, one file an answer format.

pub mod json;
