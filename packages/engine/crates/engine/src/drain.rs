use std::rc::Rc;
use std::time::Duration;

use crate::accept::{Acceptor, is_client_error};
use crate::connection::{Connection, Phase};
use crate::thread::Thread;
use crate::tuning::{BACKLOG, NEW_CONNECTION};

/// The time after the grace period for Node to end its answers over HTTP/1.1, and for clients to receive resets.
const NODE_GRACE_PERIOD: Duration = Duration::from_millis(500);
/// The interval between checks for idle connections.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Closes all connections of a thread, and returns after the last one.
///
/// The accepting thread first accepts all queued connections.
pub async fn drain(thread: &Rc<Thread>, acceptor: Option<Acceptor>, grace_period: Duration) {
    thread.connections.draining.set(true);
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
    for connection in thread.connections.all() {
        connection.deadline.cut_off();
        if connection.phase.get() != Phase::Streams && !connection.is_relaying() {
            connection.destroy();
        }
    }
    // Node now ends its own answers over HTTP/1.1. Sessions of HTTP/2 reset their streams.
    if tokio::time::timeout(NODE_GRACE_PERIOD, thread.connections.wait_until_closed())
        .await
        .is_err()
    {
        thread
            .connections
            .all()
            .iter()
            .for_each(|each| each.destroy());
        thread.connections.wait_until_closed().await;
    }
}

async fn close_idle(thread: &Thread) {
    thread
        .connections
        .all()
        .iter()
        .for_each(|each| each.deadline.wake());
    loop {
        thread.update_now();
        for connection in thread.connections.all() {
            connection.deadline.wake_if_due(thread.now());
            if is_idle(thread, &connection) && connection.stream.has_no_input() {
                connection.end();
            }
        }
        if tokio::time::timeout(CHECK_INTERVAL, thread.connections.wait_until_closed())
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
