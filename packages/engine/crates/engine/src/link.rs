use std::cell::Cell;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use crate::answer_end::AnswerEnd;
use crate::event::Event;
use crate::shared::Shared;
use crate::stream::Stream;

/// A connection's link to Node: the engine's end of a socket pair.
pub struct Link {
    pub stream: Stream,
    /// The number of bytes from Node for finished requests.
    pub relayed: Cell<u64>,
    /// Whether a request is in progress.
    pub busy: Cell<bool>,
    /// The time when the last request finished, in the thread's time.
    pub idle_since: Cell<Duration>,
    id: u64,
    answer_end: Arc<AnswerEnd>,
    shared: Arc<Shared>,
}

impl Link {
    /// Creates an idle link. Must precede the event for Node, because JavaScript may refer to the link immediately.
    pub fn new(stream: Stream, id: u64, shared: &Arc<Shared>) -> Self {
        Self {
            stream,
            relayed: Cell::new(0),
            busy: Cell::new(false),
            idle_since: Cell::default(),
            id,
            answer_end: shared.answer_ends.add(id),
            shared: shared.clone(),
        }
    }

    /// Begins a request.
    pub fn begin_request(&self) {
        self.busy.set(true);
        self.answer_end.clear();
    }

    /// Returns whether the link has been idle for `time`.
    pub fn is_idle_for(&self, time: Duration, now: Duration) -> bool {
        !self.busy.get() && now.saturating_sub(self.idle_since.get()) >= time
    }

    /// Returns whether Node has answered a request on this link.
    pub fn was_used(&self) -> bool {
        self.relayed.get() > 0
    }

    /// Returns whether Node has reported the end of its answer.
    pub fn is_answered(&self) -> bool {
        self.busy.get() && self.answer_end.get().is_some()
    }

    /// Returns whether Node's answer is complete after `bytes` more bytes.
    pub fn ends_at(&self, bytes: u64) -> bool {
        self.is_past(self.answer_end.get(), bytes)
    }

    /// Like `ends_at`, but wakes the task when Node reports the end.
    pub fn ends_at_or_wakes(&self, bytes: u64, cx: &Context) -> bool {
        self.is_past(self.answer_end.get_or_wake(cx.waker()), bytes)
    }

    fn is_past(&self, end: Option<u64>, bytes: u64) -> bool {
        end.is_some_and(|end| self.relayed.get() + bytes >= end)
    }

    /// Returns whether Node has aborted an answer that would appear complete.
    pub fn is_cut_off(&self) -> bool {
        self.answer_end.is_cut_off()
    }

    /// Records the end of a request after `bytes` bytes. The engine may reuse the link.
    pub fn finish_request(&self, bytes: u64, now: Duration) {
        self.busy.set(false);
        self.relayed.set(self.relayed.get() + bytes);
        self.idle_since.set(now);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.answer_ends.remove(self.id);
        if self.busy.get() {
            self.shared.emit(Event::Closed(self.id));
        }
    }
}
