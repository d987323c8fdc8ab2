//! The seal: a small file that says how far the database had come when a write was last acknowledged.
//!
//! SQLite cannot tell a log that was cut by a crash from one that was damaged: both end early, and what follows is
//! dropped in silence. So after each commit, and before the write is acknowledged, its generation is written here and
//! synced. A database behind its seal is damaged; one that is a single generation ahead was interrupted between commit and
//! seal, and that transaction is whole.
//!
//! Two slots, one page apart, are written in turn, so a torn write leaves the other. The file is never replaced; its lock
//! is the lock of the store and ends with the process.

use crate::chain::Contents;
use crate::error::{Error, Result};
use blake3::Hash;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"EVMSEAL1";
const SLOT: usize = 4096;
const LENGTH: usize = 2 * SLOT;
/// Magic, instance, generation, count, head, digest, and the hash of these.
const USED: usize = 8 + 16 + 8 + 8 + 32 + 32 + 32;

/// What one slot says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub instance: [u8; 16],
    pub generation: u64,
    pub count: u64,
    pub head: Hash,
    pub digest: Hash,
}

impl Mark {
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
        let (said, check) = slot.get(..USED)?.split_at(USED - 32);
        if blake3::hash(said).as_bytes() != check {
            return None;
        }
        let (magic, rest) = said.split_first_chunk::<8>()?;
        let (&instance, rest) = rest.split_first_chunk::<16>()?;
        let (&generation, rest) = rest.split_first_chunk::<8>()?;
        let (&count, rest) = rest.split_first_chunk::<8>()?;
        let (&head, digest) = rest.split_first_chunk::<32>()?;
        let (generation, count) = (u64::from_le_bytes(generation), u64::from_le_bytes(count));
        let (head, digest) = (Hash::from_bytes(head), Hash::from_bytes(digest.try_into().ok()?));
        (magic == MAGIC).then_some(Self { instance, generation, count, head, digest })
    }
}

/// The open and locked file.
#[derive(Debug)]
pub(crate) struct Seal {
    file: File,
    path: PathBuf,
}

impl Seal {
    /// Writes the seal of a new store, both slots alike.
    pub fn create(path: &Path, contents: &Contents) -> Result<()> {
        let mut slot = Mark::of(contents).encode();
        slot.resize(SLOT, 0);
        let written = File::create_new(path).and_then(|mut file| {
            file.write_all(&slot)?;
            file.write_all(&slot)?;
            file.sync_all()
        });
        written.map_err(Error::io("create", path))
    }

    /// Opens and locks; a store that another process has open is refused at once.
    pub fn open(directory: &Path, path: &Path) -> Result<Self> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(Error::io("open for writing", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path: path.to_path_buf() }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { directory: directory.to_path_buf() }),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", path)(source)),
        }
    }

    /// The newest mark.
    pub fn read(&mut self) -> Result<Mark> {
        let mut bytes = Vec::with_capacity(LENGTH + 1);
        let read =
            self.file.rewind().and_then(|()| (&self.file).take(LENGTH as u64 + 1).read_to_end(&mut bytes));
        read.map_err(Error::io("read", &self.path))?;
        if bytes.len() != LENGTH {
            let what = format!("a seal has {LENGTH} bytes, this file has another length");
            return Err(Error::damaged(&self.path, None, what));
        }
        let marks = bytes.chunks_exact(SLOT).filter_map(Mark::decode);
        marks
            .max_by_key(|mark| mark.generation)
            .ok_or_else(|| Error::damaged(&self.path, None, "neither half of the seal can be read"))
    }

    /// Returns when the mark is on the disk. The slot of the last mark stays as it is.
    pub fn write(&mut self, mark: &Mark) -> Result<()> {
        let at = (mark.generation % 2) * SLOT as u64;
        self.put(at, &mark.encode()).map_err(Error::io("write", &self.path))
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)?;
        self.file.sync_data()
    }
    /// From now on writing fails, as on a disk that has gone read-only.
    #[cfg(test)]
    pub fn break_writing(&mut self) {
        self.file = File::open(&self.path).unwrap();
    }
}
