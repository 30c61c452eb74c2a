use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::connection::{Connection, Phase};
use crate::event::Event;
use crate::limits::Limits;
use crate::links::note_link_shortage;
use crate::testing::{
    BODY, HEAD, HIT, LAST_HIT, LIMITS, MISS, SHORT, answer, client, handed, on_thread, read,
    read_all,
};
use crate::tuning::SCARCE_LINK_IDLE;

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
