use std::io;
use std::panic::resume_unwind;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::RecvStream;
use h2::client::SendRequest;
use h2::server::SendResponse;
use http::{Request, Response, StatusCode};
use tokio::task::{JoinError, JoinSet};

use crate::error_code::error_code;
use crate::http2::body_chunk::BodyChunk;
use crate::http2::client::Client;
use crate::http2::exchange::exchange;
use crate::http2::node_session::NodeSession;
use crate::links::note_link_shortage;
use crate::shortage::LinkReservation;
use crate::tuning::{LINK_ATTEMPTS, LINK_IDLE, RETRY_DELAY};
use crate::warning::Warning;

/// The streams of a client that Node answers.
pub struct RelayedStreams<'a> {
    client: Client<'a>,
    exchanges: JoinSet<Option<PendingRequest>>,
    /// Only the last session accepts requests.
    node_sessions: Vec<NodeSession>,
}

/// A request for Node. It waits if no descriptors are free.
struct PendingRequest {
    request: Request<RecvStream>,
    respond: SendResponse<BodyChunk>,
    attempts: u32,
    reservation: Option<LinkReservation>,
}

impl<'a> RelayedStreams<'a> {
    pub fn new(client: Client<'a>) -> Self {
        Self {
            client,
            exchanges: JoinSet::new(),
            node_sessions: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// Returns whether the client must not add another stream.
    pub fn is_full(&self) -> bool {
        let quota = &self.client.thread.shared.relayed_streams;
        quota.refuses(self.exchanges.len())
    }

    /// Relays a request to Node.
    pub fn relay(
        &mut self,
        cx: &mut Context,
        request: Request<RecvStream>,
        respond: SendResponse<BodyChunk>,
    ) {
        let pending = PendingRequest {
            request,
            respond,
            attempts: 0,
            reservation: None,
        };
        self.try_relay(cx, pending);
    }

    /// Removes ended streams, and drives the sessions with Node.
    pub fn poll(&mut self, cx: &mut Context, now: Duration) {
        while let Poll::Ready(Some(ended)) = self.exchanges.poll_join_next(cx) {
            let left = self.exchanges.len();
            let quota = &self.client.thread.shared.relayed_streams;
            quota.remove(left + 1, left);
            match ended.map_err(JoinError::try_into_panic) {
                Err(Ok(panic)) => resume_unwind(panic),
                Ok(Some(pending)) => self.try_relay(cx, pending),
                _ => self
                    .node_sessions
                    .iter_mut()
                    .for_each(|node| node.idle_since = now),
            }
        }
        self.node_sessions.retain_mut(|node| node.poll(cx));
    }

    /// Closes idle sessions with Node.
    pub fn close_idle(&mut self, now: Duration) {
        if self.is_empty() {
            let idle_time = self.client.thread.shared.shortage.max_link_idle();
            self.node_sessions
                .retain(|node| now.saturating_sub(node.idle_since) < idle_time);
        }
    }

    /// Returns the time when an idle session must be closed.
    pub fn idle_deadline(&self) -> Option<Duration> {
        let since = self.node_sessions.iter().map(|node| node.idle_since).min();
        since
            .filter(|_| self.is_empty())
            .map(|since| since + LINK_IDLE)
    }

    /// Retries as long as `wait_for_link` if no descriptors are free.
    fn try_relay(&mut self, cx: &mut Context, mut pending: PendingRequest) {
        let error = match self.sender(cx) {
            Ok(sender) => {
                let PendingRequest {
                    request, respond, ..
                } = pending;
                let exchange = exchange(request, respond, sender, self.client.flow.clone());
                self.spawn(async {
                    exchange.await;
                    None
                });
                return;
            }
            Err(error) => error,
        };
        let Client {
            thread, connection, ..
        } = self.client;
        if error.kind() != io::ErrorKind::NotConnected && pending.attempts < LINK_ATTEMPTS {
            pending.attempts += 1;
            pending.reservation = Some(note_link_shortage(thread));
            self.spawn(async {
                tokio::time::sleep(RETRY_DELAY).await;
                Some(pending)
            });
            return;
        }
        thread.warn(Warning::NodeUnreachable, &error);
        thread.emit_refusal(connection, 502, error_code(&error));
        let mut unreachable = Response::new(());
        *unreachable.status_mut() = StatusCode::BAD_GATEWAY;
        // Fails only if the client has disconnected.
        let _ = pending.respond.send_response(unreachable, true);
    }

    fn spawn(&mut self, exchange: impl Future<Output = Option<PendingRequest>> + 'static) {
        let quota = &self.client.thread.shared.relayed_streams;
        quota.add(self.exchanges.len());
        self.exchanges.spawn_local(exchange);
    }

    /// Returns the sender of the current session with Node. Opens a session if necessary.
    fn sender(&mut self, cx: &mut Context) -> io::Result<SendRequest<BodyChunk>> {
        let Client {
            thread, connection, ..
        } = self.client;
        let streams = thread.shared.relayed_streams.count();
        if let Some(sender) = self
            .node_sessions
            .last_mut()
            .and_then(|node| node.sender(cx, streams))
        {
            return Ok(sender);
        }
        let mut node = NodeSession::open(cx, thread, connection)?;
        let sender = node.sender(cx, streams);
        self.node_sessions.push(node);
        sender.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl Drop for RelayedStreams<'_> {
    fn drop(&mut self) {
        let quota = &self.client.thread.shared.relayed_streams;
        quota.remove(self.exchanges.len(), 0);
    }
}
