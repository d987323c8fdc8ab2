//! Cache of finished pieces of work: in memory for tables that share them, and on disk for later runs. A piece is identified by
//! a hash of the code, the data and its key, so that outdated results are not used.

use crate::failure::{Failure, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Hash of the shared sources and of the versions of dependencies, with the build settings.
const CODE: &str = env!("EVERMARGIN_CODE");

/// Source files or folders (rooms) with procedures that nothing else uses, and hashes of their sources.
const ROOMS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rooms.rs"));

/// Hash of the room of a source file, which is part of the key of its pieces in addition to [`CODE`].
fn own_code(file: &str) -> &'static str {
    let file = file.replace('\\', "/");
    ROOMS.iter().find(|(room, _)| file.contains(room)).map_or("", |(_, code)| code)
}

/// Hash of all code that results depend on, in 16 hexadecimal digits.
pub fn code() -> String {
    let mut hash = blake3::Hasher::new();
    hash.update(CODE.as_bytes());
    ROOMS.iter().for_each(|(_, code)| {
        hash.update(code.as_bytes());
    });
    hash.finalize().to_hex()[..16].to_string()
}

/// Name of the processor, if the system provides it; measured times depend on it.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|l| l.strip_prefix("model name").and_then(|l| l.split(": ").nth(1)));
    name.unwrap_or("unknown processor").to_string()
}

/// Content of a cache file, in MessagePack, which keeps numbers bit-identical.
#[derive(Serialize, Deserialize)]
struct CachedPiece {
    key: String,
    piece: Vec<u8>,
}

/// Cache of finished pieces of work.
pub struct Keep {
    folder: Option<PathBuf>,
    data: PathBuf,
    fingerprint: OnceLock<(String, String)>,
    known: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Keep {
    /// Checks that a folder is writable, and creates it if it does not exist.
    pub fn check(folder: &Path) -> Result<()> {
        let fault = |e: std::io::Error| Failure::Content(format!("--cache {}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(fault)?;
        // the name is unique per process, because two programs can start at once
        let trial = folder.join(format!("writable-{}", std::process::id()));
        evermargin_io::write_atomic(&trial, b"")?;
        std::fs::remove_file(trial).map_err(fault)
    }

    /// Creates a cache of results from the data files in `data`, stored in `folder` if one is given.
    pub fn new(folder: Option<PathBuf>, data: PathBuf) -> Self {
        Self { folder, data, fingerprint: OnceLock::new(), known: Mutex::default() }
    }

    /// Returns the cached piece with this key, or computes and stores it. The key also depends on the room of the caller.
    #[track_caller]
    pub fn or_do<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let key = &format!("{} {key}", own_code(Location::caller().file()));
        if let Some(piece) = self.find(key) {
            return Ok(piece);
        }
        let piece = work()?;
        let bytes = rmp_serde::to_vec_named(&piece).map_err(|e| Failure::Content(e.to_string()))?;
        if let Some(path) = self.path(key) {
            write(&path, key, &bytes)?;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), bytes);
        Ok(piece)
    }

    fn find<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let bytes = known.or_else(|| {
            let cached: CachedPiece = rmp_serde::from_slice(&std::fs::read(self.path(key)?).ok()?).ok()?;
            (cached.key == key).then_some(cached.piece)
        })?;
        rmp_serde::from_slice(&bytes).ok()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let (data, machine) = self.fingerprint.get_or_init(|| (fingerprint(&self.data), processor()));
        let mut hash = blake3::Hasher::new();
        [CODE, data, machine, key].iter().for_each(|part| {
            hash.update(part.as_bytes()).update(&[0]);
        });
        Some(folder.join(format!("{}.piece", &hash.finalize().to_hex()[..40])))
    }
}

/// Writes a piece atomically.
fn write(path: &Path, key: &str, piece: &[u8]) -> Result<()> {
    let cached = CachedPiece { key: key.to_string(), piece: piece.to_vec() };
    let bytes = rmp_serde::to_vec_named(&cached).map_err(|e| Failure::Content(e.to_string()))?;
    Ok(evermargin_io::write_atomic(path, &bytes)?)
}

/// Hash of the names and contents of the existing data files that tables read.
fn fingerprint(folder: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    for file in crate::show::at_hand::files() {
        if let Ok(bytes) = std::fs::read(folder.join(&file)) {
            hash.update(file.as_bytes());
            hash.update(blake3::hash(&bytes).as_bytes());
        }
    }
    hash.finalize().to_hex()[..16].to_string()
}

/// Default folder of the cache: `EVERMARGIN_CACHE`, or the cache folder of the user.
pub fn usual_folder() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    of("EVERMARGIN_CACHE").or_else(|| {
        let base = of("XDG_CACHE_HOME").or_else(|| of("HOME").map(|home| home.join(".cache")));
        base.map(|base| base.join("evermargin-reproduce"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(keep: &Keep, key: &str, times: &mut u32) -> f64 {
        keep.or_do(key, || {
            *times += 1;
            Ok(0.1 + 0.2)
        })
        .unwrap()
    }

    #[test]
    fn finished_work_is_read_from_the_cache_bit_identically() {
        let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let keep = || Keep::new(Some(folder.path().into()), data.path().into());
        let mut times = 0;
        let first = keep();
        assert_eq!(count(&first, "a", &mut times), count(&first, "a", &mut times));
        assert_eq!(times, 1);
        assert_eq!(count(&keep(), "a", &mut times).to_bits(), (0.1f64 + 0.2).to_bits());
        assert_eq!(times, 1, "found on disk");
        count(&keep(), "b", &mut times);
        assert_eq!(times, 2, "another key");
        std::fs::create_dir(data.path().join("images")).unwrap();
        std::fs::write(data.path().join("images/coil20.libsvm.xz"), "1").unwrap();
        count(&keep(), "a", &mut times);
        assert_eq!(times, 3, "other data");
    }

    #[test]
    fn damaged_pieces_are_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let keep = || Keep::new(Some(folder.path().into()), "/nonexistent".into());
        let mut times = 0;
        count(&keep(), "a", &mut times);
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        }
        count(&keep(), "a", &mut times);
        assert_eq!(times, 2);
    }

    #[test]
    fn room_follows_from_the_source_file() {
        assert!(ROOMS.iter().all(|(_, code)| code.len() == 16));
        assert_eq!(own_code("reproduce/src/stream/walk.rs"), own_code("src/stream/data.rs"));
        assert_ne!(own_code("reproduce/src/stream/walk.rs"), own_code("reproduce/src/local.rs"));
        assert_eq!(own_code("reproduce/src/run.rs"), "");
        let empty = blake3::hash(b"").to_hex()[..16].to_string();
        assert!(ROOMS.iter().all(|(_, code)| **code != *empty), "a room without files");
    }

    #[test]
    fn failures_are_not_cached() {
        let keep = Keep::new(None, "/nonexistent".into());
        let failed = keep.or_do::<f64>("a", || Err(Failure::Content("no".into())));
        assert!(failed.is_err());
        assert_eq!(count(&keep, "a", &mut 0), 0.1 + 0.2);
    }
}
