use std::rc::Rc;
use std::time::Duration;

use crate::accept::Acceptor;
use crate::listen::BACKLOG;
use crate::thread::{Connection, Phase, Thread};
use crate::worker::is_client_error;

/// The time for the first request of a new connection. Without it, the client would see a failed request.
pub const NEW_CONNECTION: Duration = Duration::from_secs(1);
/// The time for Node to end its answers after the grace period.
const NODE_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The interval between checks for idle connections.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Closes all connections of a thread, and returns after the last one.
///
/// The accepting thread first accepts all queued connections.
pub async fn drain(thread: &Rc<Thread>, acceptor: Option<Acceptor>, grace_period: Duration) {
    thread.draining.set(true);
    if let Some(acceptor) = acceptor {
        for _ in 0..BACKLOG {
            match acceptor.accept_one(thread) {
                Err(error) if !is_client_error(&error) => break,
                _ => {}
            }
        }
        acceptor.close(grace_period);
    }
    if tokio::time::timeout(grace_period, close_idle(thread))
        .await
        .is_ok()
    {
        return;
    }
    for connection in thread.all_connections() {
        connection.deadline.cut_off();
        if connection.phase.get() != Phase::Streams && !connection.is_relaying() {
            connection.destroy();
        }
    }
    // Node now ends its own answers correctly for each protocol.
    if tokio::time::timeout(NODE_GRACE_PERIOD, all_closed(thread))
        .await
        .is_err()
    {
        thread
            .all_connections()
            .iter()
            .for_each(|each| each.destroy());
        all_closed(thread).await;
    }
}

async fn close_idle(thread: &Thread) {
    thread
        .all_connections()
        .iter()
        .for_each(|each| each.deadline.wake());
    loop {
        thread.update_now();
        for connection in thread.all_connections() {
            connection.deadline.wake_if_due(thread.now());
            if is_idle(thread, &connection) && connection.stream.has_no_input() {
                connection.end();
            }
        }
        if tokio::time::timeout(CHECK_INTERVAL, all_closed(thread))
            .await
            .is_ok()
        {
            return;
        }
    }
}

fn is_idle(thread: &Thread, connection: &Connection) -> bool {
    let age = thread.now().saturating_sub(connection.since.get());
    match connection.phase.get() {
        Phase::Idle => true,
        Phase::Handshake | Phase::Fresh => age >= NEW_CONNECTION,
        _ => false,
    }
}

async fn all_closed(thread: &Thread) {
    let notified = thread.all_closed.notified();
    if !thread.connections.borrow().is_empty() {
        notified.await;
    }
}
