//! The event log of a session: the store, the records that are stored together with the next one, and a failed write that
//! the store may contain.

use crate::error::SessionError;
use crate::record::{LARGE_KINDS, Record};
use evermargin_store::{Event, Open, Store};
use std::path::PathBuf;

/// Time by which a record must be in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Before it takes effect.
    Now,
    /// Together with the next record that is stored at once. Until then a crash loses it, so it must follow from the
    /// records before it.
    WithNext,
}

/// Destination of records.
#[derive(Debug, Default)]
enum Backing {
    /// Records are not stored.
    #[default]
    Memory,
    /// The events of a store are being replayed; the store is attached afterward.
    Replaying,
    /// Records are stored here.
    Open(Box<Store>),
    /// The store failed and could not be opened again.
    Closed,
}

/// Failed write of which it is unknown whether the store contains it.
#[derive(Debug)]
struct WriteInDoubt {
    /// Kinds and bodies of all records of the write; the deferred records come first.
    events: Vec<(&'static str, Vec<u8>)>,
    /// The record that must still be applied; none if the write had only deferred records.
    record: Option<Record>,
    reason: String,
}

/// Event log of a session.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    backing: Backing,
    directory: PathBuf,
    /// Number of events known to be in the store.
    stored: u64,
    /// Records that are stored with the next one.
    deferred: Vec<Record>,
    in_doubt: Option<WriteInDoubt>,
}

impl EventLog {
    pub(crate) fn new(store: Option<Store>) -> Self {
        let mut log = Self::default();
        if let Some(store) = store {
            log.attach(store);
        }
        log
    }

    /// Log for a replay; the store is attached after its events were replayed.
    pub(crate) fn replaying() -> Self {
        Self { backing: Backing::Replaying, ..Self::default() }
    }

    pub(crate) fn attach(&mut self, store: Store) {
        self.directory = store.directory().to_path_buf();
        self.stored = store.next_seq();
        self.backing = Backing::Open(Box::new(store));
    }

    /// Whether records are stored.
    pub(crate) fn is_durable(&self) -> bool {
        !matches!(self.backing, Backing::Memory)
    }

    /// Stores a record, either now or together with the next one. After an error the record is not in the log, unless
    /// [`EventLog::reopen`] finds it there.
    pub(crate) fn append(&mut self, record: &Record, durability: Durability) -> Result<(), SessionError> {
        self.check_writable()?;
        match durability {
            Durability::Now => self.write(Some(record), None),
            Durability::WithNext => {
                self.defer(record.clone());
                Ok(())
            }
        }
    }

    /// Stores a record and a second one that belongs to it now, in one transaction.
    pub(crate) fn append_both(&mut self, record: &Record, second: &Record) -> Result<(), SessionError> {
        self.check_writable()?;
        self.write(Some(record), Some(second))
    }

    /// Defers a record, which is then stored together with the next one.
    pub(crate) fn defer(&mut self, record: Record) {
        if !matches!(self.backing, Backing::Memory) {
            self.deferred.push(record);
        }
    }

    /// Drops deferred lists of rejected rows, because a replay has found them in the log.
    pub(crate) fn drop_deferred_rejected_rows(&mut self) {
        self.deferred.retain(|record| !matches!(record, Record::RejectedRows(_)));
    }

    /// Stores the deferred records.
    pub(crate) fn flush(&mut self) -> Result<(), SessionError> {
        self.check_writable()?;
        if self.deferred.is_empty() { Ok(()) } else { self.write(None, None) }
    }

    /// Returns an error between a failed write and the reopening of the store.
    fn check_writable(&self) -> Result<(), SessionError> {
        let reason = match (&self.backing, &self.in_doubt) {
            (_, Some(write)) => write.reason.clone(),
            (Backing::Closed, None) => "it could not be opened again".to_string(),
            _ => return Ok(()),
        };
        let directory = self.directory.clone();
        Err(SessionError::Storage(evermargin_store::Error::Failed { directory, reason }))
    }

    fn write(&mut self, record: Option<&Record>, second: Option<&Record>) -> Result<(), SessionError> {
        let Backing::Open(store) = &mut self.backing else { return Ok(()) };
        let records = self.deferred.iter().chain(record).chain(second);
        let events: Vec<(&'static str, Vec<u8>)> =
            records.map(|r| Ok((r.kind(), r.encode()?))).collect::<Result<_, SessionError>>()?;
        let borrowed: Vec<Event<'_>> = events.iter().map(|(kind, body)| Event { kind, body }).collect();
        match store.append(&borrowed) {
            Ok(range) => {
                self.stored = range.end;
                self.deferred.clear();
                Ok(())
            }
            Err(error) => {
                let reason = error.to_string();
                self.in_doubt = Some(WriteInDoubt { events, record: record.cloned(), reason });
                Err(error.into())
            }
        }
    }

    /// Stores a snapshot of the state after all events, and drops large bodies that two snapshots cover.
    pub(crate) fn save_snapshot(&mut self, body: &[u8]) -> Result<(), SessionError> {
        let Backing::Open(store) = &mut self.backing else { return Ok(()) };
        store.keep_snapshot(store.next_seq(), body)?;
        let covered = store.covered();
        store.forget_bodies(&LARGE_KINDS, covered)?;
        Ok(())
    }

    /// Opens the store again after a failed write. Returns the record of that write if it turned out to be stored.
    pub(crate) fn reopen(&mut self) -> Result<Option<Record>, SessionError> {
        if matches!(self.backing, Backing::Memory | Backing::Replaying) {
            return Ok(None);
        }
        self.backing = Backing::Closed; // closes the failed store, because only one handle can be open
        let store = Store::open(&self.directory, Open::Existing)?;
        let found = store.next_seq() - self.stored.min(store.next_seq());
        let stored = found > 0 && self.holds_write_in_doubt(&store)?;
        if found > 0 && !stored {
            let place = format!("{}, event {}", self.directory.display(), self.stored);
            let reason = "another process continued this session; open it again";
            return Err(SessionError::corrupt(place, reason));
        }
        self.attach(store);
        let in_doubt = self.in_doubt.take();
        if stored {
            self.deferred.clear();
        }
        Ok(in_doubt.filter(|_| stored).and_then(|write| write.record))
    }

    /// Whether the events in the store beyond the known ones are exactly those of the failed write.
    fn holds_write_in_doubt(&self, store: &Store) -> Result<bool, SessionError> {
        let Some(write) = &self.in_doubt else { return Ok(false) };
        let mut expected = write.events.iter();
        for event in store.events(self.stored) {
            let event = event?;
            let same =
                |(kind, body): &(&str, Vec<u8>)| *kind == event.kind && Some(body) == event.body.as_ref();
            if !expected.next().is_some_and(same) {
                return Ok(false);
            }
        }
        Ok(expected.next().is_none())
    }
}
