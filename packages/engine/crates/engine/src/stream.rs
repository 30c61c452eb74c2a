use std::cell::Cell;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;

use crate::socket::Socket;
use crate::tls::{Protocol, Session};

/// A non-blocking connection with a peer, with or without TLS.
pub struct Stream {
    socket: Socket,
    session: Option<Box<Session>>,
    taken: Cell<u64>,
}

impl Stream {
    /// Wraps a non-blocking socket without TLS.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Socket::new(socket)?.into())
    }

    /// Wraps a non-blocking socket of a client that starts a TLS handshake.
    pub fn encrypted(socket: OwnedFd, config: Arc<ServerConfig>) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(socket)?,
            session: Some(Box::new(Session::new(config)?)),
            taken: Cell::new(0),
        })
    }

    /// Creates a socket pair. Child processes do not inherit the second end.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = Socket::pair()?;
        Ok((ours.into(), theirs))
    }

    /// Ready when the TLS handshake is complete, immediately without TLS. Must precede all reads and writes.
    pub fn poll_handshake(&self, cx: &mut Context) -> Poll<io::Result<()>> {
        match &self.session {
            None => Poll::Ready(Ok(())),
            Some(session) => session.poll_handshake(&self.socket, cx),
        }
    }

    /// Returns the protocol that the peer uses.
    pub fn protocol(&self) -> Protocol {
        self.session
            .as_ref()
            .map_or(Protocol::Http1, |session| session.protocol())
    }

    /// Returns the TLS session, or `None` without TLS.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }

    /// Makes the close visible as an abort: as a reset, or in TLS as a missing `close_notify`.
    pub fn cut_off_at_close(&self) {
        match &self.session {
            None => self.socket.reset_at_close(),
            Some(session) => session.cut_off(),
        }
    }

    /// Reads available bytes. Returns 0 at the end.
    pub fn poll_read(&self, cx: &mut Context, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match &self.session {
            None => self.socket.poll_read(cx, buffer),
            Some(session) => session.poll_read(&self.socket, cx, buffer),
        }
    }

    /// Writes as many bytes as the system accepts, possibly 0. The next write must continue with the rest.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.count(match &self.session {
            None => self.socket.try_write(bytes),
            Some(session) => session.try_write(&self.socket, bytes, &[]),
        })
    }

    /// Like [`Self::try_write`], for two buffers.
    pub fn try_write_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        self.count(match &self.session {
            None => self
                .socket
                .try_write_all(&[IoSlice::new(first), IoSlice::new(second)]),
            Some(session) => session.try_write(&self.socket, first, second),
        })
    }

    /// Returns whether `try_send_file` is available: on Linux without TLS.
    pub fn can_send_files(&self) -> bool {
        cfg!(target_os = "linux") && self.session.is_none()
    }

    /// Like [`Self::try_write`]. The bytes may share a packet with those of a file.
    pub fn try_write_before_file(&self, bytes: &[u8]) -> io::Result<usize> {
        self.count(self.socket.try_write_before_file(bytes))
    }

    /// Sends as many bytes of a file as the system accepts, possibly 0. The file must have `count` bytes from `start`
    /// on.
    pub fn try_send_file(&self, file: &OwnedFd, start: u64, count: usize) -> io::Result<usize> {
        self.count(self.socket.try_send_file(file, start, count))
    }

    /// Like [`Self::try_write`], but waits until the system accepts at least one byte.
    pub fn poll_write(&self, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bytes.len(), || self.try_write(bytes))
    }

    /// Calls `attempt` when the socket has space. It sends up to `count` bytes and returns how many.
    pub fn poll_send(
        &self,
        cx: &mut Context,
        count: usize,
        attempt: impl Fn() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, || {
            let taken = attempt()?;
            Ok((taken, taken < count))
        })
    }

    /// Calls `write` when the socket has space. It returns the number of bytes and whether the socket is full.
    pub fn poll_write_with(
        &self,
        cx: &mut Context,
        write: impl FnMut() -> io::Result<(usize, bool)>,
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write_with(cx, write)
    }

    /// Marks the socket as full after a partial write.
    pub fn clear_writable(&self) {
        self.socket.clear_writable();
    }

    /// Ready when the peer no longer reads. It may still have sent data before.
    pub fn poll_peer_closed(&self, cx: &mut Context) -> Poll<()> {
        self.socket.poll_peer_closed(cx)
    }

    /// Returns whether there is no input, not even an end.
    pub fn has_no_input(&self) -> bool {
        self.session
            .as_ref()
            .is_none_or(|session| session.has_no_input())
            && self.socket.has_no_input()
    }

    /// Returns whether unread bytes would cause a reset on close.
    pub fn has_unread(&self) -> bool {
        self.socket.has_unread()
    }

    /// Returns the number of bytes that the system has accepted.
    pub fn sent_bytes(&self) -> u64 {
        self.taken.get()
    }

    fn count(&self, written: io::Result<usize>) -> io::Result<usize> {
        if let Ok(count) = written {
            self.taken.set(self.taken.get() + count as u64);
        }
        written
    }

    /// Announces that the end follows the next write.
    pub fn expect_end(&self) {
        self.socket.expect_end();
    }

    /// Sends the end of the output.
    pub fn end(&self) {
        match &self.session {
            None => self.socket.end(),
            Some(session) => session.end(&self.socket),
        }
    }

    /// Sends the end if there is no TLS. TLS sends `close_notify` before the end.
    pub fn end_if_plain(&self) {
        if self.session.is_none() {
            self.socket.end();
        }
    }

    /// Sends `close_notify` before a close. Without TLS, the close itself is sufficient.
    pub fn end_at_close(&self) {
        if let Some(session) = &self.session {
            session.end_at_close(&self.socket);
        }
    }
}

impl From<Socket> for Stream {
    fn from(socket: Socket) -> Self {
        Self {
            socket,
            session: None,
            taken: Cell::new(0),
        }
    }
}
