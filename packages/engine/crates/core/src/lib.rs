//! What the engine of serve-dist answers by itself: bytes in, bytes out, without sockets and without Node.
//!
//! [`decide`] reads the head of a request and either names an answer of the [`Table`] or hands the request over to Node.
//! It knows bytes alone; all rules of HTTP that need more are TypeScript's, which made the table.
#![forbid(unsafe_code)]

mod clock;
mod fields;
mod head;
mod hosts;
mod request;
mod table;
#[cfg(test)]
mod testing;

pub use clock::Clock;
pub use head::{Head, fields_of};
pub use hosts::Hosts;
pub use request::{Answer, BareRequest, Kind, RequestEnd, Step, decide, decide_fields};
pub use table::{Parts, Table, TableError, TableParts};
