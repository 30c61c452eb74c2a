use std::collections::HashSet;
use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use arc_swap::ArcSwap;
use rustix::io::Errno;
use serve_dist_core::{Hosts, Table};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::event::{Event, Tell};
use crate::listen::Listener;
use crate::worker::work;

/// What holds for each connection.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the whole head of a request.
    pub headers: Duration,
    /// Between requests.
    pub keep_alive: Duration,
    /// Without progress of an answer.
    pub socket: Duration,
    /// Between checks of the others, at most.
    pub checking_interval: Duration,
    /// In the process.
    pub maximum_connections: usize,
}

/// What requests are answered from: one pointer, so that the choices of a build never meet the answers of another.
#[derive(Default)]
pub struct Answers {
    /// The build; `None` before there is one.
    pub table: Option<Table>,
    /// The known values of `Host`.
    pub hosts: Hosts,
}

/// What JavaScript says to a thread.
pub enum Command {
    /// Node's answer on this link ends after so many bytes of it.
    Done(u64, u64),
    /// Stop, and give answers under way so much time.
    Drain(Duration),
    /// Stop now.
    Stop,
}

/// What all threads of an engine and JavaScript have in common.
pub struct Shared {
    /// What requests are answered from.
    pub answers: ArcSwap<Answers>,
    /// What holds for each connection.
    pub limits: Limits,
    /// What a client gets whose head did not come in time.
    pub timeout_answer: Vec<u8>,
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// Connections that were closed by a fault of ours.
    pub panics: AtomicUsize,
    /// Links at whose end the client gets a reset: known before Node closes its end.
    resets: Mutex<HashSet<u64>>,
    tell: Tell,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    commands: Vec<UnboundedSender<Command>>,
    handles: Vec<JoinHandle<()>>,
    running: usize,
    /// Dropped with the last thread.
    held: Option<Box<dyn Send>>,
    when_ended: Vec<Box<dyn FnOnce() + Send>>,
}

impl Shared {
    /// An engine without threads.
    pub fn new(limits: Limits, timeout_answer: Vec<u8>, tell: Tell) -> Self {
        Self {
            answers: ArcSwap::default(),
            limits,
            timeout_answer,
            connections: AtomicUsize::new(0),
            panics: AtomicUsize::new(0),
            resets: Mutex::default(),
            tell,
            threads: Mutex::default(),
        }
    }

    /// Says something to JavaScript, and whether anybody will hear it.
    pub fn tell(&self, event: Event) -> bool {
        (self.tell)(event)
    }

    /// Begins to accept connections on so many threads, and holds something until the last of them has ended.
    pub fn start(
        self: &Arc<Self>,
        listener: Listener,
        count: u64,
        held: Box<dyn Send>,
    ) -> io::Result<()> {
        let listener = Arc::new(listener);
        let mut threads = self.threads();
        if threads.running > 0 {
            return Err(Errno::ALREADY.into());
        }
        *threads = Threads {
            held: Some(held),
            ..Threads::default()
        };
        for number in 0..count {
            let (sender, commands) = unbounded_channel();
            let (shared, listener) = (self.clone(), listener.clone());
            let handle = Builder::new()
                .name(format!("serve-dist {number}"))
                .spawn(move || {
                    let _ended = Ended(shared.clone());
                    if let Err(error) = work(shared, listener, commands, (number, count)) {
                        eprintln!("a thread of the engine cannot work: {error}");
                    }
                })?;
            threads.commands.push(sender);
            threads.handles.push(handle);
            threads.running += 1;
        }
        Ok(())
    }

    /// Node's answer on this link ends after so many bytes.
    pub fn done(&self, id: u64, bytes: u64) {
        let threads = self.threads();
        let count = threads.commands.len() as u64;
        if let Some(number) = id
            .checked_rem(count)
            .and_then(|number| usize::try_from(number).ok())
        {
            // A thread that has ended has no links.
            let _ = threads.commands[number].send(Command::Done(id, bytes));
        }
    }

    /// The end of this link is no end of an answer.
    pub fn reset_at_end(&self, id: u64) {
        self.resets().insert(id);
    }

    /// Whether the end of this link is no end of an answer.
    pub fn takes_reset(&self, id: u64) -> bool {
        self.resets().remove(&id)
    }

    /// Stops all threads, and says when the last connection is closed.
    pub fn drain(&self, grace_period: Duration, when_ended: Box<dyn FnOnce() + Send>) {
        let mut threads = self.threads();
        if threads.running == 0 {
            drop(threads);
            when_ended();
            return;
        }
        threads.when_ended.push(when_ended);
        for commands in &threads.commands {
            let _ = commands.send(Command::Drain(grace_period));
        }
    }

    /// Stops all threads at once, and waits for their end.
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

    fn resets(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.resets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that ends, in whatever way.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut threads = self.0.threads();
        threads.running = threads.running.saturating_sub(1);
        if threads.running > 0 {
            return;
        }
        let (held, when_ended) = (threads.held.take(), std::mem::take(&mut threads.when_ended));
        drop(threads);
        for tell in when_ended {
            tell();
        }
        drop(held);
    }
}
