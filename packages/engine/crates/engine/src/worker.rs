use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::accept::{Acceptor, WorkerHandle};
use crate::drain::drain;
use crate::limits::{discard_idle_links, discard_idle_links_but_last, sweep};
use crate::listen::Listener;
use crate::restart_on_panic::restart_on_panic;
use crate::shared::{Command, Shared};
use crate::thread::{Thread, Warning, unix_time};

/// The delay before the next attempt after a shortage of descriptors.
pub const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Runs a thread of the engine. Returns an error if it cannot start.
pub fn run_worker(
    shared: Arc<Shared>,
    acceptor_parts: Option<(Arc<Listener>, Vec<WorkerHandle>)>,
    commands: UnboundedReceiver<Command>,
    (number, threads): (u64, u64),
    report_start: impl FnOnce(),
) -> io::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        // Node also has 4 threads for files.
        .max_blocking_threads(4)
        .build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let thread = Rc::new(Thread::new(shared, number, threads));
        let (clock, sweeper) = (thread.clone(), thread.clone());
        tokio::task::spawn_local(async move {
            restart_on_panic(&clock.shared, || update_clock(&clock)).await;
        });
        tokio::task::spawn_local(async move {
            restart_on_panic(&sweeper.shared, || sweep(&sweeper)).await;
        });
        let acceptor = acceptor_parts
            .map(|(listener, workers)| Acceptor::new(listener, workers))
            .transpose()?;
        report_start();
        run(&thread, acceptor, commands).await;
        Ok(())
    })
}

async fn run(
    thread: &Rc<Thread>,
    acceptor: Option<Acceptor>,
    mut commands: UnboundedReceiver<Command>,
) {
    let grace_period = tokio::select! {
        biased;
        command = restart_on_panic(&thread.shared, async || run_commands(thread, &mut commands).await) => command,
        () = restart_on_panic(&thread.shared, || accept_all(thread, acceptor.as_ref())) => None,
    };
    if let Some(grace_period) = grace_period {
        tokio::select! {
            biased;
            // While it drains, the thread only obeys a command to stop immediately.
            () = async { while run_commands(thread, &mut commands).await.is_some() {} } => {}
            () = drain(thread, acceptor, grace_period) => {}
        }
    }
}

/// Runs commands of JavaScript until the thread must stop. Returns the grace period, or `None` to stop immediately.
async fn run_commands(
    thread: &Rc<Thread>,
    commands: &mut UnboundedReceiver<Command>,
) -> Option<Duration> {
    loop {
        match commands.recv().await {
            // If the system cannot watch the socket, the connection is dropped and the client must retry.
            Some(Command::Serve(accepted)) => drop(thread.serve_accepted(accepted)),
            Some(Command::Drain(grace_period)) => return Some(grace_period),
            Some(Command::Stop) | None => return None,
        }
    }
}

async fn accept_all(thread: &Rc<Thread>, acceptor: Option<&Acceptor>) {
    let Some(acceptor) = acceptor else {
        return std::future::pending().await;
    };
    loop {
        // Let other tasks run during many new connections. Links have priority over them if descriptors are scarce.
        tokio::task::coop::consume_budget().await;
        let Ok(mut guard) = acceptor.listener().readable().await else {
            return;
        };
        acceptor.yield_to_other_processes(thread).await;
        while thread.shared.lacks_links() {
            discard_idle_links(thread);
            tokio::time::sleep(RETRY_DELAY).await;
        }
        match acceptor.accept_one(thread) {
            // Let the other processes that share the queue accept, too.
            Ok(()) if acceptor.listener().get_ref().is_shared() => tokio::task::yield_now().await,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                acceptor.note_queue_empty();
                guard.clear_ready();
            }
            Err(error) if is_client_error(&error) => {}
            // No descriptors or no memory are available.
            Err(error) => {
                thread.warn(Warning::AcceptFailed, &error);
                thread.shared.accept_shortage.note();
                discard_idle_links_but_last(thread);
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// Returns whether the error only concerns the accepted client, such as a client that has disconnected.
pub fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    [
        ConnectionAborted,
        ConnectionReset,
        Interrupted,
        PermissionDenied,
    ]
    .contains(&error.kind())
}

/// Updates the date of answers at the start of each second.
async fn update_clock(thread: &Thread) {
    loop {
        let now = unix_time();
        thread.clock.borrow_mut().set(now.as_secs());
        let rest = Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into());
        tokio::time::sleep(rest).await;
    }
}
