use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::event::Event;
use crate::testing::{
    HIT, LAST_HIT, LIMITS, MISS, SHORT, answer, client, handed, on_thread, read, read_all,
};

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
