use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serve_dist_core::Table;

use crate::tuning::MIN_FILE_BODY;

/// The number of bytes to copy between two checks of `is_wanted`.
const COPY_SIZE: usize = 256 * 1024;
/// Each body starts at a page boundary.
const PAGE: u64 = 4096;
/// The position of a body that has no copy.
const NOT_COPIED: u64 = u64::MAX;

/// Copies of a table's large bodies in an unnamed file.
///
/// `sendfile` then avoids one copy per answer, and unsent bytes only occupy the page cache.
pub struct BodyFile {
    file: Arc<OwnedFd>,
    /// The position of each representation's body.
    starts: Box<[u64]>,
}

impl BodyFile {
    /// Copies the large bodies. Stops with an error if `is_wanted` returns `false`.
    ///
    /// Fails if there are no large bodies, or if no folder is on a disk with enough free space.
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

    /// Returns the file and the position of a representation's body.
    pub fn find(&self, representation: usize) -> Option<(&Arc<OwnedFd>, u64)> {
        let start = *self.starts.get(representation)?;
        (start != NOT_COPIED).then_some((&self.file, start))
    }
}

/// Opens an unnamed file in the first folder with `size` free bytes.
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
    /// The magic numbers of file systems that keep files in memory (tmpfs, ramfs). A copy there would use more memory.
    const IN_MEMORY: [i64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

    let flags = OFlags::TMPFILE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = open(folder, flags, Mode::RUSR | Mode::WUSR)?;
    let is_in_memory = IN_MEMORY.contains(&fstatfs(&file)?.f_type);
    let system = fstatvfs(&file)?;
    // Leave half of the free space to other programs.
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
