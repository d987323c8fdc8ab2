//! Encoding of the rows of a table as rows of a matrix, by a [`Plan`] that maps cells to features.

use crate::error::{Error, Result, excerpt};
use crate::formats::csv::rows::{RowSpan, Rows, value};
use crate::formats::csv::{Plan, Source};
use crate::formats::labels::{self, Interner};
use crate::limits::Limits;
use crate::remedy::Message;
use crate::stream::BadRow;
use evermargin::data::{Labels, Matrix};
use evermargin::model::Column;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of bytes of a row in texts for annotators.
pub(crate) const MAX_SHOWN_BYTES: usize = 2048;

/// Options for encoding rows.
pub(crate) struct Wanted {
    /// Whether the first row is a header.
    pub(crate) header: bool,
    /// Maximum number of rows.
    pub(crate) rows: usize,
    /// Whether to return the text of each row for annotators.
    pub(crate) show: bool,
    /// Whether to list all values never seen in training, instead of one per column.
    pub(crate) list_unknown: bool,
}

/// Values of a column that were never seen in training.
#[derive(Debug, Default)]
pub(crate) struct UnknownValues {
    /// Number of cells with such a value.
    pub(crate) count: usize,
    /// The first such value, or all of them on request.
    pub(crate) values: BTreeSet<String>,
}

/// Encoded rows.
pub(crate) struct Coded {
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    /// Text of each row for annotators, on request.
    pub(crate) shown: Vec<String>,
    /// Line of each row, on request.
    pub(crate) lines: Vec<u64>,
    /// Identifier of each row, if there is a column of identifiers.
    pub(crate) ids: Vec<String>,
    /// Values never seen in training, by column.
    pub(crate) unknown: BTreeMap<String, UnknownValues>,
    /// Number of bytes of the text up to the end of the last encoded row.
    pub(crate) used: usize,
}

impl Coded {
    /// Note about values never seen in training.
    pub(crate) fn unknown_note(name: &str, unknown: &UnknownValues) -> String {
        let (count, value) = (unknown.count, unknown.values.first().map_or("", String::as_str));
        format!(
            "column '{name}': {count} values never seen in training, such as '{}', count as none",
            excerpt(value.as_bytes())
        )
    }
}

/// Rows being encoded.
struct Coding<'p> {
    dense: bool,
    values: Vec<f64>,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    unknown: BTreeMap<&'p str, UnknownValues>,
    list_unknown: bool,
}

impl Plan {
    /// Encodes rows of the table.
    pub(crate) fn code(
        &mut self,
        file: &str,
        rows: &Rows<'_>,
        wanted: &Wanted,
        limits: &Limits,
    ) -> Result<Coded> {
        let dense = self.sources.iter().all(|s| matches!(s.column, Column::Number { .. }));
        let mut coding = Coding {
            dense,
            values: Vec::new(),
            indptr: vec![0],
            indices: Vec::new(),
            unknown: BTreeMap::new(),
            list_unknown: wanted.list_unknown,
        };
        let mut ids = Vec::new();
        let (mut tokens, mut names) = (Vec::new(), Names::default());
        let (mut display_texts, mut lines) = (Vec::new(), Vec::new());
        let (mut at_header, mut used) = (wanted.header, rows.text.len());
        if wanted.rows < usize::MAX {
            coding
                .reserve(wanted.rows, self.sources.len(), limits)
                .map_err(|what| Error::content(file, what))?;
        }
        let (sources, label, id) = (&mut self.sources, self.label, self.id);
        let is_text = |s: &&Source| matches!(s.column, Column::Text { .. });
        let texts: Vec<usize> = sources.iter().filter(is_text).filter_map(|s| s.cell).collect();
        let mut weights: Vec<_> = sources.iter_mut().map(|s| s.weights.take()).collect();
        let outcome = rows.each_while(|span, row| {
            if std::mem::take(&mut at_header) {
                return Ok(true);
            }
            if let Some(label) = label.filter(|_| rows.is_tolerant())
                && let Err(what) = names.check(row[label])
            {
                return rows.reject(BadRow::new(span.line, what)).map(|()| true);
            }
            for (source, weights) in sources.iter().zip(&mut weights) {
                let Some(cell) =
                    source.cell.map(|cell| row[cell]).filter(|c| !(source.optional && c.is_empty()))
                else {
                    coding.add_missing();
                    continue;
                };
                match (&source.column, weights) {
                    (Column::Text { .. }, Some(weights)) => {
                        weights.code(cell, source.first, &mut coding.indices, &mut coding.values);
                    }
                    (column, _) => {
                        let is_known = |values: &[usize]| {
                            values.iter().any(|&s| sources[s].column.place_of(cell).is_some())
                        };
                        let is_new = source.last_of_cell && !is_known(&source.same_cell);
                        if let Err(what) = coding.cell(cell, source.first, column, is_new) {
                            coding.drop_row();
                            let bad = BadRow::cell(span.line, column.name(), cell, what);
                            return rows.reject(bad).map(|()| true);
                        }
                    }
                }
            }
            coding.indptr.push(coding.values.len());
            if let Some(label) = label {
                tokens.push(names.number(row[label], span.line));
            }
            if let Some(id) = id {
                ids.push(clipped(row[id]));
            }
            if wanted.show {
                display_texts.push(display_text(rows.text, span, row, &texts));
                lines.push(span.line);
            }
            if coding.indptr.len() > wanted.rows {
                used = span.end;
                return Ok(false);
            }
            Ok(true)
        });
        let Coding { values, indptr, indices, unknown, .. } = coding;
        let unknown = unknown.into_iter().map(|(name, count)| (name.to_string(), count)).collect();
        sources.iter_mut().zip(weights).for_each(|(source, weights)| source.weights = weights);
        outcome?;
        let wrong = |e: evermargin::Error| Error::content(file, e.to_string());
        let count = indptr.len() - 1;
        let x = if dense {
            Matrix::dense(values, count, self.features).map_err(wrong)?
        } else {
            Matrix::csr(indptr, indices, values, self.features).map_err(wrong)?
        };
        let labels = match label {
            Some(_) => names.labels(file, &tokens)?,
            None => labels::none(count),
        };
        Ok(Coded { x, labels, shown: display_texts, lines, ids, unknown, used })
    }
}

impl<'p> Coding<'p> {
    /// Removes the cells of an unfinished row.
    fn drop_row(&mut self) {
        let end = self.indptr.last().copied().unwrap_or(0);
        self.values.truncate(end);
        self.indices.truncate(end);
    }

    /// Adds the value 0 for a column that the row lacks.
    fn add_missing(&mut self) {
        if self.dense {
            self.values.push(0.0);
        }
    }

    /// Reserves memory for `rows` rows with one value per cell. The words of a text can take more.
    fn reserve(&mut self, rows: usize, cells: usize, limits: &Limits) -> std::result::Result<(), Message> {
        let values = limits.check_shape(rows, cells)?;
        limits
            .check_memory(values.saturating_mul(if self.dense { 8 } else { 12 }).saturating_add(8 * rows))?;
        self.values = limits.vector(values)?;
        if !self.dense {
            self.indices = limits.vector(values)?;
        }
        Ok(())
    }

    #[inline]
    fn cell(
        &mut self,
        cell: &str,
        first: usize,
        column: &'p Column,
        is_new: bool,
    ) -> std::result::Result<(), String> {
        match column {
            Column::Number { .. } => {
                let value = value(cell)?;
                if self.dense {
                    self.values.push(value);
                } else if value != 0.0 {
                    self.indices.push(first as u32);
                    self.values.push(value);
                }
            }
            Column::Category { name, .. } => match column.place_of(cell) {
                Some(at) => {
                    self.indices.push((first + at) as u32);
                    self.values.push(1.0);
                }
                None if is_new => {
                    let list = self.list_unknown;
                    let unknown = self.unknown.entry(name).or_default();
                    unknown.count += 1;
                    if (list || unknown.values.is_empty()) && !unknown.values.contains(cell) {
                        unknown.values.insert(cell.to_string());
                    }
                }
                None => {}
            },
            Column::Text { .. } => {}
        }
        Ok(())
    }
}

/// Text of a row for annotators: the cells of its text columns if it has any, else the row as written.
fn display_text(text: &str, span: RowSpan, row: &[&str], texts: &[usize]) -> String {
    match texts {
        [] => clipped(text[span.start..span.end].trim()),
        [one] => clipped(row[*one]),
        several => clipped(&several.iter().map(|&t| row[t]).collect::<Vec<_>>().join("\n")),
    }
}

/// Beginning of a text, at most [`MAX_SHOWN_BYTES`] long.
pub(crate) fn clipped(text: &str) -> String {
    let mut end = text.len().min(MAX_SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_string()
}

/// Distinct label cells, each with the line of its first occurrence.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    first: Vec<(String, u64)>,
}

impl Names {
    /// Returns an error for a cell that cannot be a label.
    fn check(&self, cell: &str) -> std::result::Result<(), String> {
        if self.numbers.contains_key(cell) {
            return Ok(());
        }
        Interner::default().number(cell.as_bytes()).map(|_| ())
    }

    fn number(&mut self, cell: &str, line: u64) -> usize {
        if let Some(number) = self.numbers.get(cell) {
            return *number;
        }
        self.numbers.insert(cell.to_string(), self.first.len());
        self.first.push((cell.to_string(), line));
        self.first.len() - 1
    }

    fn labels(&self, file: &str, of: &[usize]) -> Result<Labels> {
        let mut interner = Interner::default();
        let mut numbers = Vec::with_capacity(self.first.len());
        for (cell, line) in &self.first {
            numbers.push(interner.number(cell.as_bytes()).map_err(|what| Error::line(file, *line, what))?);
        }
        let of: Vec<u32> = of.iter().map(|n| numbers[*n]).collect();
        Ok(interner.labels(&of))
    }
}
