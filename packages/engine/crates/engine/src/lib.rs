//! The native engine of serve-dist: it owns the public socket, answers what its table answers, and relays the rest to Node.
//!
//! Each thread has a loop of its own and shares nothing with the others but what it answers from. `binding.ts` says what
//! JavaScript sees.
#![deny(unsafe_code)]

mod binding;
mod drain;
mod event;
mod failure;
mod limits;
mod link;
mod listen;
mod notify;
mod pump;
mod relay;
mod serve;
mod shared;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod worker;
