use std::time::Duration;

/// Limits for connections. Their values are in `connection-limits.ts` and `http2-limits.ts` of the server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time for the head of a request, for a TLS handshake, or for the answer to a PING.
    pub headers: Duration,
    /// The time between requests, or for the beginning of an HTTP/2 session.
    pub keep_alive: Duration,
    /// The time without progress of an answer.
    pub socket: Duration,
    /// The maximum interval between checks.
    pub checking_interval: Duration,
    /// The maximum number of connections of the process.
    pub maximum_connections: usize,
    /// The maximum size of an HTTP/2 request's fields in bytes.
    pub header_size: u32,
    /// The maximum number of an HTTP/2 request's fields.
    pub fields: usize,
    /// The maximum number of streams of an HTTP/2 connection.
    pub streams_at_once: u32,
    /// The maximum number of pending HTTP/2 answers of the process.
    pub maximum_streams: usize,
    /// The rate of canceled and refused streams per HTTP/2 session.
    pub resets: Rate,
    /// The rate of PING and SETTINGS frames per HTTP/2 session.
    pub control_frames: Rate,
}

/// A rate limit.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The number of events that may happen at once.
    pub burst: f64,
    /// The number of additional events per second.
    pub per_second: f64,
}
