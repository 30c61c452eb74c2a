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

/// How long a thread that has no descriptors left waits for connections to be closed.
pub const RETRY_DELAY: Duration = Duration::from_millis(50);

/// A thread of the engine, from its begin to its end: one loop that accepts and answers. An error is that it cannot begin.
pub fn run_worker(
    shared: Arc<Shared>,
    acceptor_parts: Option<(Listener, Vec<WorkerHandle>)>,
    commands: UnboundedReceiver<Command>,
    (number, threads): (u64, u64),
    report_start: impl FnOnce(),
) -> io::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        // As many as Node has for reading files.
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
            // It is stopping already: only an end at once ends that.
            () = async { while run_commands(thread, &mut commands).await.is_some() {} } => {}
            () = drain(thread, acceptor, grace_period) => {}
        }
    }
}

/// Does what JavaScript says until the thread is to stop; the time is what it may still take for it.
async fn run_commands(
    thread: &Rc<Thread>,
    commands: &mut UnboundedReceiver<Command>,
) -> Option<Duration> {
    loop {
        match commands.recv().await {
            Some(Command::Done(id, bytes)) => {
                let link = thread
                    .links
                    .borrow()
                    .get(&id)
                    .and_then(std::rc::Weak::upgrade);
                if let Some(link) = link {
                    link.end_at(bytes);
                }
            }
            // Its descriptor is there already. Where the system cannot watch it, its client has to try again.
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
        // Others have their turn while many come, and who waits for a way to Node comes first.
        tokio::task::coop::consume_budget().await;
        while thread.shared.link_shortage.is_recent() {
            discard_idle_links(thread);
            tokio::time::sleep(RETRY_DELAY).await;
        }
        let Ok(mut guard) = acceptor.listener().readable().await else {
            return;
        };
        acceptor.yield_to_other_processes(thread).await;
        match acceptor.accept_one(thread) {
            // Those who have the same queue have their turn, too.
            Ok(()) if acceptor.listener().get_ref().is_shared() => tokio::task::yield_now().await,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                acceptor.note_queue_empty();
                guard.clear_ready();
            }
            Err(error) if is_client_error(&error) => {}
            // No descriptors or no memory are left.
            Err(error) => {
                thread.warn(Warning::AcceptFailed, &error);
                thread.shared.accept_shortage.note();
                discard_idle_links_but_last(thread);
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// The client has gone while it was in the queue.
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

/// Sets the date of answers at the begin of each second.
async fn update_clock(thread: &Thread) {
    loop {
        let now = unix_time();
        thread.clock.borrow_mut().set(now.as_secs());
        let rest = Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into());
        tokio::time::sleep(rest).await;
    }
}
