use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serve_dist_core::Clock;
use tokio::sync::Notify;

use crate::connection::Connection;
use crate::event::{Event, Refused};
use crate::head_cache::HeadCache;
use crate::observe::{Observations, Observer};
use crate::shared::Shared;
use crate::stream_quota::StreamQuota;
use crate::time::{milliseconds, unix_time};
use crate::tuning::READ_BUFFER;
use crate::warning::{Warning, Warnings};

/// The state that the connections of one thread share.
pub struct Thread {
    pub shared: Arc<Shared>,
    pub buffers: Buffers,
    pub http2: Http2State,
    /// The last lines of response heads.
    pub clock: RefCell<Clock>,
    /// The observer of answers, if enabled.
    pub observer: Option<Arc<Observer>>,
    pub connections: Connections,
    /// The time of the last failure to open a link.
    pub last_link_shortage: Cell<Option<Instant>>,
    warnings: Warnings,
    time: Stopwatch,
    ids: Ids,
}

/// The buffers of a thread. Used within one poll only.
pub struct Buffers {
    pub input: RefCell<Box<[u8]>>,
    pub output: RefCell<Vec<u8>>,
}

/// The state that all HTTP/2 sessions of a thread share.
pub struct Http2State {
    pub head_cache: RefCell<HeadCache>,
    /// The pending answers from the table.
    pub stream_quota: StreamQuota,
}

/// The open connections of a thread.
#[derive(Default)]
pub struct Connections {
    open: RefCell<HashMap<u64, Rc<Connection>>>,
    /// Whether each answer must be the last of its connection.
    pub draining: Cell<bool>,
    /// Notified when the last connection closes.
    all_closed: Notify,
}

/// Measures the time since the thread started.
struct Stopwatch {
    started: Instant,
    now: Cell<Duration>,
}

/// The numbers of connections and links. They identify the thread.
struct Ids {
    next: Cell<u64>,
    step: u64,
}

impl Thread {
    /// Creates the state of one of `threads` threads.
    pub fn new(shared: Arc<Shared>, number: u64, threads: u64) -> Self {
        let keep_alive = milliseconds(shared.limits.keep_alive);
        let share = usize::try_from(threads).map_or(1, |threads| {
            shared.limits.maximum_streams.div_ceil(threads.max(1))
        });
        Self {
            buffers: Buffers {
                input: RefCell::new(vec![0; READ_BUFFER].into()),
                output: RefCell::default(),
            },
            http2: Http2State {
                head_cache: RefCell::default(),
                stream_quota: StreamQuota::new(share),
            },
            clock: RefCell::new(Clock::new(keep_alive, unix_time().as_secs())),
            observer: shared.observations.as_ref().map(Observations::observer),
            connections: Connections::default(),
            last_link_shortage: Cell::default(),
            warnings: Warnings::default(),
            time: Stopwatch {
                started: Instant::now(),
                now: Cell::default(),
            },
            ids: Ids {
                next: Cell::new(number + threads),
                step: threads,
            },
            shared,
        }
    }

    /// Returns the time since the thread started, as of the last update. This avoids a system call.
    pub fn now(&self) -> Duration {
        self.time.now.get()
    }

    /// Updates the current time and returns it.
    pub fn update_now(&self) -> Duration {
        self.time.now.set(self.time.started.elapsed());
        self.now()
    }

    /// Returns a number that no other connection or link of the engine has.
    pub fn next_id(&self) -> u64 {
        let Ids { next, step } = &self.ids;
        next.replace(next.get() + step)
    }

    /// Returns whether each answer must be the last of its connection.
    pub fn is_draining(&self) -> bool {
        self.connections.draining.get()
    }

    /// Logs a warning for operators.
    pub fn warn(&self, warning: Warning, error: &io::Error) {
        self.warnings.log(warning, error);
    }

    /// Reports to JavaScript that the engine answered a request with an error.
    pub fn emit_refusal(&self, connection: &Connection, status: u16, error: &'static str) {
        self.shared.emit(Event::Refused(Refused {
            status,
            error,
            peer: connection.peer,
        }));
    }
}

impl Connections {
    /// Adds a connection until `remove`.
    pub fn insert(&self, id: u64, connection: Rc<Connection>) {
        self.open.borrow_mut().insert(id, connection);
    }

    pub fn remove(&self, id: u64) {
        let closed = self.open.borrow_mut().remove(&id);
        // Dropping it may remove its link and emit an event.
        drop(closed);
        if self.is_empty() {
            self.all_closed.notify_waiters();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.open.borrow().is_empty()
    }

    /// Returns a copy of the list, because connections may close during an iteration.
    pub fn all(&self) -> Vec<Rc<Connection>> {
        self.open.borrow().values().cloned().collect()
    }

    /// Waits until no connection is open.
    pub async fn wait_until_closed(&self) {
        let notified = self.all_closed.notified();
        if !self.is_empty() {
            notified.await;
        }
    }
}
