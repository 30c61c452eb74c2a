use std::cell::Cell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::server::SendResponse;
use h2::{Error, Reason, RecvStream, SendStream};
use http::header::{HOST, HeaderValue};
use http::uri::{Authority, Scheme};
use http::{Method, Request, Response, Uri, Version};

use crate::http2::body_chunk::BodyChunk;
use crate::http2::wire::Flow;
use crate::tuning::MIN_PROGRESS;

/// Why a body is incomplete. A missing reason means that the whole session has ended.
enum ExchangeError {
    /// Node has closed its session gracefully and has not processed this request.
    NotProcessed,
    /// The sender has reset the stream.
    Source(Option<Reason>),
    /// The receiver has reset the stream.
    Sink(Option<Reason>),
    /// The receiver has made no progress within the time limit.
    Stalled,
    /// The grace period of a stop is over.
    CutOff,
}

/// Relays a request to Node and the answer to the client. Relays both bodies concurrently, including trailers.
pub async fn exchange(
    request: Request<RecvStream>,
    mut respond: SendResponse<BodyChunk>,
    node: SendRequest<BodyChunk>,
    flow: Rc<Flow>,
) {
    let (parts, mut upload) = request.into_parts();
    let request = with_authority(Request::from_parts(parts, ()));
    let has_body = !upload.is_end_stream();
    let mut ready = node.ready();
    let ready = poll_fn(|cx| match respond.poll_reset(cx) {
        Poll::Ready(_) => Poll::Ready(None),
        Poll::Pending => Pin::new(&mut ready).poll(cx).map(Result::ok),
    });
    let sent = match ready.await {
        None => None,
        Some(mut node) => node.send_request(request, !has_body).ok(),
    };
    let Some((response, mut to_node)) = sent else {
        // Node has not seen the request. The client may retry (RFC 9113 §8.7).
        respond.send_reset(Reason::REFUSED_STREAM);
        return;
    };
    let is_uploaded = Cell::new(!has_body);
    let result = {
        let upload = async {
            if has_body {
                pipe(&mut upload, &mut to_node, None).await?;
                is_uploaded.set(true);
            }
            let reset = poll_fn(|cx| to_node.poll_reset(cx)).await;
            Err(ExchangeError::Sink(reset.ok()))
        };
        let download = answer(response, &mut respond, &flow);
        let cut_off = flow.cut_off.notified();
        tokio::pin!(upload, download, cut_off);
        let (mut is_uploading, mut is_answered) = (true, false);
        loop {
            tokio::select! {
                biased;
                // After a complete answer, h2 resets the stream without an error.
                () = &mut cut_off => {
                    break if is_answered { Ok(()) } else { Err(ExchangeError::CutOff) };
                }
                result = &mut download, if !is_answered => match result {
                    Ok(()) => is_answered = true,
                    failed => break failed,
                },
                result = &mut upload, if is_uploading => match result {
                    // Node stops reading the upload. Its answer may explain why.
                    Err(ExchangeError::Sink(Some(Reason::NO_ERROR))) => is_uploading = false,
                    Err(ExchangeError::Sink(_)) if is_answered => break Ok(()),
                    failed => break swap_directions(failed),
                },
            }
            if is_answered && (is_uploaded.get() || !is_uploading) {
                break Ok(());
            }
        }
    };
    match result {
        // If Node has not read the whole upload, h2 resets the stream after the answer.
        Ok(()) => {}
        Err(ExchangeError::NotProcessed) => respond.send_reset(Reason::REFUSED_STREAM),
        Err(ExchangeError::Source(Some(reason))) => respond.send_reset(reason),
        // Node has ended the session because of the client's behavior.
        Err(ExchangeError::Source(None)) => flow.must_close.set(true),
        Err(ExchangeError::Sink(reason)) => to_node.send_reset(reason.unwrap_or(Reason::CANCEL)),
        // Clients may mistake a part for the whole if only the connection ends (RFC 9113 §8.1).
        Err(ExchangeError::CutOff) => respond.send_reset(Reason::INTERNAL_ERROR),
        Err(ExchangeError::Stalled) => {
            respond.send_reset(Reason::CANCEL);
            to_node.send_reset(Reason::CANCEL);
        }
    }
}

/// Sets `:authority` from `Host`, as RFC 9113 §8.3.1 requires of intermediaries. h2 requires it, too.
fn with_authority(mut request: Request<()>) -> Request<()> {
    if request.uri().authority().is_some() || request.method() == Method::CONNECT {
        return request;
    }
    let host = request.headers().get(HOST).map(HeaderValue::as_bytes);
    let authority = host.and_then(|host| Authority::try_from(host).ok());
    let mut parts = request.uri().clone().into_parts();
    // h2 needs a scheme to build the URI, and drops it if there is no authority.
    (parts.scheme, parts.authority) = (Some(Scheme::HTTPS), authority);
    match Uri::from_parts(parts) {
        Ok(uri) if uri.authority().is_some() => *request.uri_mut() = uri,
        // Node rejects an invalid host. h2 accepts the request only if its version is HTTP/1.1.
        _ => *request.version_mut() = Version::HTTP_11,
    }
    request
}

/// Converts the error of an upload to that of a download.
fn swap_directions(result: Result<(), ExchangeError>) -> Result<(), ExchangeError> {
    result.map_err(|failed| match failed {
        ExchangeError::Source(reason) => ExchangeError::Sink(reason),
        ExchangeError::Sink(reason) => ExchangeError::Source(reason),
        other => other,
    })
}

/// Relays Node's answer to the client.
async fn answer(
    mut from_node: ResponseFuture,
    respond: &mut SendResponse<BodyChunk>,
    flow: &Flow,
) -> Result<(), ExchangeError> {
    let response = poll_fn(|cx| poll_response(cx, &mut from_node, respond)).await?;
    let (parts, mut download) = response.into_parts();
    let is_whole = download.is_end_stream();
    let sent = respond.send_response(Response::from_parts(parts, ()), is_whole);
    let mut to_client = sent.map_err(|error| ExchangeError::Sink(Some(reason_of(&error))))?;
    if is_whole {
        return Ok(());
    }
    pipe(&mut download, &mut to_client, Some(flow)).await
}

/// Waits for the head of Node's answer, and relays informational responses (103).
fn poll_response(
    cx: &mut Context,
    from_node: &mut ResponseFuture,
    respond: &mut SendResponse<BodyChunk>,
) -> Poll<Result<Response<RecvStream>, ExchangeError>> {
    if let Poll::Ready(reset) = respond.poll_reset(cx) {
        return Poll::Ready(Err(ExchangeError::Sink(reset.ok())));
    }
    while let Poll::Ready(Some(Ok(informational))) = from_node.poll_informational(cx) {
        // Fails only if the client has reset the stream.
        let _ = respond.send_informational(informational);
    }
    Pin::new(from_node)
        .poll(cx)
        .map_err(|error| source_error(&error))
}

/// Relays a body and its trailers. Buffers at most one chunk. Without a `flow`, the receiver is Node.
async fn pipe(
    from: &mut RecvStream,
    to: &mut SendStream<BodyChunk>,
    flow: Option<&Flow>,
) -> Result<(), ExchangeError> {
    while let Some(mut chunk) = poll_fn(|cx| poll_chunk(cx, from, to)).await? {
        while !chunk.is_empty() {
            to.reserve_capacity(chunk.len());
            let capacity = wait_for_capacity(to, flow).await?;
            let part = chunk.split_to(capacity.min(chunk.len()));
            let count = part.len();
            let is_last = chunk.is_empty() && from.is_end_stream();
            send(to.send_data(BodyChunk::Relayed(part), is_last))?;
            // Cannot fail, because these bytes were received.
            let _ = from.flow_control().release_capacity(count);
            if is_last {
                return Ok(());
            }
        }
    }
    match poll_fn(|cx| from.poll_trailers(cx)).await {
        Ok(Some(trailers)) => send(to.send_trailers(trailers)),
        Err(error) => Err(source_error(&error)),
        Ok(None) => send(to.send_data(BodyChunk::Relayed(Bytes::new()), true)),
    }
}

fn send(result: Result<(), Error>) -> Result<(), ExchangeError> {
    result.map_err(|error| ExchangeError::Sink(Some(reason_of(&error))))
}

/// Waits for the next chunk. Returns `None` at the end.
fn poll_chunk(
    cx: &mut Context,
    from: &mut RecvStream,
    to: &mut SendStream<BodyChunk>,
) -> Poll<Result<Option<Bytes>, ExchangeError>> {
    if let Poll::Ready(reset) = to.poll_reset(cx) {
        return Poll::Ready(Err(ExchangeError::Sink(reset.ok())));
    }
    let chunk = ready!(from.poll_data(cx)).transpose();
    Poll::Ready(chunk.map_err(|error| source_error(&error)))
}

/// Waits for send capacity. Without a `flow`, the receiver is Node, which has its own time limits.
async fn wait_for_capacity(
    to: &mut SendStream<BodyChunk>,
    flow: Option<&Flow>,
) -> Result<usize, ExchangeError> {
    let Some(flow) = flow else {
        return poll_fn(|cx| poll_capacity(cx, to)).await;
    };
    // Otherwise, unsent bytes for a stalled client would accumulate in memory.
    flow.wait_until_unblocked().await;
    loop {
        let before = flow.sent.get();
        let capacity = poll_fn(|cx| poll_capacity(cx, to));
        match tokio::time::timeout(flow.stall_timeout(), capacity).await {
            Ok(capacity) => return capacity,
            // The stream waits for other streams of the session.
            Err(_) if flow.sent.get() >= before + MIN_PROGRESS => {}
            Err(_) => return Err(ExchangeError::Stalled),
        }
    }
}

/// Waits for send capacity.
fn poll_capacity(
    cx: &mut Context,
    to: &mut SendStream<BodyChunk>,
) -> Poll<Result<usize, ExchangeError>> {
    if let Poll::Ready(reset) = to.poll_reset(cx) {
        return Poll::Ready(Err(ExchangeError::Sink(reset.ok())));
    }
    loop {
        match to.capacity() {
            0 => match ready!(to.poll_capacity(cx)) {
                Some(Ok(_)) => {}
                _ => return Poll::Ready(Err(ExchangeError::Sink(Some(Reason::CANCEL)))),
            },
            capacity => return Poll::Ready(Ok(capacity)),
        }
    }
}

fn source_error(error: &Error) -> ExchangeError {
    let has_ended = error.is_go_away() && error.is_remote();
    if has_ended && error.reason() == Some(Reason::NO_ERROR) {
        return ExchangeError::NotProcessed;
    }
    ExchangeError::Source(error.is_reset().then(|| reason_of(error)))
}

fn reason_of(error: &Error) -> Reason {
    error.reason().unwrap_or(Reason::INTERNAL_ERROR)
}
