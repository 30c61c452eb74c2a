use std::rc::Rc;
use std::time::Duration;

use crate::shared::{Limits, Shared};
use crate::thread::{Connection, Phase, Thread};

/// How long a link to Node may be idle: Node closes it after 65 seconds, and whoever closes first meets no request.
pub const LINK_IDLE: Duration = Duration::from_secs(60);
/// How long a way to Node has been idle before a client that waits in the system's queue is more important.
pub const SCARCE_LINK_IDLE: Duration = Duration::from_secs(1);
/// How long a client has to read the end of its last answer before bytes that it still sends reset the connection.
pub const LINGER: Duration = Duration::from_secs(1);
const LONGEST_SWEEP: Duration = Duration::from_secs(1);
const SHORTEST_SWEEP: Duration = Duration::from_millis(10);

/// Closes what takes too long: one look at all connections each second instead of a timer for each.
pub async fn sweep(thread: &Thread) {
    let interval = interval_of(&thread.shared.limits);
    loop {
        tokio::time::sleep(interval).await;
        thread.update_now();
        let answers = thread.shared.answers.load();
        thread
            .head_cache
            .borrow_mut()
            .discard_other_builds(answers.table.as_ref());
        let idle_time = idle_time_of_links(&thread.shared);
        let needs_descriptors = thread.stream_quota.is_exceeded() || idle_time < LINK_IDLE;
        for connection in thread.all_connections() {
            check(thread, &connection);
            if needs_descriptors && connection.phase.get() == Phase::Streams {
                connection.deadline.wake();
            }
        }
        if thread.shared.link_shortage.is_recent() {
            discard_idle_links(thread);
        } else if thread.shared.accept_shortage.is_recent() {
            discard_idle_links_but_last(thread);
        }
    }
}

/// Short limits, as tests have them, need a look more often.
fn interval_of(limits: &Limits) -> Duration {
    let shortest = limits.headers.min(limits.keep_alive).min(limits.socket);
    (shortest / 4)
        .min(limits.checking_interval)
        .clamp(SHORTEST_SWEEP, LONGEST_SWEEP)
}

fn check(thread: &Thread, connection: &Connection) {
    let limits = &thread.shared.limits;
    let waited = thread.now().saturating_sub(connection.since.get());
    match connection.phase.get() {
        Phase::Handshake if waited >= limits.headers => connection.destroy(),
        phase @ (Phase::Fresh | Phase::Head) if waited >= limits.headers => {
            // A connection without a byte, as browsers open them ahead, is no request.
            if phase == Phase::Head {
                thread.emit_refusal(connection, 408, "ERR_HTTP_REQUEST_TIMEOUT");
            }
            // There is room for it, as nothing else is under way.
            let _ = connection.stream.try_write(&thread.shared.timeout_answer);
            connection.stream.end();
            connection.enter_phase(Phase::Lingering, thread);
        }
        // What it waits since may be a sweep too early, and its next request may have just come.
        Phase::Idle
            if waited >= limits.keep_alive + interval_of(limits)
                && connection.stream.has_no_input() =>
        {
            connection.end();
        }
        Phase::Sending if waited >= limits.socket => connection.destroy(),
        // What it waits since may be a sweep too early here, too.
        Phase::Lingering if waited >= LINGER + interval_of(limits) => connection.end(),
        Phase::Streams => connection.deadline.wake_if_due(thread.now()),
        Phase::Idle => discard_idle_link(connection, LINK_IDLE),
        _ => {}
    }
}

/// How long a way to Node may be idle: less where its descriptors are needed.
pub fn idle_time_of_links(shared: &Shared) -> Duration {
    if shared.link_shortage.is_recent() {
        Duration::ZERO
    } else if shared.accept_shortage.is_recent() {
        SCARCE_LINK_IDLE
    } else {
        LINK_IDLE
    }
}

/// Gives back the descriptors of ways to Node that no request needs.
pub fn discard_idle_links(thread: &Thread) {
    for connection in thread.all_connections() {
        discard_idle_link(&connection, Duration::ZERO);
    }
}

/// The same for clients that wait, who would take all that comes free: the way that was used last is left to Node's requests.
pub fn discard_idle_links_but_last(thread: &Thread) {
    let all = thread.all_connections();
    let last = all.iter().max_by_key(|connection| {
        let link = connection.link.borrow();
        let idle = link.as_ref().filter(|link| !link.busy.get());
        idle.map(|link| link.idle_since.get())
    });
    for connection in &all {
        if !last.is_some_and(|last| Rc::ptr_eq(last, connection)) {
            discard_idle_link(connection, SCARCE_LINK_IDLE);
        }
    }
}

fn discard_idle_link(connection: &Connection, time: Duration) {
    let mut slot = connection.link.borrow_mut();
    slot.take_if(|link| link.is_idle_for(time));
}
