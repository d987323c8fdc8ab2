//! The store: opened, written by one writer, read.

use crate::chain::{Contents, StoredLink};
use crate::create;
use crate::database::{self, Way};
use crate::error::{Error, Result};
use crate::events::{self, Event, Events};
use crate::seal::{Mark, Seal};
use crate::snapshots::{self, Snapshot};
use crate::verify::{beside, verify};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) const DATABASE: &str = "events.db";
pub(crate) const SEAL: &str = "seal";

/// The log is moved into the database after about so many bytes.
const LOG: u64 = 4 << 20;

/// What to do if there is a store, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Make a new one; there must be none.
    Create,
    /// Open one; it must be there.
    Existing,
    /// Open it if it is there, else make it.
    Either,
}

/// Events on a disk. One process at a time has it.
#[derive(Debug)]
pub struct Store {
    // In this order: the database is closed before the lock goes.
    database: Connection,
    seal: Seal,
    directory: PathBuf,
    file: PathBuf,
    contents: Contents,
    /// Bytes written since the log was last moved.
    logged: u64,
    /// Why nothing more is written.
    failed: Option<String>,
}

impl Store {
    /// Opens a store after all of it was verified; until then nothing is written. What is wrong is told with the file,
    /// the event where one is known, and what to do. Costs one look at every byte.
    pub fn open(directory: &Path, how: Open) -> Result<Self> {
        database::check_version()?;
        let refuse = |what| Err(Error::Directory { directory: directory.to_path_buf(), what });
        let there = directory.join(DATABASE).exists() || directory.join(SEAL).exists();
        match how {
            Open::Create if there => {
                return refuse("there is a store already; open it or name another directory");
            }
            Open::Existing if !there => {
                return refuse("there is no store here; check the name, or make a new one");
            }
            Open::Create | Open::Either if !there => {
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
        let (file, sealed) = (directory.join(DATABASE), directory.join(SEAL));
        if let Some(missing) = [&file, &sealed].into_iter().find(|path| !path.exists()) {
            return Err(Error::damaged(missing, None, "missing, though the rest of the store is there"));
        }
        let mut seal = Seal::open(directory, &sealed)?;
        create::tighten(directory);
        let mark = seal.read()?;
        let contents = verify(&file, &mark)?;
        if contents.generation > mark.generation {
            // A commit that was not sealed may not have been synced either.
            sync_files(&file)?;
            seal.write(&Mark::of(&contents))?;
        }
        let database = database::connect(&file, Way::Shared).map_err(Error::database("open", &file))?;
        database::prepare_writing(&database).map_err(Error::database("open", &file))?;
        let directory = directory.to_path_buf();
        Ok(Self { database, seal, directory, file, contents, logged: 0, failed: None })
    }

    /// Adds events, all or none, and returns their numbers once they are on the disk and sealed. After an error of the disk
    /// the store is failed: it may hold them or not, and every further write is refused.
    pub fn append(&mut self, events: &[Event<'_>]) -> Result<Range<u64>> {
        self.check_sound()?;
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

    /// Events in order, beginning with number `from`.
    pub fn events(&self, from: u64) -> Events<'_> {
        let Self { database, contents, file, .. } = self;
        Events { connection: database, contents, file, next: from, before: None }
    }

    /// The directory of the store.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The number that the next event will have; also how many there are.
    pub fn next_seq(&self) -> u64 {
        self.contents.count
    }

    /// The hash of the last event, and by it of all events and their order.
    pub fn head_hash(&self) -> [u8; 32] {
        *self.contents.head.as_bytes()
    }

    /// Keeps the state after all events before `seq`; of the snapshots the two newest stay. What was written is read back
    /// before this returns. To keep the same once more changes nothing.
    pub fn keep_snapshot(&mut self, seq: u64, body: &[u8]) -> Result<()> {
        self.check_sound()?;
        let kept = StoredLink { seq, length: body.len() as u64, hash: blake3::hash(body) };
        if self.contents.snapshots.last() == Some(&kept) {
            return Ok(());
        }
        let newest = self.contents.snapshots.last().map(|kept| kept.seq);
        if seq > self.contents.count || newest.is_some_and(|newest| seq <= newest) {
            let (count, after) = (self.contents.count, newest.map_or(0, |newest| newest + 1));
            let what = format!("snapshot before event {seq}: must be at one of {after} to {count}");
            return Err(Error::argument(what));
        }
        self.write(body.len() as u64, |transaction, contents| {
            snapshots::insert(transaction, contents, kept, body)
        })?;
        let read = snapshots::read(&self.file, &self.database, &kept, |_| ());
        self.remember(read).map(|_| ())
    }

    /// The newest snapshot, if there is one.
    pub fn newest_snapshot(&self) -> Result<Option<Snapshot>> {
        let Some(kept) = self.contents.snapshots.last() else { return Ok(None) };
        let mut body = Vec::with_capacity(kept.length as usize);
        snapshots::read(&self.file, &self.database, kept, |piece| body.extend_from_slice(piece))?;
        Ok(Some(Snapshot { seq: kept.seq, body }))
    }

    /// Bodies of events before this number may be forgotten: the older of the two snapshots stands in for them. 0 while
    /// there are fewer than two.
    pub fn covered(&self) -> u64 {
        self.contents.covered()
    }

    /// Forgets the bodies of events of these kinds before number `before`, at most [`Store::covered`], and gives how many
    /// went. The rows and their hashes stay; the space is used again.
    pub fn forget_bodies(&mut self, kinds: &[&str], before: u64) -> Result<u64> {
        self.check_sound()?;
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
            let mut gone = 0;
            for &kind in &kinds {
                let after = contents.forgotten.insert(kind.to_string(), before).unwrap_or(0);
                gone += forget(transaction, kind, after, before)?;
            }
            Ok(gone)
        })
    }

    /// One transaction: the work, the new generation and digest; then the seal.
    fn write<T>(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&Transaction<'_>, &mut Contents) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let written = self.commit(bytes, work);
        self.remember(written)
    }

    fn commit<T>(
        &mut self,
        bytes: u64,
        work: impl FnOnce(&Transaction<'_>, &mut Contents) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let failed = |source| Error::Database { file: self.file.clone(), action: "write to", source };
        if self.logged > LOG {
            database::checkpoint(&self.database).map_err(failed)?;
            self.logged = 0;
        }
        let mut next = self.contents.clone();
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.database.transaction_with_behavior(behavior).map_err(failed)?;
        let done = work(&transaction, &mut next).map_err(failed)?;
        next.generation += 1;
        if !advance(&transaction, &next).map_err(failed)? {
            return Err(Error::damaged(&self.file, None, "another program wrote into the database"));
        }
        transaction.commit().map_err(failed)?;
        self.seal.write(&Mark::of(&next))?;
        self.contents = next;
        self.logged += bytes;
        Ok(done)
    }

    /// After an error, what the disk holds is not known, and a second sync may lie: so nothing more is written.
    fn remember<T>(&mut self, outcome: Result<T>) -> Result<T> {
        outcome.inspect_err(|error| self.failed = Some(error.to_string()))
    }

    fn check_sound(&self) -> Result<()> {
        let Some(reason) = self.failed.clone() else { return Ok(()) };
        Err(Error::Failed { directory: self.directory.clone(), reason })
    }
}

impl Drop for Store {
    /// After a failure the log stays as it is, for the next opening to judge.
    fn drop(&mut self) {
        if self.failed.is_none() {
            // Without it the log stays, and that is as safe.
            let _ = database::merge_on_close(&self.database);
        }
    }
}

fn forget(transaction: &Transaction<'_>, kind: &str, after: u64, before: u64) -> rusqlite::Result<u64> {
    let sql = "UPDATE events SET body = NULL WHERE kind = ?1 AND seq >= ?2 AND seq < ?3";
    let gone = transaction.execute(sql, (kind, after as i64, before as i64))?;
    transaction.execute("DELETE FROM forgotten WHERE kind = ?1", [kind])?;
    transaction.execute("INSERT INTO forgotten (kind, before) VALUES (?1, ?2)", (kind, before as i64))?;
    Ok(gone as u64)
}

/// Writes the new generation over the last; false if that is not the last.
fn advance(transaction: &Transaction<'_>, next: &Contents) -> rusqlite::Result<bool> {
    let sql = "UPDATE store SET generation = ?1, digest = ?2 WHERE generation = ?1 - 1";
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.execute((next.generation as i64, next.digest().as_bytes()))? == 1)
}

fn sync_files(file: &Path) -> Result<()> {
    for path in [file, &beside(file, "-wal")].into_iter().filter(|path| path.exists()) {
        File::open(path).and_then(|opened| opened.sync_all()).map_err(Error::io("sync", path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Error, Event, Open, Store};

    const EVENT: Event<'_> = Event { kind: "label", body: b"{}" };

    /// The commit is there, but it was not acknowledged; the next opening finds it whole and seals it.
    #[test]
    fn a_seal_that_cannot_be_written_fails_the_store() {
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
        assert!(again.ends_with("open the store again to go on"), "{again}");
        drop(store);
        assert!(directory.join("events.db-wal").exists(), "a failed store leaves its log as it is");
        let mut store = Store::open(&directory, Open::Existing).unwrap();
        assert_eq!(store.append(&[EVENT]).unwrap(), 2..3);
    }

    /// No page may be added: the statement fails in the middle of a transaction of which nothing stays.
    #[test]
    fn a_database_that_cannot_grow_fails_the_store() {
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
