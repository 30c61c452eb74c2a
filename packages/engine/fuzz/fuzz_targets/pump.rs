//! Sends random pipelined requests in random pieces. Some are relayed to an application with random answers.
//!
//! The client must receive all answers in order, without lost or repeated bytes, and nothing after the last one. The
//! application must receive exactly the requests that are not in the table.
#![no_main]

mod chunks;

use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;
use std::sync::mpsc::Receiver;

use arbitrary::Arbitrary;
use chunks::chunks;
use libfuzzer_sys::fuzz_target;
use serve_dist_core::{RequestEnd, Step, Table, decide};
use serve_dist_engine::testing::{self, Event, LIMITS, Thread};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::task::yield_now;

const MAX_REQUESTS: usize = 16;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    requests: Vec<Request<'a>>,
    replies: Vec<Reply>,
    /// Sizes of the client's writes.
    cuts: Vec<u16>,
    /// Whether the client closes its half before it has received the answers.
    half_closes: bool,
}

#[derive(Arbitrary, Debug)]
enum Request<'a> {
    Known(u8),
    Upload(Size),
    Bytes(&'a [u8]),
}

/// A size whose scale is also random, so that some sizes exceed the buffers.
#[derive(Arbitrary, Clone, Copy, Debug, Default)]
struct Size(u16, u8);

#[derive(Arbitrary, Clone, Copy, Debug, Default)]
struct Reply {
    size: Size,
    /// The size of the application's writes.
    cut: u16,
    /// Whether the application answers before it reads the request.
    is_early: bool,
    end: End,
}

/// The action of the application at the end of an answer.
#[derive(Arbitrary, Clone, Copy, Debug, Default, PartialEq)]
enum End {
    #[default]
    Report,
    ReportFirst,
    ReportAndClose,
    Close,
    /// The application closes an idle link and answers on the next one.
    CloseUnread,
}

enum Part {
    Own(Vec<u8>),
    Relayed {
        request: Range<usize>,
        answer: Vec<u8>,
        reply: Reply,
    },
}

const KNOWN: [&str; 7] = [
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /b HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /c HTTP/1.1\r\nHost: x\r\n\r\n",
    testing::HEAD,
    testing::LAST_HIT,
    testing::MISS,
    "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n",
];

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let sizes = [10, 10_000, 700_000];
    testing::table_of(&sizes.map(|size| pattern(size, 0)))
});

fuzz_target!(|input: Input| {
    testing::on_thread(LIMITS, async |thread, events| {
        let answers = &thread.shared.answers;
        answers.change(|answers| answers.table = Some(TABLE.clone()));
        check(&input, thread, events).await;
    });
});

async fn check(input: &Input<'_>, thread: &Rc<Thread>, events: &Receiver<Event>) {
    let bytes = bytes_of(&input.requests);
    let parts = parts_of(&bytes, &input.replies, thread);
    let expected: Vec<u8> = parts.iter().flat_map(Part::answer).copied().collect();
    // The engine learns only from the end of the input that a head is incomplete.
    let half_closes =
        input.half_closes || parts.last().is_some_and(|part| part.ends_at(bytes.len()));
    let mut client = testing::client(thread, "").await;
    let (mut from_engine, mut to_engine) = client.split();
    let (is_answered, is_closed) = (Notify::new(), Notify::new());
    let write = async {
        for chunk in chunks(&bytes, &input.cuts) {
            if to_engine.write_all(chunk).await.is_err() {
                break;
            }
            yield_now().await;
        }
        if !half_closes {
            is_answered.notified().await;
        }
        let _ = to_engine.shutdown().await;
    };
    let read = async {
        let mut received = Vec::new();
        loop {
            if received.len() >= expected.len() {
                is_answered.notify_one();
            }
            if !matches!(from_engine.read_buf(&mut received).await, Ok(1..)) {
                break;
            }
        }
        is_answered.notify_one();
        is_closed.notify_one();
        received
    };
    let mut node = Node {
        thread,
        events,
        is_closed: &is_closed,
        link: None,
        may_end: false,
    };
    let ((), received, answered) = tokio::join!(write, read, node.answer(&bytes, &parts));
    let expected: Vec<u8> = parts[..answered]
        .iter()
        .flat_map(Part::answer)
        .copied()
        .collect();
    assert_equal(&received, &expected);
    drop(client);
    while !thread.connections.is_empty() {
        yield_now().await;
    }
    if let Some(mut link) = node.link {
        let mut rest = Vec::new();
        let _ = link.stream.read_to_end(&mut rest).await;
        assert_equal(&rest, b"");
    }
    assert!(!matches!(events.try_recv(), Ok(Event::Handed(_))));
}

impl Part {
    fn answer(&self) -> &[u8] {
        match self {
            Self::Own(answer) | Self::Relayed { answer, .. } => answer,
        }
    }

    fn ends_at(&self, end: usize) -> bool {
        matches!(self, Self::Relayed { request, reply, .. } if request.end == end && reply.end == End::Close)
    }
}

/// Returns the answers that the client must receive.
fn parts_of(bytes: &[u8], replies: &[Reply], thread: &Thread) -> Vec<Part> {
    let answers = thread.shared.answers.load();
    let mut replies = replies.iter().copied();
    let mut parts = Vec::new();
    let mut begin = 0;
    while begin < bytes.len() {
        let rest = &bytes[begin..];
        let (length, is_tunnel) = match decide(rest, &TABLE, &answers.hosts) {
            Step::Answer(found) => {
                let clock = thread.clock.borrow();
                let answer = TABLE.parts(&found, &clock, found.closes);
                let mut own = Vec::new();
                answer.head.write_to(&mut own);
                own.extend_from_slice(answer.tail);
                own.extend_from_slice(answer.body);
                parts.push(Part::Own(own));
                begin += found.consumed;
                if found.closes {
                    break;
                }
                continue;
            }
            Step::Partial if rest.iter().all(|byte| b"\r\n".contains(byte)) => break,
            Step::HandOver {
                head,
                end: RequestEnd::Plain { body },
            } => (head.saturating_add(body as usize).min(rest.len()), false),
            Step::Partial | Step::HandOver { .. } => (rest.len(), true),
        };
        let mut reply = replies.next().unwrap_or_default();
        if is_tunnel {
            reply.end = End::Close;
        }
        parts.push(Part::Relayed {
            request: begin..begin + length,
            // An empty answer on a link that closes would repeat the request.
            answer: pattern(1 + reply.size.count(), parts.len()),
            reply,
        });
        begin += length;
        if reply.end == End::Close {
            break;
        }
    }
    parts
}

/// The application's side of links.
struct Node<'a> {
    thread: &'a Thread,
    events: &'a Receiver<Event>,
    is_closed: &'a Notify,
    link: Option<Link>,
    /// Whether the engine may close the connection, because a link closed before the application read a request.
    may_end: bool,
}

struct Link {
    id: u64,
    stream: UnixStream,
    written: u64,
}

impl Node<'_> {
    /// Answers all relayed requests. Returns the number of parts before the engine closed the connection.
    async fn answer(&mut self, bytes: &[u8], parts: &[Part]) -> usize {
        for (number, part) in parts.iter().enumerate() {
            if let Part::Relayed {
                request,
                answer,
                reply,
            } = part
                && !self
                    .answer_one(&bytes[request.clone()], answer, reply)
                    .await
            {
                assert!(self.may_end, "the engine closed the connection");
                return number;
            }
        }
        parts.len()
    }

    async fn answer_one(&mut self, request: &[u8], answer: &[u8], reply: &Reply) -> bool {
        if reply.end == End::CloseUnread
            && let Some(link) = self.link.take()
        {
            let _ = link.stream.readable().await;
            self.may_end = true;
        }
        let thread = self.thread;
        let Some(link) = self.link().await else {
            return false;
        };
        // The application reports each end once, and not before the request.
        let end = link.written + answer.len() as u64;
        let read_first = if reply.is_early { 1 } else { request.len() };
        link.read(&request[..read_first]).await;
        if reply.end == End::ReportFirst {
            thread.shared.answer_ends.set(link.id, end);
        }
        link.write(answer, reply.cut).await;
        link.read(&request[read_first..]).await;
        if !matches!(reply.end, End::Close | End::ReportFirst) {
            thread.shared.answer_ends.set(link.id, end);
        }
        if matches!(reply.end, End::Close | End::ReportAndClose) {
            self.link = None;
        }
        true
    }

    /// Returns the current link, or waits for the next one. Returns `None` if the engine closes the connection.
    async fn link(&mut self) -> Option<&mut Link> {
        if self.link.is_none() {
            let (id, stream) = tokio::select! {
                biased;
                handed = testing::handed(self.events) => handed,
                () = self.is_closed.notified() => return None,
            };
            self.link = Some(Link {
                id,
                stream,
                written: 0,
            });
        }
        self.link.as_mut()
    }
}

impl Link {
    async fn read(&mut self, request: &[u8]) {
        let mut received = vec![0; request.len()];
        let read = self.stream.read_exact(&mut received).await;
        read.expect("the application receives the request");
        assert_equal(&received, request);
    }

    async fn write(&mut self, answer: &[u8], cut: u16) {
        let size = 1 + usize::from(cut) + answer.len() / 16;
        for chunk in answer.chunks(size) {
            let written = self.stream.write_all(chunk).await;
            written.expect("the engine reads the answer");
            yield_now().await;
        }
        self.written += answer.len() as u64;
    }
}

fn bytes_of(requests: &[Request]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, request) in requests.iter().take(MAX_REQUESTS).enumerate() {
        match request {
            Request::Known(known) => {
                bytes.extend_from_slice(KNOWN[usize::from(*known) % KNOWN.len()].as_bytes());
            }
            Request::Upload(size) => {
                let body = pattern(size.count(), number);
                let length = body.len();
                let head =
                    format!("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
                bytes.extend_from_slice(&[head.as_bytes(), &body].concat());
            }
            Request::Bytes(request) => bytes.extend_from_slice(request),
        }
    }
    bytes
}

impl Size {
    fn count(self) -> usize {
        usize::from(self.0) << (self.1 % 4)
    }
}

/// Returns bytes that reveal a shift.
fn pattern(count: usize, seed: usize) -> Vec<u8> {
    (seed..seed + count)
        .map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8)
        .collect()
}

/// Prints less than `assert_eq` for long bytes.
fn assert_equal(received: &[u8], expected: &[u8]) {
    let same = received.iter().zip(expected).take_while(|(a, b)| a == b);
    let same = same.count();
    let lengths = (received.len(), expected.len());
    assert!(
        received == expected,
        "differ at byte {same}; lengths {lengths:?}"
    );
}
