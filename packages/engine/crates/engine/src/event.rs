use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// What JavaScript hears of.
pub enum Event {
    /// A connection needs Node.
    Handed(Handed),
    /// The client of a handed connection is gone for good.
    Closed(u64),
    /// A connection was closed at once because too many are open.
    Dropped,
}

/// A connection whose next request Node answers.
pub struct Handed {
    /// Names it from now on.
    pub id: u64,
    /// Node's end of the pair.
    pub end: OwnedFd,
    /// The client; `None` for a unix socket.
    pub peer: Option<SocketAddr>,
}

/// Takes events to JavaScript; says whether somebody is there who will hear of it.
pub type Tell = Box<dyn Fn(Event) -> bool + Send + Sync>;
