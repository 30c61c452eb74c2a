use std::cell::{Cell, RefCell};
use std::task::{Context, Waker};
use std::time::Duration;

/// Wakes a connection that keeps its limits itself, instead of a timer for each.
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
    /// Rings at this time, or when somebody rings.
    pub fn set(&self, cx: &Context, due: Duration) {
        self.due.set(due);
        self.waker.borrow_mut().clone_from(cx.waker());
    }

    /// Rings when it is time to.
    pub fn wake_if_due(&self, now: Duration) {
        if now >= self.due.get() {
            self.wake();
        }
    }

    /// Rings now.
    pub fn wake(&self) {
        self.waker.borrow().wake_by_ref();
    }

    /// Ends answers under way, not as if they were whole.
    pub fn cut_off(&self) {
        self.is_cut_off.set(true);
        self.wake();
    }

    /// Whether answers under way are to end.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off.get()
    }
}
