//! Runs tests and fuzz targets on a thread of the engine without Node.

use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serve_dist_core::{AcceptedValues, Table, TableParts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, LocalOptions};

use crate::accept::open;
use crate::answers::Answers;
use crate::connection::Connection;
use crate::counters::ConnectionPermit;
pub use crate::event::Event;
use crate::event::{EventSink, Handed};
use crate::http2;
#[cfg(fuzzing)]
pub use crate::http2::frames::FrameLimiter;
use crate::limits::Limits;
pub use crate::limits::Rate;
use crate::observe::{BuildLabels, Observations};
use crate::shared::Shared;
use crate::stream::Stream;
use crate::sweep::sweep;
pub use crate::thread::Thread;

pub const LONG: Duration = Duration::from_secs(30);
pub const SHORT: Duration = Duration::from_millis(50);
const OFTEN: Rate = Rate {
    burst: 100.0,
    per_second: 1.0,
};
pub const LIMITS: Limits = Limits {
    headers: LONG,
    keep_alive: LONG,
    socket: LONG,
    checking_interval: LONG,
    maximum_connections: 10,
    header_size: 4096,
    fields: 20,
    streams_at_once: 8,
    maximum_streams: 10,
    resets: OFTEN,
    control_frames: OFTEN,
};
pub const HIT: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
pub const HEAD: &str = "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n";
pub const LAST_HIT: &str = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
pub const MISS: &str = "GET /miss HTTP/1.1\r\nHost: x\r\n\r\n";
/// The classes of the table's 200 and 304.
pub const OK_CLASS: u8 = 3;
pub const OTHER_CLASS: u8 = 5;
pub const BODY: usize = 3_000_000;

/// Shared, because a fuzz target needs it for each input.
static TABLE: LazyLock<Table> = LazyLock::new(|| table_of(&[vec![b'b'; BODY]]));

/// Returns a table with one large body.
pub fn answers() -> Answers {
    let mut hosts = AcceptedValues::default();
    hosts.learn(b"x");
    Answers {
        table: Some(TABLE.clone()),
        labels: Arc::new(BuildLabels {
            classes: vec![OK_CLASS, OTHER_CLASS],
            saved: vec![7],
        }),
        hosts,
        ..Answers::default()
    }
}

/// Returns a table with these bodies at `/a`, `/b` and so on.
pub fn table_of(bodies: &[Vec<u8>]) -> Table {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: \x02\r\n";
    let not_modified = "HTTP/1.1 304 Not Modified\r\n";
    let paths: String = (b'a'..)
        .map(char::from)
        .take(bodies.len())
        .flat_map(|name| ['/', name])
        .collect();
    let (ok_length, other_length) = (ok.len() as u32, not_modified.len() as u32);
    let (count, heads) = (bodies.len() as u32, paths.len() as u32);
    let mut index = vec![count, count, 1, 1];
    for number in 0..count {
        index.extend([2 * number, 2, 0, number, 1, 0, 0, 0, 0, 0]);
    }
    let tag = heads + ok_length + other_length;
    let mut end = 0;
    for body in bodies {
        index.extend([0, tag, 3, 0, end, body.len() as u32]);
        end += body.len() as u32;
    }
    index.extend([heads, ok_length, heads + ok_length, other_length]);
    let table = Table::new(TableParts {
        text: format!("{paths}{ok}{not_modified}\"x\"").into(),
        index,
        slabs: vec![bodies.concat().into()],
        files: 0,
        codings: vec![Vec::new()],
        choices: vec![0],
    });
    table.expect("the table is valid")
}

/// Runs a test on a thread of the engine. The test receives its events.
pub fn on_thread(limits: Limits, test: impl AsyncFnOnce(&Rc<Thread>, &Receiver<Event>)) {
    on_observed_thread(limits, None, test);
}

/// Like [`on_thread`], with metrics and logs.
pub fn on_observed_thread(
    limits: Limits,
    observations: impl Into<Option<Observations>>,
    test: impl AsyncFnOnce(&Rc<Thread>, &Receiver<Event>),
) {
    let (sender, events) = channel();
    let event_sink: EventSink = Box::new(move |event| sender.send(event).is_ok());
    run(limits, observations.into(), event_sink, async |thread| {
        test(thread, &events).await
    });
}

pub fn run(
    limits: Limits,
    observations: Option<Observations>,
    event_sink: EventSink,
    test: impl AsyncFnOnce(&Rc<Thread>),
) {
    let timeout_answer = b"HTTP/1.1 408 \r\n\r\n".to_vec();
    let shared = Arc::new(Shared::new(
        limits,
        timeout_answer,
        observations,
        event_sink,
    ));
    shared.answers.set(answers());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    let runtime = runtime.expect("the runtime starts");
    runtime.block_on(async {
        let thread = Rc::new(Thread::new(shared, 0, 1));
        let sweeper = thread.clone();
        tokio::task::spawn_local(async move { sweep(&sweeper).await });
        tokio::time::timeout(LONG, test(&thread))
            .await
            .expect("the test ends in time");
    });
}

/// Connects a client that sends `request`.
pub async fn client(thread: &Rc<Thread>, request: &str) -> UnixStream {
    let (ours, theirs) = Stream::pair().expect("descriptors are available");
    let counters = &thread.shared.counters;
    let permit = ConnectionPermit::new(counters, LIMITS.maximum_connections, &Arc::default());
    open(thread, ours, None, permit.expect("a permit is available"));
    let mut client = stream(theirs);
    client
        .write_all(request.as_bytes())
        .await
        .expect("the thread reads");
    client
}

/// Connects an HTTP/2 client.
pub fn http2_client(thread: &Rc<Thread>) -> UnixStream {
    let (ours, theirs) = Stream::pair().expect("descriptors are available");
    serve_http2(thread, ours);
    stream(theirs)
}

pub fn serve_http2(thread: &Rc<Thread>, stream: Stream) {
    let connection = Rc::new(Connection::new(stream, None));
    let id = thread.next_id();
    thread.connections.insert(id, connection.clone());
    let thread = thread.clone();
    tokio::task::spawn_local(async move {
        let _ = http2::serve(&thread, &connection).await;
        thread.connections.remove(id);
    });
}

pub fn stream(end: std::os::fd::OwnedFd) -> UnixStream {
    UnixStream::from_std(end.into()).expect("the descriptor is a socket")
}

/// Waits for the next handed connection and returns Node's end.
pub async fn handed(events: &Receiver<Event>) -> (u64, UnixStream) {
    loop {
        match try_handed(events) {
            Some(handed) => return handed,
            None => tokio::task::yield_now().await,
        }
    }
}

/// Returns Node's end of the next connection if the engine has handed it.
pub fn try_handed(events: &Receiver<Event>) -> Option<(u64, UnixStream)> {
    match events.try_recv() {
        Ok(Event::Handed(Handed { id, end, .. })) => Some((id, stream(end))),
        Ok(_) => panic!("another event came first"),
        Err(_) => None,
    }
}

pub async fn read(stream: &mut UnixStream, count: usize) -> String {
    let mut bytes = vec![0; count];
    stream
        .read_exact(&mut bytes)
        .await
        .expect("enough bytes arrive");
    String::from_utf8(bytes).expect("the bytes are UTF-8")
}

/// Reads until the end or a reset.
pub async fn read_all(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).expect("the bytes are UTF-8")
}

/// Sends an answer from Node's end, and reports that it ends at byte `end` of the link.
pub async fn answer(node: &mut UnixStream, thread: &Thread, id: u64, end: u64, text: &str) {
    node.write_all(text.as_bytes())
        .await
        .expect("the link is open");
    thread.shared.answer_ends.set(id, end);
}
