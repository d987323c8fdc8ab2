//! Splitting of arriving bytes into blocks of whole rows, in bounded memory.

use crate::decompress::refused;
use crate::error::{Error, Result};
use crate::formats::csv::rows::Form;
use crate::limits::{line_too_long, too_many_bytes};
use std::io::{self, Read};

/// Number of bytes requested at a time.
const READ: usize = 1 << 18;

/// Length from which no more rows are added to a block.
const BLOCK: usize = 4 << 20;

/// Text that is read and consumed block by block.
pub(crate) struct Lines {
    reader: Box<dyn Read>,
    name: String,
    buffer: Vec<u8>,
    /// Start of the bytes in the buffer that were not consumed.
    start: usize,
    ended: bool,
    /// Whether reading was interrupted, so that bytes that have not arrived are not waited for.
    pub(crate) interrupted: bool,
    /// Number of consumed bytes.
    pub(crate) taken: u64,
    /// Number of consumed lines.
    pub(crate) passed: u64,
}

impl Lines {
    pub(crate) fn new(reader: Box<dyn Read>, name: &str) -> Self {
        let name = name.to_string();
        let (ended, interrupted) = (false, false);
        Self { reader, name, buffer: Vec::new(), start: 0, ended, interrupted, taken: 0, passed: 0 }
    }

    /// Bytes that were read but not consumed.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Reads available bytes, at most [`READ`] of them; returns false at the end.
    pub(crate) fn fill(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let held = self.buffer.len();
        self.buffer.resize(held + READ, 0);
        let got = loop {
            match self.reader.read(&mut self.buffer[held..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(held + *got.as_ref().unwrap_or(&0));
        if got.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock) {
            self.interrupted = true;
            return Ok(false);
        }
        self.ended = got.map_err(|e| refused(&self.name, e))? == 0;
        Ok(!self.ended)
    }

    /// Reads until the given number of bytes is ahead or the text ends.
    pub(crate) fn fill_to(&mut self, bytes: usize) -> Result<()> {
        while self.ahead().len() < bytes && self.fill()? {}
        Ok(())
    }

    /// Reads until a line is ahead or the text ends.
    pub(crate) fn fill_line(&mut self, longest: usize) -> Result<()> {
        self.cut(1, None, longest).map(|_| ())
    }

    /// Reads the rest of the text; more than `cap` bytes are an error.
    pub(crate) fn rest(mut self, cap: u64) -> Result<Vec<u8>> {
        while self.fill()? {
            if self.ahead().len() as u64 > cap {
                return Err(Error::content(&self.name, too_many_bytes(cap)));
            }
        }
        self.buffer.drain(..self.start);
        Ok(self.buffer)
    }

    /// Consumes the next `bytes` bytes.
    pub(crate) fn consume(&mut self, bytes: usize) {
        self.passed += memchr::memchr_iter(b'\n', &self.ahead()[..bytes]).count() as u64;
        self.start += bytes;
        self.taken += bytes as u64;
    }

    /// Skips to a position that was reached in an earlier run.
    pub(crate) fn skip_to(&mut self, taken: u64) -> Result<()> {
        while self.taken < taken {
            if self.ahead().is_empty() && !self.fill()? {
                return Err(Error::content(
                    &self.name,
                    format!("ends after {} bytes, but {taken} bytes had been read before", self.taken),
                ));
            }
            let here = self.ahead().len().min((taken - self.taken).try_into().unwrap_or(usize::MAX));
            self.consume(here);
        }
        Ok(())
    }

    /// Skips the next line in bounded memory, regardless of its length.
    pub(crate) fn skip_line(&mut self) -> Result<()> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', self.ahead()) {
                self.consume(end + 1);
                return Ok(());
            }
            self.consume(self.ahead().len());
            if !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Length of the next block of about `rows` whole rows, and its number of lines that are not blank. The length is 0 at
    /// the end. A row longer than `longest` is an error, which is returned before the whole row was read.
    pub(crate) fn cut(&mut self, rows: usize, form: Option<&Form>, longest: usize) -> Result<(usize, usize)> {
        let (mut at, mut count) = (0, 0);
        while count < rows && at < BLOCK {
            let ahead = self.ahead();
            let end = match form {
                Some(form) => form.row_end(ahead, at),
                None => memchr::memchr(b'\n', &ahead[at..]).map(|n| at + n + 1),
            };
            let whole = end.or(self.ended.then_some(ahead.len()));
            if whole.unwrap_or(ahead.len()) - at > longest.saturating_add(1) {
                if at > 0 {
                    break;
                }
                let line = self.passed + 1;
                return Err(Error::line(&self.name, line, line_too_long(longest)));
            }
            match whole {
                Some(end) if end == at => break,
                Some(end) => {
                    count += usize::from(!ahead[at..end].trim_ascii().is_empty());
                    at = end;
                }
                None => {
                    // The amount doubles each time, so that a long row is scanned only a few times.
                    let wanted = 2 * (ahead.len() - at).max(READ / 2);
                    let before = ahead.len();
                    while self.fill()? && before > READ && self.ahead().len() < before + wanted {}
                    if self.interrupted {
                        break; // the row has not arrived completely
                    }
                }
            }
        }
        Ok((at, count))
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Lines, READ};
    use std::io::{Cursor, Read};

    /// Reader that returns one byte at a time, so that results must not depend on how bytes arrive.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    fn blocks(text: &str, rows: usize, form: Option<&Form>) -> Vec<String> {
        let mut lines = Lines::new(Box::new(Slow(Cursor::new(text.into()))), "x");
        let mut out = Vec::new();
        loop {
            let (length, _) = lines.cut(rows, form, 1000).unwrap();
            if length == 0 {
                assert_eq!(lines.taken, text.len() as u64);
                return out;
            }
            out.push(String::from_utf8(lines.ahead()[..length].to_vec()).unwrap());
            lines.consume(length);
        }
    }

    #[test]
    fn cuts_blocks_of_whole_rows() {
        assert_eq!(blocks("a\n\nb\nc", 2, None), ["a\n\nb\n", "c"]);
        let form = Form::Sign(b',');
        assert_eq!(blocks("a,\"x\n\"\"y\"\nb,\"\n", 1, Some(&form)), ["a,\"x\n\"\"y\"\n", "b,\"\n"]);
        assert_eq!(blocks("5\" pipe,x\n\"\"\n", 1, Some(&form)), ["5\" pipe,x\n", "\"\"\n"]);
    }

    /// A line without an end is refused when it exceeds the limit, before it fills the memory.
    #[test]
    fn refuses_endless_line() {
        let mut lines = Lines::new(Box::new(std::io::repeat(b'x')), "x");
        let error = lines.cut(1, None, 3 * READ).unwrap_err().to_string();
        assert!(error.starts_with("x:1: the line is over the cap"), "{error}");
        assert!(lines.buffer.len() < 16 * READ, "{}", lines.buffer.len());
    }

    #[test]
    fn skips_long_line_in_bounded_memory() {
        let long = std::io::repeat(b'x').take(40 * READ as u64);
        let mut lines = Lines::new(Box::new(long.chain(Cursor::new(b"\nb\n"))), "x");
        assert!(lines.cut(1, None, READ).is_err());
        lines.skip_line().unwrap();
        assert!(lines.buffer.len() < 4 * READ, "{}", lines.buffer.len());
        assert_eq!((lines.passed, lines.ahead()), (1, &b"b\n"[..]));
    }

    #[test]
    fn skips_to_earlier_position() {
        let mut lines = Lines::new(Box::new(Cursor::new(b"a\nb\nc\n".to_vec())), "x");
        lines.skip_to(4).unwrap();
        assert_eq!((lines.passed, lines.ahead()), (2, &b"c\n"[..]));
        let error = lines.skip_to(7).unwrap_err().to_string();
        assert_eq!(error, "x: ends after 6 bytes, but 7 bytes had been read before");
    }
}
