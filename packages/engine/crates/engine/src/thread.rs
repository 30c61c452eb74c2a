use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use serve_dist_core::Clock;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::accept::{AcceptedConnection, ConnectionPermit};
use crate::deadline_waker::DeadlineWaker;
use crate::event::{Event, Refused};
use crate::http2::{HeadCache, StreamQuota};
use crate::limits::discard_idle_links;
use crate::link::Link;
use crate::observe::{AnswerLabel, Observations, ObservedAnswers, Observer};
use crate::shared::Shared;
use crate::stream::Stream;
use crate::warning::Warnings;
use crate::worker::RETRY_DELAY;

pub use crate::warning::Warning;

/// Bytes that are read at once: one buffer for all connections of a thread.
pub const READ_BUFFER: usize = 64 * 1024;

/// What the connections of one thread have in common.
pub struct Thread {
    /// What all threads have in common.
    pub shared: Arc<Shared>,
    /// Where bytes are read to, within one poll.
    pub buffer: RefCell<Box<[u8]>>,
    /// Where answers are put together, within one poll.
    pub out: RefCell<Vec<u8>>,
    /// The heads of answers over HTTP/2.
    pub head_cache: RefCell<HeadCache>,
    /// Answers over HTTP/2 that wait for their clients.
    pub stream_quota: StreamQuota,
    /// The last lines of heads.
    pub clock: RefCell<Clock>,
    /// Who follows answers, if anybody does.
    pub observer: Option<Arc<Observer>>,
    /// Whether each answer is the last of its connection.
    pub draining: Cell<bool>,
    /// Connections that are open.
    pub connections: RefCell<HashMap<u64, Rc<Connection>>>,
    /// Wakes who waits for the last connection to be closed.
    pub all_closed: Notify,
    /// The links to Node that are open.
    pub links: RefCell<HashMap<u64, std::rc::Weak<Link>>>,
    started: Instant,
    now: Cell<Duration>,
    warnings: Warnings,
    /// When there were no descriptors for a way to Node.
    last_link_shortage: Cell<Option<Instant>>,
    /// The next number, and the distance to the one after: a link's number says its thread.
    next: Cell<u64>,
    threads: u64,
}

/// What is waited for on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The end of the handshake of TLS.
    Handshake,
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
    /// Anything of several streams, whose session keeps its limits itself.
    Streams,
    /// The client's end, after ours.
    Lingering,
}

/// A client's connection.
pub struct Connection {
    /// Its place among the open ones.
    pub permit: Option<Arc<ConnectionPermit>>,
    /// Its socket.
    pub stream: Stream,
    /// The client; `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    /// What is waited for.
    pub phase: Cell<Phase>,
    /// Since when, in the thread's time.
    pub since: Cell<Duration>,
    /// How much it had been sent when others had their turn.
    pub turn: Cell<u64>,
    /// Its way to Node, once it has needed one.
    pub link: RefCell<Option<Rc<Link>>>,
    /// Wakes it in its phase of streams.
    pub deadline: DeadlineWaker,
    observed_answers: ObservedAnswers,
    abort: OnceCell<AbortHandle>,
}

impl Thread {
    /// The thread of this number, of so many.
    pub fn new(shared: Arc<Shared>, number: u64, threads: u64) -> Self {
        let keep_alive = u64::try_from(shared.limits.keep_alive.as_millis()).unwrap_or(u64::MAX);
        let share = usize::try_from(threads).map_or(1, |threads| {
            shared.limits.maximum_streams.div_ceil(threads.max(1))
        });
        Self {
            stream_quota: StreamQuota::new(share),
            buffer: RefCell::new(vec![0; READ_BUFFER].into()),
            out: RefCell::default(),
            head_cache: RefCell::default(),
            clock: RefCell::new(Clock::new(keep_alive, unix_time().as_secs())),
            observer: shared.observations.as_ref().map(Observations::observer),
            draining: Cell::new(false),
            connections: RefCell::default(),
            all_closed: Notify::new(),
            links: RefCell::default(),
            started: Instant::now(),
            now: Cell::default(),
            warnings: Warnings::default(),
            last_link_shortage: Cell::default(),
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
    pub fn update_now(&self) -> Duration {
        self.now.set(self.started.elapsed());
        self.now()
    }

    /// A number that no other connection and no link of the engine has.
    pub fn next_id(&self) -> u64 {
        self.next.replace(self.next.get() + self.threads)
    }

    /// Serves a connection that was accepted for this thread; fails where the system has no memory for watching it.
    pub fn serve_accepted(self: &Rc<Self>, accepted: AcceptedConnection) -> io::Result<()> {
        let AcceptedConnection {
            socket,
            peer,
            permit,
        } = accepted;
        let stream = match &*self.shared.encryption.load() {
            None => Stream::new(socket),
            Some(config) => Stream::encrypted(socket, config.clone()),
        };
        let stream = stream.inspect_err(|_| self.shared.note_dropped())?;
        self.open(stream, peer, permit);
        Ok(())
    }

    /// Serves a connection on this thread until it ends, in whatever way.
    pub fn open(
        self: &Rc<Self>,
        stream: Stream,
        peer: Option<SocketAddr>,
        permit: ConnectionPermit,
    ) {
        let id = self.next_id();
        let phase = if stream.session().is_some() {
            Phase::Handshake
        } else {
            Phase::Fresh
        };
        let mut connection = Connection::new(stream, peer);
        connection.permit = Some(Arc::new(permit));
        let connection = Rc::new(connection);
        connection.phase.set(phase);
        connection.since.set(self.update_now());
        self.connections.borrow_mut().insert(id, connection.clone());
        let open = ConnectionGuard {
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

    /// Tells operators what fails, and why.
    pub fn warn(&self, warning: Warning, error: &io::Error) {
        self.warnings.log(warning, error);
    }

    /// Whether a way to Node may be opened: not in the breath after there were no descriptors for one.
    pub fn may_open_link(&self) -> bool {
        self.last_link_shortage
            .get()
            .is_none_or(|then| then.elapsed() >= RETRY_DELAY)
    }

    /// There are no descriptors for a way to Node: idle ones are given up, and the next that come free are for it.
    pub fn note_link_shortage(&self) {
        self.shared.link_shortage.note();
        if self.may_open_link() {
            self.last_link_shortage.set(Some(Instant::now()));
            discard_idle_links(self);
        }
    }

    /// Tells JavaScript of a request that gets an answer of ours which is no build's.
    pub fn emit_refusal(&self, connection: &Connection, status: u16, error: &'static str) {
        self.shared.emit(Event::Refused(Refused {
            status,
            error,
            peer: connection.peer,
        }));
    }

    /// The connections, which may end meanwhile.
    pub fn all_connections(&self) -> Vec<Rc<Connection>> {
        self.connections.borrow().values().cloned().collect()
    }
}

impl Connection {
    /// One of which nothing is known.
    pub fn new(stream: Stream, peer: Option<SocketAddr>) -> Self {
        Self {
            permit: None,
            stream,
            peer,
            phase: Cell::new(Phase::Fresh),
            since: Cell::default(),
            turn: Cell::default(),
            link: RefCell::default(),
            deadline: DeadlineWaker::default(),
            observed_answers: ObservedAnswers::default(),
            abort: OnceCell::new(),
        }
    }

    /// Begins to wait for something else.
    pub fn enter_phase(&self, phase: Phase, thread: &Thread) {
        self.phase.set(phase);
        self.since.set(thread.now());
    }

    /// Whether Node answers a request on it.
    pub fn is_relaying(&self) -> bool {
        let link = self.link.borrow();
        link.as_ref().is_some_and(|link| link.busy.get())
    }

    /// Closes the connection between answers, as an end that both know of.
    pub fn end(&self) {
        self.stream.end_at_close();
        self.destroy();
    }

    /// Has an answer observed that is written next: its whole length and that of its body.
    pub fn observe(
        &self,
        (observer, note): (&Arc<Observer>, AnswerLabel),
        lengths: (usize, usize),
        request: &[u8],
    ) {
        let answering = observer.begin(note, self.peer.map(|peer| peer.ip()), request);
        self.observed_answers
            .begin(self.stream.sent_bytes(), lengths, answering);
    }

    /// Something was written: observed answers that are whole have ended.
    pub fn settle(&self, thread: &Thread) {
        if thread.observer.is_some() {
            self.observed_answers.settle(self.stream.sent_bytes());
        }
    }

    /// Closes the connection, with answers under way or not.
    pub fn destroy(&self) {
        if let Some(task) = self.abort.get() {
            task.abort();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.observed_answers.abort(self.stream.sent_bytes());
    }
}

/// The time since 1970.
pub fn unix_time() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// A connection that is open while its task lives.
struct ConnectionGuard {
    id: u64,
    thread: Rc<Thread>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let Self { id, thread } = self;
        if std::thread::panicking() {
            thread.shared.panics.fetch_add(1, Ordering::Relaxed);
        }
        let closed = thread.connections.borrow_mut().remove(id);
        drop(closed);
        if thread.connections.borrow().is_empty() {
            thread.all_closed.notify_waiters();
        }
    }
}
