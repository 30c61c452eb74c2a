//! Sizes and times that several files use. A constant of one file is in that file. The server passes the values of
//! `limits.rs`.

use std::time::Duration;

/// The size of the read buffer, which all connections of a thread share.
pub const READ_BUFFER: usize = 64 * 1024;
/// The number of bytes that a connection may send before other connections proceed. Otherwise, a fast reader of large
/// bodies would block the thread.
pub const TURN_BYTES: usize = 512 * 1024;
/// The minimum size of a body in memory that `sendfile` sends from a copy on the disk. For smaller bodies, it costs more
/// than `sendmsg`.
pub const MIN_FILE_BODY: usize = 32 * 1024;
/// The maximum number of queued connections, as in Node.
pub const BACKLOG: i32 = 511;

/// The delay before the next attempt after a shortage of descriptors.
pub const RETRY_DELAY: Duration = Duration::from_millis(50);
/// The number of attempts to open a link if no descriptors are free. They take two seconds.
pub const LINK_ATTEMPTS: u32 = 40;
/// The maximum idle time of a link. Node closes idle links after 65 seconds, and a request must not reach a link while
/// Node closes it.
pub const LINK_IDLE: Duration = Duration::from_secs(60);
/// The maximum idle time of a link while new connections wait for descriptors.
pub const SCARCE_LINK_IDLE: Duration = Duration::from_secs(1);

/// The time for the client to read the last answer. After that, further input resets the connection.
pub const LINGER: Duration = Duration::from_secs(1);
/// The time for the first request of a new connection while the thread drains, as `newConnectionGrace` of the server.
/// Without it, the client would see a failed request.
pub const NEW_CONNECTION: Duration = Duration::from_secs(1);

/// The number of an HTTP/2 session's sent bytes that counts as progress, as `minimumProgressBytes` of the server. A stream may wait while other streams proceed.
pub const MIN_PROGRESS: u64 = 64 * 1024;
/// The number of reset streams to remember, and for how long. h2 ignores late frames of these streams. For others, it
/// sends another reset, and ends the session after 1,024 of them.
pub const REMEMBERED_RESETS: usize = 1024;
pub const RESETS_REMEMBERED: Duration = Duration::from_secs(5);
