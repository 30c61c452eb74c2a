use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The counters of connections that JavaScript reads. `observe.rs` counts answers.
#[derive(Default)]
pub struct Counters {
    /// The number of open connections.
    pub connections: AtomicUsize,
    /// The number of connections that a panic has closed.
    pub panics: AtomicUsize,
    /// The number of connections that were closed immediately, because the engine or the system had too many.
    pub dropped: AtomicUsize,
}

/// Counts a connection as open until it is dropped.
pub struct ConnectionPermit {
    counters: Arc<Counters>,
    thread_connections: Arc<AtomicUsize>,
}

impl Counters {
    pub fn note_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    pub fn note_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl ConnectionPermit {
    /// Returns `None` if `maximum` connections are open.
    pub fn new(
        counters: &Arc<Counters>,
        maximum: usize,
        thread_connections: &Arc<AtomicUsize>,
    ) -> Option<Self> {
        if counters.connections.fetch_add(1, Ordering::Relaxed) >= maximum {
            counters.connections.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        thread_connections.fetch_add(1, Ordering::Relaxed);
        Some(Self {
            counters: counters.clone(),
            thread_connections: thread_connections.clone(),
        })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.counters.connections.fetch_sub(1, Ordering::Relaxed);
        self.thread_connections.fetch_sub(1, Ordering::Relaxed);
    }
}
