use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::time::milliseconds;
use crate::tuning::{LINK_IDLE, SCARCE_LINK_IDLE};

/// How long all threads close idle links after a failed `accept`. It must be longer than the interval of sweeps.
const ACCEPT_SHORTAGE: Duration = Duration::from_millis(1500);

/// Records on all threads that no descriptors are free.
pub struct DescriptorShortage {
    /// The number of requests that wait for descriptors for a link.
    waiting_requests: AtomicUsize,
    started: Instant,
    /// The last failure of `accept`, in milliseconds since `started`. 0 means never.
    accept_failed: AtomicU64,
}

impl DescriptorShortage {
    pub fn new() -> Self {
        Self {
            waiting_requests: AtomicUsize::new(0),
            started: Instant::now(),
            accept_failed: AtomicU64::new(0),
        }
    }

    /// Returns whether a request waits for descriptors for a link.
    pub fn lacks_links(&self) -> bool {
        self.waiting_requests.load(Ordering::Relaxed) > 0
    }

    /// Records that `accept` failed, because no descriptor is free.
    pub fn note_failed_accept(&self) {
        self.accept_failed.store(self.now(), Ordering::Relaxed);
    }

    /// Returns whether `accept` failed recently on any thread.
    pub fn lacks_connections(&self) -> bool {
        let failed = self.accept_failed.load(Ordering::Relaxed);
        failed > 0 && self.now() < failed + milliseconds(ACCEPT_SHORTAGE)
    }

    /// Returns the maximum idle time of links, which is shorter during a shortage.
    pub fn max_link_idle(&self) -> Duration {
        if self.lacks_links() {
            Duration::ZERO
        } else if self.lacks_connections() {
            SCARCE_LINK_IDLE
        } else {
            LINK_IDLE
        }
    }

    fn now(&self) -> u64 {
        milliseconds(self.started.elapsed()).saturating_add(1)
    }
}

/// Reserves the descriptors that become free for a request that waits for a link. New connections get none until this
/// is dropped.
pub struct LinkReservation(Arc<DescriptorShortage>);

impl LinkReservation {
    pub fn new(shortage: &Arc<DescriptorShortage>) -> Self {
        shortage.waiting_requests.fetch_add(1, Ordering::Relaxed);
        Self(shortage.clone())
    }
}

impl Drop for LinkReservation {
    fn drop(&mut self) {
        self.0.waiting_requests.fetch_sub(1, Ordering::Relaxed);
    }
}
