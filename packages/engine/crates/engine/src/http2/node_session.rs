use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::client::{Builder, Connection, SendRequest};

use crate::connection::Connection as Client;
use crate::http2::body_chunk::BodyChunk;
use crate::http2::wire::{Flow, Wire};
use crate::links::open_pair;
use crate::stream::Stream;
use crate::thread::Thread;
use crate::tuning::{REMEMBERED_RESETS, RESETS_REMEMBERED};

/// The receive window of an answer in bytes. A socket of Node buffers as much.
const WINDOW: u32 = 32 * 1024;
const MIN_WINDOW: u32 = 4 * 1024;
/// The receive windows of all answers together, while each has more than the minimum.
const ALL_WINDOWS: usize = 32 * 1024 * 1024;

/// An HTTP/2 session with Node for the streams of one client.
pub struct NodeSession {
    send: SendRequest<BodyChunk>,
    connection: Pin<Box<Connection<Wire<Box<Stream>>, BodyChunk>>>,
    window: u32,
    /// The time when its last stream ended.
    pub idle_since: Duration,
}

impl NodeSession {
    /// Opens a session.
    pub fn open(cx: &mut Context, thread: &Rc<Thread>, client: &Client) -> io::Result<Self> {
        let stream = open_pair(client, thread)?;
        let streams = thread.shared.limits.streams_at_once;
        let window = window_among(thread.shared.relayed_streams.count());
        let flow = Flow::new(thread, None);
        let wire = Wire::new(Box::new(stream), &flow);
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .max_concurrent_reset_streams(REMEMBERED_RESETS)
            .reset_stream_duration(RESETS_REMEMBERED)
            // Node is trusted and needs no limit.
            .max_local_error_reset_streams(None)
            .initial_window_size(window)
            // A stalled stream must not block other streams.
            .initial_connection_window_size(streams.saturating_mul(WINDOW))
            .initial_max_send_streams(streams as usize);
        // The handshake does not wait, because the socket buffer has space for its first frames.
        match pin!(builder.handshake(wire)).poll(cx) {
            Poll::Ready(Ok((send, connection))) => Ok(Self {
                send,
                connection: Box::pin(connection),
                window,
                idle_since: thread.now(),
            }),
            _ => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Returns a sender, or `None` if the session accepts no more requests. `streams` is the number of answers that share
    /// the memory.
    pub fn sender(&mut self, cx: &mut Context, streams: usize) -> Option<SendRequest<BodyChunk>> {
        let window = window_among(streams);
        let is_other = window >= 2 * self.window || window <= self.window / 2;
        // Fails while the previous window is not acknowledged.
        if is_other && self.connection.set_initial_window_size(window).is_ok() {
            self.window = window;
        }
        match self.send.poll_ready(cx) {
            Poll::Ready(Err(_)) => None,
            _ => Some(self.send.clone()),
        }
    }

    /// Drives the session. Returns `false` when it is over.
    pub fn poll(&mut self, cx: &mut Context) -> bool {
        self.connection.as_mut().poll(cx).is_pending()
    }
}

/// Returns the receive window of each of `streams` answers.
fn window_among(streams: usize) -> u32 {
    let share = u32::try_from(ALL_WINDOWS / streams.max(1)).unwrap_or(WINDOW);
    share.clamp(MIN_WINDOW, WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_the_memory_of_windows() {
        assert_eq!([0, 1, 1024].map(window_among), [WINDOW; 3]);
        assert_eq!(window_among(2048), WINDOW / 2);
        assert_eq!(window_among(1_000_000), MIN_WINDOW);
    }
}
