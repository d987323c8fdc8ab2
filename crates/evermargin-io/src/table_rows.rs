//! The rows of a table as cells, whether separated by a sign (quotes allowed) or by blanks.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::libsvm::value_fault;
use crate::limits::Limits;
use crate::number;
use evermargin::data::MAX_ABS;

/// What a cell looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Number,
    /// Empty, `?`, or a word that programs write for a missing or infinite number.
    Missing,
    Text,
}

impl Cell {
    pub(crate) fn of(text: &str) -> Self {
        if number::parse(text.as_bytes()).is_some() {
            return Self::Number;
        }
        let word = text.trim_start_matches(['-', '+']);
        let missing = ["", "?", "nan", "na", "n/a", "null", "none", "inf", "infinity"];
        if missing.iter().any(|m| word.eq_ignore_ascii_case(m)) { Self::Missing } else { Self::Text }
    }
}

/// The usable number in a cell, or why there is none.
pub(crate) fn value(text: &str) -> std::result::Result<f64, String> {
    match number::parse(text.as_bytes()) {
        Some(value) if value.abs() <= MAX_ABS => Ok(value),
        _ if text.is_empty() || text == "?" => {
            Err("the value is missing; fill it in or leave the row out".to_string())
        }
        _ => Err(value_fault(text.as_bytes())),
    }
}

/// A text known to be a well-formed table: UTF-8, lines within the cap, quotes closed.
pub(crate) struct Rows<'a> {
    file: &'a str,
    text: &'a str,
    separator: Option<u8>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(file: &'a str, bytes: &'a [u8], format: Format, limits: &Limits) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = line_at(bytes, e.valid_up_to());
            Error::line(file, line, "bytes that are not UTF-8; save the file as UTF-8")
        })?;
        let mut start = 0;
        for (i, end) in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]).enumerate() {
            if end - start > limits.max_line {
                let cap = limits.max_line;
                let what =
                    format!("the line is over the cap of {cap} bytes; if it is right, raise --max-line");
                return Err(Error::line(file, i as u64 + 1, what));
            }
            start = end + 1;
        }
        let separator = match format {
            Format::Tsv => Some(b'\t'),
            Format::Space => None,
            _ => Some(separator_of(text.lines().next().unwrap_or_default())),
        };
        if let Some(sign) = separator
            && let Some(at) = open_quote(bytes, sign)
        {
            return Err(Error::line(file, line_at(bytes, at), "a quote opens in this line and never closes"));
        }
        Ok(Self { file, text, separator })
    }

    /// Calls `f(line, cells)` for each row; all rows have as many cells as the first.
    pub(crate) fn each(&self, mut f: impl FnMut(u64, &[&str]) -> Result<()>) -> Result<()> {
        let mut width = None;
        let mut row = |line: u64, cells: &[&str]| {
            let expected = *width.get_or_insert(cells.len());
            if cells.len() != expected {
                let what = format!("{} cells, but the first row has {expected}", cells.len());
                return Err(Error::line(self.file, line, what));
            }
            f(line, cells)
        };
        let Some(separator) = self.separator else {
            for (i, line) in self.text.lines().enumerate() {
                let cells: Vec<&str> = line.split_ascii_whitespace().collect();
                if !cells.is_empty() {
                    row(i as u64 + 1, &cells)?;
                }
            }
            return Ok(());
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .trim(csv::Trim::All)
            .from_reader(self.text.as_bytes());
        let mut record = csv::StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(e) => return Err(Error::content(self.file, e.to_string())),
            }
            let line = record.position().map_or(0, csv::Position::line);
            // A line of blanks alone is not a row.
            if record.len() == 1 && record.get(0) == Some("") {
                continue;
            }
            let cells: Vec<&str> = record.iter().collect();
            row(line, &cells)?;
        }
    }
}

fn line_at(bytes: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1
}

/// The sign that separates cells in a line: the most frequent of comma, semicolon and tab.
fn separator_of(line: &str) -> u8 {
    let count = |sign: u8| memchr::memchr_iter(sign, line.as_bytes()).count();
    let mut best = b',';
    for sign in [b';', b'\t'] {
        if count(sign) > count(best) {
            best = sign;
        }
    }
    best
}

/// Where a quote opens that never closes. A quote counts only at the start of a cell, as in RFC 4180.
fn open_quote(bytes: &[u8], separator: u8) -> Option<usize> {
    memchr::memchr(b'"', bytes)?;
    let mut p = 0;
    while p < bytes.len() {
        while p < bytes.len() && bytes[p] == b' ' {
            p += 1;
        }
        if bytes.get(p) == Some(&b'"') {
            let open = p;
            p += 1;
            loop {
                match memchr::memchr(b'"', &bytes[p.min(bytes.len())..]) {
                    Some(n) => p += n + 1,
                    None => return Some(open),
                }
                if bytes.get(p) != Some(&b'"') {
                    break;
                }
                p += 1;
            }
        }
        p += memchr::memchr2(separator, b'\n', &bytes[p..]).map_or(bytes.len() - p, |n| n + 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Cell, open_quote, separator_of};

    #[test]
    fn quotes_open_at_cell_starts_only() {
        assert_eq!(open_quote(b"a,\"b\"\"c\",d\n", b','), None);
        assert_eq!(open_quote(b"5\" pipe,x\n", b','), None);
        assert_eq!(open_quote(b"a,\"b\n1,2\n", b','), Some(2));
        assert_eq!(open_quote(b"\"", b','), Some(0));
        assert_eq!(open_quote(b"\"a\"\"", b','), Some(0));
    }

    #[test]
    fn separators() {
        assert_eq!(separator_of("a;b;c,d"), b';');
        assert_eq!(separator_of("a"), b',');
    }

    #[test]
    fn cells() {
        assert_eq!(Cell::of("1e5"), Cell::Number);
        assert_eq!(Cell::of("NaN"), Cell::Missing);
        assert_eq!(Cell::of("12a"), Cell::Text);
    }
}
