//! Vigie answers one question over HTTP: which endpoints does this service have now?
//!
//! This page is the map of the house.
//!
//! | room | what lives there |
//! | --- | --- |
//! | [`cli`] | the command line, one file a command |
//! | [`yaml`] | YAML text as values that know their line and column; typed reads that collect every error |
//! | [`wording`] | the words of messages: text from outside made safe, the nearest known word |
//! | [`config`] | the keys of the configuration file, read into values that cannot be wrong |
//! | [`endpoint`] | an endpoint: address, port, weight |
//! | [`lines`] | endpoint lines, the text format of files |
//! | [`blocking`] | work that a file system may hang, on threads of its own |
//! | [`regular_file`] | regular files, read whole and bounded |
//! | [`clock`] | the only reader of time in the server, and a manual one for tests |
//! | [`source`] | where endpoints are listed, one file a kind: read whole or not at all |
//! | [`mod@format`] | endpoints as bytes, one file an answer format |
//! | [`slot`] | the memory of one service: freshness, single flight, the last good list |
//! | [`service`] | a name, its source and its slot |
//! | [`catalog`] | all services, and the one pointer that a reload swaps |
//! | [`http`] | bytes to a vetted request, its route, its answer, the connection and the listener |
//! | [`reload`] | one reload at a time, shared by those who ask |
//! | [`log`] | lines on standard error |
//! | [`signal`] | SIGHUP, SIGTERM and SIGINT as events |
//! | [`server`] | wires it all together: the one place with an executor |
//!
//! An arrow between rooms goes one way only:
//! `cli -> server -> http -> reload -> catalog -> service -> slot -> clock`,
//! `service -> source -> lines -> endpoint`, `service -> format -> endpoint`,
//! `reload -> config -> source -> yaml`. Nothing points back.
//!
//! What you will not find: a pool of threads (a hung file system would fill it), a timer a
//! connection ([`http::seats`] keeps time for all), a runtime beside smol, unsafe code.

pub mod blocking;
pub mod catalog;
pub mod cli;
pub mod clock;
pub mod config;
pub mod endpoint;
pub mod format;
pub mod http;
pub mod lines;
pub mod log;
pub mod regular_file;
pub mod reload;
pub mod server;
pub mod service;
pub mod signal;
pub mod slot;
pub mod source;
pub mod wording;
pub mod yaml;
