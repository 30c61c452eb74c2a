use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serve_dist_core::Table;

/// Bodies from here on are sent from a file: below, opening the way to it costs more than the copy that it spares.
pub const MIN_FILE_BODY: usize = 32 * 1024;

/// What is copied before a look whether anybody still wants it.
const COPY_SIZE: usize = 256 * 1024;
/// Bodies begin where pages do.
const PAGE: u64 = 4096;
/// Where a representation has no copy.
const NOT_COPIED: u64 = u64::MAX;

/// Copies of the large bodies of a table in a file without a name: what is sent from there is not copied again for each
/// answer, and waits for slow readers in no memory but the system's cache.
pub struct BodyFile {
    file: Arc<OwnedFd>,
    /// By the number of the representation.
    starts: Box<[u64]>,
}

impl BodyFile {
    /// Copies the large bodies to a disk, as long as somebody wants it. Fails where there are none, and where no folder is on
    /// a disk with room.
    pub fn make(
        table: &Table,
        folders: &[PathBuf],
        is_wanted: impl Fn() -> bool,
    ) -> io::Result<Self> {
        let mut starts = vec![NOT_COPIED; table.representations()].into_boxed_slice();
        let large = || {
            table
                .bodies()
                .filter(|(_, body)| body.len() >= MIN_FILE_BODY)
        };
        let mut end = 0;
        for (number, body) in large() {
            starts[number] = end;
            end += (body.len() as u64).next_multiple_of(PAGE);
        }
        if end == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = open_in_any(folders, end)?;
        for (number, body) in large() {
            for (at, chunk) in (0..).step_by(COPY_SIZE).zip(body.chunks(COPY_SIZE)) {
                if !is_wanted() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                file.write_all_at(chunk, starts[number] + at)?;
            }
        }
        Ok(Self {
            file: Arc::new(file.into()),
            starts,
        })
    }

    /// The file, and where the body of a representation begins in it.
    pub fn find(&self, representation: usize) -> Option<(&Arc<OwnedFd>, u64)> {
        let start = *self.starts.get(representation)?;
        (start != NOT_COPIED).then_some((&self.file, start))
    }
}

/// A file that nobody else can open, in the first folder that has room for so many bytes.
fn open_in_any(folders: &[PathBuf], size: u64) -> io::Result<File> {
    let mut last_error = io::ErrorKind::NotFound.into();
    for folder in folders {
        match open_unlinked(folder, size) {
            Ok(file) => return Ok(file),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

#[cfg(target_os = "linux")]
fn open_unlinked(folder: &Path, size: u64) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fstatfs, fstatvfs, open};
    /// Of file systems whose files are memory: a copy there would be one more.
    const IN_MEMORY: [i64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(folder, flags, Mode::RUSR | Mode::WUSR)?;
    let is_in_memory = IN_MEMORY.contains(&fstatfs(&file)?.f_type);
    let system = fstatvfs(&file)?;
    // Others need room there, too.
    let available = system.f_bavail.saturating_mul(system.f_frsize) / 2;
    if is_in_memory || size > available {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(file.into())
}

#[cfg(not(target_os = "linux"))]
fn open_unlinked(_: &Path, _: u64) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests;
