use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::counters::Counters;

/// The pause before a restart. A permanent fault must not occupy a core.
const RESTART_DELAY: Duration = Duration::from_millis(50);

/// Runs `work`, and restarts it after each panic. Counts panics.
pub async fn restart_on_panic<Out>(counters: &Counters, mut work: impl AsyncFnMut() -> Out) -> Out {
    loop {
        let mut running = pin!(work());
        let ended = poll_fn(|cx| {
            // A panic cannot expose broken state. The future is never polled again, and the loop drops it. Other tasks
            // only share `Cell`s, `RefCell`s, atomics and mutexes with it. Unwinding ends all borrows of a `RefCell`,
            // and no lock fails because of a poisoned mutex. Buffers are cleared before each use.
            let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)));
            polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
        });
        if let Some(out) = ended.await {
            return out;
        }
        counters.note_panic();
        tokio::time::sleep(RESTART_DELAY).await;
    }
}
