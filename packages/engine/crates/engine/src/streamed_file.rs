use std::fs::File;
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

/// An open file of the build whose body is not in memory. All answers share it.
pub struct StreamedFile {
    file: File,
    path: PathBuf,
    state: State,
    has_digest: bool,
}

/// Detects changes of a file, like `fingerprintOf` and `changeTimeOf` of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    /// Size, modification time, device and inode.
    fingerprint: [i128; 4],
    change_time: i128,
    links: u64,
}

impl StreamedFile {
    /// Opens a file. Returns `None` if its fingerprint or change time differs from `expected`; Node then checks it more
    /// closely.
    ///
    /// `has_digest` is whether the server has verified its bytes with a digest.
    pub fn open(path: &Path, expected: &str, has_digest: bool) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(path, flags, Mode::empty()).ok()?);
        let state = State::of(&file).ok()?;
        (state.to_text() == expected).then_some(Self {
            file,
            path: path.to_owned(),
            state,
            has_digest,
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

    /// Returns whether an answer may end with the file's bytes, like `isAsBefore` of the server. Removing a name of the
    /// file is not a change.
    pub fn is_as_before(&self) -> bool {
        State::of(&self.file).is_ok_and(|now| {
            let is_untouched = now.change_time == self.state.change_time
                || now.links != self.state.links
                || self.has_digest;
            now.fingerprint == self.state.fingerprint && is_untouched
        })
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
