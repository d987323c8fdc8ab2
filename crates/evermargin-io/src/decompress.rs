//! Opening files: `-` is standard input; gzip, xz and zstd are recognized by their first bytes and decompressed
//! on the fly. What comes out is bounded, so that a small file cannot fill the memory.

use crate::error::{Error, Result};
use crate::limits::Limits;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Memory an xz file may ask for its dictionary; `xz -9` asks for 65 MiB.
const XZ_MEMORY: u64 = 512 << 20;

/// Opens a file for reading, decompressed; reading past `limits.max_bytes` is an error.
pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Box<dyn Read>> {
    let path = path.as_ref();
    let name = display_name(path);
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| Error::read(&name, e))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            return Err(Error::content(&name, "is a folder; name a file in it"));
        }
        Box::new(file)
    };
    decompressed(raw, limits.max_bytes).map_err(|e| Error::read(&name, e))
}

/// Reads a whole file, decompressed.
pub fn read_whole(path: impl AsRef<Path>, limits: &Limits) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let name = display_name(path);
    let mut bytes = Vec::new();
    let meta = std::fs::metadata(path).ok().filter(|m| m.is_file() && path != Path::new("-"));
    let Some(meta) = meta else {
        open(path, limits)?.read_to_end(&mut bytes).map_err(|e| refused(&name, e))?;
        return Ok(bytes);
    };
    let hint = meta.len().min(limits.max_bytes).min(8 << 30) as usize;
    bytes.try_reserve(hint + 1).map_err(|_| Error::content(&name, "does not fit in memory"))?;
    // Straight from the file into memory, unless it turns out to be compressed.
    let mut file = File::open(path).map_err(|e| Error::read(&name, e))?;
    file.by_ref().take(6).read_to_end(&mut bytes).map_err(|e| Error::read(&name, e))?;
    if Compression::of(&bytes).is_some() {
        bytes.clear();
        open(path, limits)?.read_to_end(&mut bytes).map_err(|e| refused(&name, e))?;
        return Ok(bytes);
    }
    let rest = limits.max_bytes.saturating_add(1).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes).map_err(|e| Error::read(&name, e))?;
    if bytes.len() as u64 > limits.max_bytes {
        return Err(refused(&name, too_large(limits.max_bytes)));
    }
    Ok(bytes)
}

/// Decompresses bytes already read, if they are compressed.
pub fn decompress(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Vec<u8>> {
    if Compression::of(&bytes).is_none() && bytes.len() as u64 <= limits.max_bytes {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    decompressed(Box::new(Cursor::new(bytes)), limits.max_bytes)
        .and_then(|mut reader| reader.read_to_end(&mut out))
        .map_err(|e| refused(name, e))?;
    Ok(out)
}

/// The name of a file in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_string() } else { path.display().to_string() }
}

/// Decoders report damage as I/O errors; to the user it is the file that is wrong, not the machine.
pub(crate) fn refused(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Error::content(name, error.to_string()),
        io::ErrorKind::UnexpectedEof => {
            Error::content(name, "the compressed file ends too early; fetch or compress it again")
        }
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
            Error::content(name, format!("the compressed file is damaged ({error}); fetch it again"))
        }
        _ => Error::read(name, error),
    }
}

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Xz,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }
}

fn decompressed(mut raw: Box<dyn Read>, max_bytes: u64) -> io::Result<Box<dyn Read>> {
    let mut head = Vec::with_capacity(6);
    raw.by_ref().take(6).read_to_end(&mut head)?;
    let compression = Compression::of(&head);
    let whole = io::BufReader::with_capacity(1 << 16, Cursor::new(head).chain(raw));
    let inner: Box<dyn Read> = match compression {
        None => Box::new(whole),
        Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(whole)),
        Some(Compression::Xz) => {
            let stream =
                liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
            Box::new(liblzma::bufread::XzDecoder::new_stream(whole, stream))
        }
        Some(Compression::Zstd) => Box::new(zstd::stream::read::Decoder::with_buffer(whole)?),
    };
    Ok(Box::new(Bounded { inner, left: max_bytes, cap: max_bytes }))
}

/// A reader that fails, rather than ends, after `cap` bytes.
struct Bounded {
    inner: Box<dyn Read>,
    left: u64,
    cap: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer)?;
        match self.left.checked_sub(got as u64) {
            Some(left) => {
                self.left = left;
                Ok(got)
            }
            None => Err(too_large(self.cap)),
        }
    }
}

fn too_large(cap: u64) -> io::Error {
    let what = format!("over the cap of {cap} bytes; if it is right, raise --max-bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}
