//! HTTP/2 sessions. The engine answers streams from the table, and relays all others over one session with Node per
//! client.

mod bodies;
mod body_chunk;
mod client;
mod exchange;
pub mod frames;
mod node_session;
mod pinger;
mod relayed_streams;
mod self_wake_filter;
mod shutdown;
mod table_answer;
mod wire;

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::Request;

use crate::connection::{Connection, Phase};
use crate::http2::bodies::{Bodies, Progress};
use crate::http2::body_chunk::BodyChunk;
use crate::http2::client::{Client, Session};
use crate::http2::frames::FrameLimiter;
use crate::http2::pinger::Pinger;
use crate::http2::relayed_streams::RelayedStreams;
use crate::http2::self_wake_filter::SelfWakeFilter;
use crate::http2::shutdown::Shutdown;
use crate::http2::table_answer::answer;
use crate::http2::wire::{Flow, Wire};
use crate::thread::Thread;
use crate::tuning::{MIN_PROGRESS, NEW_CONNECTION, REMEMBERED_RESETS, RESETS_REMEMBERED};

/// The size of an upload's receive window in bytes. Node uses the same size.
const UPLOAD_WINDOW: u32 = 65_535;
/// The maximum number of a body's bytes that h2 buffers. The buffer refers to the table's memory.
const MAX_SEND_BUFFER: usize = 256 * 1024;

/// Answers the streams of a connection until it ends. Returns whether the client may still be sending.
pub async fn serve(thread: &Rc<Thread>, connection: &Connection) -> io::Result<bool> {
    connection.enter_phase(Phase::Streams, thread.now());
    let limits = &thread.shared.limits;
    let frames = FrameLimiter::new(limits.resets, limits.control_frames);
    let flow = Flow::new(thread, Some(frames));
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(limits.streams_at_once)
        .max_header_list_size(limits.header_size)
        .initial_window_size(UPLOAD_WINDOW)
        // A stalled upload must not block other uploads.
        .initial_connection_window_size(limits.streams_at_once.saturating_mul(UPLOAD_WINDOW))
        .max_send_buffer_size(MAX_SEND_BUFFER)
        .max_concurrent_reset_streams(REMEMBERED_RESETS)
        .reset_stream_duration(RESETS_REMEMBERED)
        .max_pending_accept_reset_streams(limits.resets.burst as usize);
    let mut handshake = pin!(builder.handshake(Wire::new(&connection.stream, &flow)));
    let opened = thread.update_now();
    let session = poll_fn(|cx| {
        let timeout = if thread.is_draining() {
            limits.keep_alive.min(NEW_CONNECTION)
        } else {
            limits.keep_alive
        };
        let is_late = thread.update_now() - opened >= timeout;
        connection.deadline.set(cx, opened + timeout);
        match handshake.as_mut().poll(cx) {
            Poll::Pending if is_late => Poll::Ready(None),
            polled => polled.map(Result::ok),
        }
    });
    let Some(mut session) = session.await else {
        return Ok(true);
    };
    let wake_filter = SelfWakeFilter::new();
    let client = Client {
        thread,
        connection,
        flow,
    };
    let mut streams = Streams {
        pinger: Pinger::new(session.ping_pong()),
        session,
        relayed: RelayedStreams::new(client.clone()),
        client,
        wake_filter: wake_filter.clone(),
        bodies: Bodies::default(),
        shutdown: Shutdown::new(opened),
        h2_data_since: None,
        is_over: false,
    };
    poll_fn(|cx| wake_filter.poll(cx, |cx| streams.poll(cx))).await
}

/// An HTTP/2 session and its streams.
struct Streams<'a> {
    client: Client<'a>,
    session: Session<'a>,
    wake_filter: Arc<SelfWakeFilter>,
    /// The bodies of answers from the table.
    bodies: Bodies,
    relayed: RelayedStreams<'a>,
    pinger: Pinger,
    shutdown: Shutdown,
    /// Since then, only the client's flow control delays the data in h2.
    h2_data_since: Option<Progress>,
    is_over: bool,
}

/// A request and the handle for its response.
type AcceptedRequest = (Request<RecvStream>, SendResponse<BodyChunk>);

impl Streams<'_> {
    /// Returns whether the client may still be sending. An error means that the connection has ended.
    fn poll(&mut self, cx: &mut Context) -> Poll<io::Result<bool>> {
        let now = self.client.thread.update_now();
        let flow = &self.client.flow;
        let is_blocked = flow
            .blocked_since()
            .is_some_and(|then| now.saturating_sub(then) >= flow.stall_timeout());
        if is_blocked || !self.is_over && !self.enforce_limits(cx, now) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.client.flow.start_turn();
        self.is_over = self.is_over || self.poll_session(cx, now);
        let flow = &self.client.flow;
        if flow.has_had_turn() {
            cx.waker().wake_by_ref();
        }
        match flow.poll_end_turn(cx, &self.client.connection.stream) {
            Poll::Ready(Ok(())) if self.is_over => return Poll::Ready(Ok(true)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            _ => {}
        }
        self.track_h2_data(now);
        let deadline = self.next_deadline(now);
        self.client.connection.deadline.set(cx, deadline);
        Poll::Pending
    }

    /// h2 buffers complete bodies that fit into the window. The client may close its window afterwards, and this must
    /// time out.
    fn track_h2_data(&mut self, now: Duration) {
        let is_in_h2 = self.session.has_streams()
            && self.bodies.count() == 0
            && self.relayed.is_empty()
            && self.client.flow.blocked_since().is_none();
        let progress = self.progress(now);
        let stands_still = self
            .h2_data_since
            .filter(|before| progress.sent < before.sent + MIN_PROGRESS);
        self.h2_data_since = is_in_h2.then(|| stands_still.unwrap_or(progress));
    }

    /// Returns whether the session is over.
    fn poll_session(&mut self, cx: &mut Context, now: Duration) -> bool {
        loop {
            while let Poll::Ready(accepted) = self.poll_accept(cx) {
                let Some(Ok((request, respond))) = accepted else {
                    return true;
                };
                self.shutdown.has_requested = true;
                self.handle_request(cx, request, respond);
            }
            self.relayed.poll(cx, now);
            let flow = &self.client.flow;
            if flow.must_close.take() {
                self.session.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                continue;
            }
            let progress = self.progress(now);
            if !self.bodies.poll(cx, progress) || self.client.flow.has_had_turn() {
                return false;
            }
        }
    }

    fn progress(&self, at: Duration) -> Progress {
        Progress {
            at,
            sent: self.client.flow.sent.get(),
        }
    }

    /// Polls h2, which handles all wake-ups so far.
    fn poll_accept(
        &mut self,
        cx: &mut Context,
    ) -> Poll<Option<Result<AcceptedRequest, h2::Error>>> {
        self.wake_filter.acknowledge();
        self.session.poll_accept(cx)
    }

    /// Answers a request, or relays it to Node.
    fn handle_request(
        &mut self,
        cx: &mut Context,
        request: Request<RecvStream>,
        mut respond: SendResponse<BodyChunk>,
    ) {
        let Self { client, bodies, .. } = self;
        if count_fields(&request) > client.thread.shared.limits.fields {
            return client.refuse(&mut respond, Reason::ENHANCE_YOUR_CALM);
        }
        if request.body().is_end_stream() && answer(client, bodies, &request, &mut respond) {
            return;
        }
        if self.relayed.is_full() {
            return client.refuse(&mut respond, Reason::REFUSED_STREAM);
        }
        self.relayed.relay(cx, request, respond);
    }

    fn has_streams(&self) -> bool {
        // h2 counts a stream until it has sent the stream's last frame, including a reset.
        self.session.has_streams() || !self.relayed.is_empty()
    }

    /// Closes whatever exceeds a time limit. Returns `false` if the connection must close immediately.
    fn enforce_limits(&mut self, cx: &mut Context, now: Duration) -> bool {
        let thread = self.client.thread;
        let limits = &thread.shared.limits;
        let since = |then: Duration| now.saturating_sub(then);
        if let Some(then) = now.checked_sub(limits.socket) {
            self.bodies.cancel_idle_since(then);
        }
        if self
            .h2_data_since
            .is_some_and(|then| since(then.at) >= limits.socket)
        {
            self.session.abrupt_shutdown(Reason::CANCEL);
        }
        if self.client.connection.deadline.is_cut_off() {
            self.bodies.reset_all();
            self.client.flow.cut_off.notify_waiters();
        }
        if !self.shed_excess_streams(now) {
            return false;
        }
        self.relayed.close_idle(now);
        if thread.is_draining() {
            let has_streams = self.has_streams();
            self.shutdown.proceed(&mut self.session, now, has_streams);
        }
        let unanswered = self.pinger.poll_unanswered(cx);
        if unanswered.is_some_and(|then| since(then) >= limits.headers) {
            return false;
        }
        if since(self.client.flow.active.get()) >= limits.keep_alive {
            if self.has_streams() {
                // The open streams are silent, like server-sent events.
                self.pinger.ping(now);
            } else {
                self.session.abrupt_shutdown(Reason::NO_ERROR);
            }
        }
        true
    }

    /// Resets answers above the session's share if other sessions need it.
    ///
    /// h2 cannot drop the data that it already holds. Returns `false` if the client has not read any of it for a while.
    fn shed_excess_streams(&mut self, now: Duration) -> bool {
        let Client { thread, flow, .. } = &self.client;
        let quota = &thread.http2.stream_quota;
        self.bodies
            .reset_newest(quota.surplus(flow.pending_answers()));
        let timeout = 2 * thread.shared.limits.checking_interval;
        let blocked = flow.blocked_since();
        let is_stalled = blocked.is_some_and(|then| now.saturating_sub(then) >= timeout);
        !is_stalled || quota.surplus(flow.pending_answers()) == 0
    }

    /// Returns the next time when limits must be checked.
    fn next_deadline(&self, now: Duration) -> Duration {
        let Client { thread, flow, .. } = &self.client;
        let limits = &thread.shared.limits;
        let silent = match self.pinger.unanswered() {
            Some(then) => then + limits.headers,
            None => flow.active.get() + limits.keep_alive,
        };
        let stalled = [
            flow.blocked_since(),
            self.bodies.oldest_wait(),
            self.h2_data_since.map(|then| then.at),
        ];
        let stalled = stalled.map(|then| then.map(|then| then + limits.socket));
        let shutdown = thread
            .is_draining()
            .then(|| self.shutdown.deadline(now, self.has_streams()));
        stalled
            .into_iter()
            .chain([self.relayed.idle_deadline(), shutdown.flatten()])
            .flatten()
            .fold(silent, Duration::min)
    }
}

/// Counts fields including the pseudo-header fields: method, scheme, path, and authority if present.
fn count_fields(request: &Request<RecvStream>) -> usize {
    request.headers().len() + 3 + usize::from(request.uri().authority().is_some())
}

#[cfg(test)]
mod tests;
