use std::cell::{Cell, RefCell};
use std::io;
use std::mem::take;
use std::ops::Deref;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::http2::frames::FrameLimiter;
use crate::observe::ObservedAnswer;
use crate::stream::Stream;
use crate::thread::Thread;
use crate::tuning::TURN_BYTES;

/// The maximum number of bytes to gather before a write. Fewer writes mean fewer packets and larger TLS records.
const MAX_GATHERED: usize = 64 * 1024;

/// The transport of an h2 session over a stream.
pub struct Wire<S> {
    stream: S,
    flow: Rc<Flow>,
}

/// The state of a transport, shared with the session's owner.
pub struct Flow {
    thread: Rc<Thread>,
    /// The output buffer, borrowed from the thread. A blocked session keeps it after its turn.
    out: RefCell<Vec<u8>>,
    /// Whether writes are gathered until the turn ends.
    is_gathering: Cell<bool>,
    /// The value of `sent` when the turn began.
    turn: Cell<u64>,
    blocked_since: Cell<Option<Duration>>,
    unblocked: Notify,
    /// Resets the streams that Node answers.
    pub cut_off: Notify,
    frames: RefCell<Option<FrameLimiter>>,
    /// The number of table answers that h2 has not completely sent.
    pending_answers: Cell<usize>,
    /// Answers whose last bytes are in `out`.
    written: RefCell<Vec<ObservedAnswer>>,
    /// Whether the session must end because its client causes too much work.
    pub must_close: Cell<bool>,
    /// The time of the last received or sent byte.
    pub active: Cell<Duration>,
    /// The number of bytes written to the socket.
    pub sent: Cell<u64>,
}

impl Flow {
    /// Creates the state. `frames` limits the frames of a client.
    pub fn new(thread: &Rc<Thread>, frames: Option<FrameLimiter>) -> Rc<Self> {
        Rc::new(Self {
            thread: thread.clone(),
            out: RefCell::default(),
            is_gathering: Cell::new(false),
            turn: Cell::new(0),
            blocked_since: Cell::new(None),
            unblocked: Notify::new(),
            cut_off: Notify::new(),
            frames: RefCell::new(frames),
            pending_answers: Cell::new(0),
            written: RefCell::default(),
            must_close: Cell::new(false),
            active: Cell::new(thread.now()),
            sent: Cell::new(0),
        })
    }

    /// Starts a turn, and gathers writes until it ends.
    pub fn start_turn(&self) {
        self.is_gathering.set(true);
        self.turn.set(self.sent.get());
    }

    /// Returns whether the session has sent enough in this turn that other connections must proceed.
    pub fn has_had_turn(&self) -> bool {
        self.is_gathering.get() && self.sent.get() - self.turn.get() >= TURN_BYTES as u64
    }

    /// Returns whether new output must wait for a later turn.
    pub fn cannot_send_now(&self) -> bool {
        self.blocked_since().is_some() || self.has_had_turn()
    }

    /// Ends the turn and writes the gathered bytes. Ready when the socket has accepted all of them.
    pub fn poll_end_turn(&self, cx: &mut Context, stream: &Stream) -> Poll<io::Result<()>> {
        self.is_gathering.set(false);
        let result = self.poll_flush(cx, stream);
        if !matches!(result, Poll::Ready(Err(_))) {
            self.written
                .take()
                .into_iter()
                .for_each(ObservedAnswer::end);
        }
        result
    }

    pub fn pending_answers(&self) -> usize {
        self.pending_answers.get()
    }

    /// Counts a pending answer.
    pub fn begin_answer(&self) {
        let before = self.pending_answers.replace(self.pending_answers() + 1);
        self.thread.http2.stream_quota.add(before);
    }

    /// Removes a pending answer.
    pub fn drop_answer(&self) {
        let before = self.pending_answers.replace(self.pending_answers() - 1);
        self.thread.http2.stream_quota.remove(before, before - 1);
    }

    /// Completes the answer at the end of the turn, unless the connection fails before.
    pub fn end_with_turn(&self, answering: ObservedAnswer) {
        self.written.borrow_mut().push(answering);
    }

    /// Returns how long a client may make no progress.
    pub fn stall_timeout(&self) -> Duration {
        self.thread.shared.limits.socket
    }

    /// Returns the time since which the peer has not read pending output.
    pub fn blocked_since(&self) -> Option<Duration> {
        self.blocked_since.get()
    }

    /// Waits until the socket accepts pending output.
    pub async fn wait_until_unblocked(&self) {
        while self.blocked_since().is_some() {
            self.unblocked.notified().await;
        }
    }

    fn poll_flush(&self, cx: &mut Context, stream: &Stream) -> Poll<io::Result<()>> {
        let mut out = self.out.borrow_mut();
        if out.is_empty() {
            self.return_buffer(&mut out);
            // Do not clear the blocked state, because h2 may still hold part of a frame.
            return Poll::Ready(Ok(()));
        }
        let mut written = 0;
        let result = loop {
            if written == out.len() {
                break Poll::Ready(Ok(()));
            }
            match stream.poll_write(cx, &out[written..]) {
                Poll::Ready(Ok(count)) => written += count,
                other => break other.map_ok(|_| ()),
            }
        };
        self.note_sent(written);
        // After a failed write, the remaining answers do not count as complete.
        if matches!(result, Poll::Ready(Ok(()))) {
            self.return_buffer(&mut out);
        } else {
            out.drain(..written);
        }
        self.set_blocked(result.is_pending());
        result
    }

    fn return_buffer(&self, out: &mut Vec<u8>) {
        if out.capacity() > 0 {
            self.thread.buffers.output.replace(take(out));
        }
    }

    fn poll_write(
        &self,
        cx: &mut Context,
        stream: &Stream,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.out.borrow().len() + bytes.len() <= MAX_GATHERED {
            let out = &mut *self.out.borrow_mut();
            if out.capacity() == 0 {
                *out = self.thread.buffers.output.take();
                out.clear();
                out.reserve(MAX_GATHERED);
            }
            out.extend_from_slice(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        // The owner of the turn checks this and polls again.
        if self.has_had_turn() {
            return Poll::Pending;
        }
        let of_bytes = {
            let out = &mut *self.out.borrow_mut();
            let taken = stream.try_write_both(out, &bytes[..MAX_GATHERED - out.len()])?;
            self.note_sent(taken);
            let of_out = taken.min(out.len());
            out.drain(..of_out);
            taken - of_out
        };
        if of_bytes > 0 {
            self.set_blocked(false);
            return Poll::Ready(Ok(of_bytes));
        }
        ready!(self.poll_flush(cx, stream))?;
        let count = match stream.poll_write(cx, &bytes[..MAX_GATHERED.min(bytes.len())]) {
            Poll::Pending => {
                self.set_blocked(true);
                return Poll::Pending;
            }
            Poll::Ready(count) => count?,
        };
        self.note_sent(count);
        self.set_blocked(false);
        Poll::Ready(Ok(count))
    }

    /// Counts a stream that the server has reset because of its client.
    pub fn note_reset(&self) {
        let frames = &mut *self.frames.borrow_mut();
        if frames
            .as_mut()
            .is_some_and(|frames| frames.note_reset(self.thread.now()))
        {
            self.must_close.set(true);
        }
    }

    /// Counts the received frames of a client.
    fn inspect(&self, bytes: &[u8]) {
        let frames = &mut *self.frames.borrow_mut();
        if frames
            .as_mut()
            .is_some_and(|frames| frames.exceeds_limits(bytes, self.thread.now(), self.sent.get()))
        {
            self.must_close.set(true);
        }
    }

    fn note_sent(&self, count: usize) {
        if count > 0 {
            self.sent.set(self.sent.get() + count as u64);
            self.active.set(self.thread.now());
            if self.blocked_since().is_some() {
                self.blocked_since.set(Some(self.thread.now()));
            }
        }
    }

    fn set_blocked(&self, is_blocked: bool) {
        let before = self.blocked_since.get();
        let since = before.unwrap_or(self.thread.now());
        self.blocked_since.set(is_blocked.then_some(since));
        if before.is_some() && !is_blocked {
            self.unblocked.notify_waiters();
        }
    }
}

impl<S: Deref<Target = Stream>> Wire<S> {
    pub fn new(stream: S, flow: &Rc<Flow>) -> Self {
        Self {
            stream,
            flow: flow.clone(),
        }
    }
}

impl<S: Deref<Target = Stream> + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context,
        buffer: &mut ReadBuf,
    ) -> Poll<io::Result<()>> {
        let Flow { thread, active, .. } = &*self.flow;
        // Reading directly into `buffer` would require clearing it first.
        let space = &mut thread.buffers.input.borrow_mut();
        let most = buffer.remaining().min(space.len());
        let count = ready!(self.stream.poll_read(cx, &mut space[..most]))?;
        active.set(thread.now());
        self.flow.inspect(&space[..count]);
        buffer.put_slice(&space[..count]);
        Poll::Ready(Ok(()))
    }
}

impl<S: Deref<Target = Stream> + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.flow.poll_write(cx, &self.stream, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context) -> Poll<io::Result<()>> {
        if self.flow.is_gathering.get() {
            return Poll::Ready(Ok(()));
        }
        self.flow.poll_flush(cx, &self.stream)
    }

    /// The owner of the transport closes the stream.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
