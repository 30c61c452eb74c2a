mod layers;

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::answers::Answers;
use crate::connection::{Connection, Phase};
use crate::copier::Copier;
use crate::engine::Engine;
use crate::event::{Event, Handed};
use crate::limits::Limits;
use crate::links::note_link_shortage;
use crate::listen::{Address, Listener};
use crate::restart_on_panic::restart_on_panic;
use crate::shared::Shared;
use crate::testing::{
    BODY, HEAD, HIT, LAST_HIT, LIMITS, LONG, MISS, SHORT, answer, answers, client, handed,
    on_thread, read, read_all, run,
};
use crate::thread::Thread;
use crate::tuning::SCARCE_LINK_IDLE;

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
fn relays_a_request_and_answers_the_next_ones_in_order() {
    on_thread(LIMITS, async |thread, events| {
        let request = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
        let mut client = client(thread, &[request, LAST_HIT].concat()).await;
        let (id, mut node) = handed(events).await;
        assert_eq!(read(&mut node, request.len()).await, request);
        tokio::time::sleep(SHORT).await;
        answer(&mut node, thread, id, 7, "of node").await;
        let all = read_all(&mut client).await;
        assert!(all.starts_with("of nodeHTTP/1.1 200 OK\r\n"));
        assert_eq!(read_all(&mut node).await, "");
        assert!(
            events.try_recv().is_err(),
            "no client was reported as disconnected"
        );
    });
}

#[test]
fn reuses_a_link_unless_node_has_closed_it() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (first, mut node) = handed(events).await;
        for end in [6, 12, 18] {
            read(&mut node, MISS.len()).await;
            answer(&mut node, thread, first, end, "answer").await;
            assert_eq!(read(&mut client, 6).await, "answer");
            // The client may receive the answer before the engine can reuse the connection.
            tokio::time::sleep(SHORT).await;
            if end < 18 {
                client
                    .write_all(MISS.as_bytes())
                    .await
                    .expect("the connection is open");
            }
        }
        drop(node);
        client
            .write_all(MISS.as_bytes())
            .await
            .expect("the connection is open");
        let (second, mut node) = handed(events).await;
        assert_ne!(first, second);
        read(&mut node, MISS.len()).await;
    });
}

const UPLOAD: &str = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";

/// Returns a client that has sent an upload and another request while its link to Node was idle.
async fn client_of_idle_link(
    thread: &Rc<Thread>,
    events: &Receiver<Event>,
    is_encrypted: bool,
) -> (UnixStream, UnixStream) {
    let mut client = client(thread, MISS).await;
    let (id, mut node) = handed(events).await;
    read(&mut node, MISS.len()).await;
    answer(&mut node, thread, id, 6, "answer").await;
    assert_eq!(read(&mut client, 6).await, "answer");
    tokio::time::sleep(SHORT).await;
    let both = [UPLOAD, LAST_HIT].concat();
    client
        .write_all(both.as_bytes())
        .await
        .expect("the connection is open");
    tokio::time::sleep(SHORT).await;
    if is_encrypted {
        // Over TLS, Node marks each link that it destroys.
        thread.shared.answer_ends.cut_off(id);
    }
    (client, node)
}

#[test]
fn repeats_a_request_on_a_new_link_if_the_idle_link_ended() {
    for is_encrypted in [false, true] {
        on_thread(LIMITS, async |thread, events| {
            let (mut client, node) = client_of_idle_link(thread, events, is_encrypted).await;
            drop(node);
            let (id, mut node) = handed(events).await;
            assert_eq!(read(&mut node, UPLOAD.len()).await, UPLOAD);
            answer(&mut node, thread, id, 7, "of node").await;
            let all = read_all(&mut client).await;
            assert!(all.starts_with("of nodeHTTP/1.1 200 OK\r\n"));
        });
    }
}

#[test]
fn does_not_repeat_a_request_that_node_may_have_read() {
    for is_encrypted in [false, true] {
        on_thread(LIMITS, async |thread, events| {
            let (mut client, mut node) = client_of_idle_link(thread, events, is_encrypted).await;
            read(&mut node, UPLOAD.len()).await;
            drop(node);
            assert_eq!(read_all(&mut client).await, "");
            // After an abort, the engine reports that the client has disconnected.
            assert_eq!(events.try_recv().is_ok(), is_encrypted);
        });
    }
}

#[test]
fn does_not_repeat_a_request_on_a_new_link() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        drop(handed(events).await);
        assert_eq!(read_all(&mut client).await, "");
        assert!(events.try_recv().is_err());
    });
}

#[test]
fn counts_a_descriptor_until_javascript_receives_it() {
    on_thread(LIMITS, async |thread, events| {
        let client = client(thread, MISS).await;
        while !thread
            .connections
            .all()
            .iter()
            .any(|each| each.is_relaying())
        {
            tokio::task::yield_now().await;
        }
        drop(client);
        thread
            .connections
            .all()
            .iter()
            .for_each(|each| each.destroy());
        while !thread.connections.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            thread.shared.counters.connections.load(Ordering::Relaxed),
            1
        );
        handed(events).await;
        assert_eq!(
            thread.shared.counters.connections.load(Ordering::Relaxed),
            0
        );
    });
}

#[test]
fn ignores_a_reset_of_a_closed_link() {
    on_thread(LIMITS, async |thread, events| {
        let _client = client(thread, MISS).await;
        let (id, node) = handed(events).await;
        thread
            .connections
            .all()
            .iter()
            .for_each(|each| each.destroy());
        while !thread.connections.is_empty() {
            tokio::task::yield_now().await;
        }
        // Node notices the end while it writes.
        thread.shared.answer_ends.cut_off(id);
        drop(node);
        assert!(!thread.shared.answer_ends.add(id).is_cut_off());
    });
}

#[test]
fn keeps_pipelined_input_when_it_repeats_a_request() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (id, mut node) = handed(events).await;
        read(&mut node, MISS.len()).await;
        answer(&mut node, thread, id, 5, "first").await;
        assert_eq!(read(&mut client, 5).await, "first");

        // This end reads nothing more, but does not appear closed yet.
        let node = node.into_std().expect("the connection is open");
        node.shutdown(Shutdown::Read)
            .expect("the connection is open");
        client
            .write_all(MISS.as_bytes())
            .await
            .expect("the connection is open");
        while !thread
            .connections
            .all()
            .iter()
            .any(|each| each.is_relaying())
        {
            tokio::task::yield_now().await;
        }
        client
            .write_all(HIT.as_bytes())
            .await
            .expect("the connection is open");
        tokio::time::sleep(SHORT).await;
        drop(node);
        let (id, mut node) = handed(events).await;
        assert_eq!(read(&mut node, MISS.len()).await, MISS);
        answer(&mut node, thread, id, 6, "second").await;
        assert_eq!(read(&mut client, 6).await, "second");
        assert_eq!(read(&mut client, 15).await, "HTTP/1.1 200 OK");
    });
}

#[test]
fn relays_the_partial_answer_before_the_end_of_node() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (_, mut node) = handed(events).await;
        node.write_all(b"half an ans")
            .await
            .expect("the link is open");
        drop(node);
        assert_eq!(read_all(&mut client).await, "half an ans");
        assert!(events.try_recv().is_err(), "Node already knows");
    });
}

#[test]
fn relays_an_early_answer_to_an_unread_upload() {
    on_thread(LIMITS, async |thread, events| {
        let head = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n";
        let client = client(thread, head).await;
        let (mut from_engine, mut to_engine) = client.into_split();
        let upload = tokio::task::spawn_local(async move {
            let _ = to_engine.write_all(&vec![b'u'; 5_000_000]).await;
            to_engine
        });
        let (_, mut node) = handed(events).await;
        read(&mut node, head.len()).await;
        node.write_all(b"too large")
            .await
            .expect("the link is open");
        drop(node);
        let mut said = vec![0; 9];
        from_engine
            .read_exact(&mut said)
            .await
            .expect("the answer arrives");
        assert_eq!(said, b"too large");
        drop(upload);
    });
}

#[test]
fn reports_a_client_that_disconnects_during_an_answer() {
    on_thread(LIMITS, async |thread, events| {
        let client = client(thread, MISS).await;
        let (id, mut node) = handed(events).await;
        drop(client);
        // Node notices the disconnected client when it writes.
        while node.write_all(&[b'x'; 1000]).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(events.try_recv(), Ok(Event::Closed(closed)) if closed == id));
    });
}

#[test]
fn tunnels_an_upgrade_and_relays_half_closes() {
    on_thread(LIMITS, async |thread, events| {
        let request =
            "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\nmore";
        let mut client = client(thread, request).await;
        let (_, mut node) = handed(events).await;
        assert_eq!(read(&mut node, request.len()).await, request);
        node.write_all(b"last words")
            .await
            .expect("the link is open");
        node.shutdown().await.expect("the link is open");
        assert_eq!(read_all(&mut client).await, "last words");
        client
            .write_all(HIT.as_bytes())
            .await
            .expect("the other half is open");
        client.shutdown().await.expect("the other half is open");
        assert_eq!(read_all(&mut node).await, HIT);
    });
}

#[test]
fn answers_502_if_javascript_does_not_receive_the_connection() {
    run(LIMITS, None, Box::new(|_| false), async |thread| {
        let mut client = client(thread, MISS).await;
        let all = read_all(&mut client).await;
        assert!(all.starts_with("HTTP/1.1 502 ") && all.contains("Connection: close"));
    });
}

#[test]
fn closes_only_the_connection_whose_task_panics() {
    run(
        LIMITS,
        None,
        Box::new(|_| panic!("expected by the test")),
        async |thread| {
            let mut other = client(thread, HIT).await;
            let mut broken = client(thread, MISS).await;
            assert_eq!(read_all(&mut broken).await, "");
            assert_eq!(thread.shared.counters.panics.load(Ordering::Relaxed), 1);
            assert_eq!(read(&mut other, 15).await, "HTTP/1.1 200 OK");
            assert_eq!(
                thread.shared.counters.connections.load(Ordering::Relaxed),
                1
            );
        },
    );
}

#[test]
#[expect(
    clippy::await_holding_refcell_ref,
    reason = "the test causes this fault"
)]
fn reports_only_the_relayed_connection_that_panics() {
    on_thread(LIMITS, async |thread, events| {
        let mut broken = client(thread, MISS).await;
        let (broken_id, mut broken_node) = handed(events).await;
        let mut other = client(thread, MISS).await;
        let (id, mut node) = handed(events).await;
        // The next poll panics, because the buffer is already borrowed.
        let buffer = thread.buffers.input.borrow_mut();
        broken
            .write_all(b"x")
            .await
            .expect("the connection is open");
        while thread.shared.counters.panics.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        drop(buffer);
        assert_eq!(read_all(&mut broken).await, "");
        assert_eq!(read(&mut broken_node, MISS.len()).await, MISS);
        assert!(matches!(events.try_recv(), Ok(Event::Closed(closed)) if closed == broken_id));
        answer(&mut node, thread, id, 4, "late").await;
        assert_eq!(read(&mut other, 4).await, "late");
        assert_eq!(thread.shared.counters.panics.load(Ordering::Relaxed), 1);
        assert_eq!(
            thread.shared.counters.connections.load(Ordering::Relaxed),
            1
        );
    });
}

#[test]
fn restarts_a_shared_task_after_a_panic() {
    on_thread(LIMITS, async |thread, _| {
        let turns = Cell::new(0);
        let last = restart_on_panic(&thread.shared.counters, async || {
            turns.set(turns.get() + 1);
            tokio::task::yield_now().await;
            assert!(turns.get() > 2, "expected by the test");
            turns.get()
        });
        assert_eq!(last.await, 3);
        assert_eq!(thread.shared.counters.panics.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn answers_408_to_a_slow_head() {
    let limits = Limits {
        headers: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        for begin in ["", "GET /a HT"] {
            let mut client = client(thread, begin).await;
            assert_eq!(read_all(&mut client).await, "HTTP/1.1 408 \r\n\r\n");
        }
        let refused = events.try_recv();
        assert!(
            matches!(refused, Ok(Event::Refused(request)) if request.status == 408),
            "the engine reports nothing for a connection without a byte"
        );
        assert!(events.try_recv().is_err());
    });
}

#[test]
fn does_not_reset_a_client_that_continues_after_a_408() {
    let limits = Limits {
        headers: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _| {
        let mut client = client(thread, "GET /a HT").await;
        assert_eq!(read(&mut client, 17).await, "HTTP/1.1 408 \r\n\r\n");
        for byte in "TP".bytes() {
            client
                .write_all(&[byte])
                .await
                .expect("the connection is open");
            tokio::time::sleep(SHORT).await;
        }
        assert_eq!(read_all(&mut client).await, "");
    });
}

#[test]
fn stays_idle_after_an_empty_line() {
    let limits = Limits {
        headers: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut client = client(thread, &[HEAD, "\r\n"].concat()).await;
        let head = read(&mut client, 15).await;
        assert_eq!(head, "HTTP/1.1 200 OK");
        tokio::time::sleep(5 * SHORT).await;
        assert_eq!(thread.connections.all()[0].phase.get(), Phase::Idle);
        client
            .write_all(b"\r\n")
            .await
            .expect("the connection is open");
        client
            .write_all(MISS.as_bytes())
            .await
            .expect("the connection is open");
        let (_, mut node) = handed(events).await;
        let sent = ["\r\n\r\n", MISS].concat();
        assert_eq!(read(&mut node, sent.len()).await, sent);
    });
}

#[test]
fn answers_408_after_only_an_empty_line() {
    let limits = Limits {
        headers: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _| {
        let mut client = client(thread, "\r\n").await;
        assert_eq!(read_all(&mut client).await, "HTTP/1.1 408 \r\n\r\n");
    });
}

#[test]
fn closes_idle_and_stalled_connections() {
    let limits = Limits {
        keep_alive: SHORT,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _| {
        let mut reader = client(thread, HIT).await;
        let unread = client(thread, HIT).await;
        let all = read_all(&mut reader).await;
        assert_eq!(all.matches('b').count(), BODY);
        while thread.shared.counters.connections.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(SHORT).await;
        }
        drop(unread);
    });
}

#[test]
fn closes_no_idle_connection_early() {
    let limits = Limits {
        keep_alive: 4 * SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _| {
        let clients = (0..5_u32).map(|number| {
            let thread = thread.clone();
            tokio::task::spawn_local(async move {
                let mut client = client(&thread, HEAD).await;
                assert_ne!(client.read(&mut [0; 1000]).await.ok(), Some(0));
                // Each client waits for a different part of the sweep's interval.
                tokio::time::sleep(number * SHORT / 5).await;
                client
                    .write_all(HEAD.as_bytes())
                    .await
                    .expect("the connection is open");
                assert_ne!(client.read(&mut [0; 1000]).await.ok(), Some(0));
                let answered = Instant::now();
                read_all(&mut client).await;
                answered.elapsed()
            })
        });
        for client in clients.collect::<Vec<_>>() {
            let idle = client.await.expect("the task completes");
            assert!(idle >= limits.keep_alive, "{idle:?}");
        }
    });
}

#[test]
fn ends_the_time_limit_of_a_head_that_waits_for_descriptors() {
    on_thread(LIMITS, async |thread, events| {
        let _reservation = note_link_shortage(thread);
        let _client = client(thread, MISS).await;
        let phase = || thread.connections.all()[0].phase.get();
        while phase() == Phase::Fresh {
            tokio::task::yield_now().await;
        }
        assert_eq!(phase(), Phase::Node);
        handed(events).await;
    });
}

#[test]
fn closes_all_idle_links_but_the_last_during_an_accept_shortage() {
    let limits = Limits {
        checking_interval: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut asked = Vec::new();
        for _ in 0..3 {
            let mut client = client(thread, MISS).await;
            let (id, mut node) = handed(events).await;
            read(&mut node, MISS.len()).await;
            answer(&mut node, thread, id, 6, "answer").await;
            assert_eq!(read(&mut client, 6).await, "answer");
            asked.push((client, node));
            tokio::time::sleep(2 * SHORT).await;
        }
        let begun = Instant::now();
        while begun.elapsed() < SCARCE_LINK_IDLE + 5 * SHORT {
            thread.shared.shortage.note_failed_accept();
            tokio::time::sleep(SHORT).await;
        }
        let (mut client, mut node) = asked.pop().expect("there are three clients");
        client
            .write_all(MISS.as_bytes())
            .await
            .expect("the connection is open");
        assert_eq!(read(&mut node, MISS.len()).await, MISS);
        for (_client, mut node) in asked {
            assert_eq!(read_all(&mut node).await, "");
        }
        assert!(events.try_recv().is_err(), "nothing more was handed over");
    });
}

#[test]
fn opens_no_link_for_empty_lines() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, "\r\n\r\n").await;
        client.shutdown().await.expect("the connection is open");
        assert_eq!(read_all(&mut client).await, "");
        assert!(events.try_recv().is_err());
    });
}

#[test]
fn applies_no_time_limit_to_answers_of_node() {
    let limits = Limits {
        headers: SHORT,
        keep_alive: SHORT,
        socket: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (id, mut node) = handed(events).await;
        tokio::time::sleep(5 * SHORT).await;
        answer(&mut node, thread, id, 4, "late").await;
        assert_eq!(read_all(&mut client).await, "late");
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
fn is_not_idle_before_a_pipelined_request() {
    on_thread(LIMITS, async |thread, events| {
        let client = client(thread, &[MISS, LAST_HIT].concat()).await;
        let (id, mut node) = handed(events).await;
        let (mut from_engine, _to_engine) = client.into_split();
        let reading = tokio::task::spawn_local(async move {
            let mut all = Vec::new();
            let _ = from_engine.read_to_end(&mut all).await;
            all.len()
        });
        // The answer is longer than one turn, and other tasks run before the next request.
        let long = "n".repeat(BODY);
        answer(&mut node, thread, id, BODY as u64, &long).await;
        while !reading.is_finished() {
            let is_idle = |each: &Rc<Connection>| each.phase.get() == Phase::Idle;
            assert!(
                !thread.connections.all().iter().any(is_idle),
                "a drain would close it"
            );
            tokio::task::yield_now().await;
        }
        assert!(reading.await.expect("the task completes") > 2 * BODY);
    });
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
