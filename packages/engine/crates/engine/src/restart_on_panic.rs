use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use crate::shared::Shared;

/// The pause before a restart. A permanent fault must not occupy a core.
const RESTART_DELAY: Duration = Duration::from_millis(50);

/// Runs `work`, and restarts it after each panic. Counts panics.
pub async fn restart_on_panic<Out>(shared: &Shared, mut work: impl AsyncFnMut() -> Out) -> Out {
    loop {
        let mut running = pin!(work());
        let ended = poll_fn(|cx| {
            let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)));
            polled.map_or(Poll::Ready(None), |poll| poll.map(Some))
        });
        if let Some(out) = ended.await {
            return out;
        }
        shared.panics.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(RESTART_DELAY).await;
    }
}
