use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::ready;

use serve_dist_core::{Answer, Parts, RequestEnd, Step, decide};

use crate::body_file::LARGE;
use crate::http2;
use crate::limits::LINGER;
use crate::relay::{After, relay};
use crate::send::{Body, Rest, await_turn, has_had_turn, write, write_both};
use crate::shared::Answers;
use crate::thread::{Connection, Phase, Thread};
use crate::tls::Protocol;

/// A body up to here is copied behind its head: one piece is cheaper to send than two.
const COPIED: usize = 4096;
/// Answers to requests that came together are sent together up to here.
const TOGETHER: usize = 32 * 1024;
/// What a new connection of TCP sends at once: ten segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10 * 1460;

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
    /// The last answer is sent, as the rest of a head came too late.
    Refused,
    /// The client sends nothing more.
    End,
}

/// Answers the requests of a connection until it ends.
pub async fn serve(thread: &Rc<Thread>, connection: &Connection) {
    let handshake = poll_fn(|cx| connection.stream.poll_handshake(cx));
    if handshake.await.is_err() {
        return;
    }
    let says_more = match connection.stream.protocol() {
        Protocol::Http1 => {
            thread.look_at_clock();
            connection.enter(Phase::Fresh, thread);
            serve_requests(thread, connection, &mut Vec::new()).await
        }
        Protocol::Http2 => Box::pin(http2::serve(thread, connection)).await,
    };
    let Ok(says_more) = says_more else {
        return;
    };
    if says_more {
        linger(thread, connection).await;
    } else {
        connection.stream.end_at_close();
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
        await_turn(connection).await;
        let rest;
        (rest, next) = match next {
            Next::Read => read(thread, connection, pending).await?,
            Next::Again => {
                let (consumed, rest, next) = answer(thread, connection, pending)?;
                keep_from(pending, consumed);
                note_phase(thread, connection, true, pending);
                (rest, next)
            }
            Next::HandOver(head, end) => {
                match Box::pin(relay(thread, connection, pending, (head, end))).await {
                    After::Ours if thread.draining.get() && pending.is_empty() => return Ok(true),
                    After::Ours => {
                        note_phase(thread, connection, true, pending);
                        (None, Next::Again)
                    }
                    After::Ended => return Ok(true),
                    After::Over => return Ok(false),
                    After::Failed(error) => {
                        thread.emit_refusal(connection, 502, error);
                        connection.stream.try_write(UNREACHABLE)?;
                        return Ok(true);
                    }
                }
            }
            Next::Close => {
                // What a client still sends resets the connection, and would take with it what has not left.
                connection.stream.end_where_plain();
                // Who has asked for the end sends nothing more (RFC 9112 §9.6). If it does, what left at once is read before.
                let is_over = connection.stream.taken() <= INITIAL_WINDOW
                    && pending.is_empty()
                    && !connection.stream.has_unread();
                return Ok(thread.draining.get() || !is_over);
            }
            Next::Refused => return Ok(true),
            Next::End => return Ok(false),
        };
        if let Some(rest) = rest {
            rest.send(thread, connection).await?;
            connection.settle(thread);
            note_phase(thread, connection, true, pending);
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
        if connection.phase.get() == Phase::Lingering {
            // Its time was over meanwhile.
            return Ok((None, Next::Refused)).into();
        }
        let read = &buffer[..count];
        if count == 0 {
            // A head without its end is Node's to refuse; empty lines are of no head.
            let next = if are_empty_lines(pending) {
                Next::End
            } else {
                Next::HandOver(pending.len(), RequestEnd::Open)
            };
            return Ok((None, next)).into();
        }
        let (consumed, rest, next) = if pending.is_empty() {
            let (consumed, rest, next) = answer(thread, connection, read)?;
            pending.extend_from_slice(&read[consumed..]);
            (consumed, rest, next)
        } else {
            pending.extend_from_slice(read);
            let (consumed, rest, next) = answer(thread, connection, pending)?;
            keep_from(pending, consumed);
            (consumed, rest, next)
        };
        note_phase(thread, connection, consumed > 0, pending);
        Ok((rest, next)).into()
    })
    .await
}

/// Answers from the table as many requests as there are, as the system takes and as a turn lasts; says how many bytes they had.
fn answer(
    thread: &Thread,
    connection: &Connection,
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
        if thread
            .observer
            .as_ref()
            .is_some_and(|observer| observer.is_full())
        {
            break Next::HandOver(found.consumed, found.request_end());
        }
        let file = table.file(&found);
        let streamed = file.and_then(|(number, _)| answers.bodies.streamed(number));
        if file.is_some() && streamed.is_none() {
            break Next::HandOver(found.consumed, found.request_end());
        }
        let request = &input[consumed..][..found.consumed];
        consumed += found.consumed;
        let closes = found.closes || thread.draining.get();
        if closes {
            connection.stream.end_follows();
        }
        let parts = table.parts(&found, clock, closes);
        let begin = out.len();
        parts.head.write_to(out);
        out.extend_from_slice(parts.tail);
        if let Some(observer) = &thread.observer {
            let of_body = file.map_or(parts.body.len(), |(_, length)| length as usize);
            let lengths = (out.len() - begin + of_body, of_body);
            connection.observe(
                (observer, answers.notes.of(table, &found)),
                lengths,
                request,
            );
        }
        if let (Some(file), Some((_, length))) = (streamed, file) {
            let next = if closes { Next::Close } else { Next::Again };
            return Ok((consumed, Some(Rest::of_file(out, file, length)), next));
        }
        let is_copied = parts.body.len() <= COPIED;
        if is_copied {
            out.extend_from_slice(parts.body);
            if out.len() < TOGETHER && !closes {
                continue;
            }
        }
        let rest = if is_copied {
            write(connection, out)?
        } else {
            write_both(
                connection,
                out,
                &body_of(&parts, &found, &answers, connection),
            )?
        };
        connection.settle(thread);
        out.clear();
        if closes || rest.is_some() || has_had_turn(connection) {
            let next = if closes { Next::Close } else { Next::Again };
            return Ok((consumed, rest, next));
        }
    };
    let rest = if out.is_empty() {
        None
    } else {
        write(connection, out)?
    };
    connection.settle(thread);
    Ok((consumed, rest, next))
}

/// Where a body is sent from that is not copied behind its head.
fn body_of<'a>(
    parts: &'a Parts,
    found: &Answer,
    answers: &'a Answers,
    connection: &Connection,
) -> Body<'a> {
    let copies = answers.bodies.copies.get();
    let is_sent_as_file = parts.body.len() >= LARGE && connection.stream.sends_files();
    copies
        .filter(|_| is_sent_as_file)
        .and_then(|copies| copies.find(found.representation))
        .map_or(Body::Memory(parts), |(file, start)| {
            Body::Copy(parts, file, start)
        })
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
fn note_phase(thread: &Thread, connection: &Connection, has_answered: bool, pending: &[u8]) {
    let is_between = has_answered || connection.phase.get() == Phase::Idle;
    if are_empty_lines(pending) && is_between {
        connection.enter(Phase::Idle, thread);
    } else if is_between {
        connection.enter(Phase::Head, thread);
    } else {
        connection.phase.set(Phase::Head);
    }
}

/// Whether this is of no head (RFC 9112 §2.2).
fn are_empty_lines(pending: &[u8]) -> bool {
    pending.iter().all(|byte| b"\r\n".contains(byte))
}

/// Forgets what was consumed; an empty buffer holds no memory.
fn keep_from(pending: &mut Vec<u8>, consumed: usize) {
    if consumed == pending.len() {
        *pending = Vec::new();
    } else {
        pending.drain(..consumed);
    }
}
