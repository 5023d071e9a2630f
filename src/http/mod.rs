//! The HTTP boundary: bytes to a vetted request, its route, its answer, the connection, the listener.
//!
//! The guard ([`guard`], [`body`]) reads and vets every request before anything else sees it. A list
//! goes out as ready bytes ([`answer`]); everything else goes through async-h1 ([`codec`]).

mod about;
pub mod answer;
pub mod body;
pub mod codec;
pub mod conditional;
pub mod connection;
pub mod counts;
pub mod errand;
mod fields;
pub mod guard;
pub mod head;
pub mod host;
pub mod inherited;
pub mod limits;
pub mod listener;
pub mod outgoing;
pub mod query;
pub mod refusal;
mod request;
pub mod route;
mod scrape;
pub mod seats;
pub mod shared;
mod syntax;
