//! EndpointSlices (discovery.k8s.io/v1) as endpoints: which are ready, and at which port.
//!
//! A list may come in pages. [`Gathered`] takes one page after the other and gives the endpoints when
//! all have come. Nothing is kept of a page but the endpoints that are ready.

mod draft;
mod gathered;
mod label;
mod page;
mod port;
#[cfg(test)]
mod tests;

pub use gathered::Gathered;
pub use label::is_label;
pub use port::Port;

use std::num::NonZeroU16;

use crate::dns::Family;

/// Which endpoints of the slices are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which port; `None` for the only one that there is.
    pub port: Option<Port>,
    /// Which addresses.
    pub family: Family,
    /// For slices without a port, or with one that has no number.
    pub default_port: NonZeroU16,
}
