use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};
use std::time::Duration;

/// Wakes the task of an HTTP/2 session at its next deadline, or when its answers must end. It replaces a timer per
/// session.
pub struct DeadlineWaker {
    due: Cell<Duration>,
    waker: RefCell<Waker>,
    is_cut_off: Cell<bool>,
}

impl Default for DeadlineWaker {
    fn default() -> Self {
        Self {
            due: Cell::new(Duration::MAX),
            waker: RefCell::new(Waker::noop().clone()),
            is_cut_off: Cell::new(false),
        }
    }
}

impl DeadlineWaker {
    /// Sets the task and its next deadline.
    pub fn set(&self, cx: &Context, due: Duration) {
        self.due.set(due);
        self.waker.borrow_mut().clone_from(cx.waker());
    }

    /// Wakes the task if the deadline has passed.
    pub fn wake_if_due(&self, now: Duration) {
        if now >= self.due.get() {
            self.wake();
        }
    }

    pub fn wake(&self) {
        self.waker.borrow().wake_by_ref();
    }

    /// Requests that the task resets its unfinished answers.
    pub fn cut_off(&self) {
        self.is_cut_off.set(true);
        self.wake();
    }

    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off.get()
    }
}
