//! Writing of data sets in the format that the file name determines. Numbers are the shortest decimals that read back to the
//! same bits; arrays have f64 values. Reading a written file gives the same rows and labels in every format.

use crate::decompress::display_name;
use crate::error::{Error, Result};
use crate::formats::detect::{Format, Packing};
use crate::formats::labels::Interner;
use crate::formats::number;
use crate::output::write_atomic;
use crate::write_npy::{npy, npz};
use evermargin::data::MatrixView;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rows of a data set to be written.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// One sample per row.
    pub x: MatrixView<'a>,
    /// One label per row; `None` is written as `?`, in JSON as null.
    pub labels: &'a [Option<&'a str>],
    /// Names of the columns; columns without a name are called `x1`, `x2`, and so on.
    pub names: &'a [String],
}

/// Result of writing a data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Format of the file.
    pub format: Format,
    /// Separate file with the labels, for a format without labels.
    pub labels: Option<PathBuf>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Writes a data set in the format that the file name determines: LIBSVM text (`.svm`, `.libsvm`, `.svmlight`, `.txt`), CSV,
/// TSV, JSON lines, `.npy` or `.npz`, compressed if the name ends in `.gz`, `.xz` or `.zst`; `-` is LIBSVM text on standard
/// output. An `.npy` array has no labels: these are written to a text file next to it. Files are written atomically.
pub fn write_data(path: impl AsRef<Path>, table: &Table<'_>) -> Result<Written> {
    let path = path.as_ref();
    let (format, packing) =
        Format::of_output(path).map_err(|what| Error::content(&display_name(path), what))?;
    let mut notes = Vec::new();
    let format = format.unwrap_or_else(|| {
        notes.push(format!("{}: the name has no suffix, so the format is LIBSVM text", path.display()));
        Format::Libsvm
    });
    table.check()?;
    let bytes = match format {
        Format::Csv => table.separated(b',')?,
        Format::Tsv => table.separated(b'\t')?,
        Format::Jsonl => table.json_lines()?,
        Format::Npy => npy(table.x)?,
        Format::Npz => npz(table)?,
        Format::Libsvm | Format::Space | Format::Idx => table.libsvm()?,
    };
    let labels = match format {
        Format::Npy if table.labels.iter().any(Option::is_some) => Some(table.write_labels(path)?),
        _ => None,
    };
    write_atomic(path, &packed(bytes, packing)?)?;
    Ok(Written { format, labels, notes })
}

/// Writes lines `label index:value …` with indices from 1 and without zeros; a row without label gets `?`.
pub fn write_libsvm(path: impl AsRef<Path>, x: MatrixView<'_>, labels: &[Option<&str>]) -> Result<()> {
    let table = Table { x, labels, names: &[] };
    table.check()?;
    write_atomic(path, &table.libsvm()?)
}

/// Writes a table with a header and the label in the last column, which is named `label`; a row without label gets `?`.
/// Columns without a name are called `x1`, `x2`, ….
pub fn write_csv(
    path: impl AsRef<Path>,
    x: MatrixView<'_>,
    labels: &[Option<&str>],
    names: &[String],
) -> Result<()> {
    let table = Table { x, labels, names };
    table.check()?;
    write_atomic(path, &table.separated(b',')?)
}

impl Table<'_> {
    /// Returns an error for labels that would be read back differently.
    fn check(&self) -> Result<()> {
        if self.labels.len() != self.x.rows() {
            return Err(Error::inexpressible(format!(
                "{} labels for {} rows; there must be one per row",
                self.labels.len(),
                self.x.rows()
            )));
        }
        let mut names = Interner::default();
        for label in self.labels.iter().flatten() {
            let number = names.number(label.as_bytes()).map_err(Error::inexpressible)?;
            if names.tokens.get(number as usize) != Some(label) {
                return Err(Error::inexpressible(format!(
                    "class name '{label}' would be read back as another label or as none; rename the class"
                )));
            }
        }
        Ok(())
    }

    fn libsvm(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for (i, label) in self.labels.iter().enumerate() {
            let label = label.unwrap_or("?");
            if label.contains(|c: char| c.is_whitespace() || c == ':' || c == '#') {
                return Err(Error::inexpressible(format!(
                    "class name '{label}' cannot be a label in LIBSVM text, which allows no blank, colon or #; write CSV"
                )));
            }
            out.extend_from_slice(label.as_bytes());
            self.x.row(i).for_each(|column, value| {
                out.push(b' ');
                out.extend_from_slice((column + 1).to_string().as_bytes());
                out.push(b':');
                number::write(&mut out, value);
            });
            out.push(b'\n');
        }
        Ok(out)
    }

    fn separated(&self, sign: u8) -> Result<Vec<u8>> {
        let failed = |e: csv::Error| Error::inexpressible(e.to_string());
        let mut writer = csv::WriterBuilder::new().delimiter(sign).from_writer(Vec::new());
        for name in self.column_names() {
            writer.write_field(name).map_err(failed)?;
        }
        writer.write_record(["label"]).map_err(failed)?;
        let mut cell = Vec::new();
        self.each_row(|row, label| {
            for value in row {
                cell.clear();
                number::write(&mut cell, *value);
                writer.write_field(&cell).map_err(failed)?;
            }
            writer.write_record([label.unwrap_or("?")]).map_err(failed)
        })?;
        writer.into_inner().map_err(|e| Error::inexpressible(e.to_string()))
    }

    fn json_lines(&self) -> Result<Vec<u8>> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let keys: Vec<String> = self.column_names().map(|name| quoted(&name)).collect();
        let mut out = Vec::new();
        self.each_row(|row, label| {
            out.push(b'{');
            for (key, value) in keys.iter().zip(row) {
                out.extend_from_slice(key.as_bytes());
                out.push(b':');
                number::write(&mut out, *value);
                out.push(b',');
            }
            let label = label.map_or_else(|| "null".to_string(), quoted);
            out.extend_from_slice(b"\"label\":");
            out.extend_from_slice(label.as_bytes());
            out.extend_from_slice(b"}\n");
            Ok(())
        })?;
        Ok(out)
    }

    /// Writes the labels, one per line, to a file next to the array at `path`.
    fn write_labels(&self, path: &Path) -> Result<PathBuf> {
        let known = |name: &str| self.labels.contains(&Some(name));
        if known("0") && known("-1") {
            return Err(Error::inexpressible(
                "label 0 would be read back as missing, because label -1 occurs, too; write .npz instead of .npy",
            ));
        }
        let mut text = String::new();
        for label in self.labels {
            text.push_str(label.unwrap_or("?"));
            text.push('\n');
        }
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let bare = Packing::strip(&name).0;
        let target = path.with_file_name(format!("{}.labels.txt", bare.strip_suffix(".npy").unwrap_or(bare)));
        write_atomic(&target, text.as_bytes())?;
        Ok(target)
    }

    fn column_names(&self) -> impl Iterator<Item = String> {
        (0..self.x.cols()).map(|c| self.names.get(c).cloned().unwrap_or_else(|| format!("x{}", c + 1)))
    }

    /// Calls `f` with the values and the label of each row.
    fn each_row(&self, mut f: impl FnMut(&[f64], Option<&str>) -> Result<()>) -> Result<()> {
        let mut row = vec![0.0; self.x.cols()];
        for (i, label) in self.labels.iter().enumerate() {
            row.fill(0.0);
            self.x.row(i).for_each(|column, value| row[column] = value);
            f(&row, *label)?;
        }
        Ok(())
    }
}

fn packed(bytes: Vec<u8>, packing: Option<Packing>) -> Result<Vec<u8>> {
    let result = match packing {
        None => Ok(bytes),
        Some(Packing::Gzip) => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            writer.write_all(&bytes).and_then(|()| writer.finish())
        }
        Some(Packing::Xz) => {
            let mut writer = liblzma::write::XzEncoder::new(Vec::new(), 6);
            writer.write_all(&bytes).and_then(|()| writer.finish())
        }
        Some(Packing::Zstd) => zstd::encode_all(&bytes[..], 0),
    };
    result.map_err(|e| Error::inexpressible(format!("cannot compress: {e}")))
}
