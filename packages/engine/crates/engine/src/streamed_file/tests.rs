use std::fs;
use std::path::PathBuf;

use super::*;

const SHA256_OF_TEXT: &str = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1";

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

    fn open(&self, sha256: Option<&str>) -> Arc<StreamedFile> {
        let sha256 = sha256.map(str::to_owned);
        let file = StreamedFile::open(&self.0, &self.state(), sha256);
        Arc::new(file.expect("the file is unchanged"))
    }

    fn write(&self, text: &str) {
        // Change times have the resolution of the system's clock ticks.
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&self.0, text).expect("the file exists");
    }

    fn rewrite_keeping_time(&self, text: &str) {
        let before = fs::metadata(&self.0).and_then(|found| found.modified());
        self.write(text);
        File::options()
            .write(true)
            .open(&self.0)
            .and_then(|file| file.set_modified(before?))
            .expect("the file exists");
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
    assert!(sample.open(None).is_unchanged());
    let before = sample.state();
    sample.write("next");
    assert!(StreamedFile::open(&sample.0, &before, None).is_none());
    assert!(StreamedFile::open(&sample.0, "", None).is_none());
    assert!(StreamedFile::open(Path::new("/nowhere"), &before, None).is_none());
    let link = Sample::new("link", "");
    fs::remove_file(&link.0).expect("the file exists");
    std::os::unix::fs::symlink(&sample.0, &link.0).expect("the folder is writable");
    assert!(StreamedFile::open(&link.0, &sample.state(), None).is_none());
}

#[tokio::test]
async fn distinguishes_a_changed_file_from_a_removed_name() {
    let sample = Sample::new("changes", "text");
    for sha256 in [None, Some(SHA256_OF_TEXT)] {
        let removed = sample.open(sha256);
        fs::remove_file(&sample.0).expect("the file exists");
        assert!(!removed.is_unchanged(), "Node checks it more closely");
        assert!(removed.verify().await.is_some());
        sample.write("text");
        let changed = sample.open(sha256);
        sample.write("next");
        assert!(!changed.is_unchanged() && changed.verify().await.is_none());
        sample.write("text");
    }
}

#[tokio::test]
async fn compares_the_bytes_of_a_file_with_its_previous_time() {
    let sample = Sample::new("digests", "text");
    let known = sample.open(Some(SHA256_OF_TEXT));
    let unknown = sample.open(None);
    for (text, is_same) in [("next", false), ("text", true), ("next", false)] {
        sample.rewrite_keeping_time(text);
        assert!(!known.is_in(known.state()));
        let verified = known.verify().await;
        assert_eq!(verified.is_some(), is_same);
        assert!(verified.is_none_or(|state| known.is_in(state)));
        assert!(unknown.verify().await.is_none());
    }
}

#[test]
fn reads_available_bytes() {
    let sample = Sample::new("reads", "0123456789");
    let file = sample.open(None);
    let mut buffer = [0; 4];
    assert_eq!(file.read(&mut buffer, 8).expect("the file is open"), 2);
    // The bytes are in the page cache. Some file systems cannot report that.
    match file.try_read(&mut buffer, 3) {
        Ok(count) => assert_eq!(&buffer[..count], b"3456"),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
    }
    assert_eq!(file.read(&mut buffer, 10).expect("the file is open"), 0);
}
