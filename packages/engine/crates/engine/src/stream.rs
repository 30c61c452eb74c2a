use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown,
};
use socket2::{Domain, Socket, Type};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A peer that is gone is an error, no signal. Elsewhere the socket itself says so, and Node ignores the signal.
#[cfg(target_os = "linux")]
const QUIETLY: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const QUIETLY: SendFlags = SendFlags::empty();

/// A connected socket, of TCP or of the system's own, that never blocks.
pub struct Stream(AsyncFd<OwnedFd>);

impl Stream {
    /// Takes a socket that does not block.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        watch(socket, Interest::READABLE | Interest::WRITABLE).map(Self)
    }

    /// One end of a new pair as a stream, and the other, which no process inherits.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = Socket::pair(Domain::UNIX, Type::STREAM, None)?;
        for end in [&ours, &theirs] {
            end.set_nonblocking(true)?;
        }
        Ok((Self::new(ours.into())?, theirs.into()))
    }

    /// The peer gets a reset instead of an end.
    pub fn reset_at_close(&self) {
        // Where that fails, its peer has gone already.
        let _ = set_socket_linger(self.0.get_ref(), Some(Duration::ZERO));
    }

    /// Reads what has come; 0 is the end.
    pub fn poll_read(&self, cx: &mut Context, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_read_ready(cx))?;
            match retry_on_intr(|| recv(guard.get_inner(), &mut *buffer, RecvFlags::empty())) {
                Ok((count, _)) => {
                    // The system says so when more comes: asking again would be one call for nothing.
                    if count > 0 && count < buffer.len() {
                        guard.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    /// Writes as much as the system takes at once, maybe nothing.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        none_when_full(retry_on_intr(|| send(self.0.get_ref(), bytes, QUIETLY)))
    }

    /// Writes as much of both as the system takes at once, maybe nothing.
    pub fn try_write_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let slices = [IoSlice::new(first), IoSlice::new(second)];
        none_when_full(retry_on_intr(|| {
            sendmsg(
                self.0.get_ref(),
                &slices,
                &mut SendAncillaryBuffer::default(),
                QUIETLY,
            )
        }))
    }

    /// Writes as soon as the system takes something.
    pub fn poll_write(&self, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.0.poll_write_ready(cx))?;
            let count = self.try_write(bytes)?;
            if count < bytes.len() {
                guard.clear_ready();
            }
            if count > 0 {
                return Poll::Ready(Ok(count));
            }
        }
    }

    /// Ready when the peer reads nothing any more, though it may have said more before.
    pub fn poll_gone(&self, cx: &mut Context) -> Poll<()> {
        while let Poll::Ready(guard) = self.0.poll_write_ready(cx) {
            match guard {
                Ok(guard) if guard.ready().is_write_closed() => return Poll::Ready(()),
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    /// Whether nothing has come, not even the end.
    pub fn is_quiet(&self) -> bool {
        let peeked = retry_on_intr(|| recv(self.0.get_ref(), &mut [0_u8], RecvFlags::PEEK));
        peeked.is_err_and(|error| error == Errno::AGAIN)
    }

    /// Tells the peer that nothing more comes.
    pub fn end(&self) {
        // Where the peer is gone, there is nobody to tell.
        let _ = shutdown(self.0.get_ref(), Shutdown::Write);
    }
}

/// Hears from the system when a descriptor is ready.
#[expect(
    deprecated,
    reason = "its successor is unsafe, for owners that may close or change their descriptor: ours cannot"
)]
pub fn watch<Owner: AsRawFd>(owner: Owner, interest: Interest) -> io::Result<AsyncFd<Owner>> {
    AsyncFd::with_interest(owner, interest)
}

fn none_when_full(result: rustix::io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(Errno::AGAIN) => Ok(0),
        other => Ok(other?),
    }
}
