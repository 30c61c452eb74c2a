use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use rustix::fs::{Mode, OFlags, open};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use crate::tuning::READ_BUFFER;

/// An open file of the build whose body is not in memory. All answers share it.
pub struct StreamedFile {
    file: File,
    path: PathBuf,
    state: State,
    sha256: Option<String>,
    /// A later state, and whether the file then had the expected digest. All answers share the comparison.
    compared: Mutex<Option<(State, bool)>>,
}

/// Detects changes of a file, like `fingerprintOf` and `changeTimeOf` of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Size, modification time, device and inode.
    fingerprint: [i128; 4],
    change_time: i128,
    links: u64,
}

impl StreamedFile {
    /// Opens a file. Returns `None` if its fingerprint or change time differs from `expected`; Node then checks it more
    /// closely.
    pub fn open(path: &Path, expected: &str, sha256: Option<String>) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty()).ok()?);
        let state = State::of(&file).ok()?;
        (state.to_text() == expected).then_some(Self {
            file,
            path: path.to_owned(),
            state,
            sha256,
            compared: Mutex::default(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a new answer may use the file.
    pub fn is_unchanged(&self) -> bool {
        State::of(&self.file).is_ok_and(|now| {
            now.fingerprint == self.state.fingerprint && now.change_time == self.state.change_time
        })
    }

    /// The state when it was opened.
    pub fn state(&self) -> State {
        self.state
    }

    pub fn is_in(&self, state: State) -> bool {
        State::of(&self.file).is_ok_and(|now| now == state)
    }

    /// Returns the file's present state if an answer may end with its bytes, like `isAsBefore` of the server. Reads the
    /// file if its change time differs, because other bytes may have the same modification time.
    pub async fn verify(self: &Arc<Self>) -> Option<State> {
        let mut compared = self.compared.lock().await;
        let now = State::of(&self.file).ok()?;
        if now == self.state {
            return Some(now);
        }
        if now.fingerprint != self.state.fingerprint {
            return None;
        }
        if self.sha256.is_none() {
            // Removing a name of the file is not a change.
            return (now.links != self.state.links).then_some(now);
        }
        let is_same = match *compared {
            Some((state, is_same)) if state == now => is_same,
            _ => {
                let file = self.clone();
                let digest = spawn_blocking(move || file.digest()).await.ok()?.ok()?;
                Some(digest) == self.sha256
            }
        };
        *compared = Some((now, is_same));
        is_same.then_some(now)
    }

    fn digest(&self) -> io::Result<String> {
        let mut context = Context::new(&SHA256);
        let buffer = &mut vec![0; READ_BUFFER];
        let mut at = 0;
        loop {
            let count = self.read(buffer, at)?;
            if count == 0 {
                let digest = context.finish();
                return Ok(digest
                    .as_ref()
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect());
            }
            context.update(&buffer[..count]);
            at += count as u64;
        }
    }

    /// Reads from the page cache. Fails with `WouldBlock` if it does not contain the bytes.
    pub fn try_read(&self, buffer: &mut [u8], start: u64) -> io::Result<usize> {
        match read_cached(&self.file, buffer, start) {
            Err(error) if is_not_cached(&error) => Err(io::ErrorKind::WouldBlock.into()),
            read => read,
        }
    }

    /// Like `try_read`, but waits for the disk.
    pub fn read(&self, buffer: &mut [u8], start: u64) -> io::Result<usize> {
        self.file.read_at(buffer, start)
    }
}

impl State {
    fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Ok(Self {
            fingerprint: [
                found.size().into(),
                nanoseconds(found.mtime(), found.mtime_nsec()),
                found.dev().into(),
                found.ino().into(),
            ],
            change_time: nanoseconds(found.ctime(), found.ctime_nsec()),
            links: found.nlink(),
        })
    }

    fn to_text(self) -> String {
        let [size, modified, device, inode] = self.fingerprint;
        format!("{size}:{modified}:{device}:{inode}:{}", self.change_time)
    }
}

#[cfg(target_os = "linux")]
fn read_cached(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    use rustix::io::{ReadWriteFlags, preadv2};
    let buffers = &mut [IoSliceMut::new(buffer)];
    Ok(preadv2(file, buffers, start, ReadWriteFlags::NOWAIT)?)
}

#[cfg(not(target_os = "linux"))]
fn read_cached(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::WouldBlock.into())
}

/// Some file systems do not support `RWF_NOWAIT`.
fn is_not_cached(error: &io::Error) -> bool {
    use io::ErrorKind::{Unsupported, WouldBlock};
    [Unsupported, WouldBlock].contains(&error.kind())
}

#[cfg(test)]
mod tests;
