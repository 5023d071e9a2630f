//! YAML text as values that know their line and column.
