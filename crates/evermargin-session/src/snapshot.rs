//! Snapshots: sessions as bytes. [`Session`] itself is serialized without the event log and the notices.

use crate::error::SessionError;
use crate::session::Session;
use evermargin_io::artifacts::engine::{pack, unpack};

impl Session {
    /// Serializes the state. The same events produce the same bytes, even if the process was restarted between them.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SessionError> {
        Ok(pack(self)?)
    }

    /// Deserializes a session without an event log; `place` names the bytes in error messages.
    pub(crate) fn from_bytes(bytes: &[u8], place: &str) -> Result<Self, SessionError> {
        let session: Self = unpack(place, bytes).map_err(|e| SessionError::corrupt(place, e.to_string()))?;
        session.check().map_err(|reason| SessionError::corrupt(place, reason))?;
        Ok(session)
    }

    /// Returns an error if parts of a snapshot contradict each other; the engine was checked when it was deserialized.
    fn check(&self) -> Result<(), String> {
        self.statistics.check()?;
        self.random_baseline.as_ref().map_or(Ok(()), |baseline| baseline.statistics.check())?;
        self.config.label_protocol.check()?;
        self.delayed.check(self.engine.batches())?;
        let current = &self.statistics.current;
        if current.rows != self.engine.rows() - self.engine.rejected_rows().min(self.engine.rows()) {
            let (found, rows) = (current.rows, self.engine.rows());
            return Err(format!("statistics of {found} rows for an engine that has seen {rows}"));
        }
        if self.first_row > current.stream_rows() + 1 || self.unread_rows.len() as u64 > current.rejected_rows
        {
            return Err(format!(
                "the last batch begins with row {} or lists too many rejected rows",
                self.first_row
            ));
        }
        let rows = self.engine.rows();
        if self.labeled_texts.len() > self.engine.params().max_labels
            || self.labeled_texts.keys().any(|sample| *sample >= rows)
        {
            return Err("has texts of samples without a label".into());
        }
        if !self.unread_rows.is_sorted() {
            return Err("rejected rows of the last batch are not in order".into());
        }
        Ok(())
    }

    /// Stores a snapshot, which shortens the next replay, and drops the rows of batches that two snapshots cover. Does nothing
    /// without a store.
    pub fn save_snapshot(&mut self) -> Result<(), SessionError> {
        if !self.is_durable() {
            return Ok(());
        }
        self.log.flush()?;
        let body = self.to_bytes()?;
        self.log.save_snapshot(&body)
    }
}
