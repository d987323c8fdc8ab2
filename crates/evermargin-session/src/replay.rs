//! Opening a session: loads the newest snapshot and replays the events after it. An event that cannot be applied is listed
//! as rejected and skipped; the store refuses damaged files before anything is replayed.

use crate::error::SessionError;
use crate::log::EventLog;
use crate::record::Record;
use crate::session::Session;
use evermargin_store::{Open, Store};
use std::path::Path;

/// Contents of an opened directory.
#[derive(Debug)]
pub enum Opened {
    /// A stored session in its latest state.
    Session(Box<Session>),
    /// A new store, for [`Session::new`].
    Empty(Box<Store>),
}

/// Treatment of a session that was computed on another CPU feature level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherCpu {
    /// Returns [`SessionError::OtherCpu`].
    Refuse,
    /// Continues on this CPU. Results may differ in their last bits from those on the former CPU.
    Continue,
}

impl Session {
    /// Opens the session in a directory, or creates an empty store for a new one. `cpu_level` names the CPU features on which
    /// the computations of this process depend.
    pub fn open(directory: &Path, cpu_level: &str, other: OtherCpu) -> Result<Opened, SessionError> {
        let store = Store::open(directory, Open::Either)?;
        if store.next_seq() == 0 {
            return Ok(Opened::Empty(Box::new(store)));
        }
        let mut session = Self::replay(&store, &directory.display().to_string())?;
        session.notices.clear();
        session.log.attach(store);
        if session.cpu_level != cpu_level {
            if other == OtherCpu::Refuse {
                let directory = directory.to_path_buf();
                let (stored, current) = (session.cpu_level, cpu_level.to_string());
                return Err(SessionError::OtherCpu { directory, stored, current });
            }
            session.set_cpu_level(cpu_level)?;
        }
        Ok(Opened::Session(Box::new(session)))
    }

    /// Restores a session from the newest snapshot and the events of a store.
    fn replay(store: &Store, directory: &str) -> Result<Self, SessionError> {
        let (mut session, first) = match store.newest_snapshot()? {
            Some(snapshot) => {
                let place = format!("{directory}: snapshot before event {}", snapshot.seq);
                Self::replay_begin(store, directory)?; // refuses another version of the format
                let mut session = Self::from_bytes(&snapshot.body, &place)?;
                session.log = EventLog::replaying();
                (session, snapshot.seq)
            }
            None => (Self::replay_begin(store, directory)?, 1),
        };
        for event in store.events(first) {
            let event = event?;
            let place = format!("{directory}: event {}", event.seq);
            let Some(body) = event.body else {
                return Err(SessionError::corrupt(place, "its body was dropped, but no snapshot covers it"));
            };
            let replayed = Record::decode(&event.kind, &body, &place).and_then(|record| {
                let plan = session.plan(&record)?;
                session.commit(record, plan);
                Ok(())
            });
            if let Err(error) = replayed {
                session.mark_rejected(event.seq, &event.kind, &error);
            }
        }
        Ok(session)
    }

    fn replay_begin(store: &Store, directory: &str) -> Result<Self, SessionError> {
        let place = format!("{directory}: event 0");
        let first = store.events(0).next().transpose()?;
        let body = first.and_then(|event| event.body.map(|body| (event.kind, body)));
        let record = body.map(|(kind, body)| Record::decode(&kind, &body, &place)).transpose()?;
        match record {
            Some(Record::Begin(config)) => Self::begin(*config, EventLog::replaying()),
            _ => Err(SessionError::corrupt(
                place,
                "the first event must contain the parameters of the session",
            )),
        }
    }

    /// Opens the store again after [`SessionError::StorageFull`] or [`SessionError::Storage`], when the cause was removed.
    /// Returns whether the store contains the event whose write failed. If it does, the event is applied; if not, the caller
    /// must send it again.
    pub fn reopen_store(&mut self) -> Result<bool, SessionError> {
        let Some(record) = self.log.reopen()? else { return Ok(false) };
        let plan = self.plan(&record)?;
        self.commit(record, plan);
        Ok(true)
    }
}
