//! A thread of the engine without Node, for tests.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serve_dist_core::{Hosts, Table, TableParts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, LocalOptions};

use crate::event::{Event, Handed, Tell};
use crate::limits::sweep;
use crate::shared::{Answers, Limits, Shared};
use crate::stream::Stream;
use crate::thread::Thread;

pub const LONG: Duration = Duration::from_secs(30);
pub const SHORT: Duration = Duration::from_millis(50);
pub const LIMITS: Limits = Limits {
    headers: LONG,
    keep_alive: LONG,
    socket: LONG,
    checking_interval: LONG,
    maximum_connections: 10,
};
pub const HIT: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
pub const LAST_HIT: &str = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
pub const MISS: &str = "GET /miss HTTP/1.1\r\nHost: x\r\n\r\n";
pub const BODY: usize = 3_000_000;

/// A table of one large body.
pub fn answers() -> Answers {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n");
    let not_modified = "HTTP/1.1 304 Not Modified\r\n";
    let (head_length, other_length) = (head.len() as u32, not_modified.len() as u32);
    let index = [
        [1, 1, 1].as_slice(),
        &[0, 2, 0, 0, 1, 0, 0, 0],
        &[2, head_length, 2 + head_length, other_length, 0, 0],
        &[0, 0, BODY as u32],
    ];
    let table = Table::new(TableParts {
        text: format!("/a{head}{not_modified}").into(),
        index: index.concat(),
        slabs: vec![vec![b'b'; BODY].into()],
        codings: vec![Vec::new()],
        choices: vec![0],
    });
    let mut hosts = Hosts::default();
    hosts.learn(b"x");
    Answers {
        table: Some(table.expect("the table is sound")),
        hosts,
    }
}

/// Runs a test on a thread of the engine whose events it hears.
pub fn on_thread(limits: Limits, test: impl AsyncFnOnce(&Rc<Thread>, &Receiver<Event>)) {
    let (sender, events) = channel();
    let tell: Tell = Box::new(move |event| sender.send(event).is_ok());
    run(limits, tell, async |thread| test(thread, &events).await);
}

pub fn run(limits: Limits, tell: Tell, test: impl AsyncFnOnce(&Rc<Thread>)) {
    let shared = Arc::new(Shared::new(limits, b"HTTP/1.1 408 \r\n\r\n".to_vec(), tell));
    shared.answers.store(Arc::new(answers()));
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default());
    let runtime = runtime.expect("there is a runtime");
    runtime.block_on(async {
        let thread = Rc::new(Thread::new(shared, 0, 1));
        tokio::task::spawn_local(sweep(thread.clone()));
        tokio::time::timeout(LONG, test(&thread))
            .await
            .expect("the test ends in time");
    });
}

/// A client of the thread, which sends this.
pub async fn client(thread: &Rc<Thread>, request: &str) -> UnixStream {
    let (ours, theirs) = Stream::pair().expect("there are descriptors");
    thread.shared.connections.fetch_add(1, Ordering::Relaxed);
    thread.open(ours, None);
    let mut client = stream(theirs);
    client
        .write_all(request.as_bytes())
        .await
        .expect("the thread reads");
    client
}

pub fn stream(end: std::os::fd::OwnedFd) -> UnixStream {
    UnixStream::from_std(end.into()).expect("it is a socket")
}

/// Node's end, when a connection is handed over.
pub async fn handed(events: &Receiver<Event>) -> (u64, UnixStream) {
    loop {
        match events.try_recv() {
            Ok(Event::Handed(Handed { id, end, .. })) => return (id, stream(end)),
            Ok(_) => panic!("another event came first"),
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

pub async fn read(stream: &mut UnixStream, count: usize) -> String {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).await.expect("so much comes");
    String::from_utf8(bytes).expect("it is text")
}

/// All that comes until the end, a reset included.
pub async fn read_all(stream: &mut UnixStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8(bytes).expect("it is text")
}

/// Answers, and says that the answer is whole after so many bytes on this link.
pub async fn answer(node: &mut UnixStream, (thread, id, end): (&Rc<Thread>, u64, u64), text: &str) {
    node.write_all(text.as_bytes())
        .await
        .expect("the link is open");
    let link = thread
        .links
        .borrow()
        .get(&id)
        .and_then(std::rc::Weak::upgrade);
    link.expect("the link is known").end_at(end);
}
