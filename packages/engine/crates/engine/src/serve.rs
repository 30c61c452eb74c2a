use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::ready;
use std::time::Duration;

use bytes::Bytes;
use serve_dist_core::{Parts, RequestEnd, Step, decide};

use crate::relay::{After, relay};
use crate::stream::Stream;
use crate::thread::{Connection, Phase, Thread};

/// A body up to here is copied behind its head: one piece is cheaper to send than two.
const COPIED: usize = 4096;
/// Answers to requests that came together are sent together up to here.
const TOGETHER: usize = 32 * 1024;
/// How long a client has to read the end of its last answer before bytes that it still sends reset the connection.
const LINGER: Duration = Duration::from_secs(1);

const UNREACHABLE: &[u8] =
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// What to do once everything that can be answered at once is sent.
enum Next {
    /// Wait for more bytes.
    Read,
    /// Go on with the bytes that are there.
    Again,
    /// Node answers what is at their begin.
    HandOver(usize, RequestEnd),
    /// The last answer is sent; the client may not know that yet.
    Close,
    /// The client sends nothing more.
    End,
}

/// What the system did not take of an answer.
struct Rest {
    head: Bytes,
    body: Bytes,
}

/// Answers the requests of a connection until it ends.
pub async fn serve(thread: &Rc<Thread>, connection: &Connection) {
    let mut pending = Vec::new();
    let Ok(says_more) = serve_requests(thread, connection, &mut pending).await else {
        return;
    };
    if says_more {
        linger(thread, connection).await;
    }
}

/// Says whether the client may be sending still; an error is its end.
async fn serve_requests(
    thread: &Rc<Thread>,
    connection: &Connection,
    pending: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut next = Next::Read;
    loop {
        let rest;
        (rest, next) = match next {
            Next::Read => read(thread, connection, pending).await?,
            Next::Again => {
                let (consumed, rest, next) = answer(thread, &connection.stream, pending)?;
                keep_from(pending, consumed);
                note_phase(thread, connection, true, pending.is_empty());
                (rest, next)
            }
            Next::HandOver(head, end) => {
                match Box::pin(relay(thread, connection, pending, (head, end))).await {
                    After::Ours if thread.draining.get() && pending.is_empty() => return Ok(true),
                    After::Ours => {
                        connection.enter(Phase::Idle, thread);
                        (None, Next::Again)
                    }
                    After::Ended => return Ok(true),
                    After::Over => return Ok(false),
                    After::Failed => {
                        connection.stream.try_write(UNREACHABLE)?;
                        return Ok(true);
                    }
                }
            }
            Next::Close => return Ok(true),
            Next::End => return Ok(false),
        };
        if let Some(rest) = rest {
            send(thread, connection, rest).await?;
            note_phase(thread, connection, true, pending.is_empty());
        }
    }
}

/// Waits for bytes and answers what came; what is left of them is in `pending` afterwards.
async fn read(
    thread: &Thread,
    connection: &Connection,
    pending: &mut Vec<u8>,
) -> io::Result<(Option<Rest>, Next)> {
    poll_fn(|cx| {
        let buffer = &mut thread.buffer.borrow_mut();
        let count = ready!(connection.stream.poll_read(cx, buffer))?;
        let read = &buffer[..count];
        if count == 0 {
            // A head without its end is Node's to refuse, or nobody's.
            let head = pending.len();
            let next = if head == 0 {
                Next::End
            } else {
                Next::HandOver(head, RequestEnd::Open)
            };
            return Ok((None, next)).into();
        }
        let (consumed, rest, next) = if pending.is_empty() {
            let (consumed, rest, next) = answer(thread, &connection.stream, read)?;
            pending.extend_from_slice(&read[consumed..]);
            (consumed, rest, next)
        } else {
            pending.extend_from_slice(read);
            let (consumed, rest, next) = answer(thread, &connection.stream, pending)?;
            keep_from(pending, consumed);
            (consumed, rest, next)
        };
        note_phase(thread, connection, consumed > 0, pending.is_empty());
        Ok((rest, next)).into()
    })
    .await
}

/// Answers from the table as many requests as there are and as the system takes; says how many bytes they had.
fn answer(
    thread: &Thread,
    stream: &Stream,
    input: &[u8],
) -> io::Result<(usize, Option<Rest>, Next)> {
    let out = &mut *thread.out.borrow_mut();
    let clock = &*thread.clock.borrow();
    out.clear();
    let mut consumed = 0;
    let next = loop {
        if consumed == input.len() {
            break Next::Read;
        }
        let answers = thread.shared.answers.load();
        let Some(table) = &answers.table else {
            break Next::HandOver(input.len() - consumed, RequestEnd::Open);
        };
        let found = match decide(&input[consumed..], table, &answers.hosts) {
            Step::Partial => break Next::Read,
            Step::HandOver { head, end } => break Next::HandOver(head, end),
            Step::Answer(found) => found,
        };
        consumed += found.consumed;
        let closes = found.closes || thread.draining.get();
        let parts = table.parts(&found, clock, closes);
        out.extend_from_slice(parts.head);
        out.extend_from_slice(parts.tail);
        let is_copied = parts.body.len() <= COPIED;
        if is_copied {
            out.extend_from_slice(parts.body);
            if out.len() < TOGETHER && !closes {
                continue;
            }
        }
        let rest = if is_copied {
            write(stream, out)?
        } else {
            write_both(stream, out, &parts)?
        };
        out.clear();
        if closes || rest.is_some() {
            let next = if closes { Next::Close } else { Next::Again };
            return Ok((consumed, rest, next));
        }
    };
    let rest = if out.is_empty() {
        None
    } else {
        write(stream, out)?
    };
    Ok((consumed, rest, next))
}

/// Writes what the system takes at once.
fn write(stream: &Stream, bytes: &[u8]) -> io::Result<Option<Rest>> {
    let taken = stream.try_write(bytes)?;
    Ok((taken < bytes.len()).then(|| Rest {
        head: Bytes::copy_from_slice(&bytes[taken..]),
        body: Bytes::new(),
    }))
}

fn write_both(stream: &Stream, head: &[u8], parts: &Parts) -> io::Result<Option<Rest>> {
    let taken = stream.try_write_both(head, parts.body)?;
    let of_head = taken.min(head.len());
    let is_whole = taken == head.len() + parts.body.len();
    Ok((!is_whole).then(|| Rest {
        head: Bytes::copy_from_slice(&head[of_head..]),
        body: parts.rest_of_body(taken - of_head),
    }))
}

/// Writes the rest as the client takes it; how long that may take without progress, the sweep knows.
async fn send(thread: &Thread, connection: &Connection, rest: Rest) -> io::Result<()> {
    for mut piece in [rest.head, rest.body] {
        while !piece.is_empty() {
            connection.enter(Phase::Sending, thread);
            let taken = poll_fn(|cx| connection.stream.poll_write(cx, &piece)).await?;
            piece = piece.slice(taken..);
        }
    }
    Ok(())
}

/// Ends our half and reads on for a while, or the client would lose the end of its answer to a reset (RFC 9112 §9.6).
async fn linger(thread: &Thread, connection: &Connection) {
    connection.enter(Phase::Lingering, thread);
    connection.stream.end();
    let discard = poll_fn(|cx| {
        while let Ok(1..) = ready!(
            connection
                .stream
                .poll_read(cx, &mut thread.buffer.borrow_mut())
        ) {}
        ().into()
    });
    // Whether in time or not, the connection is closed now.
    let _ = tokio::time::timeout(LINGER, discard).await;
}

/// The first byte of a head begins its time; that of a connection's first head began with the connection.
fn note_phase(thread: &Thread, connection: &Connection, has_answered: bool, is_empty: bool) {
    let before = connection.phase.get();
    if is_empty {
        connection.enter(Phase::Idle, thread);
    } else if has_answered || before == Phase::Idle {
        connection.enter(Phase::Head, thread);
    } else {
        connection.phase.set(Phase::Head);
    }
}

/// Forgets what was consumed; an empty buffer holds no memory.
fn keep_from(pending: &mut Vec<u8>, consumed: usize) {
    if consumed == pending.len() {
        *pending = Vec::new();
    } else {
        pending.drain(..consumed);
    }
}
