use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use crate::socket::Socket;

/// The protocol that a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1, also without ALPN.
    Http1,
    /// HTTP/2, selected by ALPN (RFC 9113 §3.2).
    Http2,
}

/// The result of a TLS handshake.
#[derive(Debug)]
pub struct HandshakeInfo {
    /// The name in OpenSSL, such as `TLSv1.3`.
    pub version: &'static str,
    /// The name in the RFC, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The host that the client requested.
    pub server_name: Option<String>,
    /// The protocol that ALPN selected.
    pub protocol: Option<String>,
    /// Whether it resumed an earlier session.
    pub is_resumed: bool,
}

/// The server side of a TLS session.
///
/// Bytes count as written when the socket has accepted their records. A close after them therefore loses nothing. The
/// session buffers at most the records of one turn, which rustls limits to 64 KiB.
pub struct Session {
    connection: RefCell<ServerConnection>,
    /// The number of encrypted bytes that no write has reported yet. The next write must start with them.
    unreported: Cell<usize>,
    close: Cell<CloseState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseState {
    /// The session is open.
    No,
    /// The socket must be shut down after the pending output.
    Soon,
    /// No `close_notify` must be sent.
    CutOff,
    /// The end is sent.
    Done,
}

impl Session {
    /// Creates a session that waits for a handshake.
    pub fn new(config: Arc<ServerConfig>) -> io::Result<Self> {
        let connection = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self {
            connection: RefCell::new(connection),
            unreported: Cell::new(0),
            close: Cell::new(CloseState::No),
        })
    }

    /// Returns the protocol that ALPN selected.
    pub fn protocol(&self) -> Protocol {
        match self.connection.borrow().alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        }
    }

    pub fn handshake_info(&self) -> HandshakeInfo {
        let connection = self.connection.borrow();
        let version = connection.protocol_version();
        let suite = connection.negotiated_cipher_suite();
        let cipher = suite.and_then(|suite| suite.suite().as_str());
        let cipher = cipher.unwrap_or_default();
        HandshakeInfo {
            version: match version {
                Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2",
                _ => "TLSv1.3",
            },
            // rustls uses its own prefix for TLS 1.3.
            cipher: cipher.replacen("TLS13_", "TLS_", 1),
            server_name: connection.server_name().map(str::to_owned),
            protocol: connection
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
            is_resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }

    /// Ready when the handshake is complete.
    pub fn poll_handshake(&self, socket: &Socket, cx: &mut Context) -> Poll<io::Result<()>> {
        let connection = &mut *self.connection.borrow_mut();
        while connection.is_handshaking() {
            ready!(self.poll_flush(connection, socket, cx))?;
            if ready!(poll_receive(connection, socket, cx))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        // Session tickets are sent with the first answer, or before the first wait.
        Poll::Ready(Ok(()))
    }

    /// Reads available bytes. Returns 0 at the end.
    pub fn poll_read(
        &self,
        socket: &Socket,
        cx: &mut Context,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let connection = &mut *self.connection.borrow_mut();
        loop {
            match connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The client has closed the connection without `close_notify`. Like Node, treat this as its end.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Ok(0));
                }
                read => return Poll::Ready(read),
            }
            let Poll::Ready(received) = poll_receive(connection, socket, cx) else {
                // A write error must not prevent reading.
                let _ = self.poll_flush(connection, socket, cx);
                return Poll::Pending;
            };
            received?;
        }
    }

    /// Writes as many bytes of both buffers as the socket accepts.
    pub fn try_write(&self, socket: &Socket, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let connection = &mut *self.connection.borrow_mut();
        let whole = first.len() + second.len();
        let mut taken = 0;
        while taken < whole {
            if self.unreported.get() == 0 {
                let (first, second) = match taken.checked_sub(first.len()) {
                    None => (&first[taken..], second),
                    Some(of_second) => (&second[of_second..], &[][..]),
                };
                let encrypted = if second.is_empty() {
                    connection.writer().write(first)?
                } else {
                    let pieces = [IoSlice::new(first), IoSlice::new(second)];
                    connection.writer().write_vectored(&pieces)?
                };
                if encrypted == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                self.unreported.set(encrypted);
            }
            if !self.flush(connection, socket)? {
                break;
            }
            let counted = self.unreported.get().min(whole - taken);
            self.unreported.set(self.unreported.get() - counted);
            taken += counted;
        }
        Ok(taken)
    }

    /// Returns whether all received bytes were read.
    pub fn has_no_input(&self) -> bool {
        let connection = &mut *self.connection.borrow_mut();
        let come = connection.reader().fill_buf().map(<[u8]>::len);
        come.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Sends `close_notify` after pending output, and shuts down the socket.
    pub fn end(&self, socket: &Socket) {
        self.send_close_notify(socket, CloseState::Soon);
    }

    /// Sends `close_notify` before the caller closes the socket.
    pub fn end_at_close(&self, socket: &Socket) {
        self.send_close_notify(socket, CloseState::Done);
    }

    fn send_close_notify(&self, socket: &Socket, close: CloseState) {
        if self.close.get() == CloseState::No {
            let connection = &mut *self.connection.borrow_mut();
            self.close.set(close);
            connection.send_close_notify();
            // Fails only if the client has disconnected.
            let _ = self.flush(connection, socket);
        }
    }

    /// Prevents `close_notify`, so that the client detects an abort.
    pub fn cut_off(&self) {
        self.close.set(CloseState::CutOff);
    }

    /// Writes pending records. Ready when the socket has accepted all of them.
    fn poll_flush(
        &self,
        connection: &mut ServerConnection,
        socket: &Socket,
        cx: &mut Context,
    ) -> Poll<io::Result<()>> {
        while connection.wants_write() {
            ready!(socket.poll_write_with(cx, || {
                let is_whole = self.flush(connection, socket)?;
                Ok((usize::from(is_whole), !is_whole))
            }))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes records while the socket accepts them. Returns whether it accepted all of them.
    fn flush(&self, connection: &mut ServerConnection, socket: &Socket) -> io::Result<bool> {
        while connection.wants_write() {
            match connection.write_tls(&mut Outgoing(socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        if self.close.get() == CloseState::Soon {
            self.close.set(CloseState::Done);
            socket.end();
        }
        Ok(true)
    }
}

/// Reads and decrypts available records. Returns the number of encrypted bytes.
fn poll_receive(
    connection: &mut ServerConnection,
    socket: &Socket,
    cx: &mut Context,
) -> Poll<io::Result<usize>> {
    let count = ready!(socket.poll_read_with(cx, |socket| {
        let mut incoming = Incoming {
            socket,
            had_room: false,
        };
        let count = connection.read_tls(&mut incoming)?;
        Ok((count, incoming.had_room))
    }))?;
    if let Err(error) = connection.process_new_packets() {
        // Try to send the TLS alert.
        let _ = connection.write_tls(&mut Outgoing(socket));
        return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
    }
    Poll::Ready(Ok(count))
}

/// Adapts the socket to the reader that rustls needs.
struct Incoming<'a> {
    socket: &'a Socket,
    had_room: bool,
}

impl Read for Incoming<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.try_read(buffer)?;
        self.had_room = count < buffer.len();
        Ok(count)
    }
}

/// Adapts the socket to the writer that rustls needs.
struct Outgoing<'a>(&'a Socket);

impl Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        would_block_if_zero(self.0.try_write(bytes)?)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice]) -> io::Result<usize> {
        would_block_if_zero(self.0.try_write_all(pieces)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn would_block_if_zero(count: usize) -> io::Result<usize> {
    match count {
        0 => Err(io::ErrorKind::WouldBlock.into()),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests;
