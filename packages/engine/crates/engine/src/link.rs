use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::event::{Event, Handed};
use crate::limits::LINK_IDLE;
use crate::stream::Stream;
use crate::thread::{Connection, Thread};
use crate::tls::Session;
use crate::worker::RETRY_DELAY;

/// How often a request for Node is tried while there are no descriptors for it: two seconds.
pub const LINK_ATTEMPTS: u32 = 40;

/// A connection's way to Node: our end of a socket pair.
pub struct Link {
    /// Our end.
    pub stream: Stream,
    /// Bytes that came back for requests that are over.
    pub relayed: Cell<u64>,
    /// Whether a request is under way.
    pub busy: Cell<bool>,
    /// Since when none is.
    pub idle_since: Cell<Duration>,
    id: u64,
    end: Cell<Option<u64>>,
    waker: RefCell<Waker>,
    thread: Rc<Thread>,
}

impl Link {
    /// The link of a connection that Node has not closed, else a new one, for a request that is under way from now on.
    pub fn get_or_open(connection: &Connection, thread: &Rc<Thread>) -> io::Result<Rc<Self>> {
        let mut slot = connection.link.borrow_mut();
        // A server that stops closes its end behind each answer, and Node one that has been idle for long.
        let reusable = slot.take().filter(|link| {
            !thread.draining.get() && !link.is_idle_for(LINK_IDLE) && link.stream.has_no_input()
        });
        let link = reusable.map_or_else(|| Self::open(connection, thread), Ok)?;
        link.busy.set(true);
        link.end.set(None);
        *slot = Some(link.clone());
        Ok(link)
    }

    /// As `of`; where the system has no descriptors left, waits for some for a while.
    pub async fn wait_for(connection: &Connection, thread: &Rc<Thread>) -> io::Result<Rc<Self>> {
        for _ in 0..LINK_ATTEMPTS {
            // Others have just found that there are none: one failure in a breath is enough.
            if thread.may_open_link() || connection.link.borrow().is_some() {
                match Self::get_or_open(connection, thread) {
                    Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                        thread.note_link_shortage();
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
            end: Cell::new(None),
            waker: RefCell::new(Waker::noop().clone()),
            thread: thread.clone(),
        });
        thread.links.borrow_mut().insert(id, Rc::downgrade(&link));
        // Before JavaScript can say anything of it.
        thread.shared.note_link(id);
        hand_to_node(connection, thread, (id, end))?;
        Ok(link)
    }

    /// Whether it has been idle for so long.
    pub fn is_idle_for(&self, time: Duration) -> bool {
        let idle = self.thread.now().saturating_sub(self.idle_since.get());
        !self.busy.get() && idle >= time
    }

    /// Whether Node has answered on it before.
    pub fn was_used(&self) -> bool {
        self.relayed.get() > 0
    }

    /// Wakes this task when Node's answer has an end.
    pub fn wake_at_end(&self, cx: &Context) {
        self.waker.borrow_mut().clone_from(cx.waker());
    }

    /// Node's answer ends after so many bytes of this link.
    pub fn end_at(&self, bytes: u64) {
        self.end.set(Some(bytes));
        self.waker.borrow().wake_by_ref();
    }

    /// Whether Node's answer is whole once so many bytes of it have come.
    pub fn ends_at(&self, bytes: u64) -> bool {
        self.end
            .get()
            .is_some_and(|end| self.relayed.get() + bytes >= end)
    }

    /// Whether Node has closed its end in the middle of an answer that would seem whole.
    pub fn is_cut_off(&self) -> bool {
        self.thread.shared.is_reset_at_end(self.id)
    }

    /// The request is over after so many bytes, and the connection is the engine's again.
    pub fn finish_request(&self, bytes: u64) {
        self.busy.set(false);
        self.relayed.set(self.relayed.get() + bytes);
        self.idle_since.set(self.thread.now());
    }
}

/// Gives Node its end of a new pair for a connection; says how it is named, and has our end.
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
        self.thread.links.borrow_mut().remove(&self.id);
        self.thread.shared.forget_link(self.id);
        if self.busy.get() {
            self.thread.shared.emit(Event::Closed(self.id));
        }
    }
}
