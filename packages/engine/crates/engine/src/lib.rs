//! The native engine of serve-dist. It owns the public socket, answers requests from its table, and relays the rest to
//! Node.
//!
//! Each thread has its own event loop. Threads only share the table and a few counters. `binding.ts` documents the
//! JavaScript API.
#![deny(unsafe_code)]

mod accept;
mod answer_end;
mod answers;
mod binding;
mod body_file;
mod connection;
mod copier;
mod counters;
mod credentials;
mod deadline_waker;
mod drain;
mod engine;
mod error_code;
mod event;
mod event_sink;
mod head_cache;
mod http2;
mod limits;
mod link;
mod links;
mod listen;
mod memory;
mod observe;
mod pump;
mod relay;
mod restart_on_panic;
mod send;
mod serve;
mod shared;
mod shortage;
mod socket;
mod stream;
mod stream_quota;
mod streamed_file;
mod sweep;
#[cfg(fuzzing)]
pub mod testing;
#[cfg(all(test, not(fuzzing)))]
mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod time;
mod tls;
mod tuning;
mod warning;
mod worker;
