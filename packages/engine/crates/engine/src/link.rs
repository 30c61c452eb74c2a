use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

use crate::answer_end::AnswerEnd;
use crate::event::{Event, Handed};
use crate::limits::LINK_IDLE;
use crate::stream::Stream;
use crate::thread::{Connection, Thread};
use crate::tls::Session;
use crate::worker::RETRY_DELAY;

/// The number of attempts to open a link if no descriptors are free. They take two seconds.
pub const LINK_ATTEMPTS: u32 = 40;

/// A connection's link to Node: the engine's end of a socket pair.
pub struct Link {
    pub stream: Stream,
    /// The number of bytes from Node for finished requests.
    pub relayed: Cell<u64>,
    /// Whether a request is in progress.
    pub busy: Cell<bool>,
    /// The time when the last request finished.
    pub idle_since: Cell<Duration>,
    id: u64,
    answer_end: Arc<AnswerEnd>,
    thread: Rc<Thread>,
}

impl Link {
    /// Returns the connection's link for a new request. Opens a link if Node has closed it or none exists.
    pub fn get_or_open(connection: &Connection, thread: &Rc<Thread>) -> io::Result<Rc<Self>> {
        let mut slot = connection.link.borrow_mut();
        // Node closes a link after each answer while it drains, and after a long idle time.
        let reusable = slot.take().filter(|link| {
            !thread.draining.get() && !link.is_idle_for(LINK_IDLE) && link.stream.has_no_input()
        });
        let link = reusable.map_or_else(|| Self::open(connection, thread), Ok)?;
        link.busy.set(true);
        link.answer_end.clear();
        *slot = Some(link.clone());
        Ok(link)
    }

    /// Like `get_or_open`, but waits for a while if no descriptors are free.
    pub async fn wait_for(connection: &Connection, thread: &Rc<Thread>) -> io::Result<Rc<Self>> {
        let mut _reservation = None;
        for _ in 0..LINK_ATTEMPTS {
            // After a failure on this thread, the next attempt is one `RETRY_DELAY` later.
            if thread.may_open_link() || connection.link.borrow().is_some() {
                match Self::get_or_open(connection, thread) {
                    Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                        _reservation = Some(thread.note_link_shortage());
                    }
                    found => return found,
                }
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        Self::get_or_open(connection, thread)
    }

    fn open(connection: &Connection, thread: &Rc<Thread>) -> io::Result<Rc<Self>> {
        let (stream, end) = Stream::pair()?;
        let id = thread.next_id();
        let link = Rc::new(Self {
            stream,
            relayed: Cell::new(0),
            busy: Cell::new(false),
            idle_since: Cell::default(),
            id,
            // Must precede the event, because JavaScript may refer to the link immediately.
            answer_end: thread.shared.answer_ends.add(id),
            thread: thread.clone(),
        });
        hand_to_node(connection, thread, (id, end))?;
        Ok(link)
    }

    pub fn is_idle_for(&self, time: Duration) -> bool {
        let idle = self.thread.now().saturating_sub(self.idle_since.get());
        !self.busy.get() && idle >= time
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
    pub fn finish_request(&self, bytes: u64) {
        self.busy.set(false);
        self.relayed.set(self.relayed.get() + bytes);
        self.idle_since.set(self.thread.now());
    }
}

/// Opens a socket pair and passes one end to Node. Returns the id of the pair and the engine's end.
pub fn open_pair(connection: &Connection, thread: &Thread) -> io::Result<(u64, Stream)> {
    let (stream, end) = Stream::pair()?;
    let id = thread.next_id();
    hand_to_node(connection, thread, (id, end))?;
    Ok((id, stream))
}

fn hand_to_node(
    connection: &Connection,
    thread: &Thread,
    (id, end): (u64, OwnedFd),
) -> io::Result<()> {
    let handed = Handed {
        id,
        end,
        peer: connection.peer,
        protocol: connection.stream.protocol(),
        encryption: connection.stream.session().map(Session::handshake_info),
        permit: connection.permit.clone(),
    };
    let is_sent = thread.shared.emit(Event::Handed(handed));
    is_sent
        .then_some(())
        .ok_or_else(|| io::ErrorKind::NotConnected.into())
}

impl Drop for Link {
    fn drop(&mut self) {
        self.thread.shared.answer_ends.remove(self.id);
        if self.busy.get() {
            self.thread.shared.emit(Event::Closed(self.id));
        }
    }
}
