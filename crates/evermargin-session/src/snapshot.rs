//! Snapshots: a session as bytes. [`Session`] is its own snapshot; the event log and the notices are skipped.

use crate::error::SessionError;
use crate::session::Session;
use evermargin_io::artifacts::engine::{pack, unpack};

impl Session {
    /// The state as bytes. The same events give the same bytes, however often the process was stopped between them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SessionError> {
        Ok(pack(self)?)
    }

    /// A session without an event log; `place` names the bytes in messages.
    pub(crate) fn from_bytes(bytes: &[u8], place: &str) -> Result<Self, SessionError> {
        unpack(place, bytes).map_err(|e| SessionError::corrupt(place, e.to_string()))
    }

    /// Stores a snapshot, so that the next start replays fewer events, and drops the rows of batches that two snapshots
    /// cover. Does nothing without a store.
    pub fn save_snapshot(&mut self) -> Result<(), SessionError> {
        if !self.is_durable() {
            return Ok(());
        }
        self.log.flush()?;
        let body = self.to_bytes()?;
        self.log.save_snapshot(&body)
    }
}
