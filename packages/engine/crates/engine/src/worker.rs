use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::accept::{Acceptor, AcceptorParts, Command, accept_all, receive};
use crate::drain::drain;
use crate::restart_on_panic::restart_on_panic;
use crate::shared::Shared;
use crate::sweep::sweep;
use crate::thread::Thread;
use crate::time::unix_time;

/// The parts of a thread, made before it starts.
pub struct WorkerParts {
    /// The number of this thread, and the number of all threads.
    pub number: u64,
    pub threads: u64,
    pub commands: UnboundedReceiver<Command>,
    /// Only the first thread accepts.
    pub acceptor: Option<AcceptorParts>,
}

/// Runs a thread of the engine. Returns an error if it cannot start.
pub fn run_worker(
    shared: Arc<Shared>,
    parts: WorkerParts,
    report_start: impl FnOnce(),
) -> io::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        // Node also has 4 threads for files.
        .max_blocking_threads(4)
        .build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let thread = Rc::new(Thread::new(shared, parts.number, parts.threads));
        let (clock, sweeper) = (thread.clone(), thread.clone());
        tokio::task::spawn_local(async move {
            restart_on_panic(&clock.shared.counters, || update_clock(&clock)).await;
        });
        tokio::task::spawn_local(async move {
            restart_on_panic(&sweeper.shared.counters, || sweep(&sweeper)).await;
        });
        let acceptor = parts.acceptor.map(Acceptor::new).transpose()?;
        report_start();
        run(&thread, acceptor, parts.commands).await;
        Ok(())
    })
}

async fn run(
    thread: &Rc<Thread>,
    acceptor: Option<Acceptor>,
    mut commands: UnboundedReceiver<Command>,
) {
    let counters = &thread.shared.counters;
    let grace_period = tokio::select! {
        biased;
        command = restart_on_panic(counters, async || run_commands(thread, &mut commands).await) => command,
        () = restart_on_panic(counters, || accept_all(thread, acceptor.as_ref())) => None,
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
            Some(Command::Serve(accepted)) => drop(receive(thread, accepted)),
            Some(Command::Drain(grace_period)) => return Some(grace_period),
            Some(Command::Stop) | None => return None,
        }
    }
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
