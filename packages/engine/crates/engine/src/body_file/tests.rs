use std::path::PathBuf;

use super::*;
use crate::testing::table_of;

const NOWHERE: &str = "/nowhere";

fn folders(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

/// Returns a folder on a disk, or `None` if there are only file systems in memory.
fn on_disk() -> Option<PathBuf> {
    let folders = [std::env::temp_dir(), "/var/tmp".into(), ".".into()];
    folders
        .into_iter()
        .find(|folder| open_unlinked(folder, 0).is_ok())
}

fn read(file: &BodyFile, representation: usize, length: usize) -> Option<Vec<u8>> {
    let (copy, start) = file.find(representation)?;
    let mut bytes = vec![0; length];
    let copy = File::from(copy.try_clone().expect("descriptors are available"));
    copy.read_exact_at(&mut bytes, start)
        .expect("the file contains the body");
    Some(bytes)
}

#[test]
fn copies_only_large_bodies() {
    let bodies = [
        vec![b'a'; MIN_FILE_BODY - 1],
        vec![b'b'; MIN_FILE_BODY],
        (0..3 * COPY_SIZE + 1).map(|at| at as u8).collect(),
        vec![b'd'; 2 * MIN_FILE_BODY + 1],
    ];
    let table = table_of(&bodies);
    let Some(folder) = on_disk() else { return };
    let places = [folders(&[NOWHERE]), vec![folder]].concat();
    let file = BodyFile::make(&table, &places, || true).expect("the disk has space");
    assert_eq!(read(&file, 0, 0), None);
    for (number, body) in bodies.iter().enumerate().skip(1) {
        assert_eq!(read(&file, number, body.len()).as_ref(), Some(body));
    }
    assert!(file.find(bodies.len()).is_none());
}

#[test]
fn creates_no_file_in_memory_or_after_cancellation() {
    let table = table_of(&[vec![b'a'; MIN_FILE_BODY]]);
    let kind = |folders: &[PathBuf]| {
        BodyFile::make(&table, folders, || true)
            .err()
            .map(|error| error.kind())
    };
    assert_eq!(kind(&[]), Some(io::ErrorKind::NotFound));
    assert_eq!(kind(&folders(&[NOWHERE])), Some(io::ErrorKind::NotFound));
    if Path::new("/dev/shm").exists() {
        assert_eq!(
            kind(&folders(&["/dev/shm"])),
            Some(io::ErrorKind::StorageFull)
        );
    }
    let Some(folder) = on_disk() else { return };
    let unwanted = BodyFile::make(&table, std::slice::from_ref(&folder), || false);
    assert_eq!(
        unwanted.err().map(|error| error.kind()),
        Some(io::ErrorKind::Interrupted)
    );
    let full = open_unlinked(&folder, u64::MAX);
    assert_eq!(
        full.err().map(|error| error.kind()),
        Some(io::ErrorKind::StorageFull)
    );
    let small = table_of(&[vec![b'a'; MIN_FILE_BODY - 1]]);
    let none = BodyFile::make(&small, &[folder], || true);
    assert!(none.is_err(), "no body is large");
}
