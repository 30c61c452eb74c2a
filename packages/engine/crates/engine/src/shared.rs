use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use rustix::io::Errno;
use rustls::ServerConfig;
use serve_dist_core::{Hosts, Table};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::accept::{AcceptedConnection, WorkerHandle};
use crate::copier::Bodies;
use crate::event::{Event, EventSink};
use crate::http2::{Rate, StreamQuota};
use crate::listen::Listener;
use crate::observe::{BuildLabels, Observations};
use crate::worker::run_worker;

/// How long descriptors are left to who has found none for a way to Node: it tries again sooner.
const LINK_SHORTAGE: Duration = Duration::from_millis(100);
/// How long all threads give up what rests after a client could not be accepted: a sweep of each comes in this time.
const ACCEPT_SHORTAGE: Duration = Duration::from_millis(1500);

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
    /// Bytes of a request's fields over HTTP/2.
    pub header_size: u32,
    /// How many such fields it may have.
    pub fields: usize,
    /// Over HTTP/2, on one connection.
    pub streams_at_once: u32,
    /// Over HTTP/2 in the process, of those whose answers wait for their clients.
    pub maximum_streams: usize,
    /// How often a client may cancel a stream, or have one refused.
    pub resets: Rate,
    /// How often a client may ask for an answer of HTTP/2's own.
    pub control_frames: Rate,
}

/// What requests are answered from: one pointer, so that the choices of a build never meet the answers of another.
#[derive(Clone, Default)]
pub struct Answers {
    /// The build; `None` before there is one.
    pub table: Option<Table>,
    /// What is known of the build's answers where they are observed.
    pub labels: Arc<BuildLabels>,
    /// Those of its bodies that are sent from files.
    pub bodies: Arc<Bodies>,
    /// The known values of `Host`.
    pub hosts: Hosts,
}

/// What JavaScript says to a thread.
pub enum Command {
    /// Node's answer on this link ends after so many bytes of it.
    Done(u64, u64),
    /// Serve this connection.
    Serve(AcceptedConnection),
    /// Stop, and give answers under way so much time.
    Drain(Duration),
    /// Stop now.
    Stop,
}

/// What all threads of an engine and JavaScript have in common.
pub struct Shared {
    /// What requests are answered from.
    pub answers: ArcSwap<Answers>,
    /// How new connections are encrypted, where they are.
    pub encryption: ArcSwapOption<ServerConfig>,
    /// What holds for each connection.
    pub limits: Limits,
    /// Streams that Node is to answer. It refuses and ends some by rules of its own, but none while JavaScript blocks.
    pub relayed_streams: StreamQuota,
    /// What a client gets whose head did not come in time.
    pub timeout_answer: Vec<u8>,
    /// What operators see of answers; `None` where nobody looks.
    pub observations: Option<Observations>,
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// Connections that were closed by a fault of ours.
    pub panics: AtomicUsize,
    /// Connections that were closed at once, because too many are open for us or for the system.
    pub dropped: AtomicUsize,
    /// Links that are open, and whether their end is no end of an answer: known before Node closes its end.
    links: Mutex<HashMap<u64, bool>>,
    /// There were no descriptors for a way to Node.
    pub link_shortage: RecentEvent,
    /// There were none for a client.
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
    /// Dropped with the last thread.
    keep_alive: Option<Box<dyn Send>>,
    when_ended: Vec<Box<dyn FnOnce() + Send>>,
}

impl Shared {
    /// An engine without threads.
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
            links: Mutex::default(),
            link_shortage: RecentEvent::new(LINK_SHORTAGE),
            accept_shortage: RecentEvent::new(ACCEPT_SHORTAGE),
            event_sink: ArcSwapOption::from_pointee(event_sink),
            threads: Mutex::default(),
            change_lock: Mutex::default(),
        }
    }

    /// A connection was closed at once.
    pub fn note_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Says something to JavaScript, and whether anybody will hear it.
    pub fn emit(&self, event: Event) -> bool {
        let event_sink = self.event_sink.load();
        event_sink
            .as_ref()
            .is_some_and(|event_sink| event_sink(event))
    }

    /// Begins to accept connections on so many threads, and holds something until the last of them has ended.
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
        let mut acceptor_parts = Some((listener, workers.clone()));
        let mut handles = Vec::new();
        // The first one last: where another cannot begin, nobody accepts.
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
                        // Nobody waits for it where another could not begin.
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

    /// There is a link, until `forget_link`.
    pub fn note_link(&self, id: u64) {
        self.links().insert(id, false);
    }

    /// The end of this link is no end of an answer. JavaScript may say so of links that are gone.
    pub fn reset_at_end(&self, id: u64) {
        if let Some(is_reset) = self.links().get_mut(&id) {
            *is_reset = true;
        }
    }

    /// Whether the end of this link is no end of an answer.
    pub fn is_reset_at_end(&self, id: u64) -> bool {
        self.links().get(&id) == Some(&true)
    }

    /// A link is gone.
    pub fn forget_link(&self, id: u64) {
        self.links().remove(&id);
    }

    /// Stops all threads, and says when the last connection is closed.
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
        // The first one accepts, and passes it on behind the last connections that it gives to the others.
        let is_sent_to_first =
            threads.when_ended.len() == 1 && threads.commands.first().is_some_and(drain);
        if !is_sent_to_first {
            threads.commands.iter().for_each(|commands| {
                drain(commands);
            });
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

    /// Lets go of the build and its files, and of JavaScript's functions: these hold the engine, and it holds them.
    fn release(&self) {
        self.change(|answers| *answers = Answers::default());
        self.event_sink.store(None);
    }

    /// Changes what requests are answered from. Who changes something waits for others who do: nothing is lost.
    pub fn change(&self, change: impl FnOnce(&mut Answers)) {
        let guard = self.change_lock.lock();
        let mut answers = Answers::clone(&self.answers.load());
        change(&mut answers);
        self.answers.store(Arc::new(answers));
        drop(guard);
    }

    fn links(&self) -> MutexGuard<'_, HashMap<u64, bool>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that ends, in whatever way.
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

/// Whether something has happened lately, on whichever thread.
pub struct RecentEvent {
    started: Instant,
    /// In milliseconds since then; 0 for never.
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

    /// It happens.
    pub fn note(&self) {
        self.last_noted.store(self.now(), Ordering::Relaxed);
    }

    /// Whether it has.
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
