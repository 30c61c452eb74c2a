use std::cell::{Cell, OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::counters::ConnectionPermit;
use crate::deadline_waker::DeadlineWaker;
use crate::link::Link;
use crate::observe::{AnswerLabel, AnswerSize, ObservedAnswers, Observer};
use crate::stream::Stream;

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
    pub fn enter_phase(&self, phase: Phase, now: Duration) {
        self.phase.set(phase);
        self.since.set(now);
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

    /// Observes the answer that is written next.
    pub fn observe(
        &self,
        observer: &Arc<Observer>,
        label: AnswerLabel,
        size: AnswerSize,
        request: &[u8],
    ) {
        let answer = observer.begin(label, self.peer.map(|peer| peer.ip()), request);
        self.observed_answers
            .begin(self.stream.sent_bytes(), size, answer);
    }

    /// Ends the observation of all answers that are completely sent.
    pub fn settle(&self) {
        self.observed_answers.settle(self.stream.sent_bytes());
    }

    /// Sets the task that serves the connection.
    pub fn set_task(&self, task: AbortHandle) {
        // The cell is empty, because the connection is new.
        let _ = self.abort.set(task);
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
