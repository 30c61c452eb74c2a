use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::{Reason, SendStream};

use super::body_chunk::{BodyChunk, Payload};

/// A body that its client has not taken whole yet.
struct Body {
    to: SendStream<BodyChunk>,
    payload: Rc<Payload>,
    /// How much of it h2 has.
    queued: usize,
    /// When the client last took something.
    since: Duration,
    /// What the session had sent by then.
    sent: u64,
}

/// Bytes of a session that show that its client reads: a stream may have to wait for others.
pub const MIN_PROGRESS: u64 = 64 * 1024;

/// The bodies of a session that are under way, in the order in which they were asked for.
#[derive(Default)]
pub struct Bodies {
    all: Vec<Body>,
}

impl Bodies {
    /// Sends what the client has room for; the rest is sent when it has.
    pub fn send(
        &mut self,
        (mut to, payload): (SendStream<BodyChunk>, Rc<Payload>),
        (now, sent): (Duration, u64),
    ) {
        let length = payload.len();
        to.reserve_capacity(length);
        if to.capacity() >= length {
            // A stream that was reset meanwhile needs none.
            let _ = to.send_data(BodyChunk::Table(payload, 0, length), true);
        } else {
            self.all.push(Body {
                to,
                payload,
                queued: 0,
                since: now,
                sent,
            });
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Since when the one that waits the longest waits.
    pub fn oldest_wait(&self) -> Option<Duration> {
        self.all.iter().map(|body| body.since).min()
    }

    /// Sends what there is room for; says whether that was something.
    pub fn poll(&mut self, cx: &mut Context, (now, sent): (Duration, u64)) -> bool {
        let mut has_sent = false;
        self.all.retain_mut(|body| {
            let before = body.queued;
            let is_pending = body.poll(cx);
            if body.queued > before || sent >= body.sent + MIN_PROGRESS {
                (body.since, body.sent) = (now, sent);
            }
            has_sent |= body.queued > before;
            is_pending
        });
        has_sent
    }

    /// Resets those whose clients have taken nothing since then.
    pub fn cancel_idle_since(&mut self, then: Duration) {
        self.all.retain_mut(|body| {
            let is_late = body.since <= then;
            if is_late {
                body.to.send_reset(Reason::CANCEL);
            }
            !is_late
        });
    }

    /// Resets all: clients must not take a part for the whole.
    pub fn reset_all(&mut self) {
        self.all.retain_mut(|body| {
            body.to.send_reset(Reason::INTERNAL_ERROR);
            false
        });
    }

    /// Resets so many, the newest.
    pub fn reset_newest(&mut self, count: usize) {
        let mut kept = self.count().saturating_sub(count);
        self.all.retain_mut(|body| {
            let is_kept = kept > 0;
            kept = kept.saturating_sub(1);
            if !is_kept {
                body.to.send_reset(Reason::CANCEL);
            }
            is_kept
        });
    }
}

impl Body {
    /// False when nothing more is to be sent.
    fn poll(&mut self, cx: &mut Context) -> bool {
        loop {
            let length = self.payload.len();
            let count = self.to.capacity().min(length - self.queued);
            if count > 0 {
                let start = self.queued;
                self.queued += count;
                let is_last = self.queued == length;
                let chunk = BodyChunk::Table(self.payload.clone(), start, self.queued);
                if self.to.send_data(chunk, is_last).is_err() || is_last {
                    return false;
                }
            }
            match self.to.poll_capacity(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                // It was reset.
                Poll::Ready(_) => return false,
                Poll::Pending => return true,
            }
        }
    }
}
