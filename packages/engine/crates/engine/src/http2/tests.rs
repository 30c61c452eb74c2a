use std::cell::Cell;
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::pin::pin;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::task::Poll;

use bytes::Bytes;
use h2::client::{self, SendRequest};
use h2::{Reason, RecvStream, server};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::MAX_SEND_BUFFER;
use crate::answers::Answers;
use crate::connection::Connection;
use crate::drain::drain;
use crate::event::Event;
use crate::http2::shutdown::GOAWAY_TIMEOUT;
use crate::limits::Limits;
use crate::limits::Rate;
use crate::links::note_link_shortage;
use crate::observe::Observations;
use crate::stream::Stream;
use crate::testing::{
    BODY, LIMITS, LONG, SHORT, answers, handed, on_observed_thread, on_thread, stream, table_of,
};
use crate::thread::Thread;
use crate::tuning::{NEW_CONNECTION, TURN_BYTES};

/// Connects an HTTP/2 client to the thread.
async fn connect(thread: &Rc<Thread>, window: u32) -> SendRequest<Bytes> {
    let mut builder = client::Builder::new();
    builder.initial_window_size(window);
    let (send, connection) = builder
        .handshake(raw(thread))
        .await
        .expect("the handshake succeeds");
    tokio::task::spawn_local(connection);
    send.ready().await.expect("the session accepts requests")
}

fn raw(thread: &Rc<Thread>) -> UnixStream {
    let (ours, theirs) = Stream::pair().expect("descriptors are available");
    serve(thread, ours);
    stream(theirs)
}

fn serve(thread: &Rc<Thread>, stream: Stream) {
    let connection = Rc::new(Connection::new(stream, None));
    let id = thread.next_id();
    thread.connections.insert(id, connection.clone());
    let thread = thread.clone();
    tokio::task::spawn_local(async move {
        let _ = super::serve(&thread, &connection).await;
        thread.connections.remove(id);
    });
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

#[test]
fn relays_bodies_hints_and_trailers() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (mut response, mut upload) = send
            .send_request(request(Method::POST, "/miss"), false)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (asked, mut respond) = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        tokio::task::spawn_local(async move { node.accept().await.is_none() });
        assert_eq!(asked.uri(), "https://x/miss");
        upload
            .send_data(Bytes::from_static(b"up"), false)
            .expect("the stream is open");
        let mut trailers = HeaderMap::new();
        trailers.insert("sum", "1".parse().expect("the value is valid"));
        upload
            .send_trailers(trailers.clone())
            .expect("the stream is open");
        let (length, came) = read(asked.into_body()).await.expect("the body is complete");
        assert_eq!((length, came.as_ref()), (2, Some(&trailers)));
        let hint = Response::builder().status(103).header("link", "a");
        respond
            .send_informational(hint.body(()).expect("the response is valid"))
            .expect("the stream is open");
        let mut down = respond
            .send_response(Response::new(()), false)
            .expect("the stream is open");
        down.send_data(vec![b'd'; 100_000].into(), false)
            .expect("the stream is open");
        down.send_trailers(trailers.clone())
            .expect("the stream is open");
        let hint = poll_fn(|cx| response.poll_informational(cx)).await;
        assert_eq!(
            hint.expect("a request arrives")
                .expect("the response is valid")
                .status(),
            103
        );
        let response = response.await.expect("the engine answers");
        let (length, came) = read(response.into_body())
            .await
            .expect("the body is complete");
        assert_eq!((length, came), (100_000, Some(trailers)));
    });
}

#[test]
fn relays_resets_in_both_directions() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, mut upload) = send
            .send_request(request(Method::POST, "/miss"), false)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (asked, _respond) = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        upload.send_reset(Reason::CANCEL);
        drop(response);
        let driver = tokio::task::spawn_local(async move {
            let (_, mut respond) = node
                .accept()
                .await
                .expect("a request arrives")
                .expect("the request is valid");
            respond.send_reset(Reason::ENHANCE_YOUR_CALM);
            node.accept().await.is_none()
        });
        let error = read(asked.into_body())
            .await
            .expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
        let error = get(&mut send, "/miss")
            .await
            .expect_err("the stream is reset");
        assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
        drop(driver);
    });
}

#[test]
fn relays_a_complete_answer_to_an_unread_upload() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, mut upload) = send
            .send_request(request(Method::POST, "/miss"), false)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (asked, mut respond) = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        let mut down = respond
            .send_response(Response::new(()), false)
            .expect("the stream is open");
        down.send_data(Bytes::from_static(b"no"), true)
            .expect("the stream is open");
        drop((asked, respond, down));
        tokio::task::spawn_local(async move { node.accept().await.is_none() });
        let response = response.await.expect("the engine answers");
        assert_eq!(
            read(response.into_body())
                .await
                .expect("the body is complete")
                .0,
            2
        );
        let reset = poll_fn(|cx| upload.poll_reset(cx)).await;
        assert_eq!(reset.expect("the stream is reset"), Reason::NO_ERROR);
    });
}

#[test]
fn resets_a_stream_without_progress() {
    let limits = Limits {
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut send = connect(thread, 0).await;
        let body = get(&mut send, "/a")
            .await
            .expect("the engine answers")
            .into_body();
        let error = read(body).await.expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
        let relayed = get(&mut send, "/miss");
        let answered = async {
            let mut node = node(events).await;
            let (_, mut respond) = node
                .accept()
                .await
                .expect("a request arrives")
                .expect("the request is valid");
            let mut down = respond
                .send_response(Response::new(()), false)
                .expect("the stream is open");
            down.send_data(Bytes::from_static(b"down"), true)
                .expect("the stream is open");
            tokio::task::spawn_local(async move { node.accept().await.is_none() });
        };
        let (response, ()) = tokio::join!(relayed, answered);
        let body = response.expect("the engine answers").into_body();
        let error = read(body).await.expect_err("the stream is canceled");
        assert_eq!(reason(&error), Some(Reason::CANCEL));
    });
}

#[test]
fn closes_a_connection_that_stalls_within_a_large_frame() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = raw(thread);
        raw.write_all(&greedy(2)).await.expect("the engine reads");
        all_closed(thread).await;
    });
}

#[test]
fn closes_a_connection_that_stalls_at_the_end() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = raw(thread);
        let bytes = [PREFACE, &frame(4, 0, 0, b"")].concat();
        raw.write_all(&bytes).await.expect("the engine reads");
        let mut first = [0];
        raw.read_exact(&mut first)
            .await
            .expect("the session starts");
        for connection in thread.connections.all() {
            while connection
                .stream
                .try_write(&[0; 4096])
                .expect("the connection is open")
                > 0
            {}
        }
        raw.write_all(&frame(6, 0, 0, &[0; 8]))
            .await
            .expect("the engine reads");
        raw.shutdown().await.expect("the connection is open");
        all_closed(thread).await;
    });
}

#[test]
fn ends_a_session_whose_window_stays_closed() {
    let limits = Limits {
        keep_alive: 2 * LONG,
        socket: 4 * SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = raw(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut bytes = vec![0; 100];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        // SETTINGS with a window of 0 bytes.
        raw.write_all(&frame(4, 0, 0, b"\0\x04\0\0\0\0"))
            .await
            .expect("the engine reads");
        raw.read_to_end(&mut bytes).await.expect("the session ends");
        let last = frames_of(&bytes).pop().expect("frames arrive");
        assert_eq!(last.0, 7, "GOAWAY");
    });
}

#[test]
fn sends_answers_in_h2_before_it_drains() {
    on_thread(LIMITS, async |thread, _events| {
        shorten_body(thread);
        let mut raw = raw(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut bytes = vec![0; 100];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        let mut drained = pin!(drain(thread, None, LONG));
        timeout(2 * GOAWAY_TIMEOUT, &mut drained)
            .await
            .expect_err("the drain waits for the client");
        let ((), ended) = tokio::join!(drained, raw.read_to_end(&mut bytes));
        ended.expect("the session ends");
        let bodies = frames_of(&bytes).into_iter().filter(|frame| frame.0 == 0);
        assert_eq!(bodies.map(|frame| frame.1).sum::<usize>(), 8 * SHORTER);
    });
}

#[test]
fn resets_bodies_after_the_grace_period() {
    on_thread(LIMITS, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let response = get(&mut send, "/a").await.expect("the engine answers");
        let drained = drain(thread, None, GOAWAY_TIMEOUT + SHORT);
        let (came, ()) = tokio::join!(read(response.into_body()), drained);
        let error = came.expect_err("the body is incomplete");
        assert_eq!(reason(&error), Some(Reason::INTERNAL_ERROR));
    });
}

#[test]
fn drains_without_waiting_for_a_silent_client() {
    on_thread(LIMITS, async |thread, _events| {
        let _raw = raw(thread);
        tokio::task::yield_now().await;
        timeout(3 * NEW_CONNECTION, drain(thread, None, LONG))
            .await
            .expect("the drain does not wait for the client");
    });
}

#[test]
fn shares_the_quota_between_sessions() {
    let limits = Limits {
        checking_interval: SHORT,
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut greedy = connect(thread, 0).await;
        let mut bodies = Vec::new();
        for _ in 0..4 {
            let response = get(&mut greedy, "/a").await.expect("the engine answers");
            bodies.push(response.into_body());
        }
        let error = get(&mut greedy, "/a")
            .await
            .expect_err("the quota is exceeded");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        let mut modest = connect(thread, 0).await;
        let mut others = Vec::new();
        for _ in 0..2 {
            let response = get(&mut modest, "/a").await.expect("the engine answers");
            others.push(response.into_body());
        }
        let error = get(&mut modest, "/a")
            .await
            .expect_err("the session has used its share");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        for body in bodies.split_off(2) {
            let error = read(body).await.expect_err("the stream is canceled");
            assert_eq!(reason(&error), Some(Reason::CANCEL));
        }
        assert!(!thread.http2.stream_quota.is_exceeded());
        // The whole quota is available to the other client.
        drop((bodies, greedy));
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        get(&mut modest, "/a").await.expect("the engine answers");
        drop(others);
    });
}

/// Returns the number of answers and the number of aborted answers.
fn begun_and_aborted(thread: &Thread) -> [i64; 2] {
    let observations = thread.shared.observations.as_ref();
    let counts = observations.expect("observations are enabled").counts();
    [counts[0], counts[1]]
}

fn observations() -> Observations {
    Observations::new(&[], false)
}

#[test]
fn counts_an_answer_without_a_sent_end_as_aborted() {
    on_observed_thread(LIMITS, observations(), async |thread, _events| {
        shorten_body(thread);
        let mut raw = raw(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        let mut first = [0; SHORTER];
        raw.read_exact(&mut first)
            .await
            .expect("the engine answers");
        drop(raw);
        all_closed(thread).await;
        let [begun, aborted] = begun_and_aborted(thread);
        assert_eq!(begun, 8);
        assert!((4..8).contains(&aborted), "{aborted}");
    });
}

#[test]
fn counts_an_answer_to_a_disconnected_client_as_aborted() {
    on_observed_thread(LIMITS, observations(), async |thread, _events| {
        let table = Some(table_of(&[b"short".into()]));
        let short = Answers { table, ..answers() };
        thread.shared.answers.set(short);
        let mut raw = raw(thread);
        let mut first = [0];
        raw.write_all(&greedy(0)).await.expect("the engine reads");
        raw.read_exact(&mut first)
            .await
            .expect("the session starts");
        SockRef::from(&raw)
            .shutdown(Shutdown::Read)
            .expect("the connection is open");
        let request = greedy(1).split_off(greedy(0).len());
        raw.write_all(&request).await.expect("the engine reads");
        all_closed(thread).await;
        assert_eq!(begun_and_aborted(thread), [1, 1]);
    });
}

#[test]
fn releases_the_quota_of_a_canceled_answer() {
    let limits = Limits {
        maximum_streams: 1,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let waiting = get(&mut send, "/a").await.expect("the engine answers");
        assert!(thread.http2.stream_quota.refuses(1));
        drop(waiting);
        while thread.http2.stream_quota.refuses(1) {
            tokio::task::yield_now().await;
        }
    });
}

#[test]
fn refuses_streams_above_the_quota_of_node() {
    let limits = Limits {
        maximum_streams: 1,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut greedy = connect(thread, 65_535).await;
        let ask = |send: &mut SendRequest<Bytes>| {
            let asked = send.send_request(request(Method::GET, "/miss"), true);
            asked.expect("the stream is open").0
        };
        let taken = [ask(&mut greedy), ask(&mut greedy)];
        let error = ask(&mut greedy).await.expect_err("the quota is exceeded");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        let mut modest = connect(thread, 65_535).await;
        let other = ask(&mut modest);
        let error = ask(&mut modest)
            .await
            .expect_err("the session has used its share");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        drop((taken, greedy));
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        let one_more = ask(&mut modest);
        while !thread.shared.relayed_streams.refuses(2) {
            tokio::task::yield_now().await;
        }
        drop((other, one_more, modest));
        all_closed(thread).await;
        assert!(!thread.shared.relayed_streams.refuses(2));
    });
}

#[test]
fn counts_answers_in_h2_as_pending() {
    let limits = Limits {
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = raw(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        while !thread.http2.stream_quota.refuses(4) {
            tokio::task::yield_now().await;
        }
        let mut bytes = Vec::new();
        while count_of(3, &bytes) == 0 {
            raw.read_buf(&mut bytes)
                .await
                .expect("the stream is refused");
        }
        while thread.http2.stream_quota.refuses(4) {
            raw.read_buf(&mut bytes).await.expect("the engine answers");
        }
    });
}

#[test]
fn counts_unsent_heads_as_pending() {
    let limits = Limits {
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = raw(thread);
        raw.write_all(&greedy(1)).await.expect("the engine reads");
        let mut bytes = vec![0; SHORTER];
        raw.read_exact(&mut bytes)
            .await
            .expect("the engine answers");
        for number in 1..8 {
            let head = frame(1, 5, 2 * number + 1, b"\x02\x04HEAD\x87\x04\x02/a\x01\x01x");
            raw.write_all(&head).await.expect("the engine reads");
        }
        // The end of each waiting stream is a separate frame.
        let ends = |bytes: &[u8]| {
            frames_of(bytes)
                .iter()
                .filter(|&&each| each == (0, 0))
                .count()
        };
        while count_of(3, &bytes) < 4 || ends(&bytes) < 3 {
            raw.read_buf(&mut bytes)
                .await
                .expect("the stream is refused");
        }
        assert_eq!((count_of(3, &bytes), ends(&bytes)), (4, 3));
    });
}

#[test]
fn ends_a_stalled_session_if_others_need_its_share() {
    let limits = Limits {
        checking_interval: SHORT,
        maximum_streams: 4,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        shorten_body(thread);
        let mut raw = raw(thread);
        raw.write_all(&greedy(8)).await.expect("the engine reads");
        while !thread.http2.stream_quota.refuses(4) {
            tokio::task::yield_now().await;
        }
        let mut modest = connect(thread, 0).await;
        let response = get(&mut modest, "/a").await.expect("the engine answers");
        while thread.connections.all().len() > 1 {
            tokio::task::yield_now().await;
        }
        assert!(!thread.http2.stream_quota.is_exceeded());
        drop(response);
    });
}

fn count_of(kind: u8, bytes: &[u8]) -> usize {
    let frames = frames_of(bytes).into_iter();
    frames.filter(|frame| frame.0 == kind).count()
}

#[test]
fn serves_other_clients_during_a_fast_download() {
    on_thread(LIMITS, async |thread, _events| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("the socket listens");
        let mut theirs = TcpStream::connect(address).expect("the socket listens");
        let (ours, _) = listener.accept().expect("a connection is queued");
        ours.set_nonblocking(true)
            .expect("the descriptor is a socket");
        serve(
            thread,
            Stream::new(ours.into()).expect("epoll can watch the socket"),
        );
        let reader = std::thread::spawn(move || {
            theirs.write_all(&greedy(8)).expect("the engine reads");
            let mut come = 0;
            let mut buffer = vec![0; 256 * 1024];
            while come < 8 * BODY {
                come += theirs.read(&mut buffer).expect("the connection is open");
            }
        });
        let longest = Rc::new(Cell::new(0));
        let (watched, noted) = (thread.clone(), longest.clone());
        let mut before = 0;
        let other = tokio::task::spawn_local(poll_fn(move |cx| {
            for connection in watched.connections.all() {
                let taken = connection.stream.sent_bytes();
                noted.set(noted.get().max(taken - before));
                before = taken;
            }
            cx.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        all_closed(thread).await;
        other.abort();
        reader.join().expect("the task completes");
        let longest = longest.get();
        assert!(
            longest <= (TURN_BYTES + 2 * MAX_SEND_BUFFER) as u64,
            "{longest}"
        );
    });
}

#[test]
fn continues_a_session_after_reset_uploads() {
    let limits = Limits {
        resets: Rate {
            burst: 1000.0,
            per_second: 0.0,
        },
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut raw = raw(thread);
        let settings = frame(4, 0, 0, b"");
        raw.write_all(&[PREFACE, &settings].concat())
            .await
            .expect("the engine reads");
        let mut bytes = Vec::new();
        let fields = [
            b"\x83\x87\x84\x01\x01x".to_vec(),
            b"\x00\x01a\x00".repeat(LIMITS.fields),
        ];
        for number in 0..300 {
            let head = frame(1, 4, 2 * number + 1, &fields.concat());
            raw.write_all(&head).await.expect("the engine reads");
            while count_of(3, &bytes) <= number as usize {
                raw.read_buf(&mut bytes).await.expect("the stream is reset");
            }
        }
        // Frames that were already in transit.
        for round in 0..5 {
            for number in 0..300 {
                let chunk = frame(0, 0, 2 * number + 1, &[0; 256]);
                raw.write_all(&chunk).await.expect("the engine reads");
            }
            let ping = frame(6, 0, 0, &[0; 8]);
            raw.write_all(&ping).await.expect("the engine reads");
            while count_of(6, &bytes) <= round {
                let count = raw
                    .read_buf(&mut bytes)
                    .await
                    .expect("the connection is open");
                assert!(count > 0, "the session continues");
            }
        }
    });
}

#[test]
fn resets_a_request_with_too_many_fields() {
    on_thread(LIMITS, async |thread, _events| {
        let mut send = connect(thread, 65_535).await;
        let ask = |count: usize| {
            let mut request = request(Method::GET, "/a");
            for number in 0..count {
                let name: http::HeaderName =
                    format!("x{number}").parse().expect("the name is valid");
                request
                    .headers_mut()
                    .insert(name, "".parse().expect("the value is valid"));
            }
            request
        };
        let (most, _) = send
            .send_request(ask(LIMITS.fields - 4), true)
            .expect("the stream is open");
        assert_eq!(
            most.await.expect("the engine answers").status(),
            StatusCode::OK
        );
        let (more, _) = send
            .send_request(ask(LIMITS.fields - 3), true)
            .expect("the stream is open");
        let error = more.await.expect_err("the request has too many fields");
        assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
    });
}

#[test]
fn converts_host_to_authority() {
    on_thread(LIMITS, async |thread, events| {
        let mut raw = raw(thread);
        // GET, https, /miss and `host: x`, without indexing.
        let fields = b"\x82\x87\x04\x05/miss\x00\x04host\x01x";
        let bytes = [PREFACE, &frame(4, 0, 0, b""), &frame(1, 5, 1, fields)].concat();
        raw.write_all(&bytes).await.expect("the engine reads");
        let mut node = node(events).await;
        let (asked, _respond) = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        assert_eq!(asked.uri(), "https://x/miss");
        assert_eq!(asked.headers()["host"], "x");
    });
}

#[test]
fn ends_a_session_that_node_rejects() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let mut node = node(events).await;
        let _asked = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        node.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        tokio::task::spawn_local(async move { node.accept().await.is_none() });
        response.await.expect_err("the session ends");
        let ended = async {
            loop {
                tokio::task::yield_now().await;
                send = send.ready().await?;
            }
        };
        expect_calming(ended).await;
    });
}

#[test]
fn refuses_only_requests_that_node_did_not_process() {
    on_thread(LIMITS, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (taken, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let (_, mut node) = handed(events).await;
        let (untaken, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        // After the preface, read frames up to both HEADERS.
        node.read_exact(&mut [0; 24])
            .await
            .expect("the bytes arrive");
        let mut heads = 0;
        while heads < 2 {
            let mut frame = [0; 9];
            node.read_exact(&mut frame)
                .await
                .expect("a request arrives");
            let [_, high, low, kind, ..] = frame;
            let mut payload = vec![0; usize::from(u16::from_be_bytes([high, low]))];
            node.read_exact(&mut payload)
                .await
                .expect("the body is complete");
            heads += usize::from(kind == 1);
        }
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let goaway_behind_1 = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
        let said = [&settings[..], &goaway_behind_1].concat();
        node.write_all(&said).await.expect("the engine reads");
        let error = untaken.await.expect_err("the stream is refused");
        assert_eq!(reason(&error), Some(Reason::REFUSED_STREAM));
        // `:status 200` and the end of the stream.
        let head = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88];
        node.write_all(&head).await.expect("the engine reads");
        assert_eq!(
            taken.await.expect("the engine answers").status(),
            StatusCode::OK
        );
        get(&mut send, "/a").await.expect("the session continues");
    });
}

#[test]
fn ends_a_session_with_too_many_refused_requests() {
    let limits = Limits {
        resets: Rate {
            burst: 5.0,
            per_second: 0.0,
        },
        maximum_streams: 1,
        ..LIMITS
    };
    let mut many_fields = request(Method::GET, "/a");
    for number in 0..LIMITS.fields {
        let name: http::HeaderName = format!("x{number}").parse().expect("the name is valid");
        let value = "".parse().expect("the value is valid");
        many_fields.headers_mut().insert(name, value);
    }
    for asked in [
        many_fields,
        request(Method::GET, "/a"),
        request(Method::GET, "/miss"),
    ] {
        on_thread(limits, async |thread, _events| {
            let mut send = connect(thread, 0).await;
            let mut taken = Vec::new();
            let ended = async {
                loop {
                    let (response, _) = send.send_request(asked.clone(), true)?;
                    if taken.len() < 2 {
                        taken.push(response);
                    } else {
                        let error = response.await.expect_err("the stream is refused");
                        assert!(error.is_reset() || error.is_go_away());
                    }
                    send = send.ready().await?;
                }
            };
            expect_calming(ended).await;
        });
    }
}

#[test]
fn ends_a_session_that_floods() {
    let limits = Limits {
        resets: Rate {
            burst: 5.0,
            per_second: 0.0,
        },
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 0).await;
        let ended = async {
            loop {
                let (_, mut upload) = send.send_request(request(Method::GET, "/a"), false)?;
                tokio::time::sleep(SHORT / 50).await;
                upload.send_reset(Reason::CANCEL);
                tokio::time::sleep(SHORT / 50).await;
                send = send.ready().await?;
            }
        };
        expect_calming(ended).await;
    });
}

/// Waits until the session ends with ENHANCE_YOUR_CALM.
async fn expect_calming(ended: impl Future<Output = Result<(), h2::Error>>) {
    let error = ended.await.expect_err("the session ends");
    assert_eq!(reason(&error), Some(Reason::ENHANCE_YOUR_CALM));
}

#[test]
fn closes_an_idle_session_with_node_if_descriptors_are_scarce() {
    let limits = Limits {
        checking_interval: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut send = connect(thread, 65_535).await;
        let (response, _) = send
            .send_request(request(Method::GET, "/miss"), true)
            .expect("the stream is open");
        let mut node = node(events).await;
        let (_, mut respond) = node
            .accept()
            .await
            .expect("a request arrives")
            .expect("the request is valid");
        respond
            .send_response(Response::new(()), true)
            .expect("the stream is open");
        let ended = tokio::task::spawn_local(async move { node.accept().await.is_none() });
        response.await.expect("the engine answers");
        while !ended.is_finished() {
            let _reservation = note_link_shortage(thread);
            tokio::time::sleep(SHORT / 5).await;
        }
        get(&mut send, "/a").await.expect("the session continues");
    });
}

#[test]
fn ends_an_idle_session() {
    let limits = Limits {
        keep_alive: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _events| {
        let mut send = connect(thread, 65_535).await;
        get(&mut send, "/a").await.expect("the engine answers");
        while send.clone().ready().await.is_ok() {
            tokio::time::sleep(SHORT / 5).await;
        }
    });
}
