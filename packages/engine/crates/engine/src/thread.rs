use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use serve_dist_core::Clock;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::link::Link;
use crate::shared::Shared;
use crate::stream::Stream;

/// Bytes that are read at once: one buffer for all connections of a thread.
const READ_BUFFER: usize = 64 * 1024;

/// What the connections of one thread have in common.
pub struct Thread {
    /// What all threads have in common.
    pub shared: Arc<Shared>,
    /// Where bytes are read to, within one poll.
    pub buffer: RefCell<Box<[u8]>>,
    /// Where answers are put together, within one poll.
    pub out: RefCell<Vec<u8>>,
    /// The last lines of heads.
    pub clock: RefCell<Clock>,
    /// Whether each answer is the last of its connection.
    pub draining: Cell<bool>,
    /// Connections that are open.
    pub connections: RefCell<HashMap<u64, Rc<Connection>>>,
    /// Wakes who waits for the last connection to be closed.
    pub emptied: Notify,
    /// The links to Node that are open.
    pub links: RefCell<HashMap<u64, std::rc::Weak<Link>>>,
    started: Instant,
    now: Cell<Duration>,
    /// The next number, and the distance to the one after: a link's number says its thread.
    next: Cell<u64>,
    threads: u64,
}

/// What is waited for on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The first byte.
    Fresh,
    /// The rest of a head.
    Head,
    /// The next request.
    Idle,
    /// The client, who is to take what we have for it.
    Sending,
    /// Node, whose own limits hold.
    Node,
    /// The client's end, after ours.
    Lingering,
}

/// A client's connection.
pub struct Connection {
    /// Its socket.
    pub stream: Stream,
    /// The client; `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    /// What is waited for.
    pub phase: Cell<Phase>,
    /// Since when, in the thread's time.
    pub since: Cell<Duration>,
    /// Its way to Node, once it has needed one.
    pub link: RefCell<Option<Rc<Link>>>,
    abort: OnceCell<AbortHandle>,
}

impl Thread {
    /// The thread of this number, of so many.
    pub fn new(shared: Arc<Shared>, number: u64, threads: u64) -> Self {
        let keep_alive = u64::try_from(shared.limits.keep_alive.as_millis()).unwrap_or(u64::MAX);
        Self {
            buffer: RefCell::new(vec![0; READ_BUFFER].into()),
            out: RefCell::default(),
            clock: RefCell::new(Clock::new(keep_alive, unix_time().as_secs())),
            draining: Cell::new(false),
            connections: RefCell::default(),
            emptied: Notify::new(),
            links: RefCell::default(),
            started: Instant::now(),
            now: Cell::default(),
            next: Cell::new(number + threads),
            threads,
            shared,
        }
    }

    /// The time since the thread began, as of the last sweep: close enough for limits, and no call of the system.
    pub fn now(&self) -> Duration {
        self.now.get()
    }

    /// Looks at the clock.
    pub fn look_at_clock(&self) -> Duration {
        self.now.set(self.started.elapsed());
        self.now()
    }

    /// A number that no other connection and no link of the engine has.
    pub fn next_id(&self) -> u64 {
        self.next.replace(self.next.get() + self.threads)
    }

    /// Serves a connection on this thread until it ends, in whatever way.
    pub fn open(self: &Rc<Self>, stream: Stream, peer: Option<SocketAddr>) {
        let id = self.next_id();
        let connection = Rc::new(Connection {
            stream,
            peer,
            phase: Cell::new(Phase::Fresh),
            since: Cell::new(self.look_at_clock()),
            link: RefCell::default(),
            abort: OnceCell::new(),
        });
        self.connections.borrow_mut().insert(id, connection.clone());
        let open = Open {
            id,
            thread: self.clone(),
        };
        let served = connection.clone();
        let task = tokio::task::spawn_local(async move {
            crate::serve::serve(&open.thread, &served).await;
        });
        // It has just been made.
        let _ = connection.abort.set(task.abort_handle());
    }

    /// The connections, which may end meanwhile.
    pub fn all(&self) -> Vec<Rc<Connection>> {
        self.connections.borrow().values().cloned().collect()
    }
}

impl Connection {
    /// Begins to wait for something else.
    pub fn enter(&self, phase: Phase, thread: &Thread) {
        self.phase.set(phase);
        self.since.set(thread.now());
    }

    /// Whether Node answers a request on it.
    pub fn is_nodes(&self) -> bool {
        let link = self.link.borrow();
        link.as_ref().is_some_and(|link| link.busy.get())
    }

    /// Closes the connection, with answers under way or not.
    pub fn destroy(&self) {
        if let Some(task) = self.abort.get() {
            task.abort();
        }
    }
}

/// The time since 1970.
pub fn unix_time() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// A connection that is counted while its task lives.
struct Open {
    id: u64,
    thread: Rc<Thread>,
}

impl Drop for Open {
    fn drop(&mut self) {
        let Self { id, thread } = self;
        if std::thread::panicking() {
            thread.shared.panics.fetch_add(1, Ordering::Relaxed);
        }
        let closed = thread.connections.borrow_mut().remove(id);
        drop(closed);
        thread.shared.connections.fetch_sub(1, Ordering::Relaxed);
        if thread.connections.borrow().is_empty() {
            thread.emptied.notify_waiters();
        }
    }
}
