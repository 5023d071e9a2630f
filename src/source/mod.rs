//! Where the endpoints of a service are listed, one file a kind.

pub mod file;

/// The one source of a service, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Endpoint lines in a file.
    File(file::File),
}
