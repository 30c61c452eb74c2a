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
use crate::shared::{LinkReservation, Shared};
use crate::stream::Stream;
use crate::warning::Warnings;
use crate::worker::RETRY_DELAY;

pub use crate::warning::Warning;

/// The size of the read buffer, which all connections of a thread share.
pub const READ_BUFFER: usize = 64 * 1024;

/// The state that the connections of one thread share.
pub struct Thread {
    pub shared: Arc<Shared>,
    /// The read buffer. Used within one poll only.
    pub buffer: RefCell<Box<[u8]>>,
    /// The output buffer. Used within one poll only.
    pub out: RefCell<Vec<u8>>,
    /// The response heads for HTTP/2.
    pub head_cache: RefCell<HeadCache>,
    /// The pending HTTP/2 answers.
    pub stream_quota: StreamQuota,
    /// The last lines of response heads.
    pub clock: RefCell<Clock>,
    /// The observer of answers, if enabled.
    pub observer: Option<Arc<Observer>>,
    /// Whether each answer must be the last of its connection.
    pub draining: Cell<bool>,
    /// The open connections.
    pub connections: RefCell<HashMap<u64, Rc<Connection>>>,
    /// Notified when the last connection closes.
    pub all_closed: Notify,
    started: Instant,
    now: Cell<Duration>,
    warnings: Warnings,
    /// The time of the last failure to open a link.
    last_link_shortage: Cell<Option<Instant>>,
    /// The next number, and the step to the following one. A link's number identifies its thread.
    next: Cell<u64>,
    threads: u64,
}

/// The event that a connection waits for. It selects the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The end of the TLS handshake.
    Handshake,
    /// The first byte.
    Fresh,
    /// The rest of a head.
    Head,
    /// The next request.
    Idle,
    /// The client, which must read output.
    Sending,
    /// Node, which has its own time limits.
    Node,
    /// Any event of an HTTP/2 session, which checks its own limits.
    Streams,
    /// The client's end, after the engine's end.
    Lingering,
}

/// A client connection.
pub struct Connection {
    pub permit: Option<Arc<ConnectionPermit>>,
    pub stream: Stream,
    /// The client's address. `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    pub phase: Cell<Phase>,
    /// The start of the phase, in the thread's time.
    pub since: Cell<Duration>,
    /// The value of `stream.sent_bytes()` when the current turn started.
    pub turn: Cell<u64>,
    /// The link to Node, after the first relayed request.
    pub link: RefCell<Option<Rc<Link>>>,
    /// Wakes the HTTP/2 session or the relay.
    pub deadline: DeadlineWaker,
    observed_answers: ObservedAnswers,
    abort: OnceCell<AbortHandle>,
}

impl Thread {
    /// Creates the state of one of `threads` threads.
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
            started: Instant::now(),
            now: Cell::default(),
            warnings: Warnings::default(),
            last_link_shortage: Cell::default(),
            next: Cell::new(number + threads),
            threads,
            shared,
        }
    }

    /// Returns the time since the thread started, as of the last update. This avoids a system call.
    pub fn now(&self) -> Duration {
        self.now.get()
    }

    /// Updates the current time and returns it.
    pub fn update_now(&self) -> Duration {
        self.now.set(self.started.elapsed());
        self.now()
    }

    /// Returns a number that no other connection or link of the engine has.
    pub fn next_id(&self) -> u64 {
        self.next.replace(self.next.get() + self.threads)
    }

    /// Serves an accepted connection. Fails if the system cannot watch its socket.
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

    /// Serves a connection in a new task.
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
        // The cell is empty, because the connection is new.
        let _ = connection.abort.set(task.abort_handle());
    }

    /// Logs a warning for operators.
    pub fn warn(&self, warning: Warning, error: &io::Error) {
        self.warnings.log(warning, error);
    }

    /// Returns whether a link may be opened. After a failure, the next attempt must wait for `RETRY_DELAY`.
    pub fn may_open_link(&self) -> bool {
        self.last_link_shortage
            .get()
            .is_none_or(|then| then.elapsed() >= RETRY_DELAY)
    }

    /// Records that no descriptor is free for a link. Closes idle links and reserves the next free descriptors.
    pub fn note_link_shortage(&self) -> LinkReservation {
        let reservation = LinkReservation::new(&self.shared);
        if self.may_open_link() {
            self.last_link_shortage.set(Some(Instant::now()));
            discard_idle_links(self);
        }
        reservation
    }

    /// Reports to JavaScript that the engine answered a request with an error.
    pub fn emit_refusal(&self, connection: &Connection, status: u16, error: &'static str) {
        self.shared.emit(Event::Refused(Refused {
            status,
            error,
            peer: connection.peer,
        }));
    }

    /// Returns a copy of the list, because connections may close during an iteration.
    pub fn all_connections(&self) -> Vec<Rc<Connection>> {
        self.connections.borrow().values().cloned().collect()
    }
}

impl Connection {
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

    /// Sets the phase and its start.
    pub fn enter_phase(&self, phase: Phase, thread: &Thread) {
        self.phase.set(phase);
        self.since.set(thread.now());
    }

    /// Returns whether Node is answering a request.
    pub fn is_relaying(&self) -> bool {
        let link = self.link.borrow();
        link.as_ref().is_some_and(|link| link.busy.get())
    }

    /// Wakes the relay if Node has reported the end of its answer.
    pub fn wake_if_answered(&self) {
        let link = self.link.borrow();
        if link.as_ref().is_some_and(|link| link.is_answered()) {
            self.deadline.wake();
        }
    }

    /// Closes an idle connection gracefully.
    pub fn end(&self) {
        self.stream.end_at_close();
        self.destroy();
    }

    /// Observes the answer that is written next. `lengths` are those of the answer and of its body.
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

    /// Ends the observation of all answers that are completely sent.
    pub fn settle(&self, thread: &Thread) {
        if thread.observer.is_some() {
            self.observed_answers.settle(self.stream.sent_bytes());
        }
    }

    /// Closes the connection immediately.
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

/// Returns the time since 1970.
pub fn unix_time() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// Removes the connection when its task ends.
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
