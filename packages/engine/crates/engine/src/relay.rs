use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use serve_dist_core::RequestEnd;

use crate::link::Link;
use crate::pump::{Pump, Stop};
use crate::thread::{Connection, Phase, Thread};

/// What a client may send ahead of the answer to a request that is Node's.
const AHEAD: usize = 16 * 1024;

/// What becomes of a connection after Node has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It is the engine's again.
    Ours,
    /// Node has ended it; the client may still be sending.
    Ended,
    /// Both have ended it, or the client is gone.
    Over,
    /// Node was not to be had, and has seen nothing of the request.
    Failed,
}

/// Gives the request at the begin of `pending` to Node and its answer to the client. What the client sends ahead is in
/// `pending` afterwards.
pub async fn relay(
    thread: &Rc<Thread>,
    connection: &Connection,
    pending: &mut Vec<u8>,
    (head, end): (usize, RequestEnd),
) -> After {
    let Ok(link) = Link::of(connection, thread) else {
        return After::Failed;
    };
    let whole = match end {
        RequestEnd::Plain { body } => (head as u64).saturating_add(body),
        RequestEnd::Open => u64::MAX,
    };
    let here = usize::try_from(whole).map_or(pending.len(), |whole| whole.min(pending.len()));
    let ahead = pending.split_off(here);
    let request = std::mem::replace(pending, ahead);
    let mut relay = Relay {
        up: Pump::beginning_with(request, &link.stream, whole - here as u64),
        down: Pump::new(u64::MAX),
        upload: Upload::Moving,
        client_has_ended: false,
        node_has_ended: false,
        is_tunnel: end == RequestEnd::Open,
        moved: 0,
        thread,
        connection,
        link: &link,
        ahead: pending,
    };
    connection.enter(Phase::Node, thread);
    let mut after = poll_fn(|cx| relay.poll(cx)).await;
    if after == After::Ended && !relay.is_tunnel && relay.upload == Upload::Done {
        // Before it ended the link, Node may have said that its answer is whole: that is heard in a turn of its own.
        tokio::task::yield_now().await;
        if link.ends_at(relay.down.moved()) {
            after = After::Ours;
        }
    }
    if after == After::Ours && !relay.node_has_ended {
        link.rest(relay.down.moved());
    } else {
        let is_answered = after != After::Over || relay.node_has_ended;
        link.busy.set(!is_answered);
        connection.link.take();
    }
    after
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Upload {
    Moving,
    /// Node has all that the client will send of this request.
    Done,
    /// Node takes nothing more. That does not end its answer, which may be about just that.
    Failed,
}

/// Two pumps, which never wait for each other.
struct Relay<'a> {
    up: Pump,
    down: Pump,
    upload: Upload,
    client_has_ended: bool,
    node_has_ended: bool,
    is_tunnel: bool,
    /// What the client had taken when last looked at.
    moved: u64,
    thread: &'a Thread,
    connection: &'a Connection,
    link: &'a Link,
    ahead: &'a mut Vec<u8>,
}

impl Relay<'_> {
    fn poll(&mut self, cx: &mut Context) -> Poll<After> {
        self.link.wake_at_end(cx);
        if !self.poll_up(cx) || !self.poll_down(cx) {
            return Poll::Ready(After::Over);
        }
        self.note_progress();
        if self.node_has_ended {
            return self.poll_end(cx);
        }
        let is_answered = !self.down.is_holding() && self.link.ends_at(self.down.moved());
        if is_answered && self.upload == Upload::Done && !self.is_tunnel {
            return Poll::Ready(After::Ours);
        }
        Poll::Pending
    }

    /// Moves what the client sends; false when it is gone.
    fn poll_up(&mut self, cx: &mut Context) -> bool {
        if self.upload == Upload::Moving {
            let way = (&self.connection.stream, &self.link.stream);
            let buffer = &mut self.thread.buffer.borrow_mut();
            match self.up.poll(cx, way, buffer) {
                Poll::Pending => return true,
                Poll::Ready(Stop::SourceFailed) => return false,
                Poll::Ready(Stop::SinkFailed) => self.upload = Upload::Failed,
                Poll::Ready(Stop::Enough) => self.upload = Upload::Done,
                Poll::Ready(Stop::SourceEnded) => {
                    self.upload = Upload::Done;
                    self.client_has_ended = true;
                    self.link.stream.end();
                }
            }
        }
        self.poll_ahead(cx)
    }

    /// Reads what comes behind the request; false when the client is gone.
    fn poll_ahead(&mut self, cx: &mut Context) -> bool {
        let buffer = &mut self.thread.buffer.borrow_mut();
        while !self.client_has_ended && self.ahead.len() < AHEAD {
            let space = AHEAD - self.ahead.len();
            match self.connection.stream.poll_read(cx, &mut buffer[..space]) {
                Poll::Pending => break,
                Poll::Ready(Err(_)) => return false,
                Poll::Ready(Ok(0)) => {
                    self.client_has_ended = true;
                    // Else it still waits for answers to what it has sent ahead.
                    if self.ahead.is_empty() {
                        self.link.stream.end();
                    }
                }
                // The rest of a request that Node does not read.
                Poll::Ready(Ok(_)) if self.upload == Upload::Failed => {}
                Poll::Ready(Ok(count)) => self.ahead.extend_from_slice(&buffer[..count]),
            }
        }
        true
    }

    /// Moves what Node sends; false when the client is gone.
    fn poll_down(&mut self, cx: &mut Context) -> bool {
        if self.node_has_ended {
            return true;
        }
        let way = (&self.link.stream, &self.connection.stream);
        match self
            .down
            .poll(cx, way, &mut self.thread.buffer.borrow_mut())
        {
            Poll::Pending => true,
            Poll::Ready(Stop::SinkFailed) => false,
            Poll::Ready(_) if self.link.is_cut_off() => {
                self.connection.stream.reset_at_close();
                false
            }
            Poll::Ready(_) => {
                self.node_has_ended = true;
                if self.is_tunnel {
                    self.connection.stream.end();
                }
                true
            }
        }
    }

    /// After Node's end: a tunnel lives as long as Node still reads what the client sends.
    fn poll_end(&mut self, cx: &mut Context) -> Poll<After> {
        if self.client_has_ended && !self.up.is_holding() {
            Poll::Ready(After::Over)
        } else if !self.is_tunnel
            || self.upload == Upload::Failed
            || self.link.stream.poll_gone(cx).is_ready()
        {
            Poll::Ready(After::Ended)
        } else {
            Poll::Pending
        }
    }

    /// While the client has bytes to take, its progress is ours to watch; else Node watches.
    fn note_progress(&mut self) {
        let phase = if self.down.is_holding() {
            Phase::Sending
        } else {
            Phase::Node
        };
        if phase != self.connection.phase.get() || self.moved != self.down.moved() {
            self.moved = self.down.moved();
            self.connection.enter(phase, self.thread);
        }
    }
}
