//! Vigie's promises, one file each.
