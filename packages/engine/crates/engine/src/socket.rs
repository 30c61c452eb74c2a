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

/// Report a closed peer as an error instead of SIGPIPE. Other systems have a socket option for this, and Node ignores
/// the signal.
#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// More data follows immediately, and should share a packet.
#[cfg(target_os = "linux")]
const MORE_FOLLOWS: SendFlags = NO_SIGNAL.union(SendFlags::MORE);
#[cfg(not(target_os = "linux"))]
const MORE_FOLLOWS: SendFlags = NO_SIGNAL;

/// A connected, non-blocking TCP or unix socket.
pub struct Socket {
    watched: AsyncFd<OwnedFd>,
    flags: Cell<SendFlags>,
}

impl Socket {
    /// Wraps a non-blocking socket.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            watched: watch(socket, Interest::READABLE | Interest::WRITABLE)?,
            flags: Cell::new(NO_SIGNAL),
        })
    }

    /// Creates a socket pair. Child processes do not inherit the second end.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = socket2::Socket::pair(Domain::UNIX, Type::STREAM, None)?;
        for end in [&ours, &theirs] {
            end.set_nonblocking(true)?;
        }
        Ok((Self::new(ours.into())?, theirs.into()))
    }

    /// Sends a reset instead of an end when the socket closes.
    pub fn reset_at_close(&self) {
        // Fails only if the peer has disconnected.
        let _ = set_socket_linger(self.watched.get_ref(), Some(Duration::ZERO));
    }

    /// Reads available bytes. Returns 0 at the end.
    pub fn poll_read(&self, cx: &mut Context, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read_with(cx, |socket| {
            let count = socket.try_read(buffer)?;
            Ok((count, count < buffer.len()))
        })
    }

    /// Calls `read` when bytes are available. It returns the number of bytes and whether the buffer had free space
    /// left.
    pub fn poll_read_with(
        &self,
        cx: &mut Context,
        mut read: impl FnMut(&Self) -> io::Result<(usize, bool)>,
    ) -> Poll<io::Result<usize>> {
        loop {
            let mut guard = ready!(self.watched.poll_read_ready(cx))?;
            match read(self) {
                Ok((count, had_room)) => {
                    // The system will report further input. Another read now would be a wasted system call.
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

    /// Reads available bytes, or fails with `WouldBlock`. Returns 0 at the end.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = retry_on_intr(|| recv(self.watched.get_ref(), &mut *buffer, RecvFlags::empty()));
        Ok(read?.0)
    }

    /// Announces that the end follows the next write, so that both share a packet.
    pub fn expect_end(&self) {
        self.flags.set(MORE_FOLLOWS);
    }

    /// Writes as many bytes as the system accepts, possibly 0.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_send(bytes, self.flags.get())
    }

    /// Like [`Self::try_write`], for several buffers.
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

    /// Like [`Self::try_write`]. The bytes may share a packet with those of a file.
    pub fn try_write_before_file(&self, bytes: &[u8]) -> io::Result<usize> {
        self.try_send(bytes, MORE_FOLLOWS)
    }

    fn try_send(&self, bytes: &[u8], flags: SendFlags) -> io::Result<usize> {
        zero_if_full(retry_on_intr(|| send(self.watched.get_ref(), bytes, flags)))
    }

    /// Sends as many bytes of a file as the system accepts, possibly 0. The file must have `count` bytes from `start`
    /// on.
    pub fn try_send_file(&self, file: &OwnedFd, start: u64, count: usize) -> io::Result<usize> {
        match retry_on_intr(|| send_file(self.watched.get_ref(), file, start, count)) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            sent => zero_if_full(sent),
        }
    }

    /// Marks the socket as full after a partial write, which saves a system call. The system reports when there is
    /// space.
    pub fn clear_writable(&self) {
        let full = |_: &OwnedFd| Err::<(), _>(io::ErrorKind::WouldBlock.into());
        // Returns the error of `full`.
        let _ = self.watched.try_io(Interest::WRITABLE, full);
    }

    /// Calls `write` when the socket has space. It returns the number of bytes and whether the socket is full.
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

    /// Ready when the peer no longer reads. It may still have sent data before.
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

    /// Returns whether there is no input, not even an end.
    pub fn has_no_input(&self) -> bool {
        self.peek().is_err_and(|error| error == Errno::AGAIN)
    }

    /// Returns whether unread bytes would cause a reset on close.
    pub fn has_unread(&self) -> bool {
        self.peek().is_ok_and(|count| count > 0)
    }

    fn peek(&self) -> rustix::io::Result<usize> {
        let peeked = retry_on_intr(|| recv(self.watched.get_ref(), &mut [0_u8], RecvFlags::PEEK));
        Ok(peeked?.0)
    }

    /// Shuts down the write half.
    pub fn end(&self) {
        // Fails only if the peer has disconnected.
        let _ = shutdown(self.watched.get_ref(), Shutdown::Write);
    }
}

/// An owner of a descriptor that keeps it open, and never replaces it, until it is dropped.
pub trait KeepsDescriptor: AsRawFd {}

impl KeepsDescriptor for OwnedFd {}

/// Registers a descriptor with the event loop.
#[expect(unsafe_code, reason = "there is no safe function for it")]
pub fn watch<Owner: KeepsDescriptor>(
    owner: Owner,
    interest: Interest,
) -> io::Result<AsyncFd<Owner>> {
    // SAFETY: `KeepsDescriptor` requires what this function requires. Its two implementations contain an `OwnedFd` that
    // no other code can reach mutably.
    Ok(unsafe { AsyncFd::register_with_interest(owner, interest) }?)
}

#[cfg(target_os = "linux")]
fn send_file(to: &OwnedFd, file: &OwnedFd, start: u64, count: usize) -> rustix::io::Result<usize> {
    rustix::fs::sendfile(to, file, Some(&mut { start }), count)
}

/// macOS has another signature, and `can_send_files` is false there.
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
