//! What a table looks like before it is known what it means: its first row, and of which kind the cells below it are.

use crate::error::{Error, Result};
use crate::formats::csv::LABEL_NAMES;
use crate::formats::csv::rows::{Cell, Rows};
use crate::formats::read::{LabelColumn, ReadOptions};
use crate::limits::Limits;
use crate::remedy::{Message, Remedy};
use std::collections::BTreeSet;

/// The first row, and how the cells below it look, column by column.
pub(crate) struct Survey {
    pub(crate) first: Vec<String>,
    pub(crate) below: Vec<Seen>,
    pub(crate) rows: usize,
    /// Whether the first row is a header, where that is known.
    pub(crate) said: Option<bool>,
    /// Whether rows that cannot be used are left out, so that some text does not make a column of numbers one of text.
    tolerant: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Seen {
    pub(crate) numbers: usize,
    texts: usize,
    /// The first text.
    pub(crate) text: Option<(u64, String)>,
    /// Whether the cell of the first row occurs again.
    again: bool,
}

impl Survey {
    pub(crate) fn of(file: &str, rows: &Rows<'_>, said: Option<bool>, limits: &Limits) -> Result<Self> {
        let mut survey =
            Self { first: Vec::new(), below: Vec::new(), rows: 0, said, tolerant: rows.is_tolerant() };
        rows.each(|line, cells| {
            if survey.rows == 0 {
                let wide = cells.len().saturating_mul(size_of::<Seen>() + size_of::<String>());
                limits.room(wide).map_err(|what| Error::line(file, line, what))?;
                survey.first = cells.iter().map(ToString::to_string).collect();
                survey.below = vec![Seen::default(); cells.len()];
            } else {
                for ((seen, cell), first) in survey.below.iter_mut().zip(cells).zip(&survey.first) {
                    seen.again |= cell == first;
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

    /// A header is a first row with text above a column of numbers, or with the name of the label; in a table of
    /// text alone, one whose cells are all different and none of which occurs again in its column.
    pub(crate) fn has_header(&self, options: &ReadOptions, notes: &mut Vec<Message>) -> bool {
        if let Some(said) = self.said {
            return said;
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
        let unlike = self.rows > 1 && distinct && self.below.iter().all(|seen| !seen.again);
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

    /// Whether a column holds text. Where bad rows are left out, a column of which at least 95 % are numbers does not.
    fn holds_text(&self, seen: &Seen) -> bool {
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
