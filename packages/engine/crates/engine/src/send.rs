use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use serve_dist_core::Parts;
use tokio::task::{spawn_blocking, yield_now};

use crate::connection::{Connection, Phase};
use crate::event::Event;
use crate::streamed_file::StreamedFile;
use crate::thread::Thread;
use crate::tuning::{READ_BUFFER, TURN_BYTES};

/// The number of bytes of a streamed file that counts as progress, as in Node's engine. For other bodies, one byte
/// counts.
const MIN_STREAM_PROGRESS: u64 = 48 * 1024;

/// The source of a body.
pub enum Body<'a> {
    Memory(&'a Parts<'a>),
    Copy {
        parts: &'a Parts<'a>,
        file: &'a Arc<OwnedFd>,
        /// The position of the body in the file.
        start: u64,
    },
}

/// The part of an answer that the socket has not accepted. The rest of a copied body needs no memory.
pub struct UnsentAnswer {
    head: Bytes,
    body: UnsentBody,
}

enum UnsentBody {
    Memory(Bytes),
    Copy {
        file: Arc<OwnedFd>,
        start: u64,
        length: usize,
    },
    Streamed {
        file: Arc<StreamedFile>,
        length: u64,
    },
}

/// Writes as much as the socket accepts.
pub fn write(connection: &Connection, bytes: &[u8]) -> io::Result<Option<UnsentAnswer>> {
    let taken = connection.stream.try_write(bytes)?;
    if taken == bytes.len() {
        return Ok(None);
    }
    connection.stream.clear_writable();
    Ok(Some(UnsentAnswer {
        head: Bytes::copy_from_slice(&bytes[taken..]),
        body: UnsentBody::Memory(Bytes::new()),
    }))
}

/// Writes a head and at most one turn of its body, without copying the body.
pub fn write_head_and_body(
    connection: &Connection,
    head: &[u8],
    body: &Body,
) -> io::Result<Option<UnsentAnswer>> {
    let stream = &connection.stream;
    let (Body::Memory(parts) | Body::Copy { parts, .. }) = body;
    let of_body = parts.body.len().min(TURN_BYTES);
    let taken = match body {
        Body::Memory(parts) => stream.try_write_both(head, &parts.body[..of_body])?,
        Body::Copy { file, start, .. } => match stream.try_write_before_file(head)? {
            taken if taken < head.len() => taken,
            taken => taken + stream.try_send_file(file, *start, of_body)?,
        },
    };
    if taken < head.len() + of_body {
        stream.clear_writable();
    }
    Ok((taken < head.len() + parts.body.len()).then(|| {
        let of_head = taken.min(head.len());
        UnsentAnswer {
            head: Bytes::copy_from_slice(&head[of_head..]),
            body: body.unsent(taken - of_head),
        }
    }))
}

impl Body<'_> {
    fn unsent(&self, sent: usize) -> UnsentBody {
        match self {
            Self::Memory(parts) => UnsentBody::Memory(parts.rest_of_body(sent)),
            Self::Copy { parts, file, start } => UnsentBody::Copy {
                file: Arc::clone(file),
                start: start + sent as u64,
                length: parts.body.len() - sent,
            },
        }
    }
}

impl UnsentAnswer {
    /// Returns a complete answer whose body is a streamed file.
    pub fn of_file(head: &[u8], file: &Arc<StreamedFile>, length: u64) -> Self {
        Self {
            head: Bytes::copy_from_slice(head),
            body: UnsentBody::Streamed {
                file: file.clone(),
                length,
            },
        }
    }

    /// Sends everything. The sweep closes the connection if there is no progress.
    pub async fn send(self, thread: &Thread, connection: &Connection) -> io::Result<()> {
        connection.enter_phase(Phase::Sending, thread.now());
        send_all(thread, connection, self.head).await?;
        match self.body {
            UnsentBody::Memory(body) => send_all(thread, connection, body).await,
            UnsentBody::Streamed { file, length } => {
                stream_file(thread, connection, &file, length).await
            }
            UnsentBody::Copy {
                file,
                start,
                length,
            } => {
                let mut sent = 0;
                while sent < length {
                    let count = (length - sent).min(TURN_BYTES);
                    let at = start + sent as u64;
                    let attempt = || connection.stream.try_send_file(&file, at, count);
                    sent += send_some(thread, connection, count, attempt).await?;
                }
                Ok(())
            }
        }
    }
}

async fn send_all(thread: &Thread, connection: &Connection, mut bytes: Bytes) -> io::Result<()> {
    while !bytes.is_empty() {
        let chunk = &bytes[..bytes.len().min(TURN_BYTES)];
        let attempt = || connection.stream.try_write(chunk);
        let taken = send_some(thread, connection, chunk.len(), attempt).await?;
        bytes.advance(taken);
    }
    Ok(())
}

/// Sends a file by reading chunks. `sendfile` would send later changes of the file.
async fn stream_file(
    thread: &Thread,
    connection: &Connection,
    file: &Arc<StreamedFile>,
    length: u64,
) -> io::Result<()> {
    let (mut at, mut noted) = (0, 0);
    let mut is_read = false;
    let mut state = file.state();
    while at < length {
        await_turn(connection).await;
        let attempt = || {
            let buffer = &mut thread.buffers.input.borrow_mut();
            let count = buffer
                .len()
                .min(usize::try_from(length - at).unwrap_or(usize::MAX));
            let buffer = &mut buffer[..count];
            let read = if is_read {
                file.read(buffer, at)
            } else {
                file.try_read(buffer, at)
            };
            let chunk = &buffer[..read?];
            // Hold back the last bytes until the file is known to be unchanged. A client must never receive a complete
            // body of mixed contents.
            let is_last = at + chunk.len() as u64 == length;
            if chunk.is_empty() || (is_last && !file.is_in(state)) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let taken = connection.stream.try_write(chunk)?;
            Ok((taken, taken < chunk.len()))
        };
        match poll_fn(|cx| connection.stream.poll_write_with(cx, &attempt)).await {
            Ok(taken) => {
                at += taken as u64;
                is_read = false;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                read_in_background(file.clone(), at).await;
                is_read = true;
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                connection.enter_phase(Phase::Sending, thread.now());
                let Some(verified) = file.verify().await.filter(|now| *now != state) else {
                    let path = file.path().to_owned();
                    thread.shared.emit(Event::Changed(path));
                    return Err(error);
                };
                state = verified;
            }
            Err(error) => return Err(error),
        }
        if at - noted >= MIN_STREAM_PROGRESS {
            noted = at;
            connection.enter_phase(Phase::Sending, thread.now());
        }
    }
    Ok(())
}

/// Reads a chunk on another thread, so that it is in the page cache.
async fn read_in_background(file: Arc<StreamedFile>, start: u64) {
    let read = move || file.read(&mut vec![0; READ_BUFFER], start);
    // If this fails, the next read returns the error.
    let _ = spawn_blocking(read).await;
}

/// Sends some of `count` bytes when the connection has its turn and the socket accepts them.
async fn send_some(
    thread: &Thread,
    connection: &Connection,
    count: usize,
    attempt: impl Fn() -> io::Result<usize>,
) -> io::Result<usize> {
    await_turn(connection).await;
    let taken = poll_fn(|cx| connection.stream.poll_send(cx, count, &attempt)).await?;
    connection.enter_phase(Phase::Sending, thread.now());
    Ok(taken)
}

/// Yields to other connections if this one has used its turn.
pub async fn await_turn(connection: &Connection) {
    if has_had_turn(connection) {
        connection.turn.set(connection.stream.sent_bytes());
        yield_now().await;
    }
}

/// Returns whether the connection has used its turn.
pub fn has_had_turn(connection: &Connection) -> bool {
    connection.stream.sent_bytes() - connection.turn.get() >= TURN_BYTES as u64
}
