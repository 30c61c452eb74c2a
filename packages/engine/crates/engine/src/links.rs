//! Opens links to Node, and closes idle ones.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::event::{Event, Handed};
use crate::link::Link;
use crate::shortage::LinkReservation;
use crate::stream::Stream;
use crate::thread::Thread;
use crate::tls::Session;
use crate::tuning::{LINK_ATTEMPTS, LINK_IDLE, RETRY_DELAY, SCARCE_LINK_IDLE};

/// Returns the connection's link for a new request. Opens a link if Node has closed it or none exists. Waits for a
/// while if no descriptors are free.
pub async fn wait_for_link(connection: &Connection, thread: &Thread) -> io::Result<Rc<Link>> {
    let mut _reservation = None;
    for _ in 0..LINK_ATTEMPTS {
        // After a failure on this thread, the next attempt is one `RETRY_DELAY` later.
        if may_open_link(thread) || connection.link.borrow().is_some() {
            match get_or_open(connection, thread) {
                Err(error) if error.kind() != io::ErrorKind::NotConnected => {
                    _reservation = Some(note_link_shortage(thread));
                }
                found => return found,
            }
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    get_or_open(connection, thread)
}

fn get_or_open(connection: &Connection, thread: &Thread) -> io::Result<Rc<Link>> {
    let mut slot = connection.link.borrow_mut();
    // Node closes a link after each answer while it drains, and after a long idle time.
    let reusable = slot.take().filter(|link| {
        !thread.is_draining()
            && !link.is_idle_for(LINK_IDLE, thread.now())
            && link.stream.has_no_input()
    });
    let link = reusable.map_or_else(|| open(connection, thread), Ok)?;
    link.begin_request();
    *slot = Some(link.clone());
    Ok(link)
}

fn open(connection: &Connection, thread: &Thread) -> io::Result<Rc<Link>> {
    let (stream, end) = Stream::pair()?;
    let id = thread.next_id();
    let link = Rc::new(Link::new(stream, id, &thread.shared));
    hand_to_node(connection, thread, id, end)?;
    Ok(link)
}

/// Opens a socket pair and passes one end to Node. Returns the engine's end.
pub fn open_pair(connection: &Connection, thread: &Thread) -> io::Result<Stream> {
    let (stream, end) = Stream::pair()?;
    hand_to_node(connection, thread, thread.next_id(), end)?;
    Ok(stream)
}

fn hand_to_node(connection: &Connection, thread: &Thread, id: u64, end: OwnedFd) -> io::Result<()> {
    let handed = Handed {
        id,
        end,
        peer: connection.peer,
        protocol: connection.stream.protocol(),
        encryption: connection.stream.session().map(Session::handshake_info),
        permit: connection.permit.clone(),
    };
    let is_sent = thread.shared.emit(Event::Handed(handed));
    is_sent
        .then_some(())
        .ok_or_else(|| io::ErrorKind::NotConnected.into())
}

/// Returns whether a link may be opened. After a failure, the next attempt must wait for `RETRY_DELAY`.
fn may_open_link(thread: &Thread) -> bool {
    thread
        .last_link_shortage
        .get()
        .is_none_or(|then| then.elapsed() >= RETRY_DELAY)
}

/// Records that no descriptor is free for a link. Closes idle links and reserves the next free descriptors.
pub fn note_link_shortage(thread: &Thread) -> LinkReservation {
    let reservation = LinkReservation::new(&thread.shared.shortage);
    if may_open_link(thread) {
        thread.last_link_shortage.set(Some(Instant::now()));
        discard_idle_links(thread);
    }
    reservation
}

/// Closes all idle links to free their descriptors.
pub fn discard_idle_links(thread: &Thread) {
    for connection in thread.connections.all() {
        connection.wake_if_answered();
        discard_idle_link(&connection, thread, Duration::ZERO);
    }
}

/// Closes idle links except the most recently used one. New connections take all freed descriptors, and Node's requests
/// need a link.
pub fn discard_idle_links_but_last(thread: &Thread) {
    let all = thread.connections.all();
    let last = all.iter().max_by_key(|connection| {
        let link = connection.link.borrow();
        let idle = link.as_ref().filter(|link| !link.busy.get());
        idle.map(|link| link.idle_since.get())
    });
    for connection in &all {
        if !last.is_some_and(|last| Rc::ptr_eq(last, connection)) {
            discard_idle_link(connection, thread, SCARCE_LINK_IDLE);
        }
    }
}

/// Closes the connection's link if it has been idle for `time`.
pub fn discard_idle_link(connection: &Connection, thread: &Thread, time: Duration) {
    let mut slot = connection.link.borrow_mut();
    slot.take_if(|link| link.is_idle_for(time, thread.now()));
}
