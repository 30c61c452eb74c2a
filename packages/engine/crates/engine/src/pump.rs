use std::io;
use std::task::{Context, Poll, ready};

use crate::stream::Stream;
use crate::tuning::TURN_BYTES;

/// Why a pump has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All requested bytes were moved.
    Done,
    /// The source has ended, and all its bytes were moved.
    SourceEnded,
    /// Reading failed.
    SourceFailed,
    /// Writing failed.
    SinkFailed,
}

/// Moves bytes from one stream to another. Buffers at most the unsent part of one read.
#[derive(Default)]
pub struct Pump {
    held: Vec<u8>,
    written: usize,
    moved: u64,
    left: u64,
}

impl Pump {
    /// Creates a pump that moves `left` bytes.
    pub fn new(left: u64) -> Self {
        Self {
            left,
            ..Self::default()
        }
    }

    /// Creates a pump that writes `first` and then moves `left` bytes. Tries to write `first` immediately.
    pub fn starting_with(first: Vec<u8>, to: &Stream, left: u64) -> Self {
        // The next poll reports the error.
        let written = to.try_write(&first).unwrap_or(0);
        Self {
            held: first,
            written,
            moved: written as u64,
            left,
        }
    }

    /// Returns the number of written bytes.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Returns whether the buffer has unsent bytes.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Moves bytes for at most one turn. Ready when the pump has stopped.
    pub fn poll(
        &mut self,
        cx: &mut Context,
        from: &Stream,
        to: &Stream,
        buffer: &mut [u8],
    ) -> Poll<Stop> {
        let end = self.moved + TURN_BYTES as u64;
        loop {
            if self.moved >= end {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            if ready!(self.poll_flush(cx, to)).is_err() {
                return Poll::Ready(Stop::SinkFailed);
            }
            if self.left == 0 {
                return Poll::Ready(Stop::Done);
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

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::thread::spawn;
    use std::time::Duration;

    use super::*;
    use crate::testing::{LIMITS, on_thread};
    use crate::tuning::READ_BUFFER;

    const MUCH: usize = 100 * TURN_BYTES;

    /// Returns both ends of a TCP connection. Its socket buffers hold more than one turn.
    fn connected() -> (TcpStream, Stream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("the socket has an address");
        let end = TcpStream::connect(address).expect("the port accepts connections");
        let (socket, _) = listener.accept().expect("a connection is queued");
        socket
            .set_nonblocking(true)
            .expect("the descriptor is a socket");
        let stream = Stream::new(socket.into()).expect("epoll can watch the socket");
        (end, stream)
    }

    #[test]
    fn yields_to_other_tasks_after_a_turn() {
        on_thread(LIMITS, async |_, _| {
            let ((mut source, from), (mut sink, to)) = (connected(), connected());
            let writing = spawn(move || source.write_all(&vec![b'x'; MUCH]));
            let reading = spawn(move || sink.read_exact(&mut vec![0; MUCH]));
            let mut pump = Pump::new(MUCH as u64);
            let mut buffer = vec![0; READ_BUFFER];
            loop {
                let before = pump.moved();
                let stop = poll_fn(|cx| Poll::Ready(pump.poll(cx, &from, &to, &mut buffer))).await;
                let moved = pump.moved() - before;
                assert!(moved < (TURN_BYTES + READ_BUFFER) as u64, "{moved}");
                if stop.is_ready() {
                    break;
                }
                // Other tasks run while more input arrives.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            for other in [writing, reading] {
                other
                    .join()
                    .expect("the thread completes")
                    .expect("the connection is open");
            }
        });
    }
}
