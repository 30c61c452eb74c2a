//! Sends random HTTP/2 frames in random pieces to a session. Node's side of the session is also random.
//!
//! The engine must not panic, must end the session with the client, and must send nothing on a stream after its end.
//! The size of the pieces must not change which frames count for the limits.
#![no_main]

mod chunks;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use arbitrary::Arbitrary;
use chunks::chunks;
use libfuzzer_sys::fuzz_target;
use serve_dist_engine::testing::{self, Event, FrameLimiter, LIMITS, Rate, Thread};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::{JoinSet, yield_now};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
/// The flag of SETTINGS and PING that marks a reply, and of DATA and HEADERS that marks the end of a stream.
const ACK_OR_END: u8 = 1;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    frames: Vec<Frame<'a>>,
    /// Sizes of the client's writes.
    cuts: Vec<u16>,
    /// The frames of Node's side.
    node: Vec<Frame<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Frame<'a> {
    Known(Known, u8),
    Any {
        kind: u8,
        flags: u8,
        stream: u8,
        payload: &'a [u8],
    },
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Known {
    Get,
    Miss,
    Upload,
    Body,
    LastBody,
    Answer,
    Reset,
    Update,
    Settings,
}

fuzz_target!(|input: Input| {
    let bytes = [
        PREFACE,
        &frame(SETTINGS, 0, 0, b""),
        &bytes_of(&input.frames),
    ]
    .concat();
    let chunks = chunks(&bytes, &input.cuts);
    check_limiter(&bytes, &chunks);
    testing::on_thread(LIMITS, async |thread, events| {
        check_session(&chunks, &input.node, thread, events).await;
    });
});

/// The limits are exceeded at the last counted frame if they are lower by one.
fn check_limiter(bytes: &[u8], chunks: &[&[u8]]) {
    let heads = heads_of(&bytes[PREFACE.len()..]);
    let count =
        |is_counted: fn(&Head) -> bool| heads.iter().filter(|head| is_counted(head)).count();
    let resets = count(|head| head.kind == RST_STREAM);
    let control_frames =
        count(|head| [SETTINGS, PING].contains(&head.kind) && head.flags & ACK_OR_END == 0);
    let exceeding = |resets: usize, control_frames: usize| {
        let rate = |count: usize| Rate {
            burst: count as f64,
            per_second: 0.0,
        };
        let mut limiter = FrameLimiter::new(rate(resets), rate(control_frames));
        // The client has received much, so it may send any number of other frames.
        let mut exceeds = |chunk: &[u8]| limiter.exceeds_limits(chunk, Duration::ZERO, 1 << 40);
        chunks.iter().filter(|chunk| exceeds(chunk)).count()
    };
    assert_eq!(exceeding(resets, control_frames), 0);
    assert_eq!(exceeding(resets, control_frames - 1), 1);
    if let Some(fewer) = resets.checked_sub(1) {
        assert_eq!(exceeding(fewer, control_frames), 1);
    }
}

async fn check_session(
    chunks: &[&[u8]],
    node: &[Frame<'_>],
    thread: &Rc<Thread>,
    events: &Receiver<Event>,
) {
    let mut sessions = JoinSet::new();
    let mut client = testing::http2_client(thread);
    let (mut from_engine, mut to_engine) = client.split();
    let write = async {
        for chunk in chunks {
            if to_engine.write_all(chunk).await.is_err() {
                break;
            }
            accept(node, events, &mut sessions);
            yield_now().await;
        }
        // Node's answers arrive.
        for _ in 0..16 {
            accept(node, events, &mut sessions);
            yield_now().await;
        }
        let _ = to_engine.shutdown().await;
    };
    let mut received = Vec::new();
    let (_, read) = tokio::join!(write, from_engine.read_to_end(&mut received));
    drop(client);
    while !thread.connections.is_empty() {
        yield_now().await;
    }
    sessions.join_all().await;
    // A reset may discard the last bytes.
    if read.is_ok() {
        check_received(&received);
    }
}

fn check_received(received: &[u8]) {
    let mut ended = HashSet::new();
    for head in heads_of(received) {
        assert!(head.kind <= 9, "unknown frame");
        if matches!(head.kind, DATA | HEADERS) {
            assert!(!ended.contains(&head.stream), "frame after the end");
        }
        let is_end = matches!(head.kind, DATA | HEADERS) && head.flags & ACK_OR_END != 0;
        if is_end || head.kind == RST_STREAM {
            ended.insert(head.stream);
        }
    }
}

/// Starts Node's side of a session, if the engine has opened one.
fn accept(node: &[Frame], events: &Receiver<Event>, sessions: &mut JoinSet<()>) {
    if let Some((_, stream)) = testing::try_handed(events) {
        let bytes = [frame(SETTINGS, 0, 0, b""), bytes_of(node)].concat();
        sessions.spawn_local(send_frames(stream, bytes));
    }
}

async fn send_frames(mut stream: UnixStream, bytes: Vec<u8>) {
    let _ = stream.write_all(&bytes).await;
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

struct Head {
    kind: u8,
    flags: u8,
    stream: u32,
}

/// Returns the headers of all frames, also of an incomplete last frame.
fn heads_of(mut bytes: &[u8]) -> Vec<Head> {
    let mut heads = Vec::new();
    while let Some((&[a, b, c, kind, flags, stream @ ..], rest)) = bytes.split_first_chunk::<9>() {
        heads.push(Head {
            kind,
            flags,
            stream: u32::from_be_bytes(stream),
        });
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        bytes = rest.get(length..).unwrap_or_default();
    }
    heads
}

fn bytes_of(frames: &[Frame]) -> Vec<u8> {
    frames.iter().flat_map(bytes_of_frame).collect()
}

fn bytes_of_frame(input: &Frame) -> Vec<u8> {
    match input {
        Frame::Known(known, stream) => {
            let stream = stream % 32 * 2 + 1;
            match known {
                Known::Get => frame(HEADERS, 5, stream, b"\x82\x87\x04\x02/a\x01\x01x"),
                Known::Miss => frame(HEADERS, 5, stream, b"\x82\x87\x04\x05/miss\x01\x01x"),
                Known::Upload => frame(HEADERS, 4, stream, b"\x83\x87\x04\x02/a\x01\x01x"),
                Known::Body => frame(DATA, 0, stream, &[b'u'; 1000]),
                Known::LastBody => frame(DATA, ACK_OR_END, stream, b"last"),
                Known::Answer => frame(HEADERS, 4, stream, b"\x88"),
                Known::Reset => frame(RST_STREAM, 0, stream, &[0, 0, 0, 8]),
                Known::Update => frame(8, 0, stream & 2, &[0, 1, 0, 0]),
                Known::Settings => frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]),
            }
        }
        Frame::Any {
            kind,
            flags,
            stream,
            payload,
        } => frame(kind % 11, *flags, *stream, payload),
        Frame::Bytes(bytes) => bytes.to_vec(),
    }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}
