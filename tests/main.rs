//! Vigie's promises, one file each.

mod support;

mod answers;
mod arrivals;
mod bodies;
mod caching;
mod command_line;
mod configuration;
mod deadlines;
mod documents;
mod framings;
mod hanging;
mod headers;
mod house;
mod limits;
mod listening;
mod lists;
mod logging;
mod mutations;
mod names;
mod other_sites;
mod redirects;
mod reload;
mod request_lines;
mod rewriting;
mod routes;
mod slot;
mod stopping;
mod urls;
