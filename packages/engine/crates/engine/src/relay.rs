use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use serve_dist_core::RequestEnd;

use crate::error_code::error_code;
use crate::link::Link;
use crate::pump::{Pump, Stop};
use crate::thread::{Connection, Phase, Thread, Warning};

/// What a client may send ahead of the answer to a request that is Node's.
const MAX_PIPELINED: usize = 16 * 1024;

/// What becomes of a connection after Node has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayOutcome {
    /// It is the engine's again.
    Reusable,
    /// Node has ended it; the client may still be sending.
    NodeClosed,
    /// Both have ended it, or the client is gone.
    Closed,
    /// Node was not to be had, for this reason, and has seen nothing of the request.
    Unreachable(&'static str),
}

/// Gives the request at the begin of `pending` to Node and its answer to the client. What the client sends ahead is in
/// `pending` afterwards.
pub async fn relay(
    thread: &Rc<Thread>,
    connection: &Connection,
    pending: &mut Vec<u8>,
    request: (usize, RequestEnd),
) -> RelayOutcome {
    // A link that is used again may be closed at the same moment, a new one is not.
    match try_relay(thread, connection, pending, request).await {
        None => try_relay(thread, connection, pending, request)
            .await
            .unwrap_or(RelayOutcome::NodeClosed),
        Some(outcome) => outcome,
    }
}

/// `None` where Node has closed a link that was idle, before it read anything of the request, which is in `pending` again.
async fn try_relay(
    thread: &Rc<Thread>,
    connection: &Connection,
    pending: &mut Vec<u8>,
    (head, end): (usize, RequestEnd),
) -> Option<RelayOutcome> {
    connection.enter_phase(Phase::Node, thread);
    let link = match Link::wait_for(connection, thread).await {
        Ok(link) => link,
        Err(error) => {
            thread.warn(Warning::NodeUnreachable, &error);
            return Some(RelayOutcome::Unreachable(error_code(&error)));
        }
    };
    let request_length = match end {
        RequestEnd::Plain { body } => (head as u64).saturating_add(body),
        RequestEnd::Open => u64::MAX,
    };
    let buffered = usize::try_from(request_length).map_or(pending.len(), |request_length| {
        request_length.min(pending.len())
    });
    let pipelined = pending.split_off(buffered);
    let request = std::mem::replace(pending, pipelined);
    // In one piece the system gives Node all of it or nothing.
    let is_buffered = request_length == request.len() as u64 && request.len() <= MAX_PIPELINED;
    let copy = (link.was_used() && is_buffered).then(|| request.clone());
    let mut relay = Relay {
        up: Pump::starting_with(request, &link.stream, request_length - buffered as u64),
        down: Pump::new(u64::MAX),
        upload: Upload::Moving,
        client_has_ended: false,
        node_has_ended: false,
        is_not_read: false,
        is_tunnel: end == RequestEnd::Open,
        moved: 0,
        thread,
        connection,
        link: &link,
        can_repeat: copy.is_some(),
        pipelined: pending,
    };
    let end = poll_fn(|cx| relay.poll(cx)).await;
    let moved = relay.down.moved();
    let can_go_on = !relay.is_tunnel && relay.upload == Upload::Done;
    let outcome = match end {
        RelayEnd::Complete => {
            link.finish_request(moved);
            return Some(RelayOutcome::Reusable);
        }
        RelayEnd::NotRead => None,
        RelayEnd::NodeClosed(RelayOutcome::NodeClosed) if can_go_on => {
            // Before it ended the link, Node may have said that its answer is whole: that is heard in a turn of its own.
            tokio::task::yield_now().await;
            let is_buffered = link.ends_at(moved);
            Some(if is_buffered {
                RelayOutcome::Reusable
            } else {
                RelayOutcome::NodeClosed
            })
        }
        RelayEnd::NodeClosed(outcome) => Some(outcome),
        RelayEnd::ClientClosed => Some(RelayOutcome::Closed),
    };
    // Node is told of an end that is not its own.
    link.busy.set(end == RelayEnd::ClientClosed);
    connection.link.take();
    if outcome.is_none() {
        let pipelined = std::mem::replace(pending, copy.unwrap_or_default());
        pending.extend(pipelined);
    }
    outcome
}

/// How the way of a request to Node, and of its answer, has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RelayEnd {
    /// With the answer: the link is there for the next request.
    Complete,
    /// Node has closed the link before it read anything of a request that is kept.
    NotRead,
    /// Node has closed the link.
    NodeClosed(RelayOutcome),
    /// The client is gone, or cut off.
    ClientClosed,
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
    /// Whether the request can be given to another link.
    can_repeat: bool,
    /// It is to be: Node has closed its end before it read anything of it.
    is_not_read: bool,
    is_tunnel: bool,
    /// What the client had taken when last looked at.
    moved: u64,
    thread: &'a Thread,
    connection: &'a Connection,
    link: &'a Link,
    pipelined: &'a mut Vec<u8>,
}

impl Relay<'_> {
    fn poll(&mut self, cx: &mut Context) -> Poll<RelayEnd> {
        self.link.wake_at_end(cx);
        if !self.poll_up(cx) || !self.poll_down(cx) {
            let is_answered = self.node_has_ended;
            return Poll::Ready(if is_answered {
                RelayEnd::NodeClosed(RelayOutcome::Closed)
            } else {
                RelayEnd::ClientClosed
            });
        }
        self.note_progress();
        if self.is_not_read {
            return Poll::Ready(RelayEnd::NotRead);
        }
        if self.node_has_ended {
            return self.poll_end(cx).map(RelayEnd::NodeClosed);
        }
        let is_answered = !self.down.is_holding() && self.link.ends_at(self.down.moved());
        if is_answered && self.upload == Upload::Done && !self.is_tunnel {
            return Poll::Ready(RelayEnd::Complete);
        }
        Poll::Pending
    }

    /// Moves what the client sends; false when it is gone.
    fn poll_up(&mut self, cx: &mut Context) -> bool {
        if self.upload == Upload::Moving {
            let streams = (&self.connection.stream, &self.link.stream);
            let buffer = &mut self.thread.buffer.borrow_mut();
            match self.up.poll(cx, streams, buffer) {
                Poll::Pending => return true,
                Poll::Ready(Stop::SourceFailed) => return false,
                Poll::Ready(Stop::SinkFailed) => self.upload = Upload::Failed,
                Poll::Ready(Stop::Done) => self.upload = Upload::Done,
                Poll::Ready(Stop::SourceEnded) => {
                    self.upload = Upload::Done;
                    self.client_has_ended = true;
                    self.link.stream.end();
                }
            }
        }
        self.poll_pipelined(cx)
    }

    /// Reads what comes behind the request; false when the client is gone.
    fn poll_pipelined(&mut self, cx: &mut Context) -> bool {
        // The link may prove to be one that was closed: then the request is repeated, and nothing of what follows it is lost.
        if self.upload == Upload::Failed && self.can_repeat && !self.node_has_ended {
            return true;
        }
        let buffer = &mut self.thread.buffer.borrow_mut();
        while !self.client_has_ended && self.pipelined.len() < MAX_PIPELINED {
            let space = MAX_PIPELINED - self.pipelined.len();
            match self.connection.stream.poll_read(cx, &mut buffer[..space]) {
                Poll::Pending => break,
                Poll::Ready(Err(_)) => return false,
                Poll::Ready(Ok(0)) => {
                    self.client_has_ended = true;
                    // Else it still waits for answers to what it has sent ahead.
                    if self.pipelined.is_empty() {
                        self.link.stream.end();
                    }
                }
                // The rest of a request that Node does not read.
                Poll::Ready(Ok(_)) if self.upload == Upload::Failed => {}
                Poll::Ready(Ok(count)) => self.pipelined.extend_from_slice(&buffer[..count]),
            }
        }
        true
    }

    /// Moves what Node sends; false when the client is gone.
    fn poll_down(&mut self, cx: &mut Context) -> bool {
        if self.node_has_ended {
            return true;
        }
        let streams = (&self.link.stream, &self.connection.stream);
        match self
            .down
            .poll(cx, streams, &mut self.thread.buffer.borrow_mut())
        {
            Poll::Pending => true,
            Poll::Ready(Stop::SinkFailed) => false,
            Poll::Ready(stop) => {
                let is_cut_off = self.link.is_cut_off();
                // A link of the system's own fails where its peer has closed it with bytes that it has not read.
                self.is_not_read = self.can_repeat
                    && self.down.moved() == 0
                    && (self.up.moved() == 0 || stop == Stop::SourceFailed);
                if is_cut_off && !self.is_not_read {
                    self.connection.stream.cut_off_at_close();
                    return false;
                }
                self.node_has_ended = true;
                if self.is_tunnel {
                    self.connection.stream.end();
                }
                true
            }
        }
    }

    /// After Node's end: a tunnel lives as long as Node still reads what the client sends.
    fn poll_end(&mut self, cx: &mut Context) -> Poll<RelayOutcome> {
        if self.client_has_ended && !self.up.is_holding() {
            Poll::Ready(RelayOutcome::Closed)
        } else if !self.is_tunnel
            || self.upload == Upload::Failed
            || self.link.stream.poll_peer_closed(cx).is_ready()
        {
            Poll::Ready(RelayOutcome::NodeClosed)
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
            self.connection.enter_phase(phase, self.thread);
        }
    }
}
