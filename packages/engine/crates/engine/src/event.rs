use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot::Sender;

use crate::counters::ConnectionPermit;
use crate::tls::{HandshakeInfo, Protocol};

/// A notification for JavaScript.
pub enum Event {
    Handed(Handed),
    /// The client of a connection that Node answers has disconnected.
    Closed(u64),
    /// The engine has rejected a request.
    Refused(Refused),
    /// The file changed while it was sent.
    Changed(PathBuf),
    /// JavaScript replies as soon as its event loop is free.
    BusyProbe(Sender<()>),
}

/// A request that the engine answered with an error.
pub struct Refused {
    pub status: u16,
    /// An error code of Node or of the system.
    pub error: &'static str,
    /// The client's address. `None` for a unix socket.
    pub peer: Option<SocketAddr>,
}

/// A connection that Node receives, because Node must answer its next request.
pub struct Handed {
    pub id: u64,
    /// Node's end of the socket pair.
    pub end: OwnedFd,
    /// The client's address. `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    /// The protocol that Node must parse.
    pub protocol: Protocol,
    /// The client's TLS handshake. `None` if the connection is not encrypted.
    pub encryption: Option<HandshakeInfo>,
    /// Counts the descriptor as a connection until JavaScript receives it, even if the client has disconnected.
    pub permit: Option<Arc<ConnectionPermit>>,
}

/// Sends an event to JavaScript. Returns whether JavaScript will receive it.
pub type EventSink = Box<dyn Fn(Event) -> bool + Send + Sync>;
