//! Vigie's promises, one file each.

mod command_line;
mod configuration;
