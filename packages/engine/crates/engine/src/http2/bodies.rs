use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use h2::{Reason, SendStream};

use super::piece::{Payload, Piece};
use crate::thread::Thread;

/// A body that its client has not taken whole yet.
struct Body {
    to: SendStream<Piece>,
    payload: Rc<Payload>,
    /// How much of it h2 has.
    given: usize,
    /// When the client last took something.
    since: Duration,
    /// What the session had sent by then.
    sent: u64,
}

/// Bytes of a session that show that its client reads: a stream may have to wait for others.
pub const LEAST_PROGRESS: u64 = 64 * 1024;

/// The bodies of a session that are under way, in the order in which they were asked for.
pub struct Bodies {
    thread: Rc<Thread>,
    all: Vec<Body>,
}

impl Bodies {
    /// None.
    pub fn new(thread: &Rc<Thread>) -> Self {
        Self {
            thread: thread.clone(),
            all: Vec::new(),
        }
    }

    /// Sends what the client has room for; the rest is sent when it has.
    pub fn send(
        &mut self,
        (mut to, payload): (SendStream<Piece>, Rc<Payload>),
        (now, sent): (Duration, u64),
    ) {
        let length = payload.len();
        to.reserve_capacity(length);
        if to.capacity() >= length {
            // A stream that was reset meanwhile needs none.
            let _ = to.send_data(Piece::Known(payload, 0, length), true);
        } else {
            self.thread.waiting.add(self.count());
            self.all.push(Body {
                to,
                payload,
                given: 0,
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
    pub fn oldest(&self) -> Option<Duration> {
        self.all.iter().map(|body| body.since).min()
    }

    /// Sends what there is room for; says whether that was something.
    pub fn poll(&mut self, cx: &mut Context, (now, sent): (Duration, u64)) -> bool {
        let mut has_sent = false;
        self.retain(|body| {
            let before = body.given;
            let goes_on = body.poll(cx);
            if body.given > before || sent >= body.sent + LEAST_PROGRESS {
                (body.since, body.sent) = (now, sent);
            }
            has_sent |= body.given > before;
            goes_on
        });
        has_sent
    }

    /// Resets those whose clients have taken nothing since then.
    pub fn cancel_before(&mut self, then: Duration) {
        self.retain(|body| {
            let is_late = body.since <= then;
            if is_late {
                body.to.send_reset(Reason::CANCEL);
            }
            !is_late
        });
    }

    /// Resets all: clients must not take a part for the whole.
    pub fn break_off(&mut self) {
        self.retain(|body| {
            body.to.send_reset(Reason::INTERNAL_ERROR);
            false
        });
    }

    /// Resets the newest, where other sessions need what this one has beyond its share.
    pub fn make_room(&mut self) {
        let surplus = self.thread.waiting.surplus(self.count());
        let mut kept = self.count() - surplus;
        self.retain(|body| {
            let is_kept = kept > 0;
            kept = kept.saturating_sub(1);
            if !is_kept {
                body.to.send_reset(Reason::CANCEL);
            }
            is_kept
        });
    }

    fn retain(&mut self, goes_on: impl FnMut(&mut Body) -> bool) {
        let before = self.count();
        self.all.retain_mut(goes_on);
        self.thread.waiting.remove(before, self.count());
    }
}

impl Drop for Bodies {
    fn drop(&mut self) {
        self.thread.waiting.remove(self.count(), 0);
    }
}

impl Body {
    /// False when nothing more is to be sent.
    fn poll(&mut self, cx: &mut Context) -> bool {
        loop {
            let length = self.payload.len();
            let count = self.to.capacity().min(length - self.given);
            if count > 0 {
                let start = self.given;
                self.given += count;
                let is_last = self.given == length;
                let piece = Piece::Known(self.payload.clone(), start, self.given);
                if self.to.send_data(piece, is_last).is_err() || is_last {
                    return false;
                }
            }
            match self.to.poll_capacity(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => return false,
                Poll::Pending => return self.to.poll_reset(cx).is_pending(),
            }
        }
    }
}
