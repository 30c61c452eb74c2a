use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The minimum time between two warnings of the same kind.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// A condition that operators must know about.
#[derive(Clone, Copy)]
pub enum Warning {
    /// Requests cannot reach Node.
    NodeUnreachable,
    /// Connections cannot be accepted.
    AcceptFailed,
}

/// The state of each kind of warning.
#[derive(Default)]
pub struct Warnings([WarningLog; 2]);

#[derive(Default)]
struct WarningLog {
    last: Cell<Option<Instant>>,
    writer: RefCell<Option<JoinHandle<()>>>,
}

impl Warnings {
    /// Writes a warning to standard error, at most once per second and kind.
    pub fn log(&self, warning: Warning, error: &io::Error) {
        let log = &self.0[warning as usize];
        if log.is_recent() {
            return;
        }
        let line = match warning {
            Warning::NodeUnreachable => {
                format!(
                    "requests get 502, because the engine cannot open a connection to Node: {error}"
                )
            }
            Warning::AcceptFailed => {
                format!("new connections must wait, because the engine cannot accept them: {error}")
            }
        };
        // If standard error is closed, the warning is lost.
        log.write(move || drop(writeln!(io::stderr(), "serve-dist: {line}")));
    }
}

impl WarningLog {
    /// Returns whether the last warning is recent, or is still being written.
    fn is_recent(&self) -> bool {
        let writer = self.writer.borrow();
        let is_writing = writer.as_ref().is_some_and(|writer| !writer.is_finished());
        is_writing
            || self
                .last
                .get()
                .is_some_and(|last| last.elapsed() < MIN_INTERVAL)
    }

    /// Writes on a separate thread, because a full pipe may block. `spawn_blocking` would occupy the threads that read
    /// files, and the runtime would wait for it when it ends.
    fn write(&self, write: impl FnOnce() + Send + 'static) {
        self.last.set(Some(Instant::now()));
        let name = "serve-dist log".to_owned();
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
    fn does_not_block_on_a_full_pipe() {
        let (read, is_read) = channel::<()>();
        on_thread(LIMITS, async move |_, _| {
            let log = WarningLog::default();
            assert!(!log.is_recent());
            log.write(move || is_read.recv().unwrap_or_default());
            log.last.set(None);
            assert!(log.is_recent(), "the warning is still being written");
        });
        drop(read);
    }
}
