use std::cell::Cell;
use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, OwnedFd};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{
    RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, recv, send, sendmsg, shutdown,
};
use socket2::{Domain, Type};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A peer that is gone is an error, no signal. Elsewhere the socket itself says so, and Node ignores the signal.
#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// More comes at once: better in one packet.
#[cfg(target_os = "linux")]
const MORE_FOLLOWS: SendFlags = NO_SIGNAL.union(SendFlags::MORE);
#[cfg(not(target_os = "linux"))]
const MORE_FOLLOWS: SendFlags = NO_SIGNAL;

/// A connected socket, of TCP or of the system's own, that never blocks.
pub struct Socket {
    watched: AsyncFd<OwnedFd>,
    flags: Cell<SendFlags>,
}

impl Socket {
    /// Takes a socket that does not block.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            watched: watch(socket, Interest::READABLE | Interest::WRITABLE)?,
            flags: Cell::new(NO_SIGNAL),
        })
    }

    /// One end of a new pair as a stream, and the other, which no process inherits.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socket2::Socket::pair(Domain::UNIX, Type::STREAM, None)?;
        for end in [&ours, &theirs] {
            end.set_nonblocking(true)?;
        }
        Ok((Self::new(ours.into())?, theirs.into()))
    }

    /// The peer gets a reset instead of an end.
    pub fn reset_at_close(&self) {
        // Where that fails, its peer has gone already.
        let _ = set_socket_linger(self.watched.get_ref(), Some(Duration::ZERO));
    }

    /// Reads what has come; 0 is the end.
    pub fn poll_read(&self, cx: &mut Context, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read_with(cx, |socket| {
            let count = socket.try_read(buffer)?;
            Ok((count, count < buffer.len()))
        })
    }

    /// Reads as `read` does, which says how many bytes have come, and whether it had room for more.
    pub fn poll_read_with(
        &self,
        cx: &mut Context,
        mut read: impl FnMut(&Self) -> io::Result<(usize, bool)>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.watched.poll_read_ready(cx))?;
            match read(self) {
                Ok((count, had_room)) => {
                    // The system says so when more comes: asking again would be one call for nothing.
                    if count > 0 && had_room {
                        guard.clear_ready();
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    /// Reads what has come, or fails where nothing has; 0 is the end.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = retry_on_intr(|| recv(self.watched.get_ref(), &mut *buffer, RecvFlags::empty()));
        Ok(read?.0)
    }

    /// The end follows what is written from now on, and leaves with its last bytes: one packet less.
    pub fn expect_end(&self) {
        self.flags.set(MORE_FOLLOWS);
    }

    /// Writes as much as the system takes at once, maybe nothing.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_send(bytes, self.flags.get())
    }

    /// The same for several pieces.
    pub fn try_write_all(&self, pieces: &[IoSlice]) -> io::Result<usize> {
        zero_if_full(retry_on_intr(|| {
            sendmsg(
                self.watched.get_ref(),
                pieces,
                &mut SendAncillaryBuffer::default(),
                self.flags.get(),
            )
        }))
    }

    /// The same as [`Self::try_write`], for bytes that may wait for those of a file.
    pub fn try_write_before_file(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_send(bytes, MORE_FOLLOWS)
    }

    fn try_send(&self, bytes: &[u8], flags: SendFlags) -> io::Result<usize> {
        zero_if_full(retry_on_intr(|| send(self.watched.get_ref(), bytes, flags)))
    }

    /// Sends as many bytes of a file as the system takes at once, maybe none; the file has as many.
    pub fn try_send_file(&self, file: &OwnedFd, start: u64, count: usize) -> io::Result<usize> {
        match retry_on_intr(|| send_file(self.watched.get_ref(), file, start, count)) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            sent => zero_if_full(sent),
        }
    }

    /// The system has not taken all of what was tried, and says so when it takes more: asking before would be one call for
    /// nothing.
    pub fn clear_writable(&self) {
        let full = |_: &OwnedFd| Err::<(), _>(io::ErrorKind::WouldBlock.into());
        // It fails as it is told to.
        let _ = self.watched.try_io(Interest::WRITABLE, full);
    }

    /// Writes as soon as the system takes something, as `write` does, which says whether that was not all.
    pub fn poll_write_with(
        &self,
        cx: &mut Context,
        mut write: impl FnMut() -> io::Result<(usize, bool)>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.watched.poll_write_ready(cx))?;
            let (count, is_full) = write()?;
            if is_full {
                guard.clear_ready();
            }
            if count > 0 {
                return Poll::Ready(Ok(count));
            }
        }
    }

    /// Ready when the peer reads nothing any more, though it may have said more before.
    pub fn poll_peer_closed(&self, cx: &mut Context) -> Poll<()> {
        while let Poll::Ready(guard) = self.watched.poll_write_ready(cx) {
            match guard {
                Ok(guard) if guard.ready().is_write_closed() => return Poll::Ready(()),
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    /// Whether nothing has come, not even the end.
    pub fn has_no_input(&self) -> bool {
        self.peek().is_err_and(|error| error == Errno::AGAIN)
    }

    /// Whether bytes have come that a close would answer with a reset.
    pub fn has_unread(&self) -> bool {
        self.peek().is_ok_and(|count| count > 0)
    }

    fn peek(&self) -> rustix::io::Result<usize> {
        let peeked = retry_on_intr(|| recv(self.watched.get_ref(), &mut [0_u8], RecvFlags::PEEK));
        Ok(peeked?.0)
    }

    /// Tells the peer that nothing more comes.
    pub fn end(&self) {
        // Where the peer is gone, there is nobody to tell.
        let _ = shutdown(self.watched.get_ref(), Shutdown::Write);
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

#[cfg(target_os = "linux")]
fn send_file(to: &OwnedFd, file: &OwnedFd, start: u64, count: usize) -> rustix::io::Result<usize> {
    rustix::fs::sendfile(to, file, Some(&mut { start }), count)
}

/// That of macOS has another form, and nobody asks for it.
#[cfg(not(target_os = "linux"))]
fn send_file(_: &OwnedFd, _: &OwnedFd, _: u64, _: usize) -> rustix::io::Result<usize> {
    Err(Errno::OPNOTSUPP)
}

fn zero_if_full(result: rustix::io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(Errno::AGAIN) => Ok(0),
        other => Ok(other?),
    }
}
