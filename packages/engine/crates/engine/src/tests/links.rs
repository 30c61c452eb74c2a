use std::net::Shutdown;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;

use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;

use crate::event::Event;
use crate::testing::{
    HIT, LAST_HIT, LIMITS, MISS, SHORT, answer, client, handed, on_thread, read, read_all, run,
};
use crate::thread::Thread;

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
fn answers_502_if_javascript_does_not_receive_the_connection() {
    run(LIMITS, None, Box::new(|_| false), async |thread| {
        let mut client = client(thread, MISS).await;
        let all = read_all(&mut client).await;
        assert!(all.starts_with("HTTP/1.1 502 ") && all.contains("Connection: close"));
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
