use std::cell::Cell;
use std::sync::atomic::Ordering;

use tokio::io::AsyncWriteExt;

use crate::event::Event;
use crate::restart_on_panic::restart_on_panic;
use crate::testing::{HIT, LIMITS, MISS, answer, client, handed, on_thread, read, read_all, run};

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
