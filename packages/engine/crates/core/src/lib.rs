//! What the engine of serve-dist answers by itself: bytes in, bytes out, without sockets and without Node.
#![forbid(unsafe_code)]
