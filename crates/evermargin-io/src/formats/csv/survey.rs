//! Survey of the cells of a table, by which the header and the kinds of its columns are determined.

use crate::error::{Error, Result};
use crate::formats::csv::LABEL_NAMES;
use crate::formats::csv::rows::{Cell, Rows};
use crate::formats::read::{LabelColumn, ReadOptions};
use crate::limits::Limits;
use crate::remedy::{Message, Remedy};
use std::collections::BTreeSet;

/// The first row, and counts of the cells below it for each column.
pub(crate) struct Survey {
    pub(crate) first: Vec<String>,
    pub(crate) below: Vec<ColumnCounts>,
    pub(crate) rows: usize,
    /// Whether the first row is a header, if that is known.
    pub(crate) header: Option<bool>,
    /// Whether rows that cannot be used are skipped, so that a few texts do not turn a numeric column into a text column.
    tolerant: bool,
}

/// Counts of the cells of a column below the first row.
#[derive(Clone, Default)]
pub(crate) struct ColumnCounts {
    pub(crate) numbers: usize,
    texts: usize,
    /// Line and contents of the first cell with text.
    pub(crate) text: Option<(u64, String)>,
    /// Whether the cell of the first row occurs again in the column.
    first_recurs: bool,
}

impl Survey {
    pub(crate) fn of(file: &str, rows: &Rows<'_>, header: Option<bool>, limits: &Limits) -> Result<Self> {
        let mut survey =
            Self { first: Vec::new(), below: Vec::new(), rows: 0, header, tolerant: rows.is_tolerant() };
        rows.each(|line, cells| {
            if survey.rows == 0 {
                let wide = cells.len().saturating_mul(size_of::<ColumnCounts>() + size_of::<String>());
                limits.check_memory(wide).map_err(|what| Error::line(file, line, what))?;
                survey.first = cells.iter().map(ToString::to_string).collect();
                survey.below = vec![ColumnCounts::default(); cells.len()];
            } else {
                for ((seen, cell), first) in survey.below.iter_mut().zip(cells).zip(&survey.first) {
                    seen.first_recurs |= cell == first;
                    match Cell::of(cell) {
                        Cell::Number => seen.numbers += 1,
                        Cell::Text => {
                            seen.texts += 1;
                            seen.text.get_or_insert_with(|| (line, cell.to_string()));
                        }
                        Cell::Missing => {}
                    }
                }
            }
            survey.rows += 1;
            Ok(())
        })?;
        if survey.rows == 0 {
            return Err(Error::content(file, "no rows; the table is empty"));
        }
        Ok(survey)
    }

    /// Whether the first row is a header. It is one if it has text above a column of numbers, or the name of the label. In a
    /// table that has only text, it is one if its cells are all different and none occurs again in its column.
    pub(crate) fn has_header(&self, options: &ReadOptions, notes: &mut Vec<Message>) -> bool {
        if let Some(header) = self.header {
            return header;
        }
        let all_text = self.first.iter().all(|c| Cell::of(c) == Cell::Text)
            && self.below.iter().all(|seen| seen.numbers == 0 || self.holds_text(seen));
        let above_numbers =
            self.first.iter().zip(&self.below).any(|(cell, seen)| {
                Cell::of(cell) == Cell::Text && seen.numbers > 0 && !self.holds_text(seen)
            });
        let named = match &options.label {
            Some(LabelColumn::Name(name)) => self.first.contains(name),
            _ => self.first.iter().any(|c| LABEL_NAMES[..3].iter().any(|n| c.eq_ignore_ascii_case(n))),
        };
        let named = named && self.first.iter().all(|c| Cell::of(c) != Cell::Number);
        if !all_text {
            return above_numbers || named;
        }
        let distinct = self.first.iter().collect::<BTreeSet<_>>().len() == self.first.len();
        let unlike = self.rows > 1 && distinct && self.below.iter().all(|seen| !seen.first_recurs);
        let header = named || unlike;
        let taken = if header { "a header" } else { "data" };
        let what = format!("every column holds text, and the first row was taken for {taken}");
        notes.push(Message::new(what, Remedy::Header(!header)));
        header
    }

    pub(crate) fn is_number(&self, column: usize, header: bool) -> bool {
        let seen = &self.below[column];
        let first = if header { Cell::Missing } else { Cell::of(&self.first[column]) };
        let texts = self.holds_text(seen) || (first == Cell::Text && !(self.tolerant && seen.numbers > 0));
        !texts && (seen.numbers > 0 || first == Cell::Number || self.all_missing(column))
    }

    /// Whether a column is a text column. If bad rows are skipped, a column with at least 95 % numbers is not.
    fn holds_text(&self, seen: &ColumnCounts) -> bool {
        let few = self.tolerant && 19 * seen.texts <= seen.numbers;
        seen.texts > 0 && !few
    }

    pub(crate) fn all_missing(&self, column: usize) -> bool {
        self.below[column].numbers == 0 && self.below[column].text.is_none()
    }

    pub(crate) fn names(&self, header: bool) -> Vec<String> {
        if header {
            self.first.clone()
        } else {
            (1..=self.first.len()).map(|i| format!("column {i}")).collect()
        }
    }
}
