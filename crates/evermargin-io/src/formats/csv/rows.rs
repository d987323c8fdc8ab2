//! Rows of a table as cells: separated by a character (with quotes) or by blanks, or values of JSON objects.

use crate::error::{Error, Result};
use crate::formats::detect::Format;
use crate::formats::jsonl::{self, Keys};
use crate::formats::libsvm::value_fault;
use crate::formats::number;
use crate::limits::{Limits, line_too_long};
use crate::stream::BadRow;
use evermargin::data::MAX_ABS;
use std::cell::RefCell;

/// Kind of the contents of a cell.
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

/// Usable number in a cell, or the reason why there is none.
pub(crate) fn value(text: &str) -> std::result::Result<f64, String> {
    match number::parse(text.as_bytes()) {
        Some(value) if value.abs() <= MAX_ABS => Ok(value),
        _ if text.is_empty() || text == "?" => {
            Err("the value is missing; fill it in or leave the row out".to_string())
        }
        _ => Err(value_fault(text.as_bytes())),
    }
}

/// Treatment of rows that cannot be used.
pub(crate) enum BadRows {
    /// The first of them is an error.
    Fail,
    /// They are skipped.
    Skip,
    /// They are skipped and listed.
    List(RefCell<Vec<BadRow>>),
}

/// Form of the rows of a table.
pub(crate) enum Form {
    /// Cells are separated by this character and can be quoted.
    Sign(u8),
    /// Cells are separated by blanks.
    Blanks,
    /// Each row is a JSON object, whose cells are the values of these keys. The first row of the table is the keys.
    Objects(Keys),
}

impl Form {
    /// Form of a table that begins with `text`. Objects have the keys in `text` and the `known` ones. With `skipped`, keys of
    /// bad rows are ignored.
    pub(crate) fn of(
        file: &str,
        text: &str,
        format: Format,
        known: impl Iterator<Item = String>,
        limits: &Limits,
        skipped: bool,
    ) -> Result<Self> {
        Ok(match format {
            Format::Tsv => Self::Sign(b'\t'),
            Format::Space => Self::Blanks,
            Format::Jsonl => {
                let mut keys = Keys::default();
                for line in lines(text).filter(|line| !skipped || jsonl::is_object(line.text)) {
                    jsonl::add_keys(line.text, &mut keys, limits.columns())
                        .map_err(|what| Error::line(file, line.number, what))?;
                }
                known.for_each(|name| keys.add(&name));
                Self::Objects(keys)
            }
            _ => Self::Sign(separator_of(text.lines().next().unwrap_or_default())),
        })
    }

    /// End of the row that begins at `start`, including its line end; `None` if `bytes` do not contain all of it.
    pub(crate) fn row_end(&self, bytes: &[u8], start: usize) -> Option<usize> {
        let end = start + memchr::memchr(b'\n', &bytes[start..])? + 1;
        match self {
            Self::Sign(sign) if memchr::memchr(b'"', &bytes[start..end]).is_some() => {
                quoted_end(bytes, start, *sign).ok().flatten()
            }
            _ => Some(end),
        }
    }
}

/// Text of a table without a byte order mark. Returns an error if the bytes are not UTF-8 or a line is too long.
pub(crate) fn text_of<'a>(file: &str, bytes: &'a [u8], limits: &Limits) -> Result<&'a str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = line_at(bytes, e.valid_up_to());
        Error::line(file, line, "bytes that are not UTF-8; save the file as UTF-8")
    })?;
    let mut start = 0;
    for (i, end) in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]).enumerate() {
        if end - start > limits.max_line {
            return Err(Error::line(file, i as u64 + 1, line_too_long(limits.max_line)));
        }
        start = end + 1;
    }
    Ok(text)
}

/// Position of a row: its line, counted from 1, and its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSpan {
    pub(crate) line: u64,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Text of a table in which all quotes are closed.
pub(crate) struct Rows<'a> {
    file: &'a str,
    pub(crate) text: &'a str,
    form: &'a Form,
    /// Number of cells per row, if the rows continue a table; they have no header then.
    width: Option<usize>,
    bad: BadRows,
    other_keys: std::cell::Cell<bool>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str, form: &'a Form, width: Option<usize>) -> Result<Self> {
        if let Form::Sign(sign) = form
            && let Some(at) = open_quote(text.as_bytes(), *sign)
        {
            let line = line_at(text.as_bytes(), at);
            return Err(Error::line(file, line, "a quote opens in this line and never closes"));
        }
        Ok(Self { file, text, form, width, bad: BadRows::Fail, other_keys: std::cell::Cell::new(false) })
    }

    /// Sets the treatment of rows that cannot be used.
    pub(crate) fn without(mut self, bad: BadRows) -> Self {
        self.bad = bad;
        self
    }

    /// Whether bad rows are skipped.
    pub(crate) fn is_tolerant(&self) -> bool {
        !matches!(self.bad, BadRows::Fail)
    }

    /// Whether an object that was read has keys that are unknown to the form.
    pub(crate) fn has_other_keys(&self) -> bool {
        self.other_keys.get()
    }

    /// Rejects a row, which is an error unless bad rows are skipped.
    pub(crate) fn reject(&self, row: BadRow) -> Result<()> {
        match &self.bad {
            BadRows::Fail => Err(row.into_error(self.file)),
            BadRows::Skip => Ok(()),
            BadRows::List(list) => {
                list.borrow_mut().push(row);
                Ok(())
            }
        }
    }

    /// Rows that were skipped and listed.
    pub(crate) fn into_bad(self) -> Vec<BadRow> {
        match self.bad {
            BadRows::List(list) => list.into_inner(),
            BadRows::Fail | BadRows::Skip => Vec::new(),
        }
    }

    /// Calls `f(line, cells)` for each row; all rows have the same number of cells as the first.
    pub(crate) fn each(&self, mut f: impl FnMut(u64, &[&str]) -> Result<()>) -> Result<()> {
        self.each_while(|span, cells| f(span.line, cells).map(|()| true))
    }

    /// Calls `f(span, cells)` for each row until it returns false.
    pub(crate) fn each_while(&self, mut f: impl FnMut(RowSpan, &[&str]) -> Result<bool>) -> Result<()> {
        let mut width = self.width;
        let mut row = |span: RowSpan, cells: &[&str]| {
            let expected = *width.get_or_insert(cells.len());
            if cells.len() != expected {
                let what = format!("{} cells, but the first row has {expected}", cells.len());
                return self.reject(BadRow::new(span.line, what)).map(|()| true);
            }
            f(span, cells)
        };
        match self.form {
            Form::Blanks => {
                for line in lines(self.text) {
                    let cells: Vec<&str> = line.text.split_ascii_whitespace().collect();
                    if !cells.is_empty() && !row(line.span(), &cells)? {
                        break;
                    }
                }
                Ok(())
            }
            Form::Objects(keys) => self.objects(keys, row),
            Form::Sign(sign) => self.separated(*sign, row),
        }
    }

    fn objects(&self, keys: &Keys, mut row: impl FnMut(RowSpan, &[&str]) -> Result<bool>) -> Result<()> {
        if self.width.is_none() {
            let names: Vec<&str> = keys.names.iter().map(String::as_str).collect();
            if !row(RowSpan { line: 1, start: 0, end: 0 }, &names)? {
                return Ok(());
            }
        }
        let mut read = jsonl::Cells::default();
        for line in lines(self.text) {
            if let Err(what) = read.read(line.text, keys) {
                self.reject(BadRow::new(line.number, what))?;
                continue;
            }
            self.other_keys.set(read.has_other_keys);
            let cells: Vec<&str> = read.spans.iter().map(|s| s.of(line.text, &read.scratch).trim()).collect();
            if !row(line.span(), &cells)? {
                break;
            }
        }
        Ok(())
    }

    fn separated(&self, sign: u8, mut row: impl FnMut(RowSpan, &[&str]) -> Result<bool>) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(sign)
            .trim(csv::Trim::All)
            .from_reader(self.text.as_bytes());
        let mut record = csv::StringRecord::new();
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(e) => return Err(Error::content(self.file, e.to_string())),
            }
            // A line of blanks is not a row.
            if record.len() == 1 && record.get(0) == Some("") {
                continue;
            }
            let (line, start) = record.position().map_or((0, 0), |p| (p.line(), p.byte() as usize));
            let cells: Vec<&str> = record.iter().collect();
            let end = reader.position().byte() as usize;
            if !row(RowSpan { line, start, end }, &cells)? {
                return Ok(());
            }
        }
    }
}

/// A line that is not blank.
struct Line<'a> {
    number: u64,
    text: &'a str,
    start: usize,
}

impl Line<'_> {
    fn span(&self) -> RowSpan {
        RowSpan { line: self.number, start: self.start, end: self.start + self.text.len() }
    }
}

fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').enumerate().filter_map(move |(i, line)| {
        let from = start;
        start += line.len();
        (!line.trim_ascii().is_empty()).then_some(Line { number: i as u64 + 1, text: line, start: from })
    })
}

fn line_at(bytes: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1
}

/// Character that separates the cells of a line: the most frequent one of comma, semicolon and tab.
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

/// Position of an opening quote without a closing one.
fn open_quote(bytes: &[u8], separator: u8) -> Option<usize> {
    memchr::memchr(b'"', bytes)?;
    let mut start = 0;
    loop {
        match quoted_end(bytes, start, separator) {
            Ok(Some(end)) => start = end,
            Ok(None) => return None,
            Err(open) => return Some(open),
        }
    }
}

/// End of the row that begins at `start`, ignoring line ends within quotes; `None` if the row has no line end. The error is
/// the position of a quote that is never closed. A quote counts only as the first character of a cell (RFC 4180).
fn quoted_end(bytes: &[u8], start: usize, separator: u8) -> std::result::Result<Option<usize>, usize> {
    let mut p = start;
    loop {
        if bytes.get(p) == Some(&b'"') {
            let open = p;
            p += 1;
            loop {
                match memchr::memchr(b'"', bytes.get(p..).unwrap_or_default()) {
                    Some(n) => p += n + 1,
                    None => return Err(open),
                }
                if bytes.get(p) != Some(&b'"') {
                    break;
                }
                p += 1;
            }
        }
        let Some(n) = memchr::memchr2(separator, b'\n', bytes.get(p..).unwrap_or_default()) else {
            return Ok(None);
        };
        p += n + 1;
        if bytes[p - 1] == b'\n' {
            return Ok(Some(p));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, open_quote, separator_of};

    #[test]
    fn opens_quotes_only_at_cell_starts() {
        assert_eq!(open_quote(b"a,\"b\"\"c\",d\n", b','), None);
        assert_eq!(open_quote(b"5\" pipe,x\n", b','), None);
        assert_eq!(open_quote(b"a,\"b\n1,2\n", b','), Some(2));
        assert_eq!(open_quote(b"\"", b','), Some(0));
        assert_eq!(open_quote(b"\"a\"\"", b','), Some(0));
    }

    #[test]
    fn detects_separator() {
        assert_eq!(separator_of("a;b;c,d"), b';');
        assert_eq!(separator_of("a"), b',');
    }

    #[test]
    fn classifies_cells() {
        assert_eq!(Cell::of("1e5"), Cell::Number);
        assert_eq!(Cell::of("NaN"), Cell::Missing);
        assert_eq!(Cell::of("12a"), Cell::Text);
    }
}
