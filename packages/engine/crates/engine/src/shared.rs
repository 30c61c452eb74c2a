use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use rustix::io::Errno;
use rustls::ServerConfig;
use serve_dist_core::{AcceptedValues, Table};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::accept::{AcceptedConnection, WorkerHandle};
use crate::answer_end::AnswerEnds;
use crate::copier::Bodies;
use crate::event::{Event, EventSink};
use crate::http2::{Rate, StreamQuota};
use crate::listen::Listener;
use crate::observe::{BuildLabels, Observations};
use crate::worker::run_worker;

/// How long all threads close idle links after a failed `accept`. It must be longer than the interval of sweeps.
const ACCEPT_SHORTAGE: Duration = Duration::from_millis(1500);

/// Limits for connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time for the head of a request.
    pub headers: Duration,
    /// The time between requests.
    pub keep_alive: Duration,
    /// The time without progress of an answer.
    pub socket: Duration,
    /// The maximum interval between checks.
    pub checking_interval: Duration,
    /// The maximum number of connections of the process.
    pub maximum_connections: usize,
    /// The maximum size of an HTTP/2 request's fields in bytes.
    pub header_size: u32,
    /// The maximum number of an HTTP/2 request's fields.
    pub fields: usize,
    /// The maximum number of streams of an HTTP/2 connection.
    pub streams_at_once: u32,
    /// The maximum number of pending HTTP/2 answers of the process.
    pub maximum_streams: usize,
    /// The rate of canceled and refused streams per client.
    pub resets: Rate,
    /// The rate of PING and SETTINGS frames per client.
    pub control_frames: Rate,
}

/// The data for answers. One pointer replaces all of it, so that choices and answers are always of the same build.
#[derive(Clone, Default)]
pub struct Answers {
    pub table: Option<Table>,
    /// The classes for metrics and logs.
    pub labels: Arc<BuildLabels>,
    /// The bodies that are sent from files.
    pub bodies: Arc<Bodies>,
    /// The allowed values of `Host`.
    pub hosts: AcceptedValues,
}

/// A command to a thread.
pub enum Command {
    /// Serves a connection.
    Serve(AcceptedConnection),
    /// Stops after the grace period for unfinished answers.
    Drain(Duration),
    /// Stops immediately.
    Stop,
}

/// The state that all threads and JavaScript share.
pub struct Shared {
    pub answers: ArcSwap<Answers>,
    /// The TLS configuration of new connections. `None` disables TLS.
    pub encryption: ArcSwapOption<ServerConfig>,
    pub limits: Limits,
    /// The streams that Node must answer. Node limits them, too, but not while its event loop is blocked.
    pub relayed_streams: StreamQuota,
    /// The complete answer to a head that exceeds its time limit.
    pub timeout_answer: Vec<u8>,
    /// The counters and logs. `None` disables them.
    pub observations: Option<Observations>,
    /// The number of open connections.
    pub connections: AtomicUsize,
    /// The number of connections that a panic has closed.
    pub panics: AtomicUsize,
    /// The number of connections that were closed immediately, because the engine or the system had too many.
    pub dropped: AtomicUsize,
    pub answer_ends: AnswerEnds,
    /// The number of requests that wait for descriptors for a link.
    waiting_requests: AtomicUsize,
    /// Set when `accept` fails because no descriptor is free.
    pub accept_shortage: RecentEvent,
    event_sink: ArcSwapOption<EventSink>,
    threads: Mutex<Threads>,
    change_lock: Mutex<()>,
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

impl Shared {
    /// Creates the state of an engine without threads.
    pub fn new(
        limits: Limits,
        timeout_answer: Vec<u8>,
        observations: Option<Observations>,
        event_sink: EventSink,
    ) -> Self {
        Self {
            answers: ArcSwap::default(),
            encryption: ArcSwapOption::empty(),
            limits,
            relayed_streams: StreamQuota::new(2 * limits.maximum_streams),
            timeout_answer,
            observations,
            connections: AtomicUsize::new(0),
            panics: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            answer_ends: AnswerEnds::default(),
            waiting_requests: AtomicUsize::new(0),
            accept_shortage: RecentEvent::new(ACCEPT_SHORTAGE),
            event_sink: ArcSwapOption::from_pointee(event_sink),
            threads: Mutex::default(),
            change_lock: Mutex::default(),
        }
    }

    /// Returns whether a request waits for descriptors for a link.
    pub fn lacks_links(&self) -> bool {
        self.waiting_requests.load(Ordering::Relaxed) > 0
    }

    pub fn note_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends an event to JavaScript. Returns whether JavaScript will receive it.
    pub fn emit(&self, event: Event) -> bool {
        let event_sink = self.event_sink.load();
        event_sink
            .as_ref()
            .is_some_and(|event_sink| event_sink(event))
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
        let mut acceptor_parts = Some((listener, workers.clone()));
        let mut handles = Vec::new();
        // Start the first thread last. It accepts connections, and must not if another thread cannot start.
        for (number, commands) in (0..count)
            .zip(receivers)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
        {
            let acceptor_parts = acceptor_parts.take_if(|_| number == 0);
            let (shared, sender) = (self.clone(), started.clone());
            let spawned = Builder::new()
                .name(format!("serve-dist {number}"))
                .spawn(move || {
                    let _guard = ThreadGuard(shared.clone());
                    let report_start = || sender.send(Ok(())).unwrap_or_default();
                    if let Err(error) = run_worker(
                        shared,
                        acceptor_parts,
                        commands,
                        (number, count),
                        report_start,
                    ) {
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
            self.release();
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

    /// Drops the table, its files and the JavaScript functions. This breaks the reference cycle between the functions
    /// and the engine.
    fn release(&self) {
        self.change(|answers| *answers = Answers::default());
        self.event_sink.store(None);
    }

    /// Replaces the data for answers. The lock prevents lost updates.
    pub fn change(&self, change: impl FnOnce(&mut Answers)) {
        let guard = self.change_lock.lock();
        let mut answers = Answers::clone(&self.answers.load());
        change(&mut answers);
        self.answers.store(Arc::new(answers));
        drop(guard);
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs the cleanup of a thread, even after a panic.
struct ThreadGuard(Arc<Shared>);

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
        self.0.release();
        for notify in when_ended {
            notify();
        }
        drop(keep_alive);
    }
}

/// Reserves the descriptors that become free for a request that waits for a link. New connections get none until this
/// is dropped.
pub struct LinkReservation(Arc<Shared>);

impl LinkReservation {
    pub fn new(shared: &Arc<Shared>) -> Self {
        shared.waiting_requests.fetch_add(1, Ordering::Relaxed);
        Self(shared.clone())
    }
}

impl Drop for LinkReservation {
    fn drop(&mut self) {
        self.0.waiting_requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Records whether an event happened recently on any thread.
pub struct RecentEvent {
    started: Instant,
    /// Milliseconds since `started`. 0 means never.
    last_noted: AtomicU64,
    duration: u64,
}

impl RecentEvent {
    fn new(duration: Duration) -> Self {
        Self {
            started: Instant::now(),
            last_noted: AtomicU64::new(0),
            duration: milliseconds(duration),
        }
    }

    pub fn note(&self) {
        self.last_noted.store(self.now(), Ordering::Relaxed);
    }

    pub fn is_recent(&self) -> bool {
        let last_noted = self.last_noted.load(Ordering::Relaxed);
        last_noted > 0 && self.now() < last_noted + self.duration
    }

    fn now(&self) -> u64 {
        milliseconds(self.started.elapsed()).saturating_add(1)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
