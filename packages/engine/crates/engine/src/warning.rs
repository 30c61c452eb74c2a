use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Between two complaints of one kind.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// What operators are to know of.
#[derive(Clone, Copy)]
pub enum Warning {
    /// Requests do not reach Node.
    NodeUnreachable,
    /// Clients are not accepted.
    AcceptFailed,
}

/// Of each kind of complaint, when it was made last.
#[derive(Default)]
pub struct Warnings([WarningLog; 2]);

#[derive(Default)]
struct WarningLog {
    last: Cell<Option<Instant>>,
    writer: RefCell<Option<JoinHandle<()>>>,
}

impl Warnings {
    /// Says on standard error what fails, and why; once a second, however often it does.
    pub fn log(&self, warning: Warning, error: &io::Error) {
        let log = &self.0[warning as usize];
        if log.is_recent() {
            return;
        }
        let line = match warning {
            Warning::NodeUnreachable => {
                format!("requests get 502, for the engine does not reach Node: {error}")
            }
            Warning::AcceptFailed => format!("new clients have to wait: {error}"),
        };
        // Where nobody reads, nobody is to know.
        log.write(move || drop(writeln!(io::stderr(), "serve-dist: {line}")));
    }
}

impl WarningLog {
    /// Whether it was said just now, or is still being said.
    fn is_recent(&self) -> bool {
        let writer = self.writer.borrow();
        let is_writing = writer.as_ref().is_some_and(|writer| !writer.is_finished());
        is_writing
            || self
                .last
                .get()
                .is_some_and(|last| last.elapsed() < MIN_INTERVAL)
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
            let log = WarningLog::default();
            assert!(!log.is_recent());
            log.write(move || is_read.recv().unwrap_or_default());
            log.last.set(None);
            assert!(log.is_recent(), "it is being said");
        });
        drop(read);
    }
}
