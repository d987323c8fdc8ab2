//! The seal: a small file that records the state of the database at the last acknowledged write.
//!
//! SQLite cannot distinguish a log that was cut off by a crash from one that was damaged: in both cases it drops the rest
//! of the log without an error. Therefore the generation of each commit is written to the seal and synced before the
//! write is acknowledged. A database with a lower generation than its seal is damaged. A database that is one generation
//! ahead was interrupted between commit and seal, and that transaction is complete.
//!
//! Two slots, one page apart, are written alternately, so a torn write leaves the other slot intact. The file is never
//! replaced; its lock is the lock of the store and ends with the process.

use crate::chain::Contents;
use crate::error::{Error, Result};
use blake3::Hash;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"EVMSEAL1";
const SLOT_BYTES: usize = 4096;
const FILE_BYTES: usize = 2 * SLOT_BYTES;
/// Length of magic, instance, generation, count, head, digest and the hash of these.
const RECORD_BYTES: usize = 8 + 16 + 8 + 8 + 32 + 32 + 32;

/// Contents of one slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealRecord {
    pub instance: [u8; 16],
    pub generation: u64,
    pub count: u64,
    pub head: Hash,
    pub digest: Hash,
}

impl SealRecord {
    pub fn of(contents: &Contents) -> Self {
        let &Contents { instance, generation, count, head, .. } = contents;
        Self { instance, generation, count, head, digest: contents.digest() }
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.instance);
        bytes.extend(self.generation.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(self.head.as_bytes());
        bytes.extend(self.digest.as_bytes());
        let check = blake3::hash(&bytes);
        bytes.extend(check.as_bytes());
        bytes
    }

    fn decode(slot: &[u8]) -> Option<Self> {
        let (fields, check) = slot.get(..RECORD_BYTES)?.split_at(RECORD_BYTES - 32);
        if blake3::hash(fields).as_bytes() != check {
            return None;
        }
        let (magic, rest) = fields.split_first_chunk::<8>()?;
        let (&instance, rest) = rest.split_first_chunk::<16>()?;
        let (&generation, rest) = rest.split_first_chunk::<8>()?;
        let (&count, rest) = rest.split_first_chunk::<8>()?;
        let (&head, digest) = rest.split_first_chunk::<32>()?;
        let (generation, count) = (u64::from_le_bytes(generation), u64::from_le_bytes(count));
        let (head, digest) = (Hash::from_bytes(head), Hash::from_bytes(digest.try_into().ok()?));
        (magic == MAGIC).then_some(Self { instance, generation, count, head, digest })
    }
}

/// The seal file, open and locked.
#[derive(Debug)]
pub(crate) struct Seal {
    file: File,
    path: PathBuf,
}

impl Seal {
    /// Writes the seal of a new store with the same record in both slots.
    pub fn create(path: &Path, contents: &Contents) -> Result<()> {
        let mut slot = SealRecord::of(contents).encode();
        slot.resize(SLOT_BYTES, 0);
        let written = File::create_new(path).and_then(|mut file| {
            file.write_all(&slot)?;
            file.write_all(&slot)?;
            file.sync_all()
        });
        written.map_err(Error::io("create", path))
    }

    /// Opens and locks the seal. Returns an error at once if another process has the store open.
    pub fn open(directory: &Path, path: &Path) -> Result<Self> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(Error::io("open for writing", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path: path.to_path_buf() }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { directory: directory.to_path_buf() }),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
        }
    }

    /// Reads the newest valid record.
    pub fn read(&mut self) -> Result<SealRecord> {
        let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
        let read = self
            .file
            .rewind()
            .and_then(|()| (&self.file).take(FILE_BYTES as u64 + 1).read_to_end(&mut bytes));
        read.map_err(Error::io("read", &self.path))?;
        if bytes.len() != FILE_BYTES {
            let what = format!("a seal has {FILE_BYTES} bytes, this file has another length");
            return Err(Error::damaged(&self.path, None, what));
        }
        let records = bytes.chunks_exact(SLOT_BYTES).filter_map(SealRecord::decode);
        records
            .max_by_key(|record| record.generation)
            .ok_or_else(|| Error::damaged(&self.path, None, "neither half of the seal can be read"))
    }

    /// Writes a record and returns when it is on the disk. The slot of the previous record is not changed.
    pub fn write(&mut self, record: &SealRecord) -> Result<()> {
        let offset = (record.generation % 2) * SLOT_BYTES as u64;
        self.write_at(offset, &record.encode()).map_err(Error::io("write", &self.path))
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)?;
        self.file.sync_data()
    }

    /// Makes all later writes fail, like a disk that has become read-only.
    #[cfg(test)]
    pub fn break_writing(&mut self) {
        self.file = File::open(&self.path).unwrap();
    }
}
