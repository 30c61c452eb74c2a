use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::sync::mpsc::channel;

use crate::answers::Answers;
use crate::copier::Copier;
use crate::engine::Engine;
use crate::event::{Event, Handed};
use crate::listen::{Address, Listener};
use crate::shared::Shared;
use crate::testing::{
    BODY, HEAD, HIT, LAST_HIT, LIMITS, LONG, MISS, SHORT, answers, client, on_thread, read,
    read_all,
};
use crate::thread::Thread;

#[test]
fn sends_a_complete_large_body_to_a_slow_client() {
    for is_copied in [false, true] {
        on_thread(LIMITS, async |thread, _| {
            if is_copied {
                copy_bodies(thread);
            }
            let mut client = client(thread, &[HIT, LAST_HIT].concat()).await;
            tokio::time::sleep(SHORT).await;
            let all = read_all(&mut client).await;
            assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 2);
            assert_eq!(all.matches('b').count(), 2 * BODY);
        });
    }
}

#[test]
fn answers_other_clients_during_a_fast_download() {
    on_thread(LIMITS, async |thread, _| {
        copy_bodies(thread);
        let mut fast = client(thread, &HIT.repeat(40)).await;
        let reading = tokio::task::spawn_local(async move { read(&mut fast, 40 * BODY).await });
        for _ in 0..10 {
            let mut other = client(thread, HEAD).await;
            assert_eq!(read(&mut other, 15).await, "HTTP/1.1 200 OK");
        }
        assert!(
            !reading.is_finished(),
            "other clients do not wait for the download"
        );
        reading.await.expect("the download completes");
    });
}

#[test]
fn sends_connection_close_while_it_drains() {
    on_thread(LIMITS, async |thread, _| {
        thread.connections.draining.set(true);
        let mut client = client(thread, HIT).await;
        assert!(
            read_all(&mut client)
                .await
                .contains("\r\nConnection: close\r\n")
        );
    });
}

#[test]
fn keeps_the_grace_period_after_a_second_drain() {
    let (sender, events) = channel();
    let event_sink = Box::new(move |event| sender.send(event).is_ok());
    let engine = Arc::new(Engine::new(Shared::new(
        LIMITS,
        Vec::new(),
        None,
        event_sink,
    )));
    let shared = &engine.shared;
    shared.answers.set(answers());
    let host = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listener = Listener::open(Address::Tcp { host, port: 0 }).expect("a port is free");
    let (_, port) = listener.address().expect("the socket has an address");
    engine
        .start(listener, 1, Box::new(()))
        .expect("the engine starts");

    let mut client =
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the port accepts connections");
    client
        .write_all(MISS.as_bytes())
        .expect("the connection is open");
    let Ok(Event::Handed(Handed { id, end, .. })) = events.recv() else {
        panic!("another event came first");
    };
    let (ended, all_ended) = channel();
    for _ in 0..2 {
        let ended = ended.clone();
        engine.drain(LONG, Box::new(move || ended.send(()).unwrap_or_default()));
    }
    let mut node = StdUnixStream::from(end);
    node.set_nonblocking(false)
        .expect("the descriptor is a socket");
    node.read_exact(&mut [0; MISS.len()])
        .expect("the bytes arrive");
    // A thread that stops immediately has ended after this time.
    let _ = all_ended.recv_timeout(SHORT);
    node.write_all(b"late").expect("the link is open");
    shared.answer_ends.set(id, 4);
    let mut said = String::new();
    client
        .read_to_string(&mut said)
        .expect("the connection is open");
    assert_eq!(said, "late");
    drop((client, node));
    assert_eq!(all_ended.recv_timeout(LONG), Ok(()));
}

#[test]
fn keeps_the_bytes_of_a_replaced_table_until_they_are_sent() {
    for is_copied in [false, true] {
        on_thread(LIMITS, async |thread, _| {
            if is_copied {
                copy_bodies(thread);
            }
            let mut client = client(thread, LAST_HIT).await;
            tokio::time::sleep(SHORT).await;
            thread.shared.answers.set(Answers::default());
            assert_eq!(read_all(&mut client).await.matches('b').count(), BODY);
        });
    }
}

/// Sends large bodies from a file if this machine has a disk.
fn copy_bodies(thread: &Thread) {
    let answers = Answers::clone(&thread.shared.answers.load());
    let copier = Copier::new(vec![std::env::temp_dir(), "/var/tmp".into()]);
    let table = answers.table.clone().expect("a table is set");
    let bodies = copier.prepare(table, Vec::new());
    copier.finish();
    let answers = Answers { bodies, ..answers };
    thread.shared.answers.set(answers);
}
