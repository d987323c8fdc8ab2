//! Atomic writing of files: a temporary file next to the target is written, synced and renamed over the target.

use crate::decompress::display_name;
use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to a file; `-` is standard output. A reader sees either the old or the new contents, never a part of
/// them. Devices and pipes, which cannot be replaced, are written to directly.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let result = if path == Path::new("-") {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    } else {
        replace(path, bytes)
    };
    result.map_err(|e| match path {
        p if p == Path::new("-") => Error::write("standard output", e),
        p => Error::write(&display_name(p), e),
    })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target: PathBuf = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        Ok(meta) if !meta.is_file() => return OpenOptions::new().write(true).open(&target)?.write_all(bytes),
        _ => {}
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let builder = {
        use std::os::unix::fs::PermissionsExt;
        // The usual permissions of a new file, to which the system applies the umask of the user.
        let mode = fs::metadata(&target).map_or(0o666, |m| m.permissions().mode() & 0o777);
        builder.permissions(fs::Permissions::from_mode(mode))
    };
    let mut file = builder.prefix(".evermargin-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|e| e.error)?;
    // The rename is durable only after the folder was synced; some file systems cannot sync a folder.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}
