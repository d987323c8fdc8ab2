//! Opening of files: `-` is standard input; gzip, xz and zstd are recognized by their first bytes and decompressed on the
//! fly. The decompressed size is bounded, so that a small file cannot fill the memory.

use crate::error::{Error, Result};
use crate::limits::{Limits, too_many_bytes};
use crate::memory::size_text;
use crate::remedy::{Message, Remedy};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Maximum memory for the dictionary of an xz file; files of `xz -9` need 65 MiB.
const XZ_MEMORY: u64 = 512 << 20;

/// Opens a file for reading its decompressed bytes; reading more than `limits.max_bytes` is an error.
pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Box<dyn Read>> {
    let path = path.as_ref();
    open_reader(raw(path)?, &display_name(path), limits)
}

/// Reader of the decompressed bytes of `raw`; reading more than `limits.max_bytes` is an error.
pub(crate) fn open_reader(raw: Box<dyn Read>, name: &str, limits: &Limits) -> Result<Box<dyn Read>> {
    decompressed(raw, limits.max_bytes).map_err(|e| Error::read(name, e))
}

/// Reader of the bytes of a file without decompression.
fn raw(path: &Path) -> Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    let name = display_name(path);
    let file = File::open(path).map_err(|e| Error::read(&name, e))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(Error::content(&name, "is a folder; name a file in it"));
    }
    Ok(Box::new(file))
}

/// Reads and decompresses a whole file within the memory limit.
pub fn read_whole(path: impl AsRef<Path>, limits: &Limits) -> Result<Vec<u8>> {
    read_within(path.as_ref(), limits).map(|(bytes, _)| bytes)
}

/// Reads and decompresses a file; returns its bytes, and the limits reduced by them for further processing.
pub(crate) fn read_within(path: &Path, limits: &Limits) -> Result<(Vec<u8>, Limits)> {
    let name = display_name(path);
    let meta = std::fs::metadata(path).ok().filter(|m| m.is_file() && path != Path::new("-"));
    let Some(meta) = meta else {
        let raw = collected(&name, raw(path)?, 0, &limits.for_input(u64::MAX))?;
        return decompress_within(&name, raw, limits);
    };
    let limits = limits.for_input(meta.len());
    let mut file = File::open(path).map_err(|e| Error::read(&name, e))?;
    let mut head = Vec::with_capacity(6);
    file.by_ref().take(6).read_to_end(&mut head).map_err(|e| Error::read(&name, e))?;
    let compression = Compression::of(&head);
    let whole = Cursor::new(head).chain(file);
    let bytes = match compression {
        Some(_) => expanded(&name, Box::new(whole), meta.len(), &limits)?,
        None => collected(&name, whole, meta.len(), &limits)?,
    };
    let left = limits.reduced_by(bytes.len());
    Ok((bytes, left))
}

/// Decompresses bytes that were read already, if they are compressed, within the memory limit.
pub fn decompress(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Vec<u8>> {
    decompress_within(name, bytes, limits).map(|(bytes, _)| bytes)
}

/// Like [`decompress`]; also returns the limits reduced by the bytes for further processing.
pub(crate) fn decompress_within(name: &str, bytes: Vec<u8>, limits: &Limits) -> Result<(Vec<u8>, Limits)> {
    let input = bytes.len() as u64;
    let limits = limits.for_input(input);
    let bytes = if Compression::of(&bytes).is_some() {
        expanded(name, Box::new(Cursor::new(bytes)), input, &limits)?
    } else {
        check_size(name, input, &limits)?;
        bytes
    };
    let left = limits.reduced_by(bytes.len());
    Ok((bytes, left))
}

/// Reads all bytes of a reader of about `size` bytes without decompression.
fn collected(name: &str, reader: impl Read, size: u64, limits: &Limits) -> Result<Vec<u8>> {
    check_size(name, size, limits)?;
    let mut bytes: Vec<u8> = limits.vector(size as usize + 1).map_err(|what| Error::content(name, what))?;
    let cap = limits.max_bytes.min(limits.max_memory.unwrap_or(u64::MAX));
    let past = cap.saturating_add(1);
    read_bounded(reader.take(past), past, &mut bytes).map_err(|e| Error::read(name, e))?;
    check_size(name, bytes.len() as u64, limits)?;
    Ok(bytes)
}

/// Reads and decompresses all bytes of a compressed reader of `input` bytes.
fn expanded(name: &str, reader: Box<dyn Read>, input: u64, limits: &Limits) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let memory = limits.max_memory.unwrap_or(u64::MAX);
    let cap = limits.max_bytes.min(memory);
    let result = decompressed(reader, cap).and_then(|reader| read_bounded(reader, cap, &mut bytes));
    match result {
        Ok(()) => Ok(bytes),
        Err(e) if e.kind() == io::ErrorKind::FileTooLarge && memory < limits.max_bytes => {
            let what = format!(
                "its {} expand to more than the memory limit of {} ({} times as much or more)",
                size_text(input),
                size_text(memory),
                memory / input.max(1)
            );
            Err(Error::content(name, Message::new(what, Remedy::UseLessMemory)))
        }
        Err(e) if e.kind() == io::ErrorKind::OutOfMemory => {
            let what = format!("its {} expand to more than the system grants", size_text(input));
            Err(Error::content(name, Message::new(what, Remedy::UseLessMemory)))
        }
        Err(e) => Err(refused(name, e)),
    }
}

/// Returns an error if a file has more bytes than the limits allow.
fn check_size(name: &str, size: u64, limits: &Limits) -> Result<()> {
    if size > limits.max_bytes {
        return Err(Error::content(name, too_many_bytes(limits.max_bytes)));
    }
    match limits.max_memory.filter(|memory| size > *memory) {
        None => Ok(()),
        Some(memory) => {
            let what = format!("more than the memory limit of {}", size_text(memory));
            Err(Error::content(name, Message::new(what, Remedy::UseLessMemory)))
        }
    }
}

/// Name of a file in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_string() } else { path.display().to_string() }
}

/// Converts an I/O error of a decoder, which can mean that the file is damaged, to an error about the contents of the file.
pub(crate) fn refused(name: &str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => match error.downcast::<TooLarge>() {
            Ok(TooLarge(cap)) => Error::content(name, too_many_bytes(cap)),
            Err(error) => Error::read(name, error),
        },
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

/// Reader that returns an error after `cap` bytes.
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

/// Source of an I/O error for more than this number of bytes.
#[derive(Debug)]
struct TooLarge(u64);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        too_many_bytes(self.0).fmt(f)
    }
}

impl std::error::Error for TooLarge {}

fn too_large(cap: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, TooLarge(cap))
}

/// Minimum number of bytes by which a buffer grows.
const STEP: usize = 1 << 16;

/// Reads to the end. The buffer grows by half of its size at a time, and by at most [`STEP`] bytes beyond `cap`; doubling it
/// could take up to twice the allowed memory. While the buffer grows, the old and the new one exist at the same time if the
/// allocator cannot extend or remap the old one.
pub(crate) fn read_bounded(mut reader: impl Read, cap: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    let max_capacity = usize::try_from(cap).unwrap_or(usize::MAX).saturating_add(STEP);
    loop {
        if bytes.len() == bytes.capacity() {
            // If the file has exactly the reserved size, the end is found here and the buffer does not grow.
            let mut probe = [0; 32];
            let got = loop {
                match reader.read(&mut probe) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
            if got == 0 {
                return Ok(());
            }
            let grown = (bytes.len() + bytes.len() / 2)
                .clamp(bytes.len() + STEP, max_capacity.max(bytes.len() + STEP));
            bytes
                .try_reserve_exact(grown - bytes.len())
                .map_err(|e| io::Error::new(io::ErrorKind::OutOfMemory, e))?;
            bytes.extend_from_slice(&probe[..got]);
        }
        let room = bytes.capacity() - bytes.len();
        let before = bytes.len();
        reader.by_ref().take(room as u64).read_to_end(bytes)?;
        if bytes.len() - before < room {
            return Ok(());
        }
    }
}
