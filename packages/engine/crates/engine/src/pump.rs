use std::io;
use std::task::{Context, Poll, ready};

use crate::send::TURN;
use crate::stream::Stream;

/// Why a pump stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All that it was to move is moved.
    Enough,
    /// No more comes, and all that came is moved.
    SourceEnded,
    /// What it reads from is broken.
    SourceFailed,
    /// Nobody takes what it writes.
    SinkFailed,
}

/// Moves bytes from one stream to another, and holds no more than the receiver has not taken of one read.
#[derive(Default)]
pub struct Pump {
    held: Vec<u8>,
    written: usize,
    moved: u64,
    left: u64,
}

impl Pump {
    /// A pump that moves so many bytes.
    pub fn new(left: u64) -> Self {
        Self {
            left,
            ..Self::default()
        }
    }

    /// A pump that writes these bytes, at once where there is room, and then moves so many.
    pub fn beginning_with(first: Vec<u8>, to: &Stream, left: u64) -> Self {
        // A failure will be met again by who polls.
        let written = to.try_write(&first).unwrap_or(0);
        Self {
            held: first,
            written,
            moved: written as u64,
            left,
        }
    }

    /// How many bytes the receiver has taken.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Whether the receiver has not taken everything that was read.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Moves what can be moved, for no longer than a turn; ready when there is nothing more to do.
    pub fn poll(
        &mut self,
        cx: &mut Context,
        (from, to): (&Stream, &Stream),
        buffer: &mut [u8],
    ) -> Poll<Stop> {
        let end = self.moved + TURN as u64;
        loop {
            if self.moved >= end {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if ready!(self.poll_flush(cx, to)).is_err() {
                return Poll::Ready(Stop::SinkFailed);
            }
            if self.left == 0 {
                return Poll::Ready(Stop::Enough);
            }
            let limit =
                usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let count = match ready!(from.poll_read(cx, &mut buffer[..limit])) {
                Ok(0) => return Poll::Ready(Stop::SourceEnded),
                Ok(count) => count,
                Err(_) => return Poll::Ready(Stop::SourceFailed),
            };
            self.left -= count as u64;
            let Ok(taken) = to.try_write(&buffer[..count]) else {
                return Poll::Ready(Stop::SinkFailed);
            };
            self.moved += taken as u64;
            self.held.extend_from_slice(&buffer[taken..count]);
        }
    }

    fn poll_flush(&mut self, cx: &mut Context, to: &Stream) -> Poll<io::Result<()>> {
        while self.written < self.held.len() {
            let rest = &self.held[self.written..];
            let count = ready!(to.poll_write(cx, rest))?;
            self.written += count;
            self.moved += count as u64;
        }
        if self.is_holding() {
            self.held = Vec::new();
            self.written = 0;
        }
        Poll::Ready(Ok(()))
    }
}
