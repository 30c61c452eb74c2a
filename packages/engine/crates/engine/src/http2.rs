//! HTTP/2 sessions. The engine answers streams from the table, and relays all others over one session with Node per
//! client.

mod bodies;
mod body_chunk;
mod exchange;
mod frames;
mod head_cache;
mod node_session;
mod self_wake_filter;
mod stream_quota;
mod wire;

use std::future::poll_fn;
use std::io;
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::server::{Builder, Connection as Session, SendResponse};
use h2::{Ping, PingPong, Reason, RecvStream};
use http::{HeaderMap, Request, Response, StatusCode};
use serve_dist_core::{BareRequest, decide_fields};
use tokio::task::JoinSet;

use crate::drain::NEW_CONNECTION;
use crate::error_code::error_code;
use crate::http2::bodies::{Bodies, MIN_PROGRESS};
use crate::http2::body_chunk::{BodyChunk, Payload};
use crate::http2::exchange::exchange;
use crate::http2::frames::FrameLimiter;
use crate::http2::node_session::{NodeSession, Sender};
use crate::http2::self_wake_filter::SelfWakeFilter;
use crate::http2::wire::{Flow, Wire};
use crate::limits::{LINK_IDLE, idle_time_of_links};
use crate::link::LINK_ATTEMPTS;
use crate::shared::LinkReservation;
use crate::stream::Stream;
use crate::thread::{Connection, Phase, Thread, Warning};
use crate::worker::RETRY_DELAY;

pub use crate::http2::frames::Rate;
pub use crate::http2::head_cache::HeadCache;
pub use crate::http2::stream_quota::StreamQuota;

/// The size of an upload's receive window in bytes. Node uses the same size.
const UPLOAD_WINDOW: u32 = 65_535;
/// The maximum number of a body's bytes that h2 buffers. The buffer refers to the table's memory.
const MAX_SEND_BUFFER: usize = 256 * 1024;
/// The number of reset streams to remember, and for how long. h2 ignores late frames of these streams. For others, it
/// sends another reset, and ends the session after 1,024 of them.
const REMEMBERED_RESETS: usize = 1024;
const RESETS_REMEMBERED: Duration = Duration::from_secs(5);
/// The time that a client has to react to GOAWAY.
const GOAWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// Answers the streams of a connection until it ends. Returns whether the client may still be sending.
pub async fn serve(thread: &Rc<Thread>, connection: &Connection) -> io::Result<bool> {
    connection.enter_phase(Phase::Streams, thread);
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
        let timeout = if thread.draining.get() {
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
    let ping_pong = session.ping_pong();
    let wake_filter = SelfWakeFilter::new();
    let mut streams = Streams {
        thread,
        connection,
        session,
        ping_pong,
        flow,
        wake_filter: wake_filter.clone(),
        bodies: Bodies::default(),
        exchanges: JoinSet::new(),
        node_sessions: Vec::new(),
        opened,
        has_requested: false,
        pinged: None,
        ending: None,
        h2_data_since: None,
        is_over: false,
    };
    poll_fn(|cx| wake_filter.poll(cx, |cx| streams.poll(cx))).await
}

/// An HTTP/2 session and its streams.
struct Streams<'a> {
    thread: &'a Rc<Thread>,
    connection: &'a Connection,
    session: Session<Wire<&'a Stream>, BodyChunk>,
    ping_pong: Option<PingPong>,
    flow: Rc<Flow>,
    wake_filter: Arc<SelfWakeFilter>,
    bodies: Bodies,
    /// Streams that Node answers.
    exchanges: JoinSet<Option<PendingRequest>>,
    /// Sessions with Node. Only the last one accepts requests.
    node_sessions: Vec<NodeSession>,
    opened: Duration,
    has_requested: bool,
    /// The time of the last unanswered PING.
    pinged: Option<Duration>,
    /// The time of the GOAWAY.
    ending: Option<Duration>,
    /// The time since which only the client's flow control delays the data in h2, and the bytes sent by then.
    h2_data_since: Option<(Duration, u64)>,
    is_over: bool,
}

/// A request and the handle for its response.
type AcceptedRequest = (Request<RecvStream>, SendResponse<BodyChunk>);

/// A request for Node. It waits if no descriptors are free.
struct PendingRequest {
    request: Request<RecvStream>,
    respond: SendResponse<BodyChunk>,
    attempts: u32,
    reservation: Option<LinkReservation>,
}

impl Streams<'_> {
    /// Returns whether the client may still be sending. An error means that the connection has ended.
    fn poll(&mut self, cx: &mut Context) -> Poll<io::Result<bool>> {
        let now = self.thread.update_now();
        let blocked = self.flow.blocked_since();
        let is_blocked =
            blocked.is_some_and(|then| now.saturating_sub(then) >= self.flow.stall_timeout());
        if is_blocked || !self.is_over && !self.enforce_limits(cx, now) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        self.flow.start_turn();
        self.is_over = self.is_over || self.poll_session(cx, now);
        if self.flow.has_had_turn() {
            cx.waker().wake_by_ref();
        }
        match self.flow.poll_end_turn(cx, &self.connection.stream) {
            Poll::Ready(Ok(())) if self.is_over => return Poll::Ready(Ok(true)),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            _ => {}
        }
        self.track_h2_data(now);
        self.connection.deadline.set(cx, self.next_deadline(now));
        Poll::Pending
    }

    /// h2 buffers complete bodies that fit into the window. The client may close its window afterwards, and this must
    /// time out.
    fn track_h2_data(&mut self, now: Duration) {
        let is_in_h2 = self.session.has_streams()
            && self.bodies.count() == 0
            && self.exchanges.is_empty()
            && self.flow.blocked_since().is_none();
        let sent = self.flow.sent.get();
        let stands_still = self
            .h2_data_since
            .filter(|&(_, before)| sent < before + MIN_PROGRESS);
        self.h2_data_since = is_in_h2.then(|| stands_still.unwrap_or((now, sent)));
    }

    /// Returns whether the session is over.
    fn poll_session(&mut self, cx: &mut Context, now: Duration) -> bool {
        loop {
            while let Poll::Ready(accepted) = self.poll_accept(cx) {
                let Some(Ok((request, respond))) = accepted else {
                    return true;
                };
                self.has_requested = true;
                self.handle_request(cx, request, respond);
            }
            while let Poll::Ready(Some(ended)) = self.exchanges.poll_join_next(cx) {
                let left = self.exchanges.len();
                self.thread.shared.relayed_streams.remove(left + 1, left);
                match ended.map_err(tokio::task::JoinError::try_into_panic) {
                    Err(Ok(panic)) => resume_unwind(panic),
                    Ok(Some(pending)) => self.relay_to_node(cx, pending),
                    _ => self
                        .node_sessions
                        .iter_mut()
                        .for_each(|node| node.idle_since = now),
                }
            }
            self.node_sessions.retain_mut(|node| node.poll(cx));
            if self.flow.must_close.take() {
                self.session.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                continue;
            }
            if !self.bodies.poll(cx, (now, self.flow.sent.get())) || self.flow.has_had_turn() {
                return false;
            }
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
        if count_fields(&request) > self.thread.shared.limits.fields {
            return self.refuse(&mut respond, Reason::ENHANCE_YOUR_CALM);
        }
        if request.body().is_end_stream() && self.answer(&request, &mut respond) {
            return;
        }
        if self
            .thread
            .shared
            .relayed_streams
            .refuses(self.exchanges.len())
        {
            return self.refuse(&mut respond, Reason::REFUSED_STREAM);
        }
        let pending = PendingRequest {
            request,
            respond,
            attempts: 0,
            reservation: None,
        };
        self.relay_to_node(cx, pending);
    }

    /// Resets an unprocessed stream. After `REFUSED_STREAM`, the client may retry (RFC 9113 §8.7).
    fn refuse(&self, respond: &mut SendResponse<BodyChunk>, reason: Reason) {
        respond.send_reset(reason);
        self.flow.note_reset();
    }

    /// Relays a request to Node. Retries as long as `Link::wait_for` if no descriptors are free.
    fn relay_to_node(&mut self, cx: &mut Context, mut pending: PendingRequest) {
        let error = match self.sender(cx) {
            Ok(sender) => {
                let PendingRequest {
                    request, respond, ..
                } = pending;
                let exchange = exchange(request, respond, sender, self.flow.clone());
                self.spawn(async {
                    exchange.await;
                    None
                });
                return;
            }
            Err(error) => error,
        };
        if error.kind() != io::ErrorKind::NotConnected && pending.attempts < LINK_ATTEMPTS {
            pending.attempts += 1;
            pending.reservation = Some(self.thread.note_link_shortage());
            self.spawn(async {
                tokio::time::sleep(RETRY_DELAY).await;
                Some(pending)
            });
            return;
        }
        self.thread.warn(Warning::NodeUnreachable, &error);
        self.thread
            .emit_refusal(self.connection, 502, error_code(&error));
        let mut unreachable = Response::new(());
        *unreachable.status_mut() = StatusCode::BAD_GATEWAY;
        // Fails only if the client has disconnected.
        let _ = pending.respond.send_response(unreachable, true);
    }

    fn spawn(&mut self, exchange: impl Future<Output = Option<PendingRequest>> + 'static) {
        self.thread.shared.relayed_streams.add(self.exchanges.len());
        self.exchanges.spawn_local(exchange);
    }

    /// Returns the sender of the current session with Node. Opens a session if necessary.
    fn sender(&mut self, cx: &mut Context) -> io::Result<Sender> {
        let streams = self.thread.shared.relayed_streams.count();
        if let Some(sender) = self
            .node_sessions
            .last_mut()
            .and_then(|node| node.sender(cx, streams))
        {
            return Ok(sender);
        }
        let mut node = NodeSession::open(cx, self.thread, self.connection)?;
        let sender = node.sender(cx, streams);
        self.node_sessions.push(node);
        sender.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Answers from the table. Returns `false` if Node must answer.
    fn answer(
        &mut self,
        request: &Request<RecvStream>,
        respond: &mut SendResponse<BodyChunk>,
    ) -> bool {
        let answers = self.thread.shared.answers.load();
        let Some(table) = &answers.table else {
            return false;
        };
        let uri = request.uri();
        // Node rejects other schemes.
        let of_http = |scheme: &str| {
            ["http", "https"]
                .iter()
                .any(|it| it.eq_ignore_ascii_case(scheme))
        };
        if !uri.scheme_str().is_none_or(of_http) {
            return false;
        }
        let target = uri.path_and_query().map_or("", |target| target.as_str());
        let bare = BareRequest {
            method: request.method().as_str(),
            target: target.as_bytes(),
            authority: uri.authority().map(|host| host.as_str().as_bytes()),
        };
        let fields = request.headers().iter();
        let fields = fields.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let Some(found) = decide_fields(bare, fields, table, &answers.hosts) else {
            return false;
        };
        if self
            .thread
            .stream_quota
            .refuses(self.flow.pending_answers())
        {
            self.refuse(respond, Reason::REFUSED_STREAM);
            return true;
        }
        let observer = self.thread.observer.as_ref();
        if observer.is_some_and(|observer| observer.is_full()) {
            return false;
        }
        let clock = &*self.thread.clock.borrow();
        let mut heads = self.thread.head_cache.borrow_mut();
        let (response, body) = heads.response(table, &found, clock);
        let answering = observer.map(|observer| {
            let text = if observer.logs() {
                text_of(request)
            } else {
                Vec::new()
            };
            let peer = self.connection.peer.map(|peer| peer.ip());
            observer.begin(answers.labels.of(table, &found), peer, &text)
        });
        // A head that h2 cannot send yet counts as pending until the end of its stream is sent.
        let is_over = body.is_empty() && !self.flow.cannot_send_now();
        // Fails only if the client has reset the stream.
        if let Ok(to) = respond.send_response(response, is_over) {
            let payload = Payload::new(body, answering, &self.flow);
            if !is_over {
                let now = (self.thread.now(), self.flow.sent.get());
                self.bodies.send((to, payload), now);
            }
        }
        true
    }

    fn has_streams(&self) -> bool {
        // h2 counts a stream until it has sent the stream's last frame, including a reset.
        self.session.has_streams() || !self.exchanges.is_empty()
    }

    /// Closes whatever exceeds a time limit. Returns `false` if the connection must close immediately.
    fn enforce_limits(&mut self, cx: &mut Context, now: Duration) -> bool {
        let limits = &self.thread.shared.limits;
        let since = |then: Duration| now.saturating_sub(then);
        if let Some(then) = now.checked_sub(limits.socket) {
            self.bodies.cancel_idle_since(then);
        }
        if self
            .h2_data_since
            .is_some_and(|(then, _)| since(then) >= limits.socket)
        {
            self.session.abrupt_shutdown(Reason::CANCEL);
        }
        if self.connection.deadline.is_cut_off() {
            self.bodies.reset_all();
        }
        if !self.shed_excess_streams(now) {
            return false;
        }
        if self.exchanges.is_empty() {
            let idle_time = idle_time_of_links(&self.thread.shared);
            self.node_sessions
                .retain(|node| since(node.idle_since) < idle_time);
        }
        self.announce_shutdown(now);
        if self.pinged.is_some()
            && let Some(ping_pong) = &mut self.ping_pong
            && ping_pong.poll_pong(cx).is_ready()
        {
            self.pinged = None;
        }
        if self
            .pinged
            .is_some_and(|then| since(then) >= limits.headers)
        {
            return false;
        }
        if since(self.flow.active.get()) >= limits.keep_alive {
            if !self.has_streams() {
                self.session.abrupt_shutdown(Reason::NO_ERROR);
            } else if self.pinged.is_none() {
                // The open streams are silent, like server-sent events. Check whether the client still responds.
                let ping_pong = self.ping_pong.as_mut();
                self.pinged = ping_pong
                    .and_then(|ping_pong| ping_pong.send_ping(Ping::opaque()).ok())
                    .map(|()| now);
            }
        }
        true
    }

    /// Resets answers above the session's share if other sessions need it.
    ///
    /// h2 cannot drop the data that it already holds. Returns `false` if the client has not read any of it for a while.
    fn shed_excess_streams(&mut self, now: Duration) -> bool {
        let quota = &self.thread.stream_quota;
        self.bodies
            .reset_newest(quota.surplus(self.flow.pending_answers()));
        let timeout = 2 * self.thread.shared.limits.checking_interval;
        let blocked = self.flow.blocked_since();
        let is_stalled = blocked.is_some_and(|then| now.saturating_sub(then) >= timeout);
        !is_stalled || quota.surplus(self.flow.pending_answers()) == 0
    }

    /// Sends GOAWAY while the server drains. A new client may first send a request.
    fn announce_shutdown(&mut self, now: Duration) {
        if !self.thread.draining.get() {
            return;
        }
        let is_new = !self.has_requested && now < self.opened + NEW_CONNECTION;
        match self.ending {
            None if !is_new => {
                self.session.graceful_shutdown();
                self.ending = Some(now);
            }
            Some(then) if now >= then + GOAWAY_TIMEOUT && !self.has_streams() => {
                self.session.abrupt_shutdown(Reason::NO_ERROR);
            }
            _ => {}
        }
    }

    /// Returns the next time when limits must be checked.
    fn next_deadline(&self, now: Duration) -> Duration {
        let limits = &self.thread.shared.limits;
        let silent = match self.pinged {
            Some(then) => then + limits.headers,
            None => self.flow.active.get() + limits.keep_alive,
        };
        let h2_data_since = self.h2_data_since.map(|(then, _)| then);
        let stalled = [
            self.flow.blocked_since(),
            self.bodies.oldest_wait(),
            h2_data_since,
        ];
        let stalled = stalled
            .into_iter()
            .flatten()
            .map(|then| then + limits.socket);
        let idle = self
            .node_sessions
            .iter()
            .map(|node| node.idle_since + LINK_IDLE);
        let idle = idle.filter(|_| self.exchanges.is_empty());
        let draining = self.thread.draining.get().then(|| match self.ending {
            None => self.opened + NEW_CONNECTION,
            Some(then) => then + GOAWAY_TIMEOUT,
        });
        let draining = draining.filter(|&then| then > now || !self.has_streams());
        stalled
            .chain(idle)
            .chain(draining)
            .fold(silent, Duration::min)
    }
}

impl Drop for Streams<'_> {
    fn drop(&mut self) {
        self.thread
            .shared
            .relayed_streams
            .remove(self.exchanges.len(), 0);
    }
}

/// Counts fields including the pseudo-header fields: method, scheme, path, and authority if present.
fn count_fields(request: &Request<RecvStream>) -> usize {
    request.headers().len() + 3 + usize::from(request.uri().authority().is_some())
}

/// Formats a request like an HTTP/1.1 head for its log record.
fn text_of(request: &Request<RecvStream>) -> Vec<u8> {
    let target = request.uri().path_and_query();
    let target = target.map_or("", |target| target.as_str());
    let mut text = format!("{} {target} HTTP/2.0\r\n", request.method()).into_bytes();
    let host = request.uri().authority();
    let host = host.map(|host| ("host", host.as_str().as_bytes()));
    let fields = fields_of(request.headers());
    write_fields(&mut text, host.into_iter().chain(fields));
    text
}

fn fields_of(fields: &HeaderMap) -> impl Iterator<Item = (&str, &[u8])> {
    let fields = fields.iter();
    fields.map(|(name, value)| (name.as_str(), value.as_bytes()))
}

fn write_fields<'a>(text: &mut Vec<u8>, fields: impl Iterator<Item = (&'a str, &'a [u8])>) {
    for (name, value) in fields {
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests;
