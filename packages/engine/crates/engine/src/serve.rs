use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::ready;

use serve_dist_core::{Answer, Parts, Step, decide};

use crate::answers::Answers;
use crate::connection::{Connection, Phase};
use crate::http2;
use crate::observe::AnswerSize;
use crate::relay::{RelayOutcome, RequestSize, relay};
use crate::send::{Body, UnsentAnswer, await_turn, has_had_turn, write, write_head_and_body};
use crate::thread::Thread;
use crate::tls::Protocol;
use crate::tuning::{LINGER, MIN_FILE_BODY};

/// The maximum size of a body that is copied after its head. One buffer is cheaper to send than two.
const MAX_INLINE_BODY: usize = 4096;
/// The maximum number of bytes of pipelined answers in one write.
const MAX_BATCH: usize = 32 * 1024;
/// The initial congestion window of TCP: ten segments (RFC 6928).
const INITIAL_WINDOW: u64 = 10 * 1460;

const BAD_GATEWAY: &[u8] =
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The action that follows after all pending answers are sent.
enum NextStep {
    Read,
    /// Process the bytes that have already arrived.
    Continue,
    /// Relay the first request to Node.
    HandOver(RequestSize),
    /// Close the connection after the last answer.
    Close,
    /// Close the connection after a timeout answer.
    Refused,
    /// The client has ended the connection.
    End,
}

/// Answers the requests of a connection until it ends.
pub async fn serve(thread: &Rc<Thread>, connection: &Connection) {
    let handshake = poll_fn(|cx| connection.stream.poll_handshake(cx));
    if handshake.await.is_err() {
        return;
    }
    let may_send_more = match connection.stream.protocol() {
        Protocol::Http1 => {
            connection.enter_phase(Phase::Fresh, thread.update_now());
            serve_requests(thread, connection, &mut Vec::new()).await
        }
        Protocol::Http2 => Box::pin(http2::serve(thread, connection)).await,
    };
    let Ok(may_send_more) = may_send_more else {
        return;
    };
    if may_send_more {
        linger(thread, connection).await;
    } else {
        connection.stream.end_at_close();
    }
}

/// Returns whether the client may still be sending. An error means that the connection has ended.
async fn serve_requests(
    thread: &Rc<Thread>,
    connection: &Connection,
    pending: &mut Vec<u8>,
) -> io::Result<bool> {
    let mut next = NextStep::Read;
    loop {
        await_turn(connection).await;
        let unsent;
        (unsent, next) = match next {
            NextStep::Read => read(thread, connection, pending).await?,
            NextStep::Continue => {
                let (consumed, unsent, next) = answer(thread, connection, pending)?;
                discard_consumed(pending, consumed);
                update_phase(thread, connection, true, pending);
                (unsent, next)
            }
            NextStep::HandOver(request) => {
                match Box::pin(relay(thread, connection, pending, request)).await {
                    RelayOutcome::Reusable if thread.is_draining() && pending.is_empty() => {
                        return Ok(true);
                    }
                    RelayOutcome::Reusable => {
                        update_phase(thread, connection, true, pending);
                        (None, NextStep::Continue)
                    }
                    RelayOutcome::NodeClosed => return Ok(true),
                    RelayOutcome::Closed => return Ok(false),
                    RelayOutcome::Unreachable(error) => {
                        thread.emit_refusal(connection, 502, error);
                        connection.stream.try_write(BAD_GATEWAY)?;
                        return Ok(true);
                    }
                }
            }
            NextStep::Close => {
                // Input after `close` causes a reset, which discards unsent output. Therefore send the end first.
                connection.stream.end_if_plain();
                // After `Connection: close`, a client sends nothing more (RFC 9112 §9.6). If it does, it has already
                // received an answer of this size.
                let is_over = connection.stream.sent_bytes() <= INITIAL_WINDOW
                    && pending.is_empty()
                    && !connection.stream.has_unread();
                return Ok(thread.is_draining() || !is_over);
            }
            NextStep::Refused => return Ok(true),
            NextStep::End => return Ok(false),
        };
        if let Some(unsent) = unsent {
            unsent.send(thread, connection).await?;
            settle(thread, connection);
            update_phase(thread, connection, true, pending);
        }
    }
}

/// Waits for input and answers it. `pending` then contains the rest.
async fn read(
    thread: &Thread,
    connection: &Connection,
    pending: &mut Vec<u8>,
) -> io::Result<(Option<UnsentAnswer>, NextStep)> {
    poll_fn(|cx| {
        let buffer = &mut thread.buffers.input.borrow_mut();
        let count = ready!(connection.stream.poll_read(cx, buffer))?;
        if connection.phase.get() == Phase::Lingering {
            // The time limit has passed.
            return Ok((None, NextStep::Refused)).into();
        }
        let read = &buffer[..count];
        if count == 0 {
            // Node rejects an incomplete head. Empty lines do not belong to a head.
            let next = if has_only_empty_lines(pending) {
                NextStep::End
            } else {
                NextStep::HandOver(RequestSize::unknown(pending.len()))
            };
            return Ok((None, next)).into();
        }
        let (consumed, unsent, next) = if pending.is_empty() {
            let (consumed, unsent, next) = answer(thread, connection, read)?;
            pending.extend_from_slice(&read[consumed..]);
            (consumed, unsent, next)
        } else {
            pending.extend_from_slice(read);
            let (consumed, unsent, next) = answer(thread, connection, pending)?;
            discard_consumed(pending, consumed);
            (consumed, unsent, next)
        };
        update_phase(thread, connection, consumed > 0, pending);
        Ok((unsent, next)).into()
    })
    .await
}

/// Answers as many requests from the table as one turn and the socket allow. Returns the number of consumed bytes.
fn answer(
    thread: &Thread,
    connection: &Connection,
    input: &[u8],
) -> io::Result<(usize, Option<UnsentAnswer>, NextStep)> {
    let out = &mut *thread.buffers.output.borrow_mut();
    let clock = &*thread.clock.borrow();
    out.clear();
    let mut consumed = 0;
    let next = loop {
        if consumed == input.len() {
            break NextStep::Read;
        }
        let answers = thread.shared.answers.load();
        let Some(table) = &answers.table else {
            break NextStep::HandOver(RequestSize::unknown(input.len() - consumed));
        };
        let found = match decide(&input[consumed..], table, &answers.hosts) {
            Step::Partial => break NextStep::Read,
            Step::HandOver { head, end } => break NextStep::HandOver(RequestSize { head, end }),
            Step::Answer(found) => found,
        };
        if thread
            .observer
            .as_ref()
            .is_some_and(|observer| observer.is_full())
        {
            break NextStep::HandOver(RequestSize::of(&found));
        }
        let file = table.file(&found);
        let streamed = file.and_then(|(number, _)| answers.bodies.streamed(number));
        if file.is_some() && streamed.is_none() {
            break NextStep::HandOver(RequestSize::of(&found));
        }
        let request = &input[consumed..][..found.consumed];
        consumed += found.consumed;
        let closes = found.closes || thread.is_draining();
        if closes {
            connection.stream.expect_end();
        }
        let parts = table.parts(&found, clock, closes);
        let begin = out.len();
        parts.head.write_to(out);
        out.extend_from_slice(parts.tail);
        if let Some(observer) = &thread.observer {
            let of_body = file.map_or(parts.body.len(), |(_, length)| length as usize);
            let size = AnswerSize {
                whole: out.len() - begin + of_body,
                body: of_body,
            };
            let label = answers.labels.of(table, &found);
            connection.observe(observer, label, size, request);
        }
        if let (Some(file), Some((_, length))) = (streamed, file) {
            let next = if closes {
                NextStep::Close
            } else {
                NextStep::Continue
            };
            return Ok((
                consumed,
                Some(UnsentAnswer::of_file(out, file, length)),
                next,
            ));
        }
        let is_inline = parts.body.len() <= MAX_INLINE_BODY;
        if is_inline {
            out.extend_from_slice(parts.body);
            if out.len() < MAX_BATCH && !closes {
                continue;
            }
        }
        let unsent = if is_inline {
            write(connection, out)?
        } else {
            write_head_and_body(
                connection,
                out,
                &body_source(&parts, &found, &answers, connection),
            )?
        };
        settle(thread, connection);
        out.clear();
        if closes || unsent.is_some() || has_had_turn(connection) {
            let next = if closes {
                NextStep::Close
            } else {
                NextStep::Continue
            };
            return Ok((consumed, unsent, next));
        }
    };
    let unsent = if out.is_empty() {
        None
    } else {
        write(connection, out)?
    };
    settle(thread, connection);
    Ok((consumed, unsent, next))
}

/// Ends the observation of all answers that are completely sent.
fn settle(thread: &Thread, connection: &Connection) {
    if thread.observer.is_some() {
        connection.settle();
    }
}

/// Returns the source of a body that is not copied after its head.
fn body_source<'a>(
    parts: &'a Parts,
    found: &Answer,
    answers: &'a Answers,
    connection: &Connection,
) -> Body<'a> {
    let copies = answers.bodies.copies.get();
    let is_sent_as_file = parts.body.len() >= MIN_FILE_BODY && connection.stream.can_send_files();
    copies
        .filter(|_| is_sent_as_file)
        .and_then(|copies| copies.find(found.representation))
        .map_or(Body::Memory(parts), |(file, start)| Body::Copy {
            parts,
            file,
            start,
        })
}

/// Sends the end and discards input for a while. Otherwise, a reset could discard the end of the answer (RFC 9112
/// §9.6).
async fn linger(thread: &Thread, connection: &Connection) {
    connection.enter_phase(Phase::Lingering, thread.now());
    connection.stream.end();
    let discard = poll_fn(|cx| {
        while let Ok(1..) = ready!(
            connection
                .stream
                .poll_read(cx, &mut thread.buffers.input.borrow_mut())
        ) {}
        ().into()
    });
    // The connection closes in any case.
    let _ = tokio::time::timeout(LINGER, discard).await;
}

/// Starts the time limit of a head at its first byte. For the first head, the limit starts with the connection.
fn update_phase(thread: &Thread, connection: &Connection, has_answered: bool, pending: &[u8]) {
    let is_between_requests = has_answered || connection.phase.get() == Phase::Idle;
    if has_only_empty_lines(pending) && is_between_requests {
        connection.enter_phase(Phase::Idle, thread.now());
    } else if is_between_requests {
        connection.enter_phase(Phase::Head, thread.now());
    } else {
        connection.phase.set(Phase::Head);
    }
}

/// Returns whether all bytes belong to empty lines, which may precede a request (RFC 9112 §2.2).
fn has_only_empty_lines(pending: &[u8]) -> bool {
    pending.iter().all(|byte| b"\r\n".contains(byte))
}

/// Removes consumed bytes. Frees the memory of an empty buffer.
fn discard_consumed(pending: &mut Vec<u8>, consumed: usize) {
    if consumed == pending.len() {
        *pending = Vec::new();
    } else {
        pending.drain(..consumed);
    }
}
