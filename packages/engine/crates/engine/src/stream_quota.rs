use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of pending streams, shared fairly between sessions.
#[derive(Debug)]
pub struct StreamQuota {
    max_streams: usize,
    streams: AtomicUsize,
    sessions: AtomicUsize,
    /// The largest number of streams since the last call of `take_decline`.
    peak: AtomicUsize,
}

impl StreamQuota {
    pub fn new(max_streams: usize) -> Self {
        Self {
            max_streams,
            streams: AtomicUsize::default(),
            sessions: AtomicUsize::default(),
            peak: AtomicUsize::default(),
        }
    }

    /// Adds a stream to a session that had `before` streams.
    pub fn add(&self, before: usize) {
        let others = self.streams.fetch_add(1, Ordering::Relaxed);
        self.peak.fetch_max(others + 1, Ordering::Relaxed);
        self.sessions
            .fetch_add(usize::from(before == 0), Ordering::Relaxed);
    }

    /// Reduces the streams of a session from `before` to `after`.
    pub fn remove(&self, before: usize, after: usize) {
        self.streams.fetch_sub(before - after, Ordering::Relaxed);
        let is_last = before > 0 && after == 0;
        self.sessions
            .fetch_sub(usize::from(is_last), Ordering::Relaxed);
    }

    /// Returns whether a session with `count` streams must not add another.
    pub fn refuses(&self, count: usize) -> bool {
        self.count() >= self.max_streams && count >= self.share(count == 0)
    }

    /// Returns how many of its `count` streams a session must reset. The total exceeds the maximum while sessions below
    /// their share add streams.
    pub fn surplus(&self, count: usize) -> usize {
        let over = self.count().saturating_sub(self.max_streams);
        over.min(count.saturating_sub(self.share(false)))
    }

    /// Returns whether the total exceeds the maximum.
    pub fn is_exceeded(&self) -> bool {
        self.count() > self.max_streams
    }

    /// Returns whether the number of streams has declined by at least `count` and by half. Then it starts again.
    pub fn take_decline(&self, count: usize) -> bool {
        let peak = self.peak.load(Ordering::Relaxed);
        let now = self.count();
        let has_declined = peak >= now + count && peak >= 2 * now;
        if has_declined {
            self.peak.store(now, Ordering::Relaxed);
        }
        has_declined
    }

    pub fn count(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    /// Returns the share of each session, at least 1.
    fn share(&self, is_new: bool) -> usize {
        let sessions = self.sessions.load(Ordering::Relaxed) + usize::from(is_new);
        (self.max_streams / sessions.max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(sessions: &[usize]) -> StreamQuota {
        let quota = StreamQuota::new(12);
        for &count in sessions {
            (0..count).for_each(|before| quota.add(before));
        }
        quota
    }

    #[test]
    fn refuses_no_stream_below_the_maximum() {
        assert!(!quota(&[11]).refuses(11));
        assert!(quota(&[12]).refuses(12));
    }

    #[test]
    fn grants_each_session_an_equal_share() {
        let quota = quota(&[12]);
        assert!(!quota.refuses(0));
        (0..6).for_each(|before| quota.add(before));
        assert!(quota.refuses(6) && !quota.refuses(5));
        assert_eq!([quota.surplus(12), quota.surplus(6)], [6, 0]);
        quota.remove(12, 6);
        assert!(!quota.is_exceeded());
        assert_eq!(quota.surplus(6), 0);
    }

    #[test]
    fn grants_each_session_at_least_one_stream() {
        let quota = quota(&[1; 20]);
        assert!(!quota.refuses(0) && quota.refuses(1));
        assert_eq!(quota.surplus(1), 0);
    }

    #[test]
    fn notices_a_decline_once() {
        let quota = quota(&[6, 6]);
        quota.remove(6, 0);
        assert!(!quota.take_decline(7) && quota.take_decline(6) && !quota.take_decline(6));
        quota.remove(6, 1);
        assert!(!quota.take_decline(6) && quota.take_decline(5));
    }

    #[test]
    fn grants_the_freed_share_to_remaining_sessions() {
        let quota = quota(&[6, 6]);
        quota.remove(6, 0);
        (6..12).for_each(|before| quota.add(before));
        assert_eq!(quota.surplus(12), 0);
    }
}
