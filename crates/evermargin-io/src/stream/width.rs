//! Number of columns of LIBSVM text, determined without storing the text.

use super::lines::Lines;
use crate::decompress::{display_name, open};
use crate::formats::detect::Format;
use crate::formats::libsvm::content;
use crate::limits::Limits;
use std::path::Path;

/// Largest index, whether index 0 occurs, and whether there are any index:value pairs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Width {
    pub(crate) highest: u64,
    pub(crate) zero: bool,
    pub(crate) pairs: bool,
}

impl Width {
    /// Scans the indices of a file if it is LIBSVM text. Errors in the file are ignored here and reported when it is read.
    pub(crate) fn scan(&mut self, path: &Path, limits: &Limits) {
        let unbounded = Limits { max_bytes: u64::MAX, ..limits.clone() };
        let Ok(reader) = open(path, &unbounded) else { return };
        let mut lines = Lines::new(reader, &display_name(path));
        if lines.fill_to(1 << 16).is_err() || Format::detect(path, lines.ahead()) != Ok(Format::Libsvm) {
            return;
        }
        while let Ok((length, _)) = lines.cut(usize::MAX, None, limits.max_line) {
            if length == 0 {
                return;
            }
            lines.ahead()[..length].split(|b| *b == b'\n').for_each(|line| self.line(content(line, true)));
            lines.consume(length);
        }
    }

    /// Scans a line. An index is a whole number between a blank and a colon.
    fn line(&mut self, line: &[u8]) {
        for colon in memchr::memchr_iter(b':', line) {
            let digits = line[..colon].iter().rev().take(18).take_while(|b| b.is_ascii_digit()).count();
            let start = colon - digits;
            if digits == 0 || (start > 0 && !matches!(line[start - 1], b' ' | b'\t')) {
                continue;
            }
            let index = line[start..colon].iter().fold(0, |n, b| n * 10 + u64::from(b - b'0'));
            self.highest = self.highest.max(index);
            self.zero |= index == 0;
            self.pairs = true;
        }
    }

    /// Number of columns if the number of the first is `base`.
    pub(crate) fn columns(self, base: u8) -> usize {
        (self.highest + u64::from(base == 0)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, Width};

    #[test]
    fn finds_largest_index_of_all_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.svm");
        std::fs::write(&path, "+1 3:1 17:2 qid:99 # 500:1\n\n? 20:1\r\n4:1").unwrap();
        let mut width = Width::default();
        width.scan(&path, &Limits::default());
        assert_eq!(width, Width { highest: 20, zero: false, pairs: true });
        assert_eq!((width.columns(1), width.columns(0)), (20, 21));
        std::fs::write(&path, "1 0:1 30:2\n").unwrap();
        width.scan(&path, &Limits::default());
        assert_eq!(width, Width { highest: 30, zero: true, pairs: true });
    }
}
