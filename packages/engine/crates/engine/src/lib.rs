//! The native engine of serve-dist: it owns the public socket, answers what its table answers, and relays the rest to Node.
#![deny(unsafe_code)]
