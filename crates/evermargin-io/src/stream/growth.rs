//! Columns that appear after the beginning of a stream: new columns of a table, new keys of objects, new values of a
//! category, larger indices. They are appended to the [`Schema`], so that existing features keep their numbers.

use super::{Schema, Setting, apply_schema};
use crate::error::{Error, Result};
use crate::formats::csv::Plan;
use crate::formats::csv::encode::UnknownValues;
use crate::formats::csv::rows::Rows;
use crate::formats::csv::survey::Survey;
use crate::limits::Limits;
use evermargin::model::Column;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of features to which a stream grows. Its first batch may have more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnCap {
    /// Maximum if batches are sparse matrices.
    pub sparse: usize,
    /// Maximum if batches are dense matrices.
    pub dense: usize,
}

impl Setting<'_> {
    /// Number of features that can be added to a stream that has begun; `None` if its columns are fixed.
    pub(super) fn room(&self) -> Option<usize> {
        let (schema, cap) = (self.schema.as_ref()?, self.growth?);
        if self.features.is_some() || self.options.only.is_some() {
            return None;
        }
        let cap = if schema.sparse == Some(false) { cap.dense } else { cap.sparse };
        Some(cap.min(self.options.limits.columns()).saturating_sub(schema.features))
    }

    /// Widens the stream to rows of `found` numbers, up to its limit. Returns its number of features.
    pub(super) fn grow_to(&mut self, found: usize) -> usize {
        let room = self.room();
        let Some(schema) = self.schema.as_mut() else { return found };
        if found > schema.features
            && let Some(room) = room
        {
            schema.features += room.min(found - schema.features);
            apply_schema(self.options, schema);
        }
        let features = schema.features;
        if found > features {
            self.note_left_out(features);
        }
        features
    }

    /// Appends columns of a table to the stream and to the plan for reading it. A category is cut to the values that fit into
    /// the limit.
    pub(super) fn append(&mut self, plan: &mut Plan, columns: Vec<(usize, Column)>) {
        let Some(mut room) = self.room() else { return };
        let Some(schema) = self.schema.as_mut() else { return };
        let mut complete = true;
        for (cell, mut column) in columns {
            if let Column::Category { values, .. } = &mut column {
                complete &= values.len() <= room;
                values.truncate(room);
            }
            if column.features() == 0 || column.features() > room {
                complete = false;
                continue;
            }
            room -= column.features();
            let name = column.name();
            let is_known = schema.columns.iter().any(|column| column.name() == name);
            self.notes.push(if is_known {
                format!("column '{name}': values that appear later are features from then on").into()
            } else {
                format!("column '{name}' is new: a feature from now on, 0 in earlier rows").into()
            });
            schema.features += column.features();
            schema.optional_columns += 1;
            schema.columns.push(column.clone());
            plan.add(Some(cell), column, true);
        }
        apply_schema(self.options, schema);
        if !complete {
            let features = schema.features;
            self.note_left_out(features);
        }
    }

    fn note_left_out(&mut self, features: usize) {
        self.notes.push(format!("columns past the {features} of the stream are left out").into());
    }
}

/// Columns for new cells of a table; the rows of the table determine their kinds.
pub(super) fn columns_of_cells(
    file: &str,
    rows: &Rows<'_>,
    is_new: impl Fn(usize, &str) -> bool,
    limits: &Limits,
) -> Result<Vec<(usize, Column)>> {
    let survey = Survey::of(file, rows, Some(true), limits)?;
    let new: Vec<usize> = (0..survey.first.len()).filter(|&c| is_new(c, &survey.first[c])).collect();
    let mut values: BTreeMap<usize, BTreeSet<String>> =
        new.iter().filter(|&&c| !survey.is_number(c, true)).map(|&c| (c, BTreeSet::new())).collect();
    let mut above = true;
    rows.each(|line, cells| {
        if !std::mem::take(&mut above) {
            for (&c, values) in &mut values {
                if !cells[c].is_empty() && !values.contains(cells[c]) {
                    values.insert(cells[c].to_string());
                }
            }
        }
        let count: usize = values.values().map(BTreeSet::len).sum();
        if count > limits.columns() {
            return Err(Error::line(file, line, format!("{count} categories in new columns")));
        }
        Ok(())
    })?;
    let column = |c: usize| {
        let name = survey.first[c].clone();
        match values.get(&c) {
            Some(values) => Column::Category { name, values: values.iter().cloned().collect() },
            None => Column::Number { name },
        }
    };
    Ok(new.into_iter().map(|c| (c, column(c))).collect())
}

/// Columns for new values of categories.
pub(super) fn columns_of_values(
    plan: &Plan,
    unknown: &BTreeMap<String, UnknownValues>,
) -> Vec<(usize, Column)> {
    let column = |(name, unknown): (&String, &UnknownValues)| {
        let cell = plan.sources.iter().find(|s| s.column.name() == name)?.cell?;
        let values = unknown.values.iter().cloned().collect();
        Some((cell, Column::Category { name: name.clone(), values }))
    };
    unknown.iter().filter_map(column).collect()
}

impl Schema {
    /// Appends the new columns of a batch. Without named columns, the number of features grows to `features`.
    pub fn extend(&mut self, columns: &[Column], features: usize) {
        self.optional_columns += columns.len();
        self.columns.extend_from_slice(columns);
        self.features = if self.columns.is_empty() {
            self.features.max(features)
        } else {
            self.columns.iter().map(Column::features).sum()
        };
    }
}
