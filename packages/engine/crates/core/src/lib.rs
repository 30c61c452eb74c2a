//! Decides which requests the engine answers. This crate uses no sockets and no Node API.
//!
//! [`decide`] parses the head of a request. It selects an answer of the [`Table`], or hands the request over to Node.
//! It only compares bytes: TypeScript applies all other rules of HTTP when it creates the table.
#![forbid(unsafe_code)]

mod accepted_values;
mod answer;
mod build_index;
mod clock;
mod fields;
mod head;
mod request;
mod table;
#[cfg(test)]
mod testing;

pub use accepted_values::AcceptedValues;
pub use answer::{Answer, Kind, RequestEnd};
pub use build_index::{NO_SLAB, TableError};
pub use clock::Clock;
pub use head::{Head, fields_of};
pub use request::{BareRequest, MAX_HEAD, Step, decide, decide_fields};
pub use table::{Parts, Table, TableParts};
