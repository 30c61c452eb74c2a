use std::cell::Cell;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;

use crate::socket::Socket;
use crate::tls::{Protocol, Session};

/// A connection with a peer, encrypted or not, that never blocks.
pub struct Stream {
    socket: Socket,
    session: Option<Box<Session>>,
    taken: Cell<u64>,
}

impl Stream {
    /// Takes a socket that does not block.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        Ok(Socket::new(socket)?.into())
    }

    /// The same, for a client that is to begin with a handshake of TLS.
    pub fn encrypted(socket: OwnedFd, config: Arc<ServerConfig>) -> io::Result<Self> {
        Ok(Self {
            socket: Socket::new(socket)?,
            session: Some(Box::new(Session::new(config)?)),
            taken: Cell::new(0),
        })
    }

    /// One end of a new pair as a stream, and the other, which no process inherits.
    pub fn pair() -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = Socket::pair()?;
        Ok((ours.into(), theirs))
    }

    /// Ready when the handshake is over, where one is to be made. Nothing else may be read or written before.
    pub fn poll_handshake(&self, cx: &mut Context) -> Poll<io::Result<()>> {
        match &self.session {
            None => Poll::Ready(Ok(())),
            Some(session) => session.poll_handshake(&self.socket, cx),
        }
    }

    /// What the peer speaks.
    pub fn protocol(&self) -> Protocol {
        self.session
            .as_ref()
            .map_or(Protocol::Http1, |session| session.protocol())
    }

    /// The session, where the stream is encrypted.
    pub fn session(&self) -> Option<&Session> {
        self.session.as_deref()
    }

    /// The peer does not take the close for an end: it gets a reset; in TLS an end has to be said, and it is not.
    pub fn cut_off_at_close(&self) {
        match &self.session {
            None => self.socket.reset_at_close(),
            Some(session) => session.cut_off(),
        }
    }

    /// Reads what has come; 0 is the end.
    pub fn poll_read(&self, cx: &mut Context, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match &self.session {
            None => self.socket.poll_read(cx, buffer),
            Some(session) => session.poll_read(&self.socket, cx, buffer),
        }
    }

    /// Writes as much as the system takes at once, maybe nothing. What it did not take is to be written next.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.count(match &self.session {
            None => self.socket.try_write(bytes),
            Some(session) => session.try_write(&self.socket, bytes, &[]),
        })
    }

    /// Writes as much of both as the system takes at once, maybe nothing. What it did not take is to be written next.
    pub fn try_write_both(&self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        self.count(match &self.session {
            None => self
                .socket
                .try_write_all(&[IoSlice::new(first), IoSlice::new(second)]),
            Some(session) => session.try_write(&self.socket, first, second),
        })
    }

    /// Whether it takes bytes of files as they are.
    pub fn can_send_files(&self) -> bool {
        cfg!(target_os = "linux") && self.session.is_none()
    }

    /// Writes as much as the system takes at once of what comes before bytes of a file.
    pub fn try_write_before_file(&self, bytes: &[u8]) -> io::Result<usize> {
        self.count(self.socket.try_write_before_file(bytes))
    }

    /// Sends as many bytes of a file as the system takes at once, maybe none; the file has as many.
    pub fn try_send_file(&self, file: &OwnedFd, start: u64, count: usize) -> io::Result<usize> {
        self.count(self.socket.try_send_file(file, start, count))
    }

    /// Writes as soon as the system takes something. What it did not take is to be written next.
    pub fn poll_write(&self, cx: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(cx, bytes.len(), || self.try_write(bytes))
    }

    /// Sends as soon as the system takes something of so many bytes.
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

    /// Writes as soon as the system takes something, as `write` does, which says whether that was not all.
    pub fn poll_write_with(
        &self,
        cx: &mut Context,
        write: impl FnMut() -> io::Result<(usize, bool)>,
    ) -> Poll<io::Result<usize>> {
        self.socket.poll_write_with(cx, write)
    }

    /// The system has not taken all of what was tried, and says so when it takes more.
    pub fn clear_writable(&self) {
        self.socket.clear_writable();
    }

    /// Ready when the peer reads nothing any more, though it may have said more before.
    pub fn poll_peer_closed(&self, cx: &mut Context) -> Poll<()> {
        self.socket.poll_peer_closed(cx)
    }

    /// Whether nothing has come, not even the end.
    pub fn has_no_input(&self) -> bool {
        self.session
            .as_ref()
            .is_none_or(|session| session.has_no_input())
            && self.socket.has_no_input()
    }

    /// Whether bytes have come that a close would answer with a reset.
    pub fn has_unread(&self) -> bool {
        self.socket.has_unread()
    }

    /// How many bytes of what was written are on their way.
    pub fn sent_bytes(&self) -> u64 {
        self.taken.get()
    }

    fn count(&self, written: io::Result<usize>) -> io::Result<usize> {
        if let Ok(count) = written {
            self.taken.set(self.taken.get() + count as u64);
        }
        written
    }

    /// The end follows what is written from now on.
    pub fn expect_end(&self) {
        self.socket.expect_end();
    }

    /// Tells the peer that nothing more comes.
    pub fn end(&self) {
        match &self.session {
            None => self.socket.end(),
            Some(session) => session.end(&self.socket),
        }
    }

    /// The same where nothing is encrypted: what is encrypted has an end of its own, which leaves first.
    pub fn end_if_plain(&self) {
        if self.session.is_none() {
            self.socket.end();
        }
    }

    /// The same before the stream is closed, which says it by itself where nothing is encrypted.
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
