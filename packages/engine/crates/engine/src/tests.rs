use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::event::Event;
use crate::shared::Limits;
use crate::testing::{
    BODY, HIT, LAST_HIT, LIMITS, MISS, SHORT, answer, client, handed, on_thread, read, read_all,
    run,
};

#[test]
fn sends_a_large_body_whole_though_the_client_reads_late() {
    on_thread(LIMITS, async |thread, _| {
        let mut client = client(thread, &[HIT, LAST_HIT].concat()).await;
        tokio::time::sleep(SHORT).await;
        let all = read_all(&mut client).await;
        assert_eq!(all.matches("HTTP/1.1 200 OK").count(), 2);
        assert_eq!(all.matches('b').count(), 2 * BODY);
    });
}

#[test]
fn relays_a_request_and_answers_the_next_ones_itself_and_in_order() {
    on_thread(LIMITS, async |thread, events| {
        let request = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody";
        let mut client = client(thread, &[request, LAST_HIT].concat()).await;
        let (id, mut node) = handed(events).await;
        assert_eq!(read(&mut node, request.len()).await, request);
        tokio::time::sleep(SHORT).await;
        answer(&mut node, (thread, id, 7), "of node").await;
        let all = read_all(&mut client).await;
        assert!(all.starts_with("of nodeHTTP/1.1 200 OK\r\n"));
        assert_eq!(read_all(&mut node).await, "");
        assert!(events.try_recv().is_err(), "nobody was cut off");
    });
}

#[test]
fn uses_a_link_again_unless_node_has_closed_it() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (first, mut node) = handed(events).await;
        for end in [6, 12, 18] {
            read(&mut node, MISS.len()).await;
            answer(&mut node, (thread, first, end), "answer").await;
            assert_eq!(read(&mut client, 6).await, "answer");
            // The answer may be read before the connection is the engine's again.
            tokio::time::sleep(SHORT).await;
            if end < 18 {
                client.write_all(MISS.as_bytes()).await.expect("it is open");
            }
        }
        drop(node);
        client.write_all(MISS.as_bytes()).await.expect("it is open");
        let (second, mut node) = handed(events).await;
        assert_ne!(first, second);
        read(&mut node, MISS.len()).await;
    });
}

#[test]
fn passes_on_what_node_said_before_its_end() {
    on_thread(LIMITS, async |thread, events| {
        let mut client = client(thread, MISS).await;
        let (_, mut node) = handed(events).await;
        node.write_all(b"half an ans")
            .await
            .expect("the link is open");
        drop(node);
        assert_eq!(read_all(&mut client).await, "half an ans");
        assert!(events.try_recv().is_err(), "Node knows of its own end");
    });
}

#[test]
fn passes_on_an_early_answer_though_node_reads_no_more_of_the_upload() {
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
            .expect("the answer comes");
        assert_eq!(said, b"too large");
        drop(upload);
    });
}

#[test]
fn tells_node_of_a_client_that_is_gone_amid_an_answer() {
    on_thread(LIMITS, async |thread, events| {
        let client = client(thread, MISS).await;
        let (id, mut node) = handed(events).await;
        drop(client);
        // Its end is passed on, and that nobody reads is found out by writing.
        while node.write_all(&[b'x'; 1000]).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(events.try_recv(), Ok(Event::Closed(closed)) if closed == id));
    });
}

#[test]
fn makes_a_tunnel_of_a_request_whose_end_is_not_plain_and_passes_half_closes_on() {
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
            .expect("half of it is open");
        client.shutdown().await.expect("half of it is open");
        assert_eq!(read_all(&mut node).await, HIT);
    });
}

#[test]
fn answers_502_where_nobody_hears_of_a_connection() {
    run(LIMITS, Box::new(|_| false), async |thread| {
        let mut client = client(thread, MISS).await;
        let all = read_all(&mut client).await;
        assert!(all.starts_with("HTTP/1.1 502 ") && all.contains("Connection: close"));
    });
}

#[test]
fn closes_the_connection_alone_in_whose_task_a_panic_is() {
    run(
        LIMITS,
        Box::new(|_| panic!("as the test wants")),
        async |thread| {
            let mut other = client(thread, HIT).await;
            let mut broken = client(thread, MISS).await;
            assert_eq!(read_all(&mut broken).await, "");
            assert_eq!(thread.shared.panics.load(Ordering::Relaxed), 1);
            assert_eq!(read(&mut other, 15).await, "HTTP/1.1 200 OK");
            assert_eq!(thread.shared.connections.load(Ordering::Relaxed), 1);
        },
    );
}

#[test]
fn refuses_a_head_that_takes_too_long() {
    let limits = Limits {
        headers: SHORT,
        ..LIMITS
    };
    on_thread(limits, async |thread, _| {
        for begin in ["", "GET /a HT"] {
            let mut client = client(thread, begin).await;
            assert_eq!(read_all(&mut client).await, "HTTP/1.1 408 \r\n\r\n");
        }
    });
}

#[test]
fn closes_what_is_idle_and_what_nobody_reads() {
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
        while thread.shared.connections.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(SHORT).await;
        }
        drop(unread);
    });
}

#[test]
fn leaves_answers_of_node_to_the_limits_of_node() {
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
        answer(&mut node, (thread, id, 4), "late").await;
        assert_eq!(read_all(&mut client).await, "late");
    });
}

#[test]
fn says_close_and_closes_while_it_drains() {
    on_thread(LIMITS, async |thread, _| {
        thread.draining.set(true);
        let mut client = client(thread, HIT).await;
        assert!(
            read_all(&mut client)
                .await
                .contains("\r\nConnection: close\r\n")
        );
    });
}

#[test]
fn has_the_bytes_of_a_table_while_they_are_sent() {
    on_thread(LIMITS, async |thread, _| {
        let mut client = client(thread, LAST_HIT).await;
        tokio::time::sleep(SHORT).await;
        thread.shared.answers.store(Arc::default());
        assert_eq!(read_all(&mut client).await.matches('b').count(), BODY);
    });
}
