use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use serve_dist_core::Table;

use crate::body_file::BodyFile;
use crate::streamed_file::StreamedFile;

/// The files from which a table's bodies are sent.
#[derive(Default)]
pub struct Bodies {
    /// Copies of large bodies. Empty until they are complete.
    pub copies: OnceLock<BodyFile>,
    /// The opened files of bodies that are not in memory. Node sends the body if the entry is `None`.
    streamed: OnceLock<Box<[Option<Arc<StreamedFile>>]>>,
    files: Vec<FileParts>,
}

/// A file with a body that is not in memory. `EngineFile` in `binding.ts` documents the fields.
#[derive(Clone, PartialEq, Eq)]
pub struct FileParts {
    pub path: PathBuf,
    pub state: String,
    pub sha256: Option<String>,
}

impl Bodies {
    /// Returns a file that has not changed.
    pub fn streamed(&self, number: usize) -> Option<&Arc<StreamedFile>> {
        let file = self.streamed.get()?.get(number)?.as_ref()?;
        file.is_unchanged().then_some(file)
    }

    /// Returns whether these bodies were prepared from `files`.
    pub fn are_of(&self, files: &[FileParts]) -> bool {
        self.files == files
    }

    fn open(&self) {
        let open = |file: &FileParts| {
            StreamedFile::open(&file.path, &file.state, file.sha256.clone()).map(Arc::new)
        };
        self.streamed
            .get_or_init(|| self.files.iter().map(open).collect());
    }
}

/// Opens and copies files on background threads. If no thread can start, bodies are sent from memory.
pub struct Copier {
    folders: Vec<PathBuf>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    is_stopped: Arc<AtomicBool>,
}

impl Copier {
    /// Creates a copier. It writes to the first of these folders that is on a disk.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            threads: Mutex::default(),
            is_stopped: Arc::default(),
        }
    }

    /// Opens the table's files and copies its large bodies in the background. Stops when the result is dropped.
    pub fn prepare(&self, table: Table, files: Vec<FileParts>) -> Arc<Bodies> {
        let bodies = Arc::new(Bodies {
            files,
            ..Bodies::default()
        });
        let place = Arc::downgrade(&bodies);
        let (folders, is_stopped) = (self.folders.clone(), self.is_stopped.clone());
        let work = move || {
            if let Some(bodies) = place.upgrade() {
                bodies.open();
            }
            let is_wanted = || place.strong_count() > 0 && !is_stopped.load(Ordering::Relaxed);
            let made = BodyFile::make(&table, &folders, is_wanted);
            if let (Ok(file), Some(bodies)) = (made, place.upgrade()) {
                // Only this thread sets the value.
                let _ = bodies.copies.set(file);
            }
        };
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        let name = "serve-dist bodies".to_owned();
        threads.extend(Builder::new().name(name).spawn(work));
        bodies
    }

    /// Cancels all copies and waits for their threads. The memory of the bodies may be freed afterwards.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.finish();
    }

    /// Waits for all threads.
    pub fn finish(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A panic of this thread has no other effect.
            let _ = thread.join();
        }
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.stop();
    }
}
