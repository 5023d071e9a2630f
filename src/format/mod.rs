//! Endpoints as bytes and back, one room an answer format.

pub mod json;
