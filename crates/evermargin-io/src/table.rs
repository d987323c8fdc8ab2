//! Tables: numbers as they are, other columns one 0/1 feature a value. The way a table is coded is kept as
//! [`Column`]s in the model, so that a table read later is coded the same.

use crate::error::{Error, Result, shown};
use crate::format::Format;
use crate::labels::{self, Interner};
use crate::limits::{Limits, over};
use crate::read::{LabelAt, LabelColumn, ReadOptions};
use crate::table_rows::{Cell, Rows, value};
use evermargin::data::{Labels, Matrix};
use evermargin::model::Column;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// What a table holds.
pub(crate) struct Table {
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    pub(crate) columns: Vec<Column>,
    pub(crate) label: Option<LabelAt>,
}

/// Reads a table, coded afresh or as the model's columns say.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Table> {
    let rows = Rows::new(file, bytes, format, &options.limits)?;
    let survey = Survey::of(file, &rows)?;
    let plan = match options.columns.as_deref().filter(|c| !c.is_empty()) {
        Some(columns) => Plan::as_trained(file, &rows, &survey, columns, format, options, notes)?,
        None => Plan::afresh(file, &rows, &survey, format, options, notes)?,
    };
    let label =
        plan.label.map(|at| LabelAt { name: plan.header.then(|| survey.first[at].clone()), index: at + 1 });
    Ok(Table { label, ..plan.encode(file, &rows, &options.limits, notes)? })
}

/// The first row, and how the cells below it look, column by column.
struct Survey {
    first: Vec<String>,
    below: Vec<Seen>,
    rows: usize,
}

#[derive(Clone, Default)]
struct Seen {
    numbers: usize,
    text: Option<(u64, String)>,
    /// Whether the cell of the first row occurs again.
    again: bool,
}

impl Survey {
    fn of(file: &str, rows: &Rows<'_>) -> Result<Self> {
        let mut survey = Self { first: Vec::new(), below: Vec::new(), rows: 0 };
        rows.each(|line, cells| {
            if survey.rows == 0 {
                survey.first = cells.iter().map(ToString::to_string).collect();
                survey.below = vec![Seen::default(); cells.len()];
            } else {
                for ((seen, cell), first) in survey.below.iter_mut().zip(cells).zip(&survey.first) {
                    seen.again |= cell == first;
                    match Cell::of(cell) {
                        Cell::Number => seen.numbers += 1,
                        Cell::Text if seen.text.is_none() => seen.text = Some((line, cell.to_string())),
                        Cell::Text | Cell::Missing => {}
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
    fn has_header(&self, options: &ReadOptions, notes: &mut Vec<String>) -> bool {
        if let Some(said) = options.header {
            return said;
        }
        let all_text = self.first.iter().all(|c| Cell::of(c) == Cell::Text)
            && self.below.iter().all(|seen| seen.numbers == 0 || seen.text.is_some());
        let above_numbers = self
            .first
            .iter()
            .zip(&self.below)
            .any(|(cell, seen)| Cell::of(cell) == Cell::Text && seen.numbers > 0 && seen.text.is_none());
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
        notes.push(if header {
            "every column holds text; the first row was taken for a header (if it is data, say --header no)"
                .into()
        } else {
            "every column holds text; the first row was taken for data (if it is a header, say --header yes)"
                .into()
        });
        header
    }

    fn is_number(&self, column: usize, header: bool) -> bool {
        let seen = &self.below[column];
        let first = if header { Cell::Missing } else { Cell::of(&self.first[column]) };
        let texts = seen.text.is_some() || first == Cell::Text;
        !texts && (seen.numbers > 0 || first == Cell::Number || self.all_missing(column))
    }

    fn all_missing(&self, column: usize) -> bool {
        self.below[column].numbers == 0 && self.below[column].text.is_none()
    }

    fn names(&self, header: bool) -> Vec<String> {
        if header {
            self.first.clone()
        } else {
            (1..=self.first.len()).map(|i| format!("column {i}")).collect()
        }
    }
}

/// Which cells become which features.
struct Plan {
    header: bool,
    label: Option<usize>,
    /// For each column, in feature order: the cell it is in, the first of its features, and how it is coded.
    sources: Vec<(usize, usize, Column)>,
    features: usize,
    rows: usize,
}

impl Plan {
    fn afresh(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let header = survey.has_header(options, notes);
        let names = survey.names(header);
        if header && names.iter().any(|n| Cell::of(n) == Cell::Number) {
            notes.push("the first row was taken for a header, though it holds numbers".to_string());
        }
        let mut known = BTreeSet::new();
        if let Some(twice) = names.iter().find(|n| !known.insert(n.as_str())) {
            return Err(Error::line(file, 1, format!("two columns are named '{twice}'; rename one")));
        }
        let label = label_column(file, &names, header, format, options.label.as_ref(), notes)?;
        if names.len() < 2 {
            return Err(Error::content(
                file,
                "one column only; a table needs a label and at least one feature",
            ));
        }
        let mut kinds: Vec<Option<BTreeSet<String>>> = (0..names.len())
            .map(|c| (c != label && !survey.is_number(c, header)).then(BTreeSet::new))
            .collect();
        if kinds.iter().any(Option::is_some) {
            let mut above = header;
            rows.each(|_, cells| {
                if !std::mem::take(&mut above) {
                    for (kind, cell) in kinds.iter_mut().zip(cells) {
                        if let Some(values) = kind
                            && !values.contains(*cell)
                        {
                            values.insert((*cell).to_string());
                        }
                    }
                }
                Ok(())
            })?;
        }
        let mut columns = Vec::new();
        for (c, (name, kind)) in names.into_iter().zip(kinds).enumerate().filter(|(c, _)| *c != label) {
            let column = match kind {
                None => Column::Number { name },
                Some(values) => {
                    if let (true, Some((line, text))) = (survey.below[c].numbers > 0, &survey.below[c].text) {
                        notes.push(format!(
                            "column '{name}' holds text ('{}' in line {line}) and was coded as {} categories",
                            shown(text.as_bytes()),
                            values.len()
                        ));
                    }
                    Column::Category { name, values: values.into_iter().collect() }
                }
            };
            columns.push((c, column));
        }
        Ok(Self::new(header, Some(label), columns, survey.rows))
    }

    fn as_trained(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        columns: &[Column],
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let named = options.header != Some(false)
            && columns.iter().any(|c| survey.first.iter().any(|cell| cell == name_of(c)));
        if !named {
            return Self::by_position(file, rows, survey, columns, format, options, notes);
        }
        let width = survey.first.len();
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            let name = name_of(column);
            let Some(cell) = survey.first.iter().position(|c| c == name) else {
                let what = format!("column '{name}', which the model was trained on, is missing");
                return Err(Error::line(file, 1, what));
            };
            found.push((cell, column.clone()));
        }
        let free: Vec<usize> =
            (0..width).filter(|c| !columns.iter().any(|k| name_of(k) == survey.first[*c])).collect();
        let called = |name: &str| free.iter().copied().find(|c| survey.first[*c].eq_ignore_ascii_case(name));
        let trained = options.trained_label.as_ref().and_then(|l| l.name.as_deref());
        let mut label = match &options.label {
            Some(LabelColumn::Name(name)) => survey.first.iter().position(|c| c == name),
            Some(LabelColumn::Index(i)) => i.checked_sub(1).filter(|c| free.contains(c)),
            None => trained.and_then(|name| free.iter().copied().find(|c| survey.first[*c] == name)),
        };
        if options.label.is_none() && label.is_none() {
            let usual = LABEL_NAMES.iter().find_map(|n| called(n));
            let guess = usual.or_else(|| free.first().copied().filter(|c| free.len() == 1 && c + 1 == width));
            if let Some(at) = guess {
                let name = &survey.first[at];
                if usual.is_some() || holds_class(rows, at, true, options)? {
                    notes.push(format!(
                        "the label was taken from column '{name}'; if it is another, say --label"
                    ));
                    label = guess;
                } else {
                    notes.push(format!(
                        "column '{name}' holds no class of the model and was left out; if it is the label, say --label"
                    ));
                }
            }
        }
        Ok(Self::new(true, label, found, survey.rows))
    }

    /// Columns that have no names: they stand as they stood in training, with the label or without.
    fn by_position(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        columns: &[Column],
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let (width, header) = (survey.first.len(), options.header == Some(true));
        let trained = options.trained_label.as_ref().map(|l| l.index).filter(|i| (1..=width).contains(i));
        let label = match width.checked_sub(columns.len()) {
            Some(0) => None,
            Some(1) => Some(match (&options.label, trained) {
                (Some(asked), _) => {
                    label_column(file, &survey.names(header), header, format, Some(asked), notes)?
                }
                (None, Some(i)) => i - 1,
                (None, None) if format == Format::Space => 0,
                (None, None) => width - 1,
            }),
            _ => {
                let what = format!(
                    "{width} columns without a header, but the model was trained on {}, from '{}' to '{}'",
                    columns.len(),
                    columns.first().map_or("", name_of),
                    columns.last().map_or("", name_of)
                );
                return Err(Error::content(file, what));
            }
        };
        if let (Some(at), None) = (label, &options.label) {
            if !holds_class(rows, at, header, options)? {
                let what = format!(
                    "column {} should be the label but holds no class of the model; say --label, or leave the \
                     label out",
                    at + 1
                );
                return Err(Error::content(file, what));
            }
            let how = if trained.is_some() { "as in training" } else { "if it is another, say --label" };
            notes.push(format!("the label was taken from column {}; {how}", at + 1));
        }
        let cells = (0..width).filter(|c| Some(*c) != label);
        Ok(Self::new(header, label, cells.zip(columns.iter().cloned()).collect(), survey.rows))
    }

    fn new(header: bool, label: Option<usize>, columns: Vec<(usize, Column)>, rows: usize) -> Self {
        let mut features = 0;
        let mut sources = Vec::with_capacity(columns.len());
        for (cell, column) in columns {
            let first = features;
            features += match &column {
                Column::Number { .. } => 1,
                Column::Category { values, .. } => values.len(),
            };
            sources.push((cell, first, column));
        }
        Self { header, label, sources, features, rows: rows - usize::from(header) }
    }

    fn encode(self, file: &str, rows: &Rows<'_>, limits: &Limits, notes: &mut Vec<String>) -> Result<Table> {
        if self.rows == 0 {
            return Err(Error::content(file, "no rows below the header"));
        }
        if self.features > limits.columns() {
            return Err(Error::content(
                file,
                over(self.features, "features", limits.columns(), "--max-columns"),
            ));
        }
        let all_numbers = self.sources.iter().all(|s| matches!(s.2, Column::Number { .. }));
        let cells =
            limits.check_shape(self.rows, self.sources.len()).map_err(|what| Error::content(file, what))?;
        let mut values = Vec::with_capacity(cells);
        let (mut indptr, mut indices) = (vec![0], Vec::new());
        let mut tokens = Vec::with_capacity(if self.label.is_some() { self.rows } else { 0 });
        let mut names = Names::default();
        let mut unknown: BTreeMap<&str, (usize, String)> = BTreeMap::new();
        let mut above = self.header;
        rows.each(|line, row| {
            if std::mem::take(&mut above) {
                return Ok(());
            }
            for (cell, first, column) in &self.sources {
                match column {
                    Column::Number { name } => {
                        let value = value(row[*cell])
                            .map_err(|what| Error::line(file, line, format!("column '{name}': {what}")))?;
                        if all_numbers {
                            values.push(value);
                        } else if value != 0.0 {
                            indices.push(*first as u32);
                            values.push(value);
                        }
                    }
                    Column::Category { name, values: known } => {
                        match known.binary_search_by(|k| k.as_str().cmp(row[*cell])) {
                            Ok(at) => {
                                indices.push((first + at) as u32);
                                values.push(1.0);
                            }
                            Err(_) => {
                                unknown.entry(name).or_insert_with(|| (0, row[*cell].to_string())).0 += 1;
                            }
                        }
                    }
                }
            }
            indptr.push(values.len());
            if let Some(label) = self.label {
                tokens.push(names.number(row[label], line));
            }
            Ok(())
        })?;
        for (name, (count, value)) in unknown {
            notes.push(format!(
                "column '{name}': {count} values never seen in training, such as '{}', count as none",
                shown(value.as_bytes())
            ));
        }
        let wrong = |e: evermargin::Error| Error::content(file, e.to_string());
        let x = if all_numbers {
            Matrix::dense(values, self.rows, self.features).map_err(wrong)?
        } else {
            Matrix::csr(indptr, indices, values, self.features).map_err(wrong)?
        };
        let labels = match self.label {
            Some(_) => names.labels(file, &tokens)?,
            None => labels::none(self.rows),
        };
        Ok(Table { x, labels, columns: self.sources.into_iter().map(|s| s.2).collect(), label: None })
    }
}

/// Distinct label cells, each with the line it first stood in.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    first: Vec<(String, u64)>,
}

impl Names {
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

/// Whether a column holds a class of the model, or nothing at all; without classes to ask, anything will do.
fn holds_class(rows: &Rows<'_>, column: usize, header: bool, options: &ReadOptions) -> Result<bool> {
    let Some(classes) = &options.classes else { return Ok(true) };
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let known: HashSet<&str> = classes.iter().map(String::as_str).collect();
    let values: Vec<f64> = classes.iter().filter_map(|c| number(c)).collect();
    let (mut above, mut empty, mut found) = (header, true, false);
    rows.each(|_, cells| {
        let cell = cells[column];
        if !std::mem::take(&mut above) && !found && Cell::of(cell) != Cell::Missing {
            empty = false;
            found = known.contains(cell) || number(cell).is_some_and(|v| values.contains(&v));
        }
        Ok(())
    })?;
    Ok(empty || found)
}

fn name_of(column: &Column) -> &str {
    match column {
        Column::Number { name } | Column::Category { name, .. } => name,
    }
}

/// The label column: as asked, by a usual name, or the last one (the first in tables with blanks).
fn label_column(
    file: &str,
    names: &[String],
    header: bool,
    format: Format,
    asked: Option<&LabelColumn>,
    notes: &mut Vec<String>,
) -> Result<usize> {
    match asked {
        Some(LabelColumn::Index(i)) if (1..=names.len()).contains(i) => return Ok(i - 1),
        Some(LabelColumn::Index(i)) => {
            let what = format!("no column {i} for the label; columns are 1 to {}", names.len());
            return Err(Error::content(file, what));
        }
        Some(LabelColumn::Name(name)) => {
            return names.iter().position(|n| n == name).ok_or_else(|| {
                let what = if header {
                    let listed = shown(names.join(", ").as_bytes());
                    format!("no column named '{name}' for the label; the header has: {listed}")
                } else {
                    format!("no header, so no column named '{name}' for the label; give its position instead")
                };
                Error::line(file, 1, what)
            });
        }
        None => {}
    }
    if header {
        for usual in LABEL_NAMES {
            if let Some(at) = names.iter().position(|n| n.eq_ignore_ascii_case(usual)) {
                notes.push(format!("the label was taken from column '{}'", names[at]));
                return Ok(at);
            }
        }
    }
    if format == Format::Space {
        notes.push("the label was taken from the first column".to_string());
        return Ok(0);
    }
    let last = names.len() - 1;
    notes.push(format!(
        "the label was taken from the last column, '{}'; if it is another, say --label",
        names[last]
    ));
    Ok(last)
}
