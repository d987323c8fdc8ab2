//! Reading of data sets in all formats.

use crate::decompress::{decompress_within, display_name, read_within};
use crate::error::{Error, Result};
use crate::formats::detect::Format;
use crate::formats::labels::{self, Interner};
use crate::formats::{csv, idx, libsvm, npy, npz};
use crate::limits::Limits;
use crate::remedy::Message;
use evermargin::data::{Labels, Matrix};
use evermargin::model::{Column, InputSpec, LabelPosition, ViewFile};
use std::path::{Path, PathBuf};

/// Samples with their labels and a description of their features.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// One sample per row, dense or sparse depending on the number of zeros.
    pub x: Matrix,
    /// Labels of the samples.
    pub labels: Labels,
    /// Encoding of table columns as features; empty if the data is no table.
    pub columns: Vec<Column>,
    /// Number of the first column in LIBSVM text (0 or 1), as found or as given.
    pub index_base: Option<u8>,
    /// Position of the label in a table, to be stored in the model.
    pub label: Option<LabelPosition>,
    /// The class that is learned against the union of all others, if the problem is reduced to two classes.
    pub positive: Option<String>,
    /// Whether the rows of a kernel matrix began with their number, which was removed.
    pub serial_column: bool,
    /// The files whose columns were concatenated, if there were several.
    pub files: Vec<ViewFile>,
    /// Notes for the user about guesses and corrections.
    pub notes: Vec<Message>,
}

impl Dataset {
    /// Mapping of the file to features and labels, to be stored in a model.
    pub fn input_spec(&self) -> InputSpec {
        InputSpec::new(self.columns.clone(), self.label.clone(), self.index_base)
            .with_positive(self.positive.clone())
            .with_serial_column(self.serial_column)
            .with_files(self.files.clone())
    }
}

/// Column of a table that the user specifies: the label or another column with a special use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelColumn {
    /// Name in the header.
    Name(String),
    /// Position, counted from 1.
    Index(usize),
}

/// Options for reading a data set. By default all properties of the data are detected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// Format of the file; detected by default.
    pub format: Option<Format>,
    /// Label column of a table.
    pub label: Option<LabelColumn>,
    /// Name of the label column in messages; "the label" by default.
    pub label_purpose: Option<&'static str>,
    /// Whether the data has no labels: every column of a table is a feature, and labels in other formats are ignored, except
    /// those in `labels_file`.
    pub unlabeled: bool,
    /// Whether a table may lack the label column. No label column is guessed then.
    pub label_optional: bool,
    /// Columns of raw text, each of which is encoded as the weights of its words.
    pub text: Vec<LabelColumn>,
    /// Number of hash buckets for the words of a text column, a power of two; 2^18 by default.
    pub buckets: Option<usize>,
    /// Columns to use in addition to label and text; all by default.
    pub only: Option<Vec<LabelColumn>>,
    /// Columns of a model, so that a table is encoded as in training.
    pub columns: Option<Vec<Column>>,
    /// Number of the last of these columns that a table may lack; they are 0 then.
    pub optional_columns: usize,
    /// Column of a table with identifiers of its rows, which is no feature.
    pub id: Option<LabelColumn>,
    /// Position of the label in training; used together with `columns`.
    pub trained_label: Option<LabelPosition>,
    /// Classes of a model. A column can be guessed to be the label only if it contains one of them.
    pub classes: Option<Vec<String>>,
    /// Whether the first row of a table is a header; detected by default.
    pub header: Option<bool>,
    /// Number of features of a model. Sparse data is widened or cut to it; dense data must have it.
    pub cols: Option<usize>,
    /// Number of the first column in LIBSVM text: 0 or 1.
    pub index_base: Option<u8>,
    /// Separate file of labels: text with one label per line, `.npy` or IDX.
    pub labels_file: Option<PathBuf>,
    /// Limits on the file and on the memory for reading it.
    pub limits: Limits,
}

impl ReadOptions {
    /// Options for reading data like that of a classifier or a state, with this mapping to features, classes and number of
    /// features.
    pub fn like(input: &InputSpec, classes: &[String], features: usize) -> Self {
        Self {
            columns: (!input.columns.is_empty()).then(|| input.columns.clone()),
            optional_columns: input.optional_columns,
            trained_label: input.label.clone(),
            classes: Some(match &input.positive {
                Some(class) => vec![class.clone()],
                None => classes.to_vec(),
            }),
            cols: Some(features),
            index_base: input.index_base,
            ..Self::default()
        }
    }
}

/// Reads a data set; `-` is standard input.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset> {
    let path = path.as_ref();
    let (bytes, limits) = read_within(path, &options.limits)?;
    assemble(path, &bytes, &ReadOptions { limits, ..options.clone() })
}

/// Reads a data set from bytes; `name` is the name of the file in error messages and for the detection of the format.
pub fn read_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Dataset> {
    let (bytes, limits) = decompress_within(name, bytes, &options.limits)?;
    assemble(Path::new(name), &bytes, &ReadOptions { limits, ..options.clone() })
}

pub(crate) fn assemble(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let name = display_name(path);
    let limits = &options.limits;
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(path, bytes).map_err(|what| Error::content(&name, what))?,
    };
    if !format.is_table() && !options.text.is_empty() {
        return Err(Error::content(&name, format!("{} has no columns of text", format.name())));
    }
    let mut notes = Vec::new();
    let (mut columns, mut index_base, mut label) = (Vec::new(), None, None);
    let mut label_path = options.labels_file.clone();
    let (x, own_labels) = match format {
        Format::Libsvm => {
            refuse_nul(&name, bytes)?;
            let text = libsvm::read(&name, bytes, options.index_base, options.cols, limits)?;
            if text.unsorted {
                notes.push("indices were unsorted and have been sorted".into());
            }
            if text.zero_based && options.index_base.is_none() {
                notes.push("index 0 occurs, so indices were taken to count from 0".into());
            }
            index_base = Some(u8::from(!text.zero_based));
            (text.x, Some(text.labels))
        }
        Format::Csv | Format::Tsv | Format::Space | Format::Jsonl => {
            refuse_nul(&name, bytes)?;
            let table = csv::read(&name, bytes, format, options, &mut notes)?;
            (columns, label) = (table.columns, table.label);
            (table.x, Some(table.labels))
        }
        Format::Npy => (npy::read_matrix(&name, bytes, limits)?, None),
        Format::Npz => {
            let (x, tokens) = npz::read(&name, bytes, limits)?;
            let labels = tokens.map(|t| from_tokens(&name, &t)).transpose()?;
            (x, labels)
        }
        Format::Idx => {
            if label_path.is_none()
                && let Some(found) = idx::sibling_labels(path)
            {
                notes.push(format!("labels were taken from {}", found.display()).into());
                label_path = Some(found);
            }
            (idx::read_matrix(&name, bytes, limits)?, None)
        }
    };
    if x.rows() == 0 {
        return Err(Error::content(&name, "no rows"));
    }
    let labels = match label_path {
        _ if options.unlabeled && options.labels_file.is_none() => labels::none(x.rows()),
        Some(file) => {
            if own_labels.as_ref().is_some_and(|l| l.labeled() > 0) {
                notes.push(format!("labels in {name} were replaced by those of {}", file.display()).into());
            }
            labels::from_file(&file, limits, &mut notes)?
        }
        None => own_labels.unwrap_or_else(|| labels::none(x.rows())),
    };
    if labels.of.len() != x.rows() {
        let from = options.labels_file.as_ref().map_or(name.clone(), |p| display_name(p));
        let what = format!(
            "{} labels for the {} rows of {name}; there must be one per row",
            labels.of.len(),
            x.rows()
        );
        return Err(Error::content(&from, what));
    }
    let x = fit_width(&name, x, format, options.cols, &mut notes)?;
    limits.check_memory(layout_bytes(&x)).map_err(|what| Error::content(&name, what))?;
    Ok(Dataset {
        x: x.into_natural_layout(),
        labels,
        columns,
        index_base,
        label,
        positive: None,
        serial_column: false,
        files: Vec::new(),
        notes,
    })
}

/// Bytes of the matrix, and of its copy in the other layout if that one is preferred.
fn layout_bytes(x: &Matrix) -> usize {
    let (rows, nonzeros) = (x.rows(), x.view().nonzeros());
    let cells = rows.saturating_mul(x.cols());
    let (dense, sparse) = (cells.saturating_mul(8), nonzeros.saturating_mul(12).saturating_add(8 * rows));
    let full = nonzeros as f64 >= 0.2 * cells as f64;
    match x {
        Matrix::Dense { .. } if full => dense,
        Matrix::Csr { .. } if !full => sparse,
        _ => dense.saturating_add(sparse),
    }
}

/// Adjusts the number of columns to that of a model. Sparse text omits trailing zeros and can have columns that the model
/// does not have; other formats must have the same number.
fn fit_width(
    name: &str,
    x: Matrix,
    format: Format,
    cols: Option<usize>,
    notes: &mut Vec<Message>,
) -> Result<Matrix> {
    let Some(cols) = cols.filter(|c| *c != x.cols()) else { return Ok(x) };
    if format != Format::Libsvm {
        return Err(Error::content(name, format!("{} columns, but the model has {cols}", x.cols())));
    }
    if x.cols() > cols {
        notes.push(format!("columns past the {cols} of the model were left out (up to {})", x.cols()).into());
    }
    Ok(x.with_cols(cols))
}

fn from_tokens(name: &str, tokens: &[String]) -> Result<Labels> {
    let mut interner = Interner::default();
    let mut of = Vec::with_capacity(tokens.len());
    for token in tokens {
        of.push(interner.number(token.as_bytes()).map_err(|what| Error::content(name, what))?);
    }
    Ok(interner.labels(&of))
}

pub(crate) fn refuse_nul(name: &str, bytes: &[u8]) -> Result<()> {
    match memchr::memchr(0, bytes) {
        None => Ok(()),
        Some(at) => {
            let line = memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1;
            Err(Error::line(
                name,
                line,
                "a NUL byte; this is not a text file, or it is UTF-16: save it as UTF-8",
            ))
        }
    }
}
