//! Vigie's promises, one file each.

mod support;

mod answers;
mod arrivals;
mod bodies;
mod caching;
mod command_line;
mod configuration;
mod deadlines;
mod dns;
mod dns_bind;
mod dns_keys;
mod dns_mutations;
mod dns_resolv_conf;
mod dns_srv;
mod dns_transport;
mod documents;
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
mod reload;
mod request_lines;
mod rewriting;
mod routes;
mod slot;
mod stopping;
