use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Between two complaints of one kind.
const COMPLAINTS: Duration = Duration::from_secs(1);

/// What operators are to know of.
#[derive(Clone, Copy)]
pub enum Complaint {
    /// Requests do not reach Node.
    NoWayToNode,
    /// Clients are not accepted.
    NoRoomForClients,
}

/// Of each kind of complaint, when it was made last.
#[derive(Default)]
pub struct Complaints([Said; 2]);

#[derive(Default)]
struct Said {
    last: Cell<Option<Instant>>,
    writer: RefCell<Option<JoinHandle<()>>>,
}

impl Complaints {
    /// Says on standard error what fails, and why; once a second, however often it does.
    pub fn make(&self, complaint: Complaint, error: &io::Error) {
        let said = &self.0[complaint as usize];
        if said.is_recent() {
            return;
        }
        let line = match complaint {
            Complaint::NoWayToNode => {
                format!("requests get 502, for the engine does not reach Node: {error}")
            }
            Complaint::NoRoomForClients => format!("new clients have to wait: {error}"),
        };
        // Where nobody reads, nobody is to know.
        said.write(move || drop(writeln!(io::stderr(), "serve-dist: {line}")));
    }
}

impl Said {
    /// Whether it was said just now, or is still being said.
    fn is_recent(&self) -> bool {
        let writer = self.writer.borrow();
        let is_written = writer.as_ref().is_some_and(|writer| !writer.is_finished());
        is_written
            || self
                .last
                .get()
                .is_some_and(|last| last.elapsed() < COMPLAINTS)
    }

    /// Writes on a thread of its own, for a full pipe may take nothing any more: `spawn_blocking` would use up the threads that
    /// read files, and the runtime waits for those at its end.
    fn write(&self, write: impl FnOnce() + Send + 'static) {
        self.last.set(Some(Instant::now()));
        let name = "serve-dist says".to_owned();
        self.writer
            .replace(Builder::new().name(name).spawn(write).ok());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::testing::{LIMITS, on_thread};

    #[test]
    fn waits_for_nobody_who_reads_what_is_said() {
        let (read, is_read) = channel::<()>();
        on_thread(LIMITS, async move |_, _| {
            let said = Said::default();
            assert!(!said.is_recent());
            said.write(move || is_read.recv().unwrap_or_default());
            said.last.set(None);
            assert!(said.is_recent(), "it is being said");
        });
        drop(read);
    }
}
