use std::time::Duration;

use crate::connection::{Connection, Phase};
use crate::limits::Limits;
use crate::links::{discard_idle_link, discard_idle_links, discard_idle_links_but_last};
use crate::memory::return_freed_memory;
use crate::thread::Thread;
use crate::tuning::{LINGER, LINK_IDLE};

/// The number of ended streams after which their memory is returned.
const MANY_STREAMS: usize = 1000;
/// The first and the longest wait before it is returned. Node frees its part only when it collects garbage, which may be
/// hours later. The wait doubles each time.
const FIRST_TRIM: Duration = Duration::from_secs(10);
const LAST_TRIM: Duration = Duration::from_secs(3600);
const LONGEST_SWEEP: Duration = Duration::from_secs(1);
const SHORTEST_SWEEP: Duration = Duration::from_millis(10);

/// Closes connections that exceed a time limit. One periodic sweep replaces a timer per connection.
pub async fn sweep(thread: &Thread) {
    let interval = interval_of(&thread.shared.limits);
    let (mut trim_wait, mut next_trim) = (Duration::MAX, Duration::MAX);
    loop {
        tokio::time::sleep(interval).await;
        thread.update_now();
        let answers = thread.shared.answers.load();
        thread
            .http2
            .head_cache
            .borrow_mut()
            .discard_other_builds(answers.table.as_ref());
        if thread.shared.relayed_streams.take_decline(MANY_STREAMS) {
            trim_wait = FIRST_TRIM;
            next_trim = thread.now() + trim_wait;
        }
        if trim_wait <= LAST_TRIM && thread.now() >= next_trim {
            trim_wait *= 2;
            next_trim = thread.now() + trim_wait;
            // Not on this thread, which others wait for.
            tokio::task::spawn_blocking(return_freed_memory);
        }
        let shortage = &thread.shared.shortage;
        let needs_descriptors =
            thread.http2.stream_quota.is_exceeded() || shortage.max_link_idle() < LINK_IDLE;
        for connection in thread.connections.all() {
            check(thread, &connection);
            if needs_descriptors && connection.phase.get() == Phase::Streams {
                connection.deadline.wake();
            }
        }
        if shortage.lacks_links() {
            discard_idle_links(thread);
        } else if shortage.lacks_connections() {
            discard_idle_links_but_last(thread);
        }
    }
}

/// Returns the interval of sweeps. It is shorter if a limit is short, as in tests.
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
            // Browsers open connections in advance. Without any byte, there is no request to report.
            if phase == Phase::Head {
                thread.emit_refusal(connection, 408, "ERR_HTTP_REQUEST_TIMEOUT");
            }
            // The socket buffer is empty.
            let _ = connection.stream.try_write(&thread.shared.timeout_answer);
            connection.stream.end();
            connection.enter_phase(Phase::Lingering, thread.now());
        }
        // `since` may be one sweep too early, and a request may have just arrived.
        Phase::Idle
            if waited >= limits.keep_alive + interval_of(limits)
                && connection.stream.has_no_input() =>
        {
            connection.end();
        }
        Phase::Sending if waited >= limits.socket => connection.destroy(),
        // `since` may be one sweep too early.
        Phase::Lingering if waited >= LINGER + interval_of(limits) => connection.end(),
        Phase::Streams => connection.deadline.wake_if_due(thread.now()),
        Phase::Idle => discard_idle_link(connection, thread, LINK_IDLE),
        Phase::Node => connection.wake_if_answered(),
        _ => {}
    }
}
