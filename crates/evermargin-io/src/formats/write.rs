//! Writing data sets: LIBSVM text and CSV. Numbers are the shortest decimals that read back to the same bits.

use crate::error::{Error, Result};
use crate::formats::number;
use crate::output::write_atomic;
use evermargin::data::MatrixView;
use std::path::Path;

/// Writes `label index:value …` lines, indices from 1, zeros left out; a row without label gets `?`.
pub fn write_libsvm(path: impl AsRef<Path>, x: MatrixView<'_>, labels: &[Option<&str>]) -> Result<()> {
    one_a_row(x, labels)?;
    let mut out = Vec::new();
    for (i, label) in labels.iter().enumerate() {
        let label = label.unwrap_or("?");
        if label.is_empty() || label.contains(|c: char| c.is_whitespace() || c == ':' || c == '#') {
            return Err(Error::inexpressible(format!(
                "class name '{label}' cannot be a label in LIBSVM text, which allows no blank, colon or #; write CSV"
            )));
        }
        out.extend_from_slice(label.as_bytes());
        x.row(i).for_each(|column, value| {
            out.push(b' ');
            out.extend_from_slice((column + 1).to_string().as_bytes());
            out.push(b':');
            number::write(&mut out, value);
        });
        out.push(b'\n');
    }
    write_atomic(path, &out)
}

/// Writes a table with a header, the label in the last column, named `label`; a row without label gets `?`.
/// Columns without a name are called `x1`, `x2`, ….
pub fn write_csv(
    path: impl AsRef<Path>,
    x: MatrixView<'_>,
    labels: &[Option<&str>],
    names: &[String],
) -> Result<()> {
    one_a_row(x, labels)?;
    let failed = |e: csv::Error| Error::inexpressible(e.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for c in 0..x.cols() {
        let name = names.get(c).cloned().unwrap_or_else(|| format!("x{}", c + 1));
        writer.write_field(name).map_err(failed)?;
    }
    writer.write_record(["label"]).map_err(failed)?;
    let mut row = vec![0.0; x.cols()];
    let mut cell = Vec::new();
    for (i, label) in labels.iter().enumerate() {
        row.fill(0.0);
        x.row(i).for_each(|column, value| row[column] = value);
        for value in &row {
            cell.clear();
            number::write(&mut cell, *value);
            writer.write_field(&cell).map_err(failed)?;
        }
        writer.write_record([label.unwrap_or("?")]).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| Error::inexpressible(e.to_string()))?;
    write_atomic(path, &bytes)
}

fn one_a_row(x: MatrixView<'_>, labels: &[Option<&str>]) -> Result<()> {
    if labels.len() == x.rows() {
        return Ok(());
    }
    Err(Error::inexpressible(format!(
        "{} labels for {} rows; there must be one a row",
        labels.len(),
        x.rows()
    )))
}
