//! Distributes new connections. The first thread accepts all of them and passes each one to the thread with the fewest.
//!
//! If all threads waited for the same queue, each connection would wake all of them. Fast threads would get more
//! connections than others.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot::channel;

use crate::connection::{Connection, Phase};
use crate::counters::ConnectionPermit;
use crate::event::Event;
use crate::links::{discard_idle_links, discard_idle_links_but_last};
use crate::listen::Listener;
use crate::serve::serve;
use crate::shared::Shared;
use crate::socket::watch;
use crate::stream::Stream;
use crate::thread::Thread;
use crate::tuning::RETRY_DELAY;
use crate::warning::Warning;

/// The number of times that a process with a busy event loop checks the queue before it accepts.
const QUEUE_CHECKS: u32 = 4;
const QUEUE_CHECK_INTERVAL: Duration = Duration::from_millis(1);
/// The maximum number of connections that such a process accepts per round. The number starts at 1 and doubles each
/// round.
const MAX_CLAIM: u32 = 16;

/// A thread to which the acceptor passes connections.
#[derive(Clone)]
pub struct WorkerHandle {
    pub commands: UnboundedSender<Command>,
    /// The number of its connections, including those that are still in `commands`.
    pub open: Arc<AtomicUsize>,
}

/// A connection that was accepted for a thread.
pub struct AcceptedConnection {
    /// The non-blocking socket.
    pub socket: OwnedFd,
    /// The client's address. `None` for a unix socket.
    pub peer: Option<SocketAddr>,
    pub permit: ConnectionPermit,
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

/// The parts of an acceptor, made before its thread starts.
pub struct AcceptorParts {
    pub listener: Arc<Listener>,
    /// The first one is the thread of the acceptor.
    pub workers: Vec<WorkerHandle>,
}

/// Accepts connections on the first thread.
pub struct Acceptor {
    listener: AsyncFd<Arc<Listener>>,
    /// The first one is the thread of the acceptor.
    workers: Vec<WorkerHandle>,
    last: Cell<usize>,
    /// Connections that this process may accept without a check, and the number for the next round.
    claimed: Cell<u32>,
    next_claim: Cell<u32>,
}

impl Acceptor {
    /// Must be called on the event loop that accepts.
    pub fn new(parts: AcceptorParts) -> io::Result<Self> {
        let AcceptorParts { listener, workers } = parts;
        Ok(Self {
            listener: watch(listener, Interest::READABLE)?,
            workers,
            last: Cell::default(),
            claimed: Cell::default(),
            next_claim: Cell::new(1),
        })
    }

    pub fn listener(&self) -> &AsyncFd<Arc<Listener>> {
        &self.listener
    }

    /// Waits briefly if JavaScript is busy and other processes share the socket. They can then accept the connection,
    /// and their JavaScript is available for the requests that need it.
    pub async fn yield_to_other_processes(&self, thread: &Thread) {
        if !self.listener.get_ref().is_shared() {
            return;
        }
        if let Some(left) = self.claimed.get().checked_sub(1) {
            return self.claimed.set(left);
        }
        let (reply, replied) = channel();
        thread.shared.emit(Event::BusyProbe(reply));
        tokio::select! {
            biased;
            _ = replied => self.next_claim.set(1),
            is_still_queued = self.is_still_queued() => if is_still_queued {
                let count = self.next_claim.get();
                self.next_claim.set((count * 2).min(MAX_CLAIM));
                // The connection that is accepted next counts.
                self.claimed.set(count - 1);
            },
        }
    }

    /// Returns whether a connection is still queued after all checks. Returns `false` as soon as the queue is empty.
    async fn is_still_queued(&self) -> bool {
        for _ in 0..QUEUE_CHECKS {
            tokio::time::sleep(QUEUE_CHECK_INTERVAL).await;
            if !self.listener.get_ref().has_queued_connection() {
                return false;
            }
        }
        true
    }

    /// Resets the number of connections per round, because other processes have accepted everything.
    pub fn note_queue_empty(&self) {
        self.claimed.set(0);
        self.next_claim.set(1);
    }

    /// Accepts one connection and passes it to a thread.
    pub fn accept_one(&self, thread: &Rc<Thread>) -> io::Result<()> {
        let (socket, peer) = self.listener.get_ref().accept()?;
        let worker_index = self.least_loaded_worker();
        let Shared {
            counters, limits, ..
        } = &*thread.shared;
        let open = &self.workers[worker_index].open;
        let Some(permit) = ConnectionPermit::new(counters, limits.maximum_connections, open) else {
            counters.note_dropped();
            return Ok(());
        };
        let accepted = AcceptedConnection {
            socket,
            peer,
            permit,
        };
        if worker_index == 0 {
            return receive(thread, accepted);
        }
        // A thread that has ended drops the connection.
        let _ = self.workers[worker_index]
            .commands
            .send(Command::Serve(accepted));
        Ok(())
    }

    /// Stops accepting. The other threads drain after the connections that they have already received.
    pub fn close(self, grace_period: Duration) {
        drop(self.listener);
        for worker in &self.workers[1..] {
            let _ = worker.commands.send(Command::Drain(grace_period));
        }
    }

    /// Returns the thread with the fewest connections, in round-robin order among equals.
    fn least_loaded_worker(&self) -> usize {
        let count = self.workers.len();
        let after_last = (1..=count).map(|step| (self.last.get() + step) % count);
        let worker_index = after_last
            .min_by_key(|&worker_index| {
                let WorkerHandle { commands, open } = &self.workers[worker_index];
                (commands.is_closed(), open.load(Ordering::Relaxed))
            })
            .unwrap_or(0);
        self.last.set(worker_index);
        worker_index
    }
}

/// Accepts connections until the thread stops. Without an acceptor, never returns.
pub async fn accept_all(thread: &Rc<Thread>, acceptor: Option<&Acceptor>) {
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
        while thread.shared.shortage.lacks_links() {
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
                thread.shared.shortage.note_failed_accept();
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

/// Serves an accepted connection. Fails if the system cannot watch its socket.
pub fn receive(thread: &Rc<Thread>, accepted: AcceptedConnection) -> io::Result<()> {
    let AcceptedConnection {
        socket,
        peer,
        permit,
    } = accepted;
    let stream = match &*thread.shared.encryption.load() {
        None => Stream::new(socket),
        Some(config) => Stream::encrypted(socket, config.clone()),
    };
    let stream = stream.inspect_err(|_| thread.shared.counters.note_dropped())?;
    open(thread, stream, peer, permit);
    Ok(())
}

/// Serves a connection in a new task.
pub fn open(
    thread: &Rc<Thread>,
    stream: Stream,
    peer: Option<SocketAddr>,
    permit: ConnectionPermit,
) {
    let phase = if stream.session().is_some() {
        Phase::Handshake
    } else {
        Phase::Fresh
    };
    let mut connection = Connection::new(stream, peer);
    connection.permit = Some(Arc::new(permit));
    connection.enter_phase(phase, thread.update_now());
    let connection = Rc::new(connection);
    let id = thread.next_id();
    thread.connections.insert(id, connection.clone());
    let guard = ConnectionGuard {
        id,
        thread: thread.clone(),
    };
    let served = connection.clone();
    let task = tokio::task::spawn_local(async move { serve(&guard.thread, &served).await });
    connection.set_task(task.abort_handle());
}

/// Removes the connection when its task ends.
struct ConnectionGuard {
    id: u64,
    thread: Rc<Thread>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.thread.shared.counters.note_panic();
        }
        self.thread.connections.remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, TcpStream};
    use std::os::fd::AsRawFd;
    use std::sync::mpsc::Receiver;
    use std::time::Instant;

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
    use tokio::sync::oneshot::Sender;

    use super::*;
    use crate::listen::{Address, Sharing};
    use crate::testing::{LIMITS, LONG, on_thread};

    /// Returns an acceptor, its port and the command queues of its three threads.
    fn acceptor() -> (Acceptor, u16, [UnboundedReceiver<Command>; 3]) {
        acceptor_sharing(Sharing::default())
    }

    fn acceptor_sharing(sharing: Sharing) -> (Acceptor, u16, [UnboundedReceiver<Command>; 3]) {
        let host = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let socket = Listener::bind(Address::Tcp { host, port: 0 }).expect("a port is free");
        let descriptor = socket.as_raw_fd();
        let given = Address::Descriptor {
            descriptor,
            sharing,
        };
        let listener = Listener::open(given).expect("the descriptor is a socket");
        let (_, port) = listener.address().expect("the socket has an address");
        let channels = [
            unbounded_channel(),
            unbounded_channel(),
            unbounded_channel(),
        ];
        let workers = channels.iter().map(|(commands, _)| WorkerHandle {
            commands: commands.clone(),
            open: Arc::default(),
        });
        let parts = AcceptorParts {
            listener: Arc::new(listener),
            workers: workers.collect(),
        };
        let acceptor = Acceptor::new(parts).expect("epoll can watch the socket");
        (acceptor, port, channels.map(|(_, receiver)| receiver))
    }

    fn accepted_connections(receiver: &mut UnboundedReceiver<Command>) -> Vec<AcceptedConnection> {
        std::iter::from_fn(|| match receiver.try_recv() {
            Ok(Command::Serve(accepted)) => Some(accepted),
            _ => None,
        })
        .collect()
    }

    async fn connect(acceptor: &Acceptor, thread: &Rc<Thread>, port: u16) -> TcpStream {
        let client =
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the port accepts connections");
        let _ = acceptor
            .listener()
            .readable()
            .await
            .expect("the event loop watches the socket");
        acceptor.accept_one(thread).expect("a connection is queued");
        client
    }

    #[test]
    fn distributes_connections_equally() {
        on_thread(LIMITS, async |thread, _| {
            let (acceptor, port, [_own, mut second, mut third]) = acceptor();
            let mut clients = Vec::new();
            for _ in 0..6 {
                clients.push(connect(&acceptor, thread, port).await);
            }
            assert_eq!(thread.connections.all().len(), 2);
            let (second_connections, third_connections) = (
                accepted_connections(&mut second),
                accepted_connections(&mut third),
            );
            assert_eq!((second_connections.len(), third_connections.len()), (2, 2));
            assert_eq!(
                thread.shared.counters.connections.load(Ordering::Relaxed),
                6
            );

            drop(third_connections);
            assert_eq!(
                thread.shared.counters.connections.load(Ordering::Relaxed),
                4
            );
            for _ in 0..2 {
                clients.push(connect(&acceptor, thread, port).await);
            }
            assert_eq!(accepted_connections(&mut third).len(), 2);
            assert!(accepted_connections(&mut second).is_empty());
        });
    }

    #[test]
    fn skips_threads_that_have_ended() {
        on_thread(LIMITS, async |thread, _| {
            let (acceptor, port, [_own, second, third]) = acceptor();
            drop((second, third));
            let _clients = [
                connect(&acceptor, thread, port).await,
                connect(&acceptor, thread, port).await,
            ];
            assert_eq!(thread.connections.all().len(), 2);
        });
    }

    #[test]
    fn drops_connections_above_the_maximum() {
        on_thread(LIMITS, async |thread, _| {
            let (acceptor, port, _receivers) = acceptor();
            let mut clients = Vec::new();
            for _ in 0..=LIMITS.maximum_connections {
                clients.push(connect(&acceptor, thread, port).await);
            }
            let maximum = LIMITS.maximum_connections;
            assert_eq!(
                thread.shared.counters.connections.load(Ordering::Relaxed),
                maximum
            );
            assert_eq!(thread.shared.counters.dropped.load(Ordering::Relaxed), 1);
        });
    }

    /// Waits for the probe of the JavaScript event loop.
    async fn wait_for_busy_probe(events: &Receiver<Event>) -> Sender<()> {
        loop {
            if let Ok(Event::BusyProbe(reply)) = events.try_recv() {
                return reply;
            }
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn probes_javascript_if_other_processes_share_the_socket() {
        on_thread(LIMITS, async |thread, events| {
            let (acceptor, port, _receivers) = acceptor_sharing(Sharing {
                is_own: true,
                is_shared: true,
            });
            let (_, ()) = tokio::join!(acceptor.yield_to_other_processes(thread), async {
                let _ = wait_for_busy_probe(events).await.send(());
            });

            let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                .expect("the port accepts connections");
            let begin = Instant::now();
            let (_, _reply) = tokio::join!(
                acceptor.yield_to_other_processes(thread),
                wait_for_busy_probe(events)
            );
            assert!(begin.elapsed() >= QUEUE_CHECK_INTERVAL * QUEUE_CHECKS);
            // No other process accepts it. Each round allows more connections without a probe.
            for claimed in [1, 3] {
                let (_, _reply) = tokio::join!(
                    acceptor.yield_to_other_processes(thread),
                    wait_for_busy_probe(events)
                );
                for _ in 0..claimed {
                    acceptor.yield_to_other_processes(thread).await;
                    assert!(events.try_recv().is_err());
                }
            }
            acceptor.accept_one(thread).expect("a connection is queued");

            // An empty queue resets the number.
            acceptor.note_queue_empty();
            for _ in 0..2 {
                let (_, _reply) = tokio::join!(
                    acceptor.yield_to_other_processes(thread),
                    wait_for_busy_probe(events)
                );
            }
            drop(client);
        });
    }

    #[test]
    fn does_not_probe_javascript_for_an_unshared_socket() {
        on_thread(LIMITS, async |thread, events| {
            let (acceptor, _, _receivers) = acceptor();
            acceptor.yield_to_other_processes(thread).await;
            assert!(events.try_recv().is_err());
        });
    }

    #[test]
    fn counts_a_connection_that_epoll_cannot_watch_as_dropped() {
        on_thread(LIMITS, async |thread, _| {
            // epoll cannot watch regular files.
            let socket = std::env::current_exe().and_then(std::fs::File::open);
            let accepted = AcceptedConnection {
                socket: socket.expect("the file exists").into(),
                peer: None,
                permit: ConnectionPermit::new(&thread.shared.counters, 1, &Arc::default())
                    .expect("a permit is available"),
            };
            assert!(receive(thread, accepted).is_err());
            assert_eq!(thread.shared.counters.dropped.load(Ordering::Relaxed), 1);
            assert_eq!(
                thread.shared.counters.connections.load(Ordering::Relaxed),
                0
            );
        });
    }

    #[test]
    fn drains_other_threads_after_their_last_connection() {
        on_thread(LIMITS, async |thread, _| {
            let (acceptor, port, [_own, mut second, _third]) = acceptor();
            let _clients = [
                connect(&acceptor, thread, port).await,
                connect(&acceptor, thread, port).await,
            ];
            acceptor.close(LONG);
            assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
            assert!(matches!(second.try_recv(), Ok(Command::Serve(_))));
            assert!(matches!(second.try_recv(), Ok(Command::Drain(_))));
        });
    }
}
