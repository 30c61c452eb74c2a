use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::oneshot::Sender;

use crate::accept::ConnectionPermit;
use crate::tls::{HandshakeInfo, Protocol};

/// What JavaScript hears of.
pub enum Event {
    /// A connection needs Node.
    Handed(Handed),
    /// The client of a handed connection is gone for good.
    Closed(u64),
    /// A request was refused.
    Refused(Refused),
    /// This file has changed amid an answer.
    Changed(PathBuf),
    /// Somebody waits to hear whether JavaScript has time.
    BusyProbe(Sender<()>),
}

/// A request that got an answer of ours which is no build's.
pub struct Refused {
    /// Of the answer.
    pub status: u16,
    /// A code as Node and the system have it.
    pub error: &'static str,
    /// The client; `None` for a unix socket.
    pub peer: Option<SocketAddr>,
}

/// A connection whose next request Node answers.
pub struct Handed {
    /// Names it from now on.
    pub id: u64,
    /// Node's end of the pair.
    pub end: OwnedFd,
    /// The client; `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    /// What the client speaks, and Node is to read.
    pub protocol: Protocol,
    /// Of its connection, where that is encrypted.
    pub encryption: Option<HandshakeInfo>,
    /// Descriptors on their way to JavaScript count as a connection, though their client may be gone.
    pub permit: Option<Arc<ConnectionPermit>>,
}

/// Takes events to JavaScript; says whether somebody is there who will hear of it.
pub type EventSink = Box<dyn Fn(Event) -> bool + Send + Sync>;
