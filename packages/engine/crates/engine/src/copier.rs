use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};

use serve_dist_core::Table;

use crate::body_file::BodyFile;
use crate::streamed_file::StreamedFile;

/// What of a table's bodies is sent from files.
#[derive(Default)]
pub struct Bodies {
    /// Copies of large ones that are in memory, once they are whole.
    pub copies: OnceLock<BodyFile>,
    /// Those that are not in memory, once they are open: Node answers where one is `None`.
    streamed: OnceLock<Box<[Option<Arc<StreamedFile>>]>>,
    files: Vec<FileParts>,
}

/// A file whose bytes are not in memory; `EngineFile` in `binding.ts` says what it means.
#[derive(Clone, PartialEq, Eq)]
pub struct FileParts {
    /// Where it is.
    pub path: PathBuf,
    /// What it was when its bytes were known.
    pub state: String,
    /// Whether its bytes were compared with a digest.
    pub has_digest: bool,
}

impl Bodies {
    /// The file of this number, if it may be sent.
    pub fn streamed(&self, number: usize) -> Option<&Arc<StreamedFile>> {
        let file = self.streamed.get()?.get(number)?.as_ref()?;
        file.is_unchanged().then_some(file)
    }

    /// Whether these are the files of its table.
    pub fn are_of(&self, files: &[FileParts]) -> bool {
        self.files == files
    }

    fn open(&self) {
        let open = |file: &FileParts| {
            StreamedFile::open(&file.path, &file.state, file.has_digest).map(Arc::new)
        };
        self.streamed
            .get_or_init(|| self.files.iter().map(open).collect());
    }
}

/// Does what files need that bodies are sent from on threads of their own. Where none can be made, bodies are sent from memory.
pub struct Copier {
    folders: Vec<PathBuf>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    is_stopped: Arc<AtomicBool>,
}

impl Copier {
    /// One that makes files in the first of these folders that is on a disk.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            folders,
            threads: Mutex::default(),
            is_stopped: Arc::default(),
        }
    }

    /// Opens the files of a table and copies its large bodies, unless nobody has the place for them any more.
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
                // Nobody else fills it.
                let _ = bodies.copies.set(file);
            }
        };
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| !thread.is_finished());
        let name = "serve-dist bodies".to_owned();
        threads.extend(Builder::new().name(name).spawn(work));
        bodies
    }

    /// Stops all that is under way, and waits for its end: memory of bodies may be freed then.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.finish();
    }

    /// Waits for the end of all that is under way.
    pub fn finish(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // Its panic has ended itself alone.
            let _ = thread.join();
        }
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        self.stop();
    }
}
