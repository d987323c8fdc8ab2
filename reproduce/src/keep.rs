//! Finished pieces of work, kept: in memory for tables that share them, on disk for the next time. A piece is found again by
//! a hash of the code, the data and its key, so that nothing old is taken for new.

use crate::failure::{Failure, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The code that all results come from: a hash of its sources.
pub const CODE: &str = env!("EVERMARGIN_CODE");

/// Rooms with procedures of their own, and hashes of their sources.
const ROOMS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rooms.rs"));

/// The code that a piece asked for in this source file comes from beside [`CODE`].
fn own_code(file: &str) -> &'static str {
    ROOMS.iter().find(|(room, _)| file.contains(room)).map_or("", |(_, code)| code)
}

/// A file: MessagePack, since numbers must come back bit for bit.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    code: String,
    piece: Vec<u8>,
}

/// Pieces of finished work.
pub struct Keep {
    folder: Option<PathBuf>,
    data: PathBuf,
    fingerprint: OnceLock<String>,
    known: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Keep {
    /// Work on the files of `data`, kept in `folder` too if there is one.
    pub fn new(folder: Option<PathBuf>, data: PathBuf) -> Self {
        Self { folder, data, fingerprint: OnceLock::new(), known: Mutex::default() }
    }

    /// The piece of that key: as it was kept, or done now and kept. Depends on the code of the room that asks.
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
        if let (Some(folder), Some(path)) = (&self.folder, self.path(key)) {
            let fault = |e: std::io::Error| Failure::Content(format!("{}: {e}", folder.display()));
            std::fs::create_dir_all(folder).map_err(fault)?;
            write(&path, key, &bytes)?;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_string(), bytes);
        Ok(piece)
    }

    fn find<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let bytes = known.or_else(|| {
            let kept: Kept = rmp_serde::from_slice(&std::fs::read(self.path(key)?).ok()?).ok()?;
            (kept.key == key).then_some(kept.piece)
        })?;
        rmp_serde::from_slice(&bytes).ok()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        let data = self.fingerprint.get_or_init(|| fingerprint(&self.data));
        let mut hash = blake3::Hasher::new();
        [CODE, data, key].iter().for_each(|part| {
            hash.update(part.as_bytes()).update(&[0]);
        });
        Some(folder.join(format!("{}.piece", &hash.finalize().to_hex()[..40])))
    }
}

/// Written beside and renamed: a piece is there whole or not at all.
fn write(path: &Path, key: &str, piece: &[u8]) -> Result<()> {
    let kept = Kept { key: key.to_string(), code: CODE.to_string(), piece: piece.to_vec() };
    let bytes = rmp_serde::to_vec_named(&kept).map_err(|e| Failure::Content(e.to_string()))?;
    Ok(evermargin_io::write_atomic(path, &bytes)?)
}

/// A hash of every file below a folder, by name and content.
fn fingerprint(folder: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    absorb(folder, folder, &mut hash);
    hash.finalize().to_hex()[..16].to_string()
}

fn absorb(root: &Path, folder: &Path, hash: &mut blake3::Hasher) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            absorb(root, &path, hash);
        } else if let Ok(bytes) = std::fs::read(&path) {
            hash.update(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().as_bytes());
            hash.update(blake3::hash(&bytes).as_bytes());
        }
    }
}

/// Where finished work is kept unless said otherwise: `EVERMARGIN_CACHE`, or the user's cache folder.
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
    fn work_is_done_once_and_found_again_bit_for_bit() {
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
        std::fs::write(data.path().join("x"), "1").unwrap();
        count(&keep(), "a", &mut times);
        assert_eq!(times, 3, "other data");
    }

    #[test]
    fn damaged_pieces_are_done_again() {
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
    fn rooms_are_told_by_their_files() {
        assert!(ROOMS.iter().all(|(_, code)| code.len() == 16));
        assert_eq!(own_code("reproduce/src/stream/walk.rs"), own_code("src/stream/data.rs"));
        assert_ne!(own_code("reproduce/src/stream/walk.rs"), own_code("reproduce/src/local.rs"));
        assert_eq!(own_code("reproduce/src/run.rs"), "");
        let empty = blake3::hash(b"").to_hex()[..16].to_string();
        assert!(ROOMS.iter().all(|(_, code)| **code != *empty), "a room without files");
    }

    #[test]
    fn failures_are_not_kept() {
        let keep = Keep::new(None, "/nonexistent".into());
        let failed = keep.or_do::<f64>("a", || Err(Failure::Content("no".into())));
        assert!(failed.is_err());
        assert_eq!(count(&keep, "a", &mut 0), 0.1 + 0.2);
    }
}
