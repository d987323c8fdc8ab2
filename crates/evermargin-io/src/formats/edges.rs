//! Graphs as lists of edges: one edge `i j` or `i j weight` per line, with rows counted from 1 and weight 1 by default. Text
//! after `#` is a comment. Directions, repeats and loops are treated as in [`Graph::from_edges`].
//!
//! The caller gives the number of rows, so that a file cannot cause a large allocation by the number of a row.

use crate::decompress::{decompress, display_name, read_whole};
use crate::error::{Error, Result, excerpt};
use crate::formats::number;
use crate::limits::Limits;
use evermargin::data::MAX_ABS;
use evermargin::graph::Graph;
use std::path::Path;

/// Reads a graph of `rows` rows from a file, compressed or not; `-` is standard input.
pub fn read_edges(path: impl AsRef<Path>, rows: usize, limits: &Limits) -> Result<Graph> {
    let path = path.as_ref();
    from_text(&display_name(path), &read_whole(path, limits)?, rows)
}

/// Like [`read_edges`], from bytes; `name` is the name of the file in error messages.
pub fn edges_from_bytes(name: &str, bytes: Vec<u8>, rows: usize, limits: &Limits) -> Result<Graph> {
    from_text(name, &decompress(name, bytes, limits)?, rows)
}

fn from_text(name: &str, bytes: &[u8], rows: usize) -> Result<Graph> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut edges = Vec::new();
    for (line, text) in (1..).zip(bytes.split(|b| *b == b'\n')) {
        let text = text.split(|b| *b == b'#').next().unwrap_or(text);
        let edge = edge(text.trim_ascii(), rows).map_err(|what| Error::line(name, line, what))?;
        edges.extend(edge);
    }
    Graph::from_edges(rows, &edges).map_err(|e| Error::content(name, e.to_string()))
}

/// Edge of a line; `None` if the line is blank.
fn edge(text: &[u8], rows: usize) -> std::result::Result<Option<(usize, usize, f64)>, String> {
    let mut fields = text.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty());
    let Some(first) = fields.next() else { return Ok(None) };
    let Some(second) = fields.next() else {
        return Err(format!("'{}' names one row; an edge is two rows and a weight", excerpt(text)));
    };
    let weight = fields.next().map_or(Ok(1.0), weight)?;
    match fields.next() {
        None => Ok(Some((row(first, rows)?, row(second, rows)?, weight))),
        Some(more) => Err(format!("'{}' after the weight; an edge is two rows and a weight", excerpt(more))),
    }
}

fn row(field: &[u8], rows: usize) -> std::result::Result<usize, String> {
    let digits = field.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(field).ok().and_then(|t| t.parse::<usize>().ok());
    match number {
        _ if !digits => Err(format!("'{}' is no row; rows are whole numbers from 1", excerpt(field))),
        Some(0) => Err("row 0; rows are counted from 1".into()),
        Some(number) if number <= rows => Ok(number - 1),
        _ => Err(format!("there is no row {}; the data has {rows}", excerpt(field))),
    }
}

fn weight(field: &[u8]) -> std::result::Result<f64, String> {
    match number::scan(field, 0) {
        Some((w, end)) if end == field.len() && (0.0..=MAX_ABS).contains(&w) => Ok(w),
        _ => Err(format!("weight '{}' is not usable; weights are finite and not negative", excerpt(field))),
    }
}
