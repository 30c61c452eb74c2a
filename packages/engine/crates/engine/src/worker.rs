use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::drain::drain;
use crate::event::Event;
use crate::limits::sweep;
use crate::listen::Listener;
use crate::shared::{Command, Shared};
use crate::stream::{Stream, watch};
use crate::thread::{Thread, unix_time};

/// How long a thread that has no descriptors left waits for connections to be closed.
const BREATH: Duration = Duration::from_millis(50);

/// A thread of the engine, from its begin to its end: one loop that accepts and answers.
pub fn work(
    shared: Arc<Shared>,
    listener: Arc<Listener>,
    commands: UnboundedReceiver<Command>,
    (number, threads): (u64, u64),
) -> io::Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build_local(LocalOptions::default())?;
    runtime.block_on(async {
        let thread = Rc::new(Thread::new(shared, number, threads));
        tokio::task::spawn_local(keep_time(thread.clone()));
        tokio::task::spawn_local(sweep(thread.clone()));
        run(&thread, watch(listener, Interest::READABLE)?, commands).await;
        Ok(())
    })
}

async fn run(
    thread: &Rc<Thread>,
    listener: AsyncFd<Arc<Listener>>,
    mut commands: UnboundedReceiver<Command>,
) {
    let grace_period = tokio::select! {
        biased;
        command = obey(thread, &mut commands) => command,
        () = accept_all(thread, &listener) => None,
    };
    if let Some(grace_period) = grace_period {
        tokio::select! {
            biased;
            _ = obey(thread, &mut commands) => {}
            () = drain(thread, listener, grace_period) => {}
        }
    }
}

/// Does what JavaScript says until the thread is to stop; the time is what it may still take for it.
async fn obey(thread: &Thread, commands: &mut UnboundedReceiver<Command>) -> Option<Duration> {
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
            Some(Command::Drain(grace_period)) => return Some(grace_period),
            Some(Command::Stop) | None => return None,
        }
    }
}

async fn accept_all(thread: &Rc<Thread>, listener: &AsyncFd<Arc<Listener>>) {
    loop {
        let Ok(mut guard) = listener.readable().await else {
            return;
        };
        match accept_one(thread, guard.get_inner()) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => guard.clear_ready(),
            Err(error) if is_of_client(&error) => {}
            // No descriptors or no memory are left.
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

/// Accepts a connection that the system has queued.
pub fn accept_one(thread: &Rc<Thread>, listener: &Listener) -> io::Result<()> {
    let (socket, peer) = listener.accept()?;
    let shared = &thread.shared;
    if shared.connections.fetch_add(1, Ordering::Relaxed) >= shared.limits.maximum_connections {
        shared.connections.fetch_sub(1, Ordering::Relaxed);
        shared.tell(Event::Dropped);
        return Ok(());
    }
    match Stream::new(socket) {
        Ok(stream) => thread.open(stream, peer),
        Err(error) => {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            return Err(error);
        }
    }
    Ok(())
}

/// The client has gone while it was in the queue.
pub fn is_of_client(error: &io::Error) -> bool {
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
async fn keep_time(thread: Rc<Thread>) {
    loop {
        let now = unix_time();
        thread.clock.borrow_mut().set(now.as_secs());
        let rest = Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into());
        tokio::time::sleep(rest).await;
    }
}
