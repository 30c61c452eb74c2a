use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::accept::{AcceptorParts, Command, WorkerHandle};
use crate::listen::Listener;
use crate::shared::Shared;
use crate::worker::{WorkerParts, run_worker};

/// Starts and stops the threads of an engine.
pub struct Engine {
    pub shared: Arc<Shared>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    commands: Vec<UnboundedSender<Command>>,
    handles: Vec<JoinHandle<()>>,
    running: usize,
    /// The socket of the accepting thread.
    listener: Weak<Listener>,
    /// Dropped when the last thread ends.
    keep_alive: Option<Box<dyn Send>>,
    when_ended: Vec<Box<dyn FnOnce() + Send>>,
}

impl Engine {
    /// Creates an engine without threads.
    pub fn new(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            threads: Mutex::default(),
        }
    }

    /// Starts `count` threads that serve connections of `listener`. Holds `keep_alive` until the last thread has ended.
    pub fn start(
        self: &Arc<Self>,
        listener: Listener,
        count: u64,
        keep_alive: Box<dyn Send>,
    ) -> io::Result<()> {
        let mut threads = self.threads();
        if threads.running > 0 {
            return Err(Errno::ALREADY.into());
        }
        let (workers, receivers): (Vec<_>, Vec<_>) = (0..count)
            .map(|_| {
                let (commands, receiver) = unbounded_channel();
                let open = Arc::default();
                (WorkerHandle { commands, open }, receiver)
            })
            .unzip();
        let (started, all_started) = channel();
        let listener = Arc::new(listener);
        let listening = Arc::downgrade(&listener);
        let mut acceptor = Some(AcceptorParts {
            listener,
            workers: workers.clone(),
        });
        let mut handles = Vec::new();
        // Start the first thread last. It accepts connections, and must not if another thread cannot start.
        for (number, commands) in (0..count)
            .zip(receivers)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            let parts = WorkerParts {
                number,
                threads: count,
                commands,
                acceptor: acceptor.take_if(|_| number == 0),
            };
            let (engine, sender) = (self.clone(), started.clone());
            let spawned = Builder::new()
                .name(format!("serve-dist {number}"))
                .spawn(move || {
                    let shared = engine.shared.clone();
                    let _guard = ThreadGuard(engine);
                    let report_start = || sender.send(Ok(())).unwrap_or_default();
                    if let Err(error) = run_worker(shared, parts, report_start) {
                        // After an earlier error, `start` no longer receives.
                        let _ = sender.send(Err(error));
                    }
                });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(error) => started.send(Err(error)).unwrap_or_default(),
            }
        }
        *threads = Threads {
            commands: workers.into_iter().map(|worker| worker.commands).collect(),
            running: handles.len(),
            handles,
            listener: listening,
            keep_alive: Some(keep_alive),
            when_ended: Vec::new(),
        };
        drop((threads, started));
        let outcome: io::Result<()> = all_started
            .iter()
            .take(usize::try_from(count).unwrap_or(usize::MAX))
            .collect();
        if outcome.is_err() {
            self.stop();
        }
        outcome
    }

    /// Drains all threads. Calls `when_ended` after the last connection is closed.
    pub fn drain(&self, grace_period: Duration, when_ended: Box<dyn FnOnce() + Send>) {
        let mut threads = self.threads();
        if threads.running == 0 {
            drop(threads);
            self.shared.release();
            when_ended();
            return;
        }
        threads.when_ended.push(when_ended);
        let drain = |commands: &UnboundedSender<Command>| {
            commands.send(Command::Drain(grace_period)).is_ok()
        };
        // This thread may run earlier than the accepting one.
        if let Some(listener) = threads.listener.upgrade() {
            listener.shrink_backlog();
        }
        // The first thread accepts the last connections. It forwards the command to the others after these connections.
        let is_sent_to_first =
            threads.when_ended.len() == 1 && threads.commands.first().is_some_and(drain);
        if !is_sent_to_first {
            threads.commands.iter().for_each(|commands| {
                drain(commands);
            });
        }
    }

    /// Stops all threads immediately, and waits for them.
    pub fn stop(&self) {
        let Threads {
            commands, handles, ..
        } = std::mem::take(&mut *self.threads());
        for commands in commands {
            let _ = commands.send(Command::Stop);
        }
        for handle in handles {
            let _ = handle.join();
        }
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the cleanup of a thread, even after a panic.
struct ThreadGuard(Arc<Engine>);

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        let mut threads = self.0.threads();
        threads.running = threads.running.saturating_sub(1);
        if threads.running > 0 {
            return;
        }
        let (keep_alive, when_ended) = (
            threads.keep_alive.take(),
            std::mem::take(&mut threads.when_ended),
        );
        drop(threads);
        self.0.shared.release();
        for notify in when_ended {
            notify();
        }
        drop(keep_alive);
    }
}
