use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Ignores wake-ups of a task during its own poll if the poll has handled them.
///
/// h2 wakes the task of a session for each response that the same task sends.
pub struct SelfWakeFilter {
    task: Mutex<Waker>,
    is_polled: AtomicBool,
    is_woken: AtomicBool,
}

impl SelfWakeFilter {
    /// Creates a filter without a task.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            task: Mutex::new(Waker::noop().clone()),
            is_polled: AtomicBool::new(false),
            is_woken: AtomicBool::new(false),
        })
    }

    /// Runs `poll`. Wakes the task afterwards if a wake-up was not acknowledged.
    pub fn poll<Output>(
        self: &Arc<Self>,
        cx: &Context,
        poll: impl FnOnce(&mut Context) -> Poll<Output>,
    ) -> Poll<Output> {
        self.task().clone_from(cx.waker());
        self.is_polled.store(true, SeqCst);
        let result = poll(&mut Context::from_waker(&Waker::from(self.clone())));
        self.is_polled.store(false, SeqCst);
        if self.is_woken.swap(false, SeqCst) {
            cx.waker().wake_by_ref();
        }
        result
    }

    /// Acknowledges all wake-ups of the current poll. The caller must handle them afterwards.
    pub fn acknowledge(&self) {
        self.is_woken.store(false, SeqCst);
    }

    fn task(&self) -> MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for SelfWakeFilter {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        // If the poll ends concurrently, at least one of the two sides sees the flag.
        if !self.is_polled.load(SeqCst) && self.is_woken.swap(false, SeqCst) {
            self.task().wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    #[test]
    fn wakes_the_task_unless_the_poll_acknowledged() {
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(counter.clone());
        let cx = Context::from_waker(&waker);
        let filter = SelfWakeFilter::new();
        let mut kept = None;
        for (is_woken, is_acknowledged, expected) in
            [(false, false, 0), (true, true, 0), (true, false, 1)]
        {
            let _ = filter.poll(&cx, |cx| {
                if is_woken {
                    cx.waker().wake_by_ref();
                    cx.waker().wake_by_ref();
                }
                if is_acknowledged {
                    filter.acknowledge();
                }
                kept = Some(cx.waker().clone());
                Poll::<()>::Pending
            });
            assert_eq!(counter.0.load(SeqCst), expected);
        }
        kept.expect("the filter was polled").wake();
        assert_eq!(counter.0.load(SeqCst), 2, "wakes immediately between polls");
    }
}
