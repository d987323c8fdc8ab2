//! A folder that is being filled: which of its files are complete and not yet read.

use super::FileEnd;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that another file is newer than by this is no longer written to.
const SETTLED: Duration = Duration::from_secs(2);

/// How a file looked: its size and when it was last written to.
type Look = (u64, SystemTime);

/// A folder, and how it looked last.
pub(crate) struct Folder {
    path: PathBuf,
    before: BTreeMap<String, Look>,
    ready: VecDeque<String>,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_path_buf(), before: BTreeMap::new(), ready: VecDeque::new() }
    }

    /// The next file in the order of names that is not `done`, or has grown since. With `follow` a file counts when it is complete: it did
    /// not change since the last look, or was left alone while another was written. Files that are gone are forgotten.
    pub(crate) fn next(
        &mut self,
        done: &mut BTreeMap<String, FileEnd>,
        follow: bool,
    ) -> Result<Option<String>> {
        if let Some(name) = self.ready.pop_front() {
            return Ok(Some(name));
        }
        let now = self.look()?;
        done.retain(|name, _| now.contains_key(name));
        let newest = now.values().map(|look| look.1).max();
        let complete = |name: &String, look: &Look| {
            let left_alone = newest.is_some_and(|n| n.duration_since(look.1).is_ok_and(|d| d > SETTLED));
            !follow || left_alone || self.before.get(name) == Some(look)
        };
        self.ready = now
            .iter()
            .filter(|(name, look)| {
                done.get(*name).is_none_or(|end| look.0 > end.size) && complete(name, look)
            })
            .map(|(name, _)| name.clone())
            .collect();
        self.before = now;
        Ok(self.ready.pop_front())
    }

    /// The files there are, without hidden and temporary ones.
    fn look(&self) -> Result<BTreeMap<String, Look>> {
        let shown = self.path.display().to_string();
        let refused = |e| Error::read(&shown, e);
        let mut found = BTreeMap::new();
        for entry in std::fs::read_dir(&self.path).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if passed_over(&name) {
                continue;
            }
            // It may be gone by now.
            if let Ok(meta) = std::fs::metadata(entry.path())
                && meta.is_file()
            {
                found.insert(name, (meta.len(), meta.modified().map_err(refused)?));
            }
        }
        Ok(found)
    }

    /// The files there are now, in the order of names.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        Ok(self.look()?.into_keys().map(|name| self.path.join(name)).collect())
    }
}

fn passed_over(name: &str) -> bool {
    name.starts_with('.') || ["~", ".tmp", ".part"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, FileEnd, Folder, passed_over};
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    #[test]
    fn files_count_when_they_are_complete() {
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
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("b"), "stands still");
        done.insert("b".to_string(), end(2));
        // An earlier name that comes later is read; so is a file that was left alone while another was written.
        write("a", "1");
        let past = SystemTime::now() - Duration::from_secs(60);
        File::options().write(true).open(dir.path().join("a")).unwrap().set_modified(past).unwrap();
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("a"));
        done.insert("a".to_string(), end(1));
        fs::remove_file(dir.path().join("a")).unwrap();
        assert_eq!(folder.next(&mut done, true).unwrap(), None);
        assert_eq!(done.keys().collect::<Vec<_>>(), ["b"], "what is gone is forgotten");
        write("b", "123");
        assert_eq!(folder.next(&mut done, true).unwrap(), None, "grows");
        assert_eq!(folder.next(&mut done, true).unwrap().as_deref(), Some("b"), "has grown");
    }

    #[test]
    fn without_following_every_file_counts_in_order() {
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
        assert!(!passed_over("x.csv") && passed_over(".x"));
    }
}
