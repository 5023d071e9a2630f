//! Why there is nothing to print.

/// Why there is nothing to print.
pub(super) enum Problem {
    /// The source, the server or the configuration failed.
    Failed(String),
    /// There is no such service.
    Unknown(String),
}
