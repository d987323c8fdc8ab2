//! LIBSVM text: one sample `label index:value …` per line, read in parallel.
//!
//! The bytes are cut at line ends into pieces whose size does not depend on the number of threads, so that the matrix and
//! the reported error are always the same. Rows are sorted and have neither zeros nor repeated indices.

use crate::error::{Error, Fault, Result, excerpt};
use crate::formats::labels::{Interner, UNLABELED};
use crate::formats::number;
use crate::limits::{Limits, index_too_large, line_too_long};
use crate::remedy::{Limit, Message, Remedy};
use evermargin::data::{Labels, MAX_ABS, Matrix};
use rayon::prelude::*;

const PIECE_BYTES: usize = 1 << 19;

/// Number of pieces read in parallel; their memory is reused for the next ones.
const PIECES_PER_ROUND: usize = 16;

/// Contents of a LIBSVM text.
pub(crate) struct Text {
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    pub(crate) zero_based: bool,
    pub(crate) unsorted: bool,
    /// Rows that were skipped, in order; empty if the first bad row is an error.
    pub(crate) bad: Vec<Fault>,
}

/// Treatment of a row that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnBadRow {
    Fail,
    LeaveOut,
}

/// Reads a LIBSVM text. `base` is the number of the first column if the caller knows it; otherwise it is 0 if index 0 occurs,
/// else 1. The matrix has at least `cols` columns.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    base: Option<u8>,
    cols: Option<usize>,
    limits: &Limits,
) -> Result<Text> {
    read_in_pieces(file, bytes, base, cols, limits, PIECE_BYTES, OnBadRow::Fail)
}

/// Like [`read`], but skips rows that cannot be used. The result may have no rows.
pub(crate) fn read_usable(
    file: &str,
    bytes: &[u8],
    base: Option<u8>,
    cols: Option<usize>,
    limits: &Limits,
) -> Result<Text> {
    read_in_pieces(file, bytes, base, cols, limits, PIECE_BYTES, OnBadRow::LeaveOut)
}

fn read_in_pieces(
    file: &str,
    bytes: &[u8],
    base: Option<u8>,
    cols: Option<usize>,
    limits: &Limits,
    size: usize,
    on_bad_row: OnBadRow,
) -> Result<Text> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bounds = cut(bytes, size);
    let first_index = u64::from(base == Some(1));
    let windows: Vec<&[usize]> = bounds.windows(2).collect();
    let mut all = AllRows::with_room(bytes, limits).map_err(|what| Error::content(file, what))?;
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    pieces.resize_with(PIECES_PER_ROUND.min(windows.len()), Piece::default);
    for round in windows.chunks(PIECES_PER_ROUND) {
        let read: Vec<_> = pieces
            .par_iter_mut()
            .zip(round)
            .map(|(piece, w)| piece.read(&bytes[w[0]..w[1]], first_index, limits, on_bad_row))
            .collect();
        for (piece, result) in pieces.iter_mut().zip(read) {
            result.map_err(|mut fault| {
                fault.place.line += all.lines;
                fault.within(file)
            })?;
            all.add(piece).map_err(|what| Error::content(file, what))?;
        }
        if all.of.len() > limits.max_rows {
            let line = line_of_row(bytes, limits.max_rows);
            let what =
                Message::new(format!("more than {} rows", limits.max_rows), Remedy::Raise(Limit::Rows));
            return Err(Error::line(file, line, what));
        }
    }
    let some_bad = !all.bad.is_empty();
    if all.of.is_empty() && !some_bad {
        let what =
            if bytes.is_empty() { "the file is empty" } else { "no rows; every line is blank or a comment" };
        return Err(Error::content(file, what));
    }
    if !all.pairs && cols.is_none() && !some_bad {
        return Err(Error::content(file, "no index:value pair in any row; is it LIBSVM text?"));
    }
    let zero_based = base == Some(0) || all.zero;
    if !zero_based {
        all.indices.iter_mut().for_each(|i| *i -= 1);
    }
    let width = if all.pairs { all.highest as usize + usize::from(zero_based) } else { 0 };
    let labels = all.names.labels(&all.of);
    let x = Matrix::csr(all.indptr, all.indices, all.values, width.max(cols.unwrap_or(0)))
        .map_err(|e| Error::content(file, e.to_string()))?;
    Ok(Text { x, labels, zero_based, unsorted: all.unsorted, bad: all.bad })
}

/// Offsets of pieces that begin at line starts, and the end.
fn cut(bytes: &[u8], size: usize) -> Vec<usize> {
    let mut bounds = vec![0];
    let mut at = 0;
    while bytes.len() - at > size {
        match memchr::memchr(b'\n', &bytes[at + size..]) {
            Some(end) if at + size + end + 1 < bytes.len() => at += size + end + 1,
            _ => break,
        }
        bounds.push(at);
    }
    bounds.push(bytes.len());
    bounds
}

/// All rows read, with indices as written.
struct AllRows<'a> {
    lines: u64,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    names: Interner<'a>,
    of: Vec<u32>,
    highest: u32,
    pairs: bool,
    zero: bool,
    unsorted: bool,
    bad: Vec<Fault>,
}

impl<'a> AllRows<'a> {
    /// Reserves memory for the whole text, one value per colon and one row per line, so that nothing is allocated later.
    /// Reserved memory that is not used costs nothing.
    fn with_room(bytes: &[u8], limits: &Limits) -> std::result::Result<Self, Message> {
        let values = memchr::memchr_iter(b':', bytes).count();
        let rows = memchr::memchr_iter(b'\n', bytes).count() + 1;
        limits.check_memory(values.saturating_mul(12).saturating_add(rows.saturating_mul(20)))?;
        let mut indptr = limits.vector(rows + 1)?;
        indptr.push(0);
        Ok(Self {
            lines: 0,
            indptr,
            indices: limits.vector(values)?,
            values: limits.vector(values)?,
            names: Interner::default(),
            of: limits.vector(rows)?,
            highest: 0,
            pairs: false,
            zero: false,
            unsorted: false,
            bad: Vec::new(),
        })
    }

    fn add(&mut self, piece: &mut Piece<'a>) -> std::result::Result<(), String> {
        let before = self.values.len();
        self.indptr.extend(piece.ends.iter().map(|end| before + end));
        self.indices.extend_from_slice(&piece.indices);
        self.values.extend_from_slice(&piece.values);
        let tokens = piece.names.tokens.iter();
        let numbers: Vec<u32> =
            tokens.map(|t| self.names.number(t.as_bytes())).collect::<std::result::Result<_, _>>()?;
        self.of.extend(piece.labels.iter().map(|n| numbers.get(*n as usize).copied().unwrap_or(UNLABELED)));
        self.bad.extend(piece.bad.drain(..).map(|mut fault| {
            fault.place.line += self.lines;
            fault
        }));
        self.lines += piece.lines;
        self.highest = self.highest.max(piece.highest);
        self.pairs |= piece.pairs;
        self.zero |= piece.zero;
        self.unsorted |= piece.unsorted;
        Ok(())
    }
}

/// Rows of one piece, with indices as written.
#[derive(Default)]
struct Piece<'a> {
    lines: u64,
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    names: Interner<'a>,
    labels: Vec<u32>,
    highest: u32,
    pairs: bool,
    zero: bool,
    unsorted: bool,
    bad: Vec<Fault>,
}

impl<'a> Piece<'a> {
    /// Replaces the rows by those of `bytes`.
    fn read(
        &mut self,
        bytes: &'a [u8],
        first_index: u64,
        limits: &Limits,
        on_bad_row: OnBadRow,
    ) -> std::result::Result<(), Fault> {
        self.clear();
        let comments = memchr::memchr(b'#', bytes).is_some();
        let mut at = 0;
        while at < bytes.len() {
            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            let line = &bytes[at..end];
            at = end + 1;
            self.lines += 1;
            if on_bad_row == OnBadRow::LeaveOut {
                self.usable_row(line, comments, first_index, limits);
            } else {
                check_length(line, self.lines, limits)?;
                self.row(content(line, comments), first_index, limits.columns() as u64)?;
            }
        }
        Ok(())
    }

    /// Reads a row, or skips it and records the reason.
    fn usable_row(&mut self, line: &'a [u8], comments: bool, first_index: u64, limits: &Limits) {
        let before = (self.highest, self.pairs, self.zero, self.unsorted);
        let (rows, values) = (self.ends.len(), self.values.len());
        let read = check_length(line, self.lines, limits)
            .and_then(|()| match memchr::memchr(0, line) {
                Some(at) => Err(Fault::new(self.lines, at + 1, "a NUL byte; the line is not text")),
                None => Ok(()),
            })
            .and_then(|()| self.row(content(line, comments), first_index, limits.columns() as u64));
        if let Err(fault) = read {
            (self.highest, self.pairs, self.zero, self.unsorted) = before;
            self.labels.truncate(rows);
            self.indices.truncate(values);
            self.values.truncate(values);
            self.bad.push(fault);
        }
    }

    /// Removes the rows but keeps their memory.
    fn clear(&mut self) {
        self.ends.clear();
        self.indices.clear();
        self.values.clear();
        self.labels.clear();
        *self = Self {
            ends: std::mem::take(&mut self.ends),
            indices: std::mem::take(&mut self.indices),
            values: std::mem::take(&mut self.values),
            labels: std::mem::take(&mut self.labels),
            ..Self::default()
        };
    }

    #[inline]
    fn row(&mut self, line: &'a [u8], first_index: u64, cap: u64) -> std::result::Result<(), Fault> {
        let mut p = skip_blanks(line, 0);
        if p == line.len() {
            return Ok(());
        }
        let token = &line[p..token_end(line, p)];
        if memchr::memchr(b':', token).is_some() {
            self.labels.push(UNLABELED);
        } else {
            let number = self.names.number(token).map_err(|what| Fault::new(self.lines, p + 1, what))?;
            self.labels.push(number);
            p += token.len();
        }
        let row_start = self.values.len();
        // Greater than every index read so far in this row.
        let mut next = 0;
        let mut sorted = true;
        loop {
            p = skip_blanks(line, p);
            if p == line.len() {
                break;
            }
            let start = p;
            let mut index: u64 = 0;
            while p < line.len() && line[p].is_ascii_digit() && p - start < 18 {
                index = index * 10 + u64::from(line[p] - b'0');
                p += 1;
            }
            if p == start || line.get(p) != Some(&b':') {
                if line[start..].starts_with(b"qid:") {
                    p = token_end(line, start);
                    continue;
                }
                return Err(bad_pair(self.lines, line, start, cap));
            }
            if index > cap || index < first_index {
                return Err(bad_index(self.lines, start, index, cap));
            }
            let read = small_number(line, p + 1).or_else(|| number::scan(line, p + 1));
            let Some((value, end)) = read.filter(|(v, _)| v.abs() <= MAX_ABS) else {
                return Err(bad_value(self.lines, line, p + 1, index));
            };
            p = end;
            sorted &= index >= next;
            next = index + 1;
            self.zero |= index == 0;
            self.pairs = true;
            let index = index as u32;
            self.highest = self.highest.max(index);
            // An unsorted row keeps its zeros, because `sort_row` checks it for repeats.
            if value != 0.0 || !sorted {
                self.indices.push(index);
                self.values.push(value);
            }
        }
        if !sorted {
            self.sort_row(line, row_start)?;
        }
        self.ends.push(self.values.len());
        Ok(())
    }

    /// Sorts the last row and returns an error for repeats. The line is parsed again, because zeros were dropped before.
    #[cold]
    fn sort_row(&mut self, line: &[u8], row_start: usize) -> std::result::Result<(), Fault> {
        let mut pairs = Vec::new();
        for token in line.split(|b| matches!(b, b' ' | b'\t')).filter(|t| !t.starts_with(b"qid:")) {
            if let Some(colon) = memchr::memchr(b':', token)
                && let (Some(index), Some(value)) =
                    (number::parse(&token[..colon]), number::parse(&token[colon + 1..]))
            {
                pairs.push((index as u32, value));
            }
        }
        pairs.sort_by_key(|pair| pair.0);
        if let Some(w) = pairs.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(Fault::new(
                self.lines,
                0,
                format!("index {} appears twice; keep one of them", w[0].0),
            ));
        }
        self.indices.truncate(row_start);
        self.values.truncate(row_start);
        for (index, value) in pairs.into_iter().filter(|pair| pair.1 != 0.0) {
            self.indices.push(index);
            self.values.push(value);
        }
        self.unsorted = true;
        Ok(())
    }
}

fn check_length(line: &[u8], number: u64, limits: &Limits) -> std::result::Result<(), Fault> {
    if line.len() <= limits.max_line {
        return Ok(());
    }
    Err(Fault::new(number, 0, line_too_long(limits.max_line)))
}

/// Parses a value of at most 15 digits and no other characters, as most values in such files are.
#[inline]
fn small_number(line: &[u8], start: usize) -> Option<(f64, usize)> {
    let mut p = start;
    let mut whole: u64 = 0;
    while p < line.len() && line[p].is_ascii_digit() {
        whole = whole.wrapping_mul(10).wrapping_add(u64::from(line[p] - b'0'));
        p += 1;
    }
    let ends = p == line.len() || matches!(line[p], b' ' | b'\t');
    (ends && p > start && p - start <= 15).then_some((whole as f64, p))
}

/// Line without comment and line end.
#[inline]
pub(crate) fn content(line: &[u8], comments: bool) -> &[u8] {
    let comment = if comments { memchr::memchr(b'#', line) } else { None };
    let line = comment.map_or(line, |at| &line[..at]);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[inline]
fn skip_blanks(line: &[u8], mut p: usize) -> usize {
    while p < line.len() && matches!(line[p], b' ' | b'\t') {
        p += 1;
    }
    p
}

#[inline]
fn token_end(line: &[u8], p: usize) -> usize {
    line[p..].iter().position(|b| matches!(b, b' ' | b'\t')).map_or(line.len(), |n| p + n)
}

fn line_of_row(bytes: &[u8], row: usize) -> u64 {
    let mut seen = 0;
    for (i, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if !content(line, true).trim_ascii().is_empty() {
            if seen == row {
                return i as u64 + 1;
            }
            seen += 1;
        }
    }
    0
}

#[cold]
fn bad_pair(line: u64, text: &[u8], start: usize, cap: u64) -> Fault {
    let token = &text[start..token_end(text, start)];
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let whole = |t: &[u8]| !t.is_empty() && t.iter().all(u8::is_ascii_digit);
    let what = match memchr::memchr(b':', digits) {
        Some(colon) if whole(&digits[..colon]) && digits.len() < token.len() => {
            format!(
                "index {} is negative; indices are whole numbers from 1",
                excerpt(&token[..=colon]).trim_end_matches(':')
            )
        }
        Some(colon) if whole(&digits[..colon]) => {
            return Fault::new(line, start + 1, index_too_large(excerpt(&digits[..colon]), cap));
        }
        Some(colon) => format!("index '{}' is not a whole number", excerpt(&digits[..colon])),
        None => format!("expected index:value, found '{}'", excerpt(token)),
    };
    Fault::new(line, start + 1, what)
}

#[cold]
fn bad_index(line: u64, start: usize, index: u64, cap: u64) -> Fault {
    let what = if index == 0 {
        Message::new("index 0, but indices are counted from 1 here", Remedy::IndexBaseZero)
    } else {
        index_too_large(index, cap)
    };
    Fault::new(line, start + 1, what)
}

#[cold]
fn bad_value(line: u64, text: &[u8], start: usize, index: u64) -> Fault {
    let token = &text[start.min(text.len())..token_end(text, start.min(text.len()))];
    Fault {
        cell: Some((index.to_string(), excerpt(token))),
        ..Fault::new(line, start + 1, value_fault(token))
    }
}

/// Reason why a token is not a usable value.
pub(crate) fn value_fault(token: &[u8]) -> String {
    let word = std::str::from_utf8(token).ok().and_then(|t| t.parse::<f64>().ok());
    match word {
        _ if token.is_empty() => "a value is missing after the colon".to_string(),
        Some(v) if !v.is_finite() => {
            format!("value {} is not a finite number; replace missing values", excerpt(token))
        }
        Some(_) => format!("value {} is larger than 1e100; rescale the data", excerpt(token)),
        None => format!("value '{}' is not a number", excerpt(token)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, OnBadRow, content, cut, read, read_in_pieces, read_usable};
    use proptest::prelude::*;
    use std::fmt::Write;

    #[test]
    fn cuts_pieces_at_line_starts() {
        assert_eq!(cut(b"ab\ncd\nef\n", 2), [0, 3, 6, 9]);
        assert_eq!(cut(b"ab\ncd\nef\n", 100), [0, 9]);
        assert_eq!(cut(b"", 2), [0, 0]);
    }

    #[test]
    fn strips_comments_and_line_ends() {
        assert_eq!(content(b"1 2:3 # note", true), b"1 2:3 ");
        assert_eq!(content(b"1 2:3\r", false), b"1 2:3");
    }

    #[test]
    fn reports_first_error_for_any_piece_size() {
        let text = b"1 1:1\n# c\n2 2:x\n1 1:1\n3 -1:4\n";
        for size in [1, 3, 7, 20, 1000] {
            let error = read_in_pieces("f", text, None, None, &Limits::default(), size, OnBadRow::Fail)
                .err()
                .unwrap();
            assert_eq!(error.to_string(), "f:3:5: value 'x' is not a number");
        }
    }

    /// A bad row adds neither values nor columns to the matrix.
    #[test]
    fn bad_rows_do_not_change_matrix() {
        let text = b"1 1:1\n2 900:1 2:x\n# c\n1 2:3\n3 5:1 5:2\nnan 1:1\n1 0:\0\n2 1:inf\n";
        let good = read("f", b"1 1:1\n1 2:3\n", Some(1), None, &Limits::default()).unwrap();
        for size in [1, 7, 1000] {
            let limits = Limits::default();
            let got = read_in_pieces("f", text, Some(1), None, &limits, size, OnBadRow::LeaveOut).unwrap();
            assert_eq!(got.x, good.x);
            assert_eq!(got.labels.of.len(), 2);
            let lines: Vec<u64> = got.bad.iter().map(|fault| fault.place.line).collect();
            assert_eq!(lines, [2, 5, 6, 7, 8]);
            assert_eq!(got.bad[0].cell, Some(("2".into(), "x".into())));
        }
        let none = read_usable("f", b"x\n1 a:1\n", Some(1), Some(4), &Limits::default()).unwrap();
        assert_eq!((none.x.rows(), none.bad.len()), (1, 1), "a label alone is a row of zeros");
    }

    proptest! {
        #[test]
        fn reads_same_rows_for_any_piece_size(
            rows in prop::collection::vec((0..5u8, prop::collection::btree_map(0..40u32, -9.0..9.0f64, 0..6)), 1..40),
            size in 1..200usize,
        ) {
            let mut text = String::new();
            for (label, row) in &rows {
                text += &label.to_string();
                for (i, v) in row {
                    write!(text, " {i}:{v}").unwrap();
                }
                text.push('\n');
            }
            let read = |size| read_in_pieces("f", text.as_bytes(), Some(0), Some(40), &Limits::default(), size, OnBadRow::Fail);
            let all = read(1 << 20).unwrap();
            let parts = read(size).unwrap();
            prop_assert_eq!(all.x, parts.x);
            prop_assert_eq!(all.labels, parts.labels);
        }
    }
}
