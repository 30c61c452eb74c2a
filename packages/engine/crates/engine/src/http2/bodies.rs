use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::{Reason, SendStream};

use crate::http2::body_chunk::{BodyChunk, Payload};
use crate::tuning::MIN_PROGRESS;

/// A body that h2 does not have completely yet.
struct Body {
    to: SendStream<BodyChunk>,
    payload: Rc<Payload>,
    /// The number of bytes that h2 has.
    queued: usize,
    /// The last progress.
    progress: Progress,
}

/// A time, and the number of bytes that the session had sent by then.
#[derive(Clone, Copy)]
pub struct Progress {
    /// In the thread's time.
    pub at: Duration,
    pub sent: u64,
}

/// The unfinished bodies of a session, oldest first.
#[derive(Default)]
pub struct Bodies {
    all: Vec<Body>,
}

impl Bodies {
    /// Sends as much as the client's window allows. `poll` sends the rest.
    pub fn send(&mut self, mut to: SendStream<BodyChunk>, payload: Rc<Payload>, now: Progress) {
        let length = payload.len();
        to.reserve_capacity(length);
        if to.capacity() >= length {
            // Fails only if the client has reset the stream.
            let _ = to.send_data(BodyChunk::of_table(payload, 0, length), true);
        } else {
            self.all.push(Body {
                to,
                payload,
                queued: 0,
                progress: now,
            });
        }
    }

    /// Returns the number of unfinished bodies.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns the time of the oldest progress.
    pub fn oldest_wait(&self) -> Option<Duration> {
        self.all.iter().map(|body| body.progress.at).min()
    }

    /// Sends as much as the windows allow. Returns whether it sent anything.
    pub fn poll(&mut self, cx: &mut Context, now: Progress) -> bool {
        let mut has_sent = false;
        self.all.retain_mut(|body| {
            let before = body.queued;
            let is_pending = body.poll(cx);
            if body.queued > before || now.sent >= body.progress.sent + MIN_PROGRESS {
                body.progress = now;
            }
            has_sent |= body.queued > before;
            is_pending
        });
        has_sent
    }

    /// Resets bodies without progress since `then`.
    pub fn cancel_idle_since(&mut self, then: Duration) {
        self.all.retain_mut(|body| {
            let is_late = body.progress.at <= then;
            if is_late {
                body.to.send_reset(Reason::CANCEL);
            }
            !is_late
        });
    }

    /// Resets all bodies, so that clients do not treat them as complete.
    pub fn reset_all(&mut self) {
        self.all.retain_mut(|body| {
            body.to.send_reset(Reason::INTERNAL_ERROR);
            false
        });
    }

    /// Resets the newest `count` bodies.
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
    /// Returns whether the body is unfinished.
    fn poll(&mut self, cx: &mut Context) -> bool {
        loop {
            let length = self.payload.len();
            let count = self.to.capacity().min(length - self.queued);
            if count > 0 {
                let start = self.queued;
                self.queued += count;
                let is_last = self.queued == length;
                let chunk = BodyChunk::of_table(self.payload.clone(), start, self.queued);
                if self.to.send_data(chunk, is_last).is_err() || is_last {
                    return false;
                }
            }
            match self.to.poll_capacity(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                // The client has reset the stream.
                Poll::Ready(_) => return false,
                Poll::Pending => return true,
            }
        }
    }
}
