mod limits;
mod observed;
mod quota;
mod relay;
mod shutdown;

use std::cell::Cell;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::task::Poll;

use bytes::Bytes;
use h2::client::{self, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream, server};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::MAX_SEND_BUFFER;
use crate::answers::Answers;
use crate::drain::drain;
use crate::event::Event;
use crate::http2::shutdown::GOAWAY_TIMEOUT;
use crate::limits::Limits;
use crate::limits::Rate;
use crate::links::note_link_shortage;
use crate::observe::Observations;
use crate::stream::Stream;
use crate::testing::{
    BODY, LIMITS, LONG, SHORT, answers, handed, http2_client, on_observed_thread, on_thread,
    serve_http2, table_of,
};
use crate::thread::Thread;
use crate::tuning::{NEW_CONNECTION, TURN_BYTES};

/// Connects an HTTP/2 client to the thread.
async fn connect(thread: &Rc<Thread>, window: u32) -> SendRequest<Bytes> {
    let mut builder = client::Builder::new();
    builder.initial_window_size(window);
    let (send, connection) = builder
        .handshake(http2_client(thread))
        .await
        .expect("the handshake succeeds");
    tokio::task::spawn_local(connection);
    send.ready().await.expect("the session accepts requests")
}

const SHORTER: usize = 200_000;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("the payload is short");
    let [high, low] = length.to_be_bytes();
    let head = [0, high, low, kind, flags];
    [&head, &stream.to_be_bytes()[..], payload].concat()
}

/// Returns the bytes of a client with unlimited windows and frames of 1 MiB. It requests `/a` `count` times.
fn greedy(count: u32) -> Vec<u8> {
    let window = i32::MAX.to_be_bytes();
    let settings = [&b"\0\x05\0\x10\0\0\0\x04"[..], &window].concat();
    let update = (i32::MAX - 65_535).to_be_bytes();
    let mut bytes = [
        PREFACE,
        &frame(4, 0, 0, &settings),
        &frame(8, 0, 0, &update),
    ]
    .concat();
    for number in 0..count {
        bytes.extend(frame(1, 5, 2 * number + 1, b"\x82\x87\x04\x02/a\x01\x01x"));
    }
    bytes
}

/// Returns the type and the length of each frame.
fn frames_of(mut bytes: &[u8]) -> Vec<(u8, usize)> {
    let mut frames = Vec::new();
    while let Some((&[a, b, c, kind, ..], rest)) = bytes.split_first_chunk::<9>() {
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        frames.push((kind, length));
        bytes = rest.get(length..).unwrap_or_default();
    }
    frames
}

/// Replaces the table by one whose body fits into the buffer of h2.
fn shorten_body(thread: &Thread) {
    let table = Some(table_of(&[vec![b'b'; SHORTER]]));
    let shorter = Answers { table, ..answers() };
    thread.shared.answers.set(shorter);
}

async fn all_closed(thread: &Thread) {
    while !thread.connections.is_empty() {
        tokio::task::yield_now().await;
    }
}

fn request(method: Method, path: &str) -> Request<()> {
    let request = Request::builder().method(method);
    let uri = format!("https://x{path}");
    request.uri(uri).body(()).expect("the request is valid")
}

async fn get(send: &mut SendRequest<Bytes>, path: &str) -> Result<Response<RecvStream>, h2::Error> {
    let (response, _) = send.send_request(request(Method::GET, path), true)?;
    response.await
}

/// Returns the length of a body and its trailers.
async fn read(mut body: RecvStream) -> Result<(usize, Option<HeaderMap>), h2::Error> {
    let mut length = 0;
    while let Some(chunk) = body.data().await {
        let count = chunk?.len();
        length += count;
        let _ = body.flow_control().release_capacity(count);
    }
    Ok((length, body.trailers().await?))
}

type NodeSide = server::Connection<UnixStream, Bytes>;

/// Accepts a handed session on Node's side.
async fn node(events: &Receiver<Event>) -> NodeSide {
    let (_, end) = handed(events).await;
    server::handshake(end).await.expect("the session starts")
}

async fn next_request(node: &mut NodeSide) -> (Request<RecvStream>, server::SendResponse<Bytes>) {
    let request = node.accept().await.expect("a request arrives");
    request.expect("the request is valid")
}

/// Sends a request without the end of its body, and a complete answer of two bytes. The third value is the unread body.
async fn answer_early(
    send: &mut SendRequest<Bytes>,
    events: &Receiver<Event>,
) -> (ResponseFuture, SendStream<Bytes>, RecvStream) {
    let (response, upload) = send
        .send_request(request(Method::POST, "/miss"), false)
        .expect("the stream is open");
    let mut node = node(events).await;
    let (asked, mut respond) = next_request(&mut node).await;
    let mut down = respond
        .send_response(Response::new(()), false)
        .expect("the stream is open");
    down.send_data(Bytes::from_static(b"no"), true)
        .expect("the stream is open");
    tokio::task::spawn_local(async move { node.accept().await.is_none() });
    (response, upload, asked.into_body())
}

fn reason(error: &h2::Error) -> Option<Reason> {
    error.reason()
}

#[test]
fn answers_from_the_table() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let response = get(&mut send, "/a").await.expect("the engine answers");
        assert_eq!(response.status(), StatusCode::OK);
        let names: Vec<_> = response
            .headers()
            .keys()
            .map(|name| name.as_str())
            .collect();
        assert_eq!(names, ["content-length", "date"]);
        assert_eq!(
            read(response.into_body())
                .await
                .expect("the body is complete")
                .0,
            BODY
        );
        let (head, _) = send
            .send_request(request(Method::HEAD, "/a"), true)
            .expect("the stream is open");
        assert!(
            head.await
                .expect("the engine answers")
                .into_body()
                .is_end_stream()
        );
        assert!(events.try_recv().is_err());
    });
}

fn count_of(kind: u8, bytes: &[u8]) -> usize {
    let frames = frames_of(bytes).into_iter();
    frames.filter(|frame| frame.0 == kind).count()
}

/// Waits until the session ends with ENHANCE_YOUR_CALM.
async fn expect_calming(ended: impl Future<Output = Result<(), h2::Error>>) {
    let error = ended.await.expect_err("the session ends");
    assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
}
