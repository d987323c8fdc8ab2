//! The store: opening, writing by a single writer, and reading.

use crate::chain::{Contents, SnapshotEntry};
use crate::create;
use crate::database::{self, OpenMode};
use crate::error::{Error, Result};
use crate::events::{self, Event, Events};
use crate::seal::{Seal, SealRecord};
use crate::snapshots::{self, Snapshot};
use crate::verify::{verify, with_suffix};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) const DATABASE: &str = "events.db";
pub(crate) const SEAL: &str = "seal";

/// Approximate number of bytes in the write-ahead log after which it is copied into the database.
const CHECKPOINT_BYTES: u64 = 4 << 20;

/// Whether [`Store::open`] creates a store, opens an existing one, or does either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Creates a new store. An existing store is an error.
    Create,
    /// Opens an existing store. A missing store is an error.
    Existing,
    /// Opens the store if it exists, else creates it.
    Either,
}

/// Store of events on a disk. Only one process at a time can have it open.
#[derive(Debug)]
pub struct Store {
    // Fields are dropped in this order: the database is closed before the seal, which holds the lock.
    database: Connection,
    seal: Seal,
    directory: PathBuf,
    file: PathBuf,
    contents: Contents,
    /// Bytes written since the last checkpoint.
    log_bytes: u64,
    /// Error of the write that failed, after which all writes are refused.
    failed: Option<String>,
}

impl Store {
    /// Opens a store after verifying all of it; nothing is written before that. An error names the file, the event if it
    /// is known, and the remedy. Reads every byte of the store once.
    pub fn open(directory: &Path, mode: Open) -> Result<Self> {
        database::check_version()?;
        let refuse = |what| Err(Error::Directory { directory: directory.to_path_buf(), what });
        let exists = directory.join(DATABASE).exists() || directory.join(SEAL).exists();
        match mode {
            Open::Create if exists => {
                return refuse("there is a store already; open it or name another directory");
            }
            Open::Existing if !exists => {
                return refuse("there is no store here; check the name, or make a new one");
            }
            Open::Create | Open::Either if !exists => {
                if directory.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
                    return refuse("holds other files and no store; name a new or an empty directory");
                }
                create::create(directory)?;
            }
            _ => {}
        }
        Self::open_existing(directory)
    }

    fn open_existing(directory: &Path) -> Result<Self> {
        let (file, seal_path) = (directory.join(DATABASE), directory.join(SEAL));
        if let Some(missing) = [&file, &seal_path].into_iter().find(|path| !path.exists()) {
            return Err(Error::damaged(missing, None, "missing, although the rest of the store exists"));
        }
        let mut seal = Seal::open(directory, &seal_path)?;
        create::restrict_existing(directory);
        let sealed = seal.read()?;
        let contents = verify(&file, &sealed)?;
        if contents.generation > sealed.generation {
            // A commit that was not sealed may not have been synced.
            sync_files(&file)?;
            seal.write(&SealRecord::of(&contents))?;
        }
        let database = database::connect(&file, OpenMode::Shared).map_err(Error::database("open", &file))?;
        database::prepare_writing(&database).map_err(Error::database("open", &file))?;
        let directory = directory.to_path_buf();
        Ok(Self { database, seal, directory, file, contents, log_bytes: 0, failed: None })
    }

    /// Appends either all or none of the events and returns their numbers after they are on the disk and sealed. After a
    /// disk error it is unknown whether the store contains the events, and it refuses every further write.
    pub fn append(&mut self, events: &[Event<'_>]) -> Result<Range<u64>> {
        self.check_not_failed()?;
        events.iter().try_for_each(Event::check)?;
        let first = self.contents.count;
        if events.is_empty() {
            return Ok(first..first);
        }
        let bytes: usize = events.iter().map(|event| event.body.len() + 256).sum();
        self.write(bytes as u64, |transaction, contents| {
            events.iter().try_for_each(|event| events::insert(transaction, contents, event))
        })?;
        Ok(first..self.contents.count)
    }

    /// Returns the events in order, beginning with number `from`.
    pub fn events(&self, from: u64) -> Events<'_> {
        let Self { database, contents, file, .. } = self;
        Events { connection: database, contents, file, next: from, before: None }
    }

    /// The directory of the store.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Number of the next event, which is also the number of events in the store.
    pub fn next_seq(&self) -> u64 {
        self.contents.count
    }

    /// Hash of the last event, which depends on all events and their order.
    pub fn head_hash(&self) -> [u8; 32] {
        *self.contents.head.as_bytes()
    }

    /// Stores the state after all events before `seq` as a snapshot and deletes all but the two newest snapshots. The
    /// snapshot is read back before this returns. Storing the newest snapshot again changes nothing.
    pub fn keep_snapshot(&mut self, seq: u64, body: &[u8]) -> Result<()> {
        self.check_not_failed()?;
        let entry = SnapshotEntry { seq, length: body.len() as u64, hash: blake3::hash(body) };
        if self.contents.snapshots.last() == Some(&entry) {
            return Ok(());
        }
        let newest = self.contents.snapshots.last().map(|entry| entry.seq);
        if seq > self.contents.count || newest.is_some_and(|newest| seq <= newest) {
            let (count, after) = (self.contents.count, newest.map_or(0, |newest| newest + 1));
            let what = format!("snapshot before event {seq}: must be at one of {after} to {count}");
            return Err(Error::argument(what));
        }
        self.write(body.len() as u64, |transaction, contents| {
            snapshots::insert(transaction, contents, entry, body)
        })?;
        let read = snapshots::read(&self.file, &self.database, &entry, |_| ());
        self.fail_on_error(read).map(|_| ())
    }

    /// The newest snapshot, if there is one.
    pub fn newest_snapshot(&self) -> Result<Option<Snapshot>> {
        let Some(entry) = self.contents.snapshots.last() else { return Ok(None) };
        let mut body = Vec::with_capacity(entry.length as usize);
        snapshots::read(&self.file, &self.database, entry, |piece| body.extend_from_slice(piece))?;
        Ok(Some(Snapshot { seq: entry.seq, body }))
    }

    /// Number of the event before which bodies may be forgotten, because the older of the two snapshots includes them; 0
    /// with fewer than two snapshots.
    pub fn covered(&self) -> u64 {
        self.contents.covered()
    }

    /// Forgets the bodies of events of these kinds before number `before`, which is at most [`Store::covered`], and
    /// returns the number of bodies removed. Their rows and hashes stay; the space is reused.
    pub fn forget_bodies(&mut self, kinds: &[&str], before: u64) -> Result<u64> {
        self.check_not_failed()?;
        if before > self.covered() {
            let what = format!(
                "bodies before event {before} cannot be forgotten: the older of two snapshots reaches to {}",
                self.covered()
            );
            return Err(Error::argument(what));
        }
        let mut kinds: Vec<&str> = kinds.to_vec();
        kinds.retain(|&kind| self.contents.forgotten.get(kind).is_none_or(|&done| done < before));
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() || before == 0 {
            return Ok(0);
        }
        self.write(0, |transaction, contents| {
            let mut count = 0;
            for &kind in &kinds {
                let after = contents.forgotten.insert(kind.to_string(), before).unwrap_or(0);
                count += forget(transaction, kind, after, before)?;
            }
            Ok(count)
        })
    }

    /// Runs `work` in one transaction that also writes the new generation and digest, then writes the seal.
    fn write<T>(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&Transaction<'_>, &mut Contents) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let written = self.commit(bytes, work);
        self.fail_on_error(written)
    }

    fn commit<T>(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&Transaction<'_>, &mut Contents) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let failed = |source| Error::Database { file: self.file.clone(), action: "write to", source };
        if self.log_bytes > CHECKPOINT_BYTES {
            database::checkpoint(&self.database).map_err(failed)?;
            self.log_bytes = 0;
        }
        let mut next = self.contents.clone();
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.database.transaction_with_behavior(behavior).map_err(failed)?;
        let done = work(&transaction, &mut next).map_err(failed)?;
        next.generation += 1;
        if !update_generation(&transaction, &next).map_err(failed)? {
            return Err(Error::damaged(&self.file, None, "another program wrote into the database"));
        }
        transaction.commit().map_err(failed)?;
        self.seal.write(&SealRecord::of(&next))?;
        self.contents = next;
        self.log_bytes += bytes;
        Ok(done)
    }

    /// Marks the store as failed after an error. The contents of the disk are unknown then, and a second sync may report
    /// success without writing, so all further writes are refused.
    fn fail_on_error<T>(&mut self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|error| self.failed = Some(error.to_string()))
    }

    fn check_not_failed(&self) -> Result<()> {
        let Some(reason) = self.failed.clone() else { return Ok(()) };
        Err(Error::Failed { directory: self.directory.clone(), reason })
    }
}

impl Drop for Store {
    /// Merges the log into the database. After a failed write the log stays as it is and is verified by the next opening.
    fn drop(&mut self) {
        if self.failed.is_none() {
            // If this fails, the log stays, which is as safe.
            let _ = database::merge_on_close(&self.database);
        }
    }
}

fn forget(transaction: &Transaction<'_>, kind: &str, after: u64, before: u64) -> rusqlite::Result<u64> {
    let sql = "UPDATE events SET body = NULL WHERE kind = ?1 AND seq >= ?2 AND seq < ?3";
    let count = transaction.execute(sql, (kind, after as i64, before as i64))?;
    transaction.execute("DELETE FROM forgotten WHERE kind = ?1", [kind])?;
    transaction.execute("INSERT INTO forgotten (kind, before) VALUES (?1, ?2)", (kind, before as i64))?;
    Ok(count as u64)
}

/// Replaces the previous generation by the new one. Returns false if the database has another previous generation.
fn update_generation(transaction: &Transaction<'_>, next: &Contents) -> rusqlite::Result<bool> {
    let sql = "UPDATE store SET generation = ?1, digest = ?2 WHERE generation = ?1 - 1";
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.execute((next.generation as i64, next.digest().as_bytes()))? == 1)
}

fn sync_files(file: &Path) -> Result<()> {
    for path in [file, &with_suffix(file, "-wal")].into_iter().filter(|path| path.exists()) {
        File::open(path).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Error, Event, Open, Store};

    const EVENT: Event<'_> = Event { kind: "label", body: b"{}" };

    /// The transaction was committed but not acknowledged; the next opening finds it complete and seals it.
    #[test]
    fn refuses_writes_after_seal_write_error() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("store");
        let mut store = Store::open(&directory, Open::Create).unwrap();
        store.append(&[EVENT]).unwrap();
        store.seal.break_writing();
        let error = store.append(&[EVENT]).unwrap_err();
        assert!(matches!(&error, Error::Io { file, .. } if file.ends_with("seal")), "{error}");
        assert_eq!(store.next_seq(), 1);
        assert_eq!(store.events(0).count(), 1);
        let again = store.append(&[EVENT]).unwrap_err().to_string();
        assert!(again.ends_with("open the store again to continue"), "{again}");
        drop(store);
        assert!(directory.join("events.db-wal").exists(), "a failed store leaves its log as it is");
        let mut store = Store::open(&directory, Open::Existing).unwrap();
        assert_eq!(store.append(&[EVENT]).unwrap(), 2..3);
    }

    /// No page can be added, so the statement fails in the middle of a transaction, which is rolled back.
    #[test]
    fn refuses_writes_after_full_database() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("store");
        let mut store = Store::open(&directory, Open::Create).unwrap();
        store.append(&[EVENT]).unwrap();
        store.database.query_row("PRAGMA max_page_count = 1", [], |_| Ok(())).unwrap();
        let large = Event { kind: "batch", body: &vec![0; 99_999] };
        let error = store.append(&[EVENT, large]).unwrap_err();
        assert!(error.is_storage_full(), "{error}");
        assert!(matches!(store.append(&[EVENT]), Err(Error::Failed { .. })));
        drop(store);
        assert_eq!(Store::open(&directory, Open::Existing).unwrap().next_seq(), 1);
    }
}
