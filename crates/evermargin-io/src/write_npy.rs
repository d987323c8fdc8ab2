//! Writer of data sets as NumPy arrays and archives.

use crate::error::{Error, Result};
use crate::formats::write::Table;
use evermargin::data::MatrixView;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

/// Encodes all values as a `.npy` file, one sample per row.
pub(crate) fn npy(x: MatrixView<'_>) -> Result<Vec<u8>> {
    let cells = x.rows().checked_mul(x.cols()).and_then(|n| n.checked_mul(8));
    let mut data = Vec::new();
    let room = cells.and_then(|bytes| data.try_reserve_exact(bytes).ok());
    room.ok_or_else(|| {
        Error::inexpressible("the dense array does not fit in memory; write .npz or LIBSVM text")
    })?;
    let mut row = vec![0.0; x.cols()];
    for i in 0..x.rows() {
        row.fill(0.0);
        x.row(i).for_each(|column, value| row[column] = value);
        data.extend(row.iter().flat_map(|v| v.to_le_bytes()));
    }
    Ok(array("<f8", &format!("({}, {})", x.rows(), x.cols()), &data))
}

/// Encodes a data set as an archive: the array `X` of a dense matrix or the arrays of `scipy.sparse.save_npz`, and the
/// labels `y`.
pub(crate) fn npz(table: &Table<'_>) -> Result<Vec<u8>> {
    let mut members = match table.x {
        MatrixView::Dense { .. } => vec![("X", npy(table.x)?)],
        MatrixView::Csr { .. } => sparse(table.x),
    };
    members.push(("y", texts(table.labels)));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        // A fixed date, so that the same data set always gives the same bytes.
        let options = SimpleFileOptions::default()
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        archive.start_file(format!("{name}.npy"), options).map_err(|e| failed(&e))?;
        archive.write_all(&bytes).map_err(|e| failed(&e))?;
    }
    Ok(archive.finish().map_err(|e| failed(&e))?.into_inner())
}

fn failed(error: &dyn std::error::Error) -> Error {
    Error::inexpressible(format!("cannot write the archive: {error}"))
}

fn sparse(x: MatrixView<'_>) -> Vec<(&'static str, Vec<u8>)> {
    let (mut indptr, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for i in 0..x.rows() {
        x.row(i).for_each(|column, value| {
            indices.push(column as u64);
            values.push(value);
        });
        indptr.push(values.len() as u64);
    }
    let whole = |v: &[u64]| {
        let data: Vec<u8> = v.iter().flat_map(|n| n.to_le_bytes()).collect();
        array("<i8", &format!("({},)", v.len()), &data)
    };
    let reals: Vec<u8> = values.iter().flat_map(|v: &f64| v.to_le_bytes()).collect();
    vec![
        ("indices", whole(&indices)),
        ("indptr", whole(&indptr)),
        ("format", array("|S3", "()", b"csr")),
        ("shape", whole(&[x.rows() as u64, x.cols() as u64])),
        ("data", array("<f8", &format!("({},)", values.len()), &reals)),
    ]
}

/// Encodes labels as an array of texts with the width of the longest.
fn texts(labels: &[Option<&str>]) -> Vec<u8> {
    let labels: Vec<Vec<char>> = labels.iter().map(|l| l.unwrap_or("?").chars().collect()).collect();
    let width = labels.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let cell = |label: &Vec<char>| {
        let mut cell: Vec<u8> = label.iter().flat_map(|c| u32::from(*c).to_le_bytes()).collect();
        cell.resize(4 * width, 0);
        cell
    };
    let data: Vec<u8> = labels.iter().flat_map(cell).collect();
    array(&format!("<U{width}"), &format!("({},)", labels.len()), &data)
}

/// Encodes a `.npy` file of version 1.0. Its header is padded so that the values begin at a multiple of 64 bytes.
fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let filled = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', filled - header.len() - 1));
    header.push('\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}
