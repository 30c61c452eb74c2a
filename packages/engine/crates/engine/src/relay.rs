use std::future::poll_fn;
use std::task::{Context, Poll};
use std::time::Duration;

use serve_dist_core::{Answer, RequestEnd};

use crate::connection::{Connection, Phase};
use crate::error_code::error_code;
use crate::link::Link;
use crate::links::wait_for_link;
use crate::pump::{Pump, Stop};
use crate::thread::Thread;
use crate::warning::Warning;

/// The maximum number of bytes that a client may send before Node has answered.
const MAX_PIPELINED: usize = 16 * 1024;

/// The state of a connection after Node's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayOutcome {
    /// The engine may read the next request.
    Reusable,
    /// Node has closed the link. The client may still be sending.
    NodeClosed,
    /// Both sides have ended, or the client has disconnected.
    Closed,
    /// Node is unreachable, with this error code, and has not received any of the request.
    Unreachable(&'static str),
}

/// The size of a request that Node answers.
#[derive(Clone, Copy)]
pub struct RequestSize {
    /// The number of bytes of the head.
    pub head: usize,
    pub end: RequestEnd,
}

impl RequestSize {
    /// Returns the size of a request whose end the engine cannot know.
    pub fn unknown(head: usize) -> Self {
        Self {
            head,
            end: RequestEnd::Open,
        }
    }

    /// Returns the size of a request that has an answer in the table.
    pub fn of(answer: &Answer) -> Self {
        Self {
            head: answer.consumed,
            end: answer.request_end(),
        }
    }
}

/// Relays the request at the start of `pending` to Node, and the answer to the client. `pending` then contains the
/// bytes that the client sent after the request.
pub async fn relay(
    thread: &Thread,
    connection: &Connection,
    pending: &mut Vec<u8>,
    request: RequestSize,
) -> RelayOutcome {
    // Node may close an idle link while it is reused. This cannot happen on a new link, so one retry suffices.
    match try_relay(thread, connection, pending, request).await {
        None => try_relay(thread, connection, pending, request)
            .await
            .unwrap_or(RelayOutcome::NodeClosed),
        Some(outcome) => outcome,
    }
}

/// Returns `None` if Node closed an idle link before it read the request. `pending` then contains the request again.
async fn try_relay(
    thread: &Thread,
    connection: &Connection,
    pending: &mut Vec<u8>,
    request: RequestSize,
) -> Option<RelayOutcome> {
    connection.enter_phase(Phase::Node, thread.now());
    let link = match wait_for_link(connection, thread).await {
        Ok(link) => link,
        Err(error) => {
            thread.warn(Warning::NodeUnreachable, &error);
            return Some(RelayOutcome::Unreachable(error_code(&error)));
        }
    };
    let RequestSize { head, end } = request;
    let request_length = match end {
        RequestEnd::Plain { body } => (head as u64).saturating_add(body),
        RequestEnd::Open => u64::MAX,
    };
    let buffered = usize::try_from(request_length).map_or(pending.len(), |request_length| {
        request_length.min(pending.len())
    });
    let pipelined = pending.split_off(buffered);
    let request = std::mem::replace(pending, pipelined);
    // Only a request that Node reads at once can be repeated: if Node closed the link with unread bytes, it has read
    // none of the request. Node may already be processing the first part of a longer request.
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
            link.finish_request(moved, thread.now());
            return Some(RelayOutcome::Reusable);
        }
        RelayEnd::NotRead => None,
        RelayEnd::NodeClosed(RelayOutcome::NodeClosed) if can_go_on => {
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
    // Dropping a busy link reports to Node that the client has disconnected.
    link.busy.set(end == RelayEnd::ClientClosed);
    connection.link.take();
    if outcome.is_none() {
        let pipelined = std::mem::replace(pending, copy.unwrap_or_default());
        pending.extend(pipelined);
    }
    outcome
}

/// Why a relay has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RelayEnd {
    /// The answer is complete, and the link is reusable.
    Complete,
    /// Node closed the link before it read a request that can be repeated.
    NotRead,
    /// Node has closed the link.
    NodeClosed(RelayOutcome),
    /// The client has disconnected, or the answer was aborted.
    ClientClosed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Upload {
    Moving,
    /// Node has received the whole request.
    Done,
    /// Node stopped reading. Its answer may still arrive and explain why.
    Failed,
}

/// Two independent pumps, one per direction.
struct Relay<'a> {
    up: Pump,
    down: Pump,
    upload: Upload,
    client_has_ended: bool,
    node_has_ended: bool,
    /// Whether another link can send the request again.
    can_repeat: bool,
    /// Whether Node closed the link before it read the request.
    is_not_read: bool,
    is_tunnel: bool,
    /// The value of `down.moved()` at the last check.
    moved: u64,
    thread: &'a Thread,
    connection: &'a Connection,
    link: &'a Link,
    pipelined: &'a mut Vec<u8>,
}

impl Relay<'_> {
    fn poll(&mut self, cx: &mut Context) -> Poll<RelayEnd> {
        // The sweep wakes the task after the answer if the client sends nothing.
        self.connection.deadline.set(cx, Duration::MAX);
        if self.may_complete() && self.link.ends_at(self.down.moved()) {
            return Poll::Ready(RelayEnd::Complete);
        }
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
        if self.may_complete() && self.ends(cx) {
            return Poll::Ready(RelayEnd::Complete);
        }
        Poll::Pending
    }

    fn may_complete(&self) -> bool {
        self.upload == Upload::Done && !self.is_tunnel && !self.down.is_holding()
    }

    /// Returns whether the answer ends here. Node must report its end at once only if something waits for it.
    fn ends(&self, cx: &Context) -> bool {
        let moved = self.down.moved();
        if self.pipelined.is_empty() && !self.client_has_ended && !self.thread.is_draining() {
            self.link.ends_at(moved)
        } else {
            self.link.ends_at_or_wakes(moved, cx)
        }
    }

    /// Relays input of the client. Returns `false` if the client has disconnected.
    fn poll_up(&mut self, cx: &mut Context) -> bool {
        if self.upload == Upload::Moving {
            let (from, to) = (&self.connection.stream, &self.link.stream);
            let buffer = &mut self.thread.buffers.input.borrow_mut();
            match self.up.poll(cx, from, to, buffer) {
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

    /// Reads input after the request. Returns `false` if the client has disconnected.
    fn poll_pipelined(&mut self, cx: &mut Context) -> bool {
        // Node may have closed an idle link. Read nothing, so that the input after the request is not lost when it is
        // repeated.
        if self.upload == Upload::Failed && self.can_repeat && !self.node_has_ended {
            return true;
        }
        let buffer = &mut self.thread.buffers.input.borrow_mut();
        while !self.client_has_ended && self.pipelined.len() < MAX_PIPELINED {
            let space = MAX_PIPELINED - self.pipelined.len();
            match self.connection.stream.poll_read(cx, &mut buffer[..space]) {
                Poll::Pending => break,
                Poll::Ready(Err(_)) => return false,
                Poll::Ready(Ok(0)) => {
                    self.client_has_ended = true;
                    // Otherwise, the client still waits for answers to pipelined requests.
                    if self.pipelined.is_empty() {
                        self.link.stream.end();
                    }
                }
                // Discard the rest of a request that Node does not read.
                Poll::Ready(Ok(_)) if self.upload == Upload::Failed => {}
                Poll::Ready(Ok(count)) => self.pipelined.extend_from_slice(&buffer[..count]),
            }
        }
        true
    }

    /// Relays output of Node. Returns `false` if the client has disconnected.
    fn poll_down(&mut self, cx: &mut Context) -> bool {
        if self.node_has_ended {
            return true;
        }
        let (from, to) = (&self.link.stream, &self.connection.stream);
        let buffer = &mut self.thread.buffers.input.borrow_mut();
        match self.down.poll(cx, from, to, buffer) {
            Poll::Pending => true,
            Poll::Ready(Stop::SinkFailed) => false,
            Poll::Ready(stop) => {
                let is_cut_off = self.link.is_cut_off();
                // Reading from a unix socket fails if the peer closed it with unread bytes.
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

    /// Handles the end of Node's output. A tunnel continues while Node reads the client's input.
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

    /// While output for the client is pending, the engine's time limit applies. Otherwise, Node's time limits apply.
    fn note_progress(&mut self) {
        // Node does not know yet that the client has closed its half after pipelined requests.
        let is_half_closed = self.client_has_ended && !self.pipelined.is_empty();
        let phase = if self.down.is_holding() || is_half_closed {
            Phase::Sending
        } else {
            Phase::Node
        };
        if phase != self.connection.phase.get() || self.moved != self.down.moved() {
            self.moved = self.down.moved();
            self.connection.enter_phase(phase, self.thread.now());
        }
    }
}
