//! A folder as a source of a stream: selection of files that are complete and not yet read.

use super::FileEnd;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file is considered complete if another file is newer by more than this.
const SETTLED: Duration = Duration::from_secs(2);

/// Size of a file and the time of its last modification.
type FileStamp = (u64, SystemTime);

/// A folder and the state of its files at the last check.
pub(crate) struct Folder {
    path: PathBuf,
    previous: BTreeMap<String, FileStamp>,
    ready: VecDeque<String>,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), previous: BTreeMap::new(), ready: VecDeque::new() }
    }

    /// Returns the next file in the order of names that is not `done` or has grown since. With `follow`, only complete files
    /// count: those that did not change since the last check, or are older than another file by more than [`SETTLED`].
    /// Deleted files are removed from `done`.
    pub(crate) fn next(
        &mut self,
        done: &mut BTreeMap<String, FileEnd>,
        follow: bool,
    ) -> Result<Option<String>> {
        if let Some(name) = self.ready.pop_front() {
            return Ok(Some(name));
        }
        let now = self.list()?;
        done.retain(|name, _| now.contains_key(name));
        let newest = now.values().map(|stamp| stamp.1).max();
        let complete = |name: &String, stamp: &FileStamp| {
            let is_older = newest.is_some_and(|n| n.duration_since(stamp.1).is_ok_and(|d| d > SETTLED));
            !follow || is_older || self.previous.get(name) == Some(stamp)
        };
        self.ready = now
            .iter()
            .filter(|(name, stamp)| {
                done.get(*name).is_none_or(|end| stamp.0 > end.size) && complete(name, stamp)
            })
            .map(|(name, _)| name.clone())
            .collect();
        self.previous = now;
        Ok(self.ready.pop_front())
    }

    /// Lists the files without hidden and temporary ones.
    fn list(&self) -> Result<BTreeMap<String, FileStamp>> {
        let shown = self.path.display().to_string();
        let refused = |e| Error::read(&shown, e);
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(&self.path).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if is_ignored(&name) {
                continue;
            }
            // The file may have been deleted meanwhile.
            if let Ok(meta) = std::fs::metadata(entry.path())
                && meta.is_file()
            {
                found.insert(name, (meta.len(), meta.modified().map_err(refused)?));
            }
        }
        Ok(found)
    }

    /// Paths of the files in the order of names.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        Ok(self.list()?.into_keys().map(|name| self.path.join(name)).collect())
    }
}

fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || ["~", ".tmp", ".part"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, FileEnd, Folder, is_ignored};
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    #[test]
    fn follows_only_complete_files() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let mut done = BTreeMap::new();
        let end = |size: u64| FileEnd { size, ..FileEnd::default() };
        let mut folder = Folder::new(dir.path());
        assert_eq!(folder.next(&mut done, true).unwrap(), None);
        write("b", "1");
        assert_eq!(folder.next(&mut done, true).unwrap(), None, "seen once");
        write("b", "12");
        assert_eq!(folder.next(&mut done, true).unwrap(), None, "grew");
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("b"), "unchanged");
        done.insert("b".to_string(), end(2));
        // A file with an earlier name that appears later is read, because it is much older than another file.
        write("a", "1");
        let past = SystemTime::now() - Duration::from_secs(60);
        File::options().write(true).open(dir.path().join("a")).unwrap().set_modified(past).unwrap();
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("a"));
        done.insert("a".to_string(), end(1));
        fs::remove_file(dir.path().join("a")).unwrap();
        assert_eq!(folder.next(&mut done, true).unwrap(), None);
        assert_eq!(done.keys().collect::<Vec<_>>(), ["b"], "deleted files are removed");
        write("b", "123");
        assert_eq!(folder.next(&mut done, true).unwrap(), None, "grows");
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("b"), "has grown");
    }

    #[test]
    fn reads_all_files_in_order_without_following() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.csv", "a.csv", ".hidden", "c.csv~", "d.tmp", "e.csv.part"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::create_dir(dir.path().join("inner")).unwrap();
        let (mut folder, mut done) = (Folder::new(dir.path()), BTreeMap::new());
        let mut read = Vec::new();
        while let Some(name) = folder.next(&mut done, false).unwrap() {
            done.insert(name.clone(), FileEnd { size: 1, ..FileEnd::default() });
            read.push(name);
        }
        assert_eq!(read, ["a.csv", "b.csv"]);
        assert!(!is_ignored("x.csv") && is_ignored(".x"));
    }
}
