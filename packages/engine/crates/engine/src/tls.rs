use std::cell::{Cell, RefCell};
use std::io::{self, BufRead, IoSlice, Read, Write};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use crate::socket::Socket;

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Also where it does not say.
    Http1,
    /// It has chosen `h2` (RFC 9113 §3.2).
    Http2,
}

/// What the handshake has found.
#[derive(Debug)]
pub struct HandshakeInfo {
    /// As OpenSSL names it, such as `TLSv1.3`.
    pub version: &'static str,
    /// As its RFC names it, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The host that the client wants.
    pub server_name: Option<String>,
    /// The protocol that was agreed on.
    pub protocol: Option<String>,
    /// Whether it goes on with an earlier session.
    pub is_resumed: bool,
}

/// Our side of TLS on a socket.
///
/// Bytes count as written once their records are the system's. So nothing is lost where the socket is closed behind them,
/// and a client that does not read costs no more than the records of one turn, at most 64 KiB: what rustls holds.
pub struct Session {
    connection: RefCell<ServerConnection>,
    /// Bytes that are encrypted and do not count as written yet: the first ones of what is written next.
    unreported: Cell<usize>,
    close: Cell<CloseState>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseState {
    /// More may be written.
    No,
    /// The socket is to be ended behind what is to be written.
    Soon,
    /// The client must not take what it has for all.
    CutOff,
    /// It is over.
    Done,
}

impl Session {
    /// Begins to wait for a handshake.
    pub fn new(config: Arc<ServerConfig>) -> io::Result<Self> {
        let connection = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self {
            connection: RefCell::new(connection),
            unreported: Cell::new(0),
            close: Cell::new(CloseState::No),
        })
    }

    /// What the client has chosen.
    pub fn protocol(&self) -> Protocol {
        match self.connection.borrow().alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        }
    }

    /// What the handshake has found.
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
            // rustls has a prefix of its own for those of TLS 1.3.
            cipher: cipher.replacen("TLS13_", "TLS_", 1),
            server_name: connection.server_name().map(str::to_owned),
            protocol: connection
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
            is_resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
        }
    }

    /// Ready when the handshake is over.
    pub fn poll_handshake(&self, socket: &Socket, cx: &mut Context) -> Poll<io::Result<()>> {
        let connection = &mut *self.connection.borrow_mut();
        while connection.is_handshaking() {
            ready!(self.poll_flush(connection, socket, cx))?;
            if ready!(poll_receive(connection, socket, cx))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        // Tickets of sessions leave with the first answer, or before anything is waited for.
        Poll::Ready(Ok(()))
    }

    /// Reads what has come; 0 is the end.
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
                // The client has closed its half without saying so in TLS: Node too takes that for its end.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Ok(0));
                }
                read => return Poll::Ready(read),
            }
            let Poll::Ready(received) = poll_receive(connection, socket, cx) else {
                // Who cannot write may read still.
                let _ = self.poll_flush(connection, socket, cx);
                return Poll::Pending;
            };
            received?;
        }
    }

    /// Writes as much of both as the system takes at once.
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

    /// Whether nothing has come that was not read.
    pub fn has_no_input(&self) -> bool {
        let connection = &mut *self.connection.borrow_mut();
        let come = connection.reader().fill_buf().map(<[u8]>::len);
        come.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Tells the client that nothing more comes, behind what is written.
    pub fn end(&self, socket: &Socket) {
        self.send_close_notify(socket, CloseState::Soon);
    }

    /// The same before the socket is closed, which ends it.
    pub fn end_at_close(&self, socket: &Socket) {
        self.send_close_notify(socket, CloseState::Done);
    }

    fn send_close_notify(&self, socket: &Socket, close: CloseState) {
        if self.close.get() == CloseState::No {
            let connection = &mut *self.connection.borrow_mut();
            self.close.set(close);
            connection.send_close_notify();
            // Where the client is gone, there is nobody to tell.
            let _ = self.flush(connection, socket);
        }
    }

    /// The client is not told that nothing more comes.
    pub fn cut_off(&self) {
        self.close.set(CloseState::CutOff);
    }

    /// Writes records as the system takes them; ready when it has all.
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

    /// Writes the records that the system takes at once; says whether these are all.
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

/// Reads what has come and decrypts it; says how many bytes came.
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
        // The client hears why, where it can.
        let _ = connection.write_tls(&mut Outgoing(socket));
        return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
    }
    Poll::Ready(Ok(count))
}

/// What rustls reads from.
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

/// What rustls writes to.
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
