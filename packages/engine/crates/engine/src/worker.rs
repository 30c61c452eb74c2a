use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::deal::{Door, Seat};
use crate::drain::drain;
use crate::limits::{discard_idle_links, discard_rested_links, sweep};
use crate::listen::Listener;
use crate::shared::{Command, Shared};
use crate::thread::{Complaint, Thread, unix_time};
use crate::unbroken::unbroken;

/// How long a thread that has no descriptors left waits for connections to be closed.
pub const BREATH: Duration = Duration::from_millis(50);

/// A thread of the engine, from its begin to its end: one loop that accepts and answers. An error is that it cannot begin.
pub fn work(
    shared: Arc<Shared>,
    entrance: Option<(Listener, Vec<Seat>)>,
    commands: UnboundedReceiver<Command>,
    (number, threads): (u64, u64),
    begin: impl FnOnce(),
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
            unbroken(&clock.shared, || keep_time(&clock)).await;
        });
        tokio::task::spawn_local(async move {
            unbroken(&sweeper.shared, || sweep(&sweeper)).await;
        });
        let door = entrance
            .map(|(listener, seats)| Door::new(listener, seats))
            .transpose()?;
        begin();
        run(&thread, door, commands).await;
        Ok(())
    })
}

async fn run(thread: &Rc<Thread>, door: Option<Door>, mut commands: UnboundedReceiver<Command>) {
    let grace_period = tokio::select! {
        biased;
        command = unbroken(&thread.shared, async || obey(thread, &mut commands).await) => command,
        () = unbroken(&thread.shared, || accept_all(thread, door.as_ref())) => None,
    };
    if let Some(grace_period) = grace_period {
        tokio::select! {
            biased;
            // It is stopping already: only an end at once ends that.
            () = async { while obey(thread, &mut commands).await.is_some() {} } => {}
            () = drain(thread, door, grace_period) => {}
        }
    }
}

/// Does what JavaScript says until the thread is to stop; the time is what it may still take for it.
async fn obey(thread: &Rc<Thread>, commands: &mut UnboundedReceiver<Command>) -> Option<Duration> {
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
            Some(Command::Serve(arrival)) => drop(thread.receive(arrival)),
            Some(Command::Drain(grace_period)) => return Some(grace_period),
            Some(Command::Stop) | None => return None,
        }
    }
}

async fn accept_all(thread: &Rc<Thread>, door: Option<&Door>) {
    let Some(door) = door else {
        return std::future::pending().await;
    };
    loop {
        // Others have their turn while many come, and who waits for a way to Node comes first.
        tokio::task::coop::consume_budget().await;
        while thread.shared.shortage.is_recent() {
            discard_idle_links(thread);
            tokio::time::sleep(BREATH).await;
        }
        let Ok(mut guard) = door.listener().readable().await else {
            return;
        };
        door.give_way(thread).await;
        match door.accept_one(thread) {
            // Those who have the same queue have their turn, too.
            Ok(()) if door.listener().get_ref().is_shared() => tokio::task::yield_now().await,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                door.note_empty();
                guard.clear_ready();
            }
            Err(error) if is_of_client(&error) => {}
            // No descriptors or no memory are left.
            Err(error) => {
                thread.complain(Complaint::NoRoomForClients, &error);
                thread.shared.crowd.note();
                discard_rested_links(thread);
                tokio::time::sleep(BREATH).await;
            }
        }
    }
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
async fn keep_time(thread: &Thread) {
    loop {
        let now = unix_time();
        thread.clock.borrow_mut().set(now.as_secs());
        let rest = Duration::from_secs(1) - Duration::from_nanos(now.subsec_nanos().into());
        tokio::time::sleep(rest).await;
    }
}
