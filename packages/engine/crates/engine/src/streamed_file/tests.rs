use std::fs;
use std::path::PathBuf;

use super::*;

/// A temporary file, removed when it is dropped.
struct Sample(PathBuf);

impl Sample {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("serve-dist-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).expect("the folder is writable");
        Self(path)
    }

    fn state(&self) -> String {
        let file = File::open(&self.0).expect("the file exists");
        State::of(&file).expect("the file is open").to_text()
    }

    fn open(&self, has_digest: bool) -> StreamedFile {
        StreamedFile::open(&self.0, &self.state(), has_digest).expect("the file is unchanged")
    }

    fn write(&self, text: &str) {
        // Change times have the resolution of the system's clock ticks.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&self.0, text).expect("the file exists");
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn opens_a_file_only_in_the_expected_state() {
    let sample = Sample::new("states", "text");
    assert!(sample.open(true).is_unchanged());
    let before = sample.state();
    sample.write("next");
    assert!(StreamedFile::open(&sample.0, &before, true).is_none());
    assert!(StreamedFile::open(&sample.0, "", true).is_none());
    assert!(StreamedFile::open(Path::new("/nowhere"), &before, true).is_none());
    let link = Sample::new("link", "");
    fs::remove_file(&link.0).expect("the file exists");
    std::os::unix::fs::symlink(&sample.0, &link.0).expect("the folder is writable");
    assert!(StreamedFile::open(&link.0, &sample.state(), true).is_none());
}

#[test]
fn distinguishes_a_changed_file_from_a_removed_name() {
    let sample = Sample::new("changes", "text");
    for has_digest in [false, true] {
        let removed = sample.open(has_digest);
        fs::remove_file(&sample.0).expect("the file exists");
        assert!(!removed.is_unchanged(), "Node checks it more closely");
        assert!(removed.is_as_before());
        sample.write("text");
        let changed = sample.open(has_digest);
        sample.write("next");
        assert!(!changed.is_unchanged() && !changed.is_as_before());
    }
}

#[test]
fn reads_available_bytes() {
    let sample = Sample::new("reads", "0123456789");
    let file = sample.open(true);
    let mut buffer = [0; 4];
    assert_eq!(file.read(&mut buffer, 8).expect("the file is open"), 2);
    // The bytes are in the page cache. Some file systems cannot report that.
    match file.try_read(&mut buffer, 3) {
        Ok(count) => assert_eq!(&buffer[..count], b"3456"),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
    }
    assert_eq!(file.read(&mut buffer, 10).expect("the file is open"), 0);
}
