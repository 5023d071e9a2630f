//! Vigie answers one question over HTTP: which endpoints does this service have now?
//!
//! This page is the map of the house.
//!
//! | floor | room | what lives there |
//! | --- | --- | --- |
//! | 11 | [`cli`] | the command line, one file a command |
//! | 10 | [`server`] | wires it all together: the one place with an executor |
//! | 9 | [`http`] | bytes to a vetted request, its route, its answer, the connection and the listener |
//! | 8 | [`reload`] | one reload at a time, shared by those who ask |
//! | 8 | [`signal`] | SIGHUP, SIGTERM and SIGINT as events |
//! | 7 | [`catalog`] | all services, and the one pointer that a reload swaps |
//! | 6 | [`service`] | a name, its source and its slot |
//! | 5 | [`config`] | the keys of the configuration file, read into values that cannot be wrong |
//! | 4 | [`source`] | where endpoints are listed, one file a kind: read whole or not at all |
//! | 4 | [`slot`] | the memory of one service: freshness, single flight, the last good list |
//! | 4 | [`log`] | lines on standard error |
//! | 3 | [`slices`] | EndpointSlices of Kubernetes as endpoints |
//! | 3 | [`client`] | HTTP and HTTPS: one request, one bounded answer; knows no source |
//! | 2 | [`dns`] | questions to DNS servers, and the addresses of host names |
//! | 2 | [`mod@format`] | endpoints as bytes and back, one room an answer format |
//! | 1 | [`yaml`] | YAML text as values that know their line and column; typed reads that collect every error |
//! | 1 | [`lines`] | endpoint lines, the text format of files |
//! | 1 | [`blocking`] | work that a file system may hang, on threads of its own |
//! | 1 | [`supervisor`] | what systemd is told of this process |
//! | 0 | [`metrics`] | counters, a histogram, and the text that Prometheus reads |
//! | 0 | [`page`] | the page: one template, its script and its style |
//! | 0 | [`regular_file`] | regular files, read whole and bounded |
//! | 0 | [`json`] | JSON text read as it comes, with bounded nesting |
//! | 0 | [`endpoint`] | an endpoint: address, port, weight |
//! | 0 | [`clock`] | the only reader of time in the server, and a manual one for tests |
//! | 0 | [`racing`] | several futures at once, the first that ends first |
//! | 0 | [`wording`] | the words of messages: text from outside made safe, the nearest known word |
//!
//! A room uses only rooms on floors below its own, and [`wording`]; a test holds this against the
//! source.
//!
//! What you will not find: a pool of threads (a hung file system would fill it), a timer a
//! connection ([`http::seats`] keeps time for all), a runtime beside smol, unsafe code.

pub mod blocking;
pub mod catalog;
pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod dns;
pub mod endpoint;
pub mod format;
pub mod http;
pub mod json;
pub mod lines;
pub mod log;
pub mod metrics;
pub mod page;
pub mod racing;
pub mod regular_file;
pub mod reload;
pub mod server;
pub mod service;
pub mod signal;
pub mod slices;
pub mod slot;
pub mod source;
pub mod supervisor;
pub mod wording;
pub mod yaml;
