//! NumPy archives: `numpy.savez` with a matrix `X` (or `data`) and labels `y`, or `scipy.sparse.save_npz`.

use crate::decompress::read_bounded;
use crate::error::{Error, Result};
use crate::formats::npy::Array;
use crate::limits::{Limits, too_many_bytes};
use crate::memory::size_text;
use crate::remedy::{Limit, Message, Remedy};
use evermargin::data::Matrix;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

const MATRIX: [&str; 4] = ["X", "x", "data", "arr_0"];
const LABELS: [&str; 4] = ["y", "labels", "target", "arr_1"];

/// Reads the matrix and the label tokens of an archive.
pub(crate) fn read(file: &str, bytes: &[u8], limits: &Limits) -> Result<(Matrix, Option<Vec<String>>)> {
    let members = members(file, bytes, limits)?;
    let limits = &limits.reduced_by(members.values().map(Vec::len).sum());
    let array = |key: &str| members.get(key).map(|b| Array::parse(b).map_err(|what| within(file, key, what)));
    let find = |keys: &[&'static str]| keys.iter().copied().find(|k| members.contains_key(*k));

    if ["indptr", "indices", "data", "shape", "format"].iter().all(|k| members.contains_key(*k)) {
        let x = sparse(&members, limits).map_err(|what| Error::content(file, what))?;
        return Ok((x, labels(file, &members, find(&LABELS), limits)?));
    }
    let Some(key) = find(&MATRIX) else {
        let keys: Vec<&str> = members.keys().map(String::as_str).collect();
        return Err(Error::content(
            file,
            format!("no array named X, x, data or arr_0 in the archive (it has: {})", keys.join(", ")),
        ));
    };
    let x = match array(key) {
        Some(found) => found?.matrix(limits).map_err(|what| within(file, key, what))?,
        None => return Err(Error::content(file, "no matrix in the archive")),
    };
    Ok((x, labels(file, &members, find(&LABELS), limits)?))
}

fn within(file: &str, key: &str, what: Message) -> Error {
    Error::content(file, what.about(&format!("array {key}")))
}

fn labels(
    file: &str,
    members: &BTreeMap<String, Vec<u8>>,
    key: Option<&str>,
    limits: &Limits,
) -> Result<Option<Vec<String>>> {
    let Some((key, bytes)) = key.and_then(|k| members.get_key_value(k)) else { return Ok(None) };
    Array::parse(bytes).and_then(|a| a.tokens(limits)).map(Some).map_err(|what| within(file, key, what))
}

/// Decompresses the members with known names; returns an error if their total size exceeds the limits.
fn members(file: &str, bytes: &[u8], limits: &Limits) -> Result<BTreeMap<String, Vec<u8>>> {
    let damaged =
        |e: &dyn std::fmt::Display| Error::content(file, format!("the .npz archive is damaged ({e})"));
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(&e))?;
    let wanted = |name: &str| {
        MATRIX.contains(&name)
            || LABELS.contains(&name)
            || ["indptr", "indices", "shape", "format"].contains(&name)
    };
    let mut names = Vec::new();
    for member in archive.file_names() {
        let member = member.map_err(|e| damaged(&e))?;
        names.extend(member.strip_suffix(".npy").filter(|name| wanted(name)).map(String::from));
    }
    let memory = limits.max_memory.unwrap_or(u64::MAX);
    let mut left = limits.max_bytes.min(memory);
    let mut members = BTreeMap::new();
    for name in names {
        let mut out = Vec::new();
        let member = archive.by_name(&format!("{name}.npy")).map_err(|e| damaged(&e))?;
        let past = left.saturating_add(1);
        read_bounded(member.take(past), past, &mut out).map_err(|e| damaged(&e))?;
        left = left
            .checked_sub(out.len() as u64)
            .ok_or_else(|| Error::content(file, too_much(bytes.len() as u64, memory, limits)))?;
        members.insert(name, out);
    }
    Ok(members)
}

/// Message for an archive of `input` bytes whose members are too large.
fn too_much(input: u64, memory: u64, limits: &Limits) -> Message {
    if limits.max_bytes <= memory {
        return too_many_bytes(limits.max_bytes);
    }
    let what =
        format!("its {} expand to more than the memory limit of {}", size_text(input), size_text(memory));
    Message::new(what, Remedy::UseLessMemory)
}

/// Converts compressed sparse rows of SciPy to a matrix; columns are sorted if necessary.
fn sparse(members: &BTreeMap<String, Vec<u8>>, limits: &Limits) -> std::result::Result<Matrix, Message> {
    let array = |key: &str| Array::parse(members.get(key).map_or(&[][..], Vec::as_slice));
    let format = array("format")?.single_text();
    if format != "csr" {
        return Err(format!(
            "a sparse matrix in '{}' form; save it with .tocsr()",
            crate::error::excerpt(format.as_bytes())
        )
        .into());
    }
    let shape = array("shape")?.whole_numbers("shape", limits)?;
    let [rows, cols] = shape[..] else {
        return Err("the shape of the sparse matrix must have two entries".into());
    };
    let indptr = array("indptr")?.whole_numbers("indptr", limits)?;
    let indices = array("indices")?.whole_numbers("indices", limits)?;
    let values = array("data")?.numbers("data", limits)?;
    if cols > limits.columns() {
        return Err(crate::limits::over(cols, "columns", limits.columns(), Limit::Columns));
    }
    if Some(indptr.len()) != rows.checked_add(1) {
        return Err(format!(
            "{rows} rows need {} offsets in indptr, which has {}",
            rows.saturating_add(1),
            indptr.len()
        )
        .into());
    }
    if let Some(column) = indices.iter().find(|c| **c >= cols) {
        return Err(format!("column {column} in indices, but the matrix has {cols} columns").into());
    }
    if indices.len() != values.len() {
        return Err(format!("{} indices but {} values", indices.len(), values.len()).into());
    }
    let (mut sorted_indices, mut sorted_values) =
        (limits.vector(indices.len())?, limits.vector(values.len())?);
    for w in indptr.windows(2) {
        let span = w[0]..w[1];
        let (Some(columns), Some(numbers)) = (indices.get(span.clone()), values.get(span)) else {
            return Err("row offsets in indptr must rise from 0 to the number of values".into());
        };
        let mut row: Vec<(u32, f64)> =
            columns.iter().map(|c| *c as u32).zip(numbers.iter().copied()).collect();
        row.sort_by_key(|pair| pair.0);
        sorted_indices.extend(row.iter().map(|pair| pair.0));
        sorted_values.extend(row.iter().map(|pair| pair.1));
    }
    Matrix::csr(indptr, sorted_indices, sorted_values, cols).map_err(|e| e.to_string().into())
}
