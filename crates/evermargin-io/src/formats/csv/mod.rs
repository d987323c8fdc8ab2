//! Tables. A numeric column is one feature, a text column becomes weighted words ([`crate::formats::text`]), and any other
//! column is a category with one 0/1 feature per value. The model stores this encoding as [`Column`]s, so that tables read
//! later are encoded in the same way.

pub(crate) mod encode;
pub(crate) mod rows;
pub(crate) mod survey;
use crate::error::{Error, Result, excerpt};
use crate::formats::csv::encode::{Coded, Wanted};
use crate::formats::csv::rows::{Cell, Form, Rows, text_of};
use crate::formats::csv::survey::Survey;
use crate::formats::detect::Format;
use crate::formats::read::{LabelColumn, ReadOptions};
use crate::formats::text::{self, Frequencies, Weights};
use crate::limits::over;
use crate::remedy::{Limit, Message, Remedy};
use evermargin::data::{Labels, Matrix};
use evermargin::model::Column;
use evermargin::model::LabelPosition;
use std::collections::{BTreeSet, HashSet};

pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "class", "target", "y"];

/// Contents of a table.
pub(crate) struct Table {
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    pub(crate) columns: Vec<Column>,
    pub(crate) label: Option<LabelPosition>,
}

/// Reads a table, encoded as the columns of a model say or, without a model, by its contents.
pub(crate) fn read(
    file: &str,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
    notes: &mut Vec<Message>,
) -> Result<Table> {
    let limits = &options.limits;
    let text = text_of(file, bytes, limits)?;
    let form = form(file, text, format, options, false)?;
    let rows = Rows::new(file, text, &form, None)?;
    let mut plan = Plan::of(file, &rows, format, options, notes)?;
    if plan.rows == 0 {
        return Err(Error::content(file, "no rows below the header"));
    }
    limits.check_shape(plan.rows, plan.sources.len()).map_err(|what| Error::content(file, what))?;
    let wanted = Wanted { header: plan.header, rows: plan.rows, show: false, list_unknown: false };
    let Coded { x, labels, unknown, .. } = plan.code(file, &rows, &wanted, limits)?;
    notes.extend(unknown.iter().map(|(name, values)| Coded::unknown_note(name, values).into()));
    Ok(Table { x, labels, label: plan.label_at.take(), columns: plan.into_columns() })
}

/// Form of the table that begins with `text`. Objects may omit keys, so requested keys are included even if they do not
/// occur, and the key `label` if no key has a usual name of labels. Bad rows are an error unless they are `skipped`.
pub(crate) fn form(
    file: &str,
    text: &str,
    format: Format,
    options: &ReadOptions,
    skipped: bool,
) -> Result<Form> {
    let trained = options.columns.iter().flatten().map(|c| c.name().to_string());
    let asked = match &options.label {
        Some(LabelColumn::Name(name)) => Some(name.clone()),
        Some(LabelColumn::Index(_)) => None,
        None => options.trained_label.as_ref().and_then(|l| l.name.clone()),
    };
    let label_unspecified =
        options.label.is_none() && asked.is_none() && !options.unlabeled && !options.label_optional;
    let id = match &options.id {
        Some(LabelColumn::Name(name)) => Some(name.clone()),
        _ => None,
    };
    let known = trained.chain(asked).chain(id);
    let mut form = Form::of(file, text, format, known, &options.limits, skipped)?;
    if let Form::Objects(keys) = &mut form {
        let usual = |name: &String| LABEL_NAMES.iter().any(|n| name.eq_ignore_ascii_case(n));
        if label_unspecified && !keys.names.iter().any(usual) {
            keys.add(LABEL_NAMES[0]);
        }
    }
    Ok(form)
}

/// Column of the table with the features that it becomes.
pub(crate) struct Source {
    /// Cell of the column; `None` if the table lacks it.
    pub(crate) cell: Option<usize>,
    /// Whether rows may lack the column; an empty cell is 0 then.
    pub(crate) optional: bool,
    /// Earlier columns of the same cell: values of a category that appeared at other times.
    pub(crate) same_cell: Vec<usize>,
    /// Whether this is the last column of its cell.
    pub(crate) last_of_cell: bool,
    /// First feature of the column.
    pub(crate) first: usize,
    pub(crate) column: Column,
    /// Weights of the words of a text column.
    pub(crate) weights: Option<Weights>,
}

/// Mapping of cells to features.
pub(crate) struct Plan {
    pub(crate) header: bool,
    /// The cell of the label.
    pub(crate) label: Option<usize>,
    pub(crate) label_at: Option<LabelPosition>,
    /// The cell with the identifier of the row.
    pub(crate) id: Option<usize>,
    /// Columns in the order of their features.
    pub(crate) sources: Vec<Source>,
    pub(crate) features: usize,
    /// Number of cells per row.
    pub(crate) width: usize,
    rows: usize,
}

/// Use of a column.
enum ColumnUse {
    Unused,
    Number,
    Category(BTreeSet<String>),
    Text(Frequencies),
}

impl Plan {
    /// Plan for the table that begins with the rows: as the columns of a model say or, without a model, by their contents.
    pub(crate) fn of(
        file: &str,
        rows: &Rows<'_>,
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<Message>,
    ) -> Result<Self> {
        let known_header = if format == Format::Jsonl { Some(true) } else { options.header };
        let survey = Survey::of(file, rows, known_header, &options.limits)?;
        let mut plan = match options.columns.as_deref().filter(|c| !c.is_empty()) {
            Some(columns) => Self::as_trained(file, rows, &survey, columns, format, options, notes)?,
            None => Self::from_survey(file, rows, &survey, format, options, notes)?,
        };
        if let Some(id) = &options.id {
            let names = survey.names(plan.header);
            plan.id = Some(asked_column(file, &names, plan.header, id, "the ids")?);
        }
        let cap = options.limits.columns();
        if plan.features > cap {
            return Err(Error::content(file, over(plan.features, "features", cap, Limit::Columns)));
        }
        Ok(plan)
    }

    fn from_survey(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<Message>,
    ) -> Result<Self> {
        let header = survey.has_header(options, notes);
        let names = survey.names(header);
        if header && format != Format::Jsonl && names.iter().any(|n| Cell::of(n) == Cell::Number) {
            notes.push("the first row was taken for a header, though it holds numbers".into());
        }
        let mut known = BTreeSet::new();
        if let Some(twice) = names.iter().find(|n| !known.insert(n.as_str())) {
            return Err(Error::line(file, 1, format!("two columns are named '{twice}'; rename one")));
        }
        // The model has as many features as the table has columns and no names for them, so no column is the label.
        let named = |n: &String| header && LABEL_NAMES.contains(&n.to_lowercase().as_str());
        let all_features = options.unlabeled
            || (options.cols == Some(names.len()) && options.label.is_none() && !names.iter().any(named));
        let label = if options.label_optional {
            options.label.as_ref().and_then(|l| asked_column(file, &names, header, l, "the label").ok())
        } else if all_features {
            notes.push(format!("no label: all {} columns are features", names.len()).into());
            None
        } else {
            match (&options.label, options.label_purpose) {
                (Some(asked), Some(purpose)) => Some(asked_column(file, &names, header, asked, purpose)?),
                (asked, _) => Some(label_column(file, &names, header, format, asked.as_ref(), notes)?),
            }
        };
        if format == Format::Jsonl && options.label.is_none() && label.is_some_and(|l| survey.all_missing(l))
        {
            notes.pop();
            notes.push(Message::new("no row has a label", Remedy::AddLabelKey));
        }
        if names.len() < 2 && label.is_some() {
            return Err(Error::content(
                file,
                "one column only; a table needs a label and at least one feature",
            ));
        }
        let mut kinds = column_uses(file, &names, survey, header, label, options)?;
        if kinds.iter().any(|k| matches!(k, ColumnUse::Category(_) | ColumnUse::Text(_))) {
            let (mut at_header, mut distinct, cap) = (header, 0, options.limits.columns());
            rows.each(|line, cells| {
                if !std::mem::take(&mut at_header) {
                    distinct += kinds
                        .iter_mut()
                        .zip(cells)
                        .map(|(kind, cell)| usize::from(kind.observe(cell)))
                        .sum::<usize>();
                }
                if distinct > cap {
                    return Err(Error::line(file, line, over(distinct, "categories", cap, Limit::Columns)));
                }
                Ok(())
            })?;
        }
        let mut columns = Vec::new();
        for (c, (name, kind)) in names.into_iter().zip(kinds).enumerate() {
            let column = match kind {
                ColumnUse::Unused => continue,
                ColumnUse::Number => {
                    if let Some((line, text)) = &survey.below[c].text {
                        notes.push(format!(
                            "column '{name}' holds numbers; rows with text in it ('{}' in line {line}) are rejected",
                            excerpt(text.as_bytes())
                        ).into());
                    }
                    Column::Number { name }
                }
                ColumnUse::Text(frequencies) => frequencies.column(name),
                ColumnUse::Category(values) => {
                    if let (true, Some((line, text))) = (survey.below[c].numbers > 0, &survey.below[c].text) {
                        notes.push(format!(
                            "column '{name}' holds text ('{}' in line {line}) and was coded as {} categories",
                            excerpt(text.as_bytes()),
                            values.len()
                        ).into());
                    }
                    Column::Category { name, values: values.into_iter().collect() }
                }
            };
            columns.push((Some(c), column));
        }
        Ok(Self::new(header, label, columns, 0, survey))
    }

    fn as_trained(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        columns: &[Column],
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<Message>,
    ) -> Result<Self> {
        let named = survey.header != Some(false)
            && (format == Format::Jsonl
                || columns.iter().any(|c| survey.first.iter().any(|cell| cell == c.name())));
        if !named {
            return Self::by_position(file, rows, survey, columns, format, options, notes);
        }
        let width = survey.first.len();
        let mut found = Vec::with_capacity(columns.len());
        let required = columns.len().saturating_sub(options.optional_columns);
        for (at, column) in columns.iter().enumerate() {
            let name = column.name();
            let cell = survey.first.iter().position(|c| c == name);
            if cell.is_none() && at < required {
                let what = format!("column '{name}', which the model was trained on, is missing");
                return Err(Error::line(file, 1, what));
            }
            found.push((cell, column.clone()));
        }
        let free: Vec<usize> =
            (0..width).filter(|c| !columns.iter().any(|k| k.name() == survey.first[*c])).collect();
        let called = |name: &str| free.iter().copied().find(|c| survey.first[*c].eq_ignore_ascii_case(name));
        let trained = options.trained_label.as_ref().and_then(|l| l.name.as_deref());
        let mut label = match &options.label {
            _ if options.unlabeled => None,
            Some(LabelColumn::Name(name)) => survey.first.iter().position(|c| c == name),
            Some(LabelColumn::Index(i)) => i.checked_sub(1).filter(|c| free.contains(c)),
            None => trained.and_then(|name| free.iter().copied().find(|c| survey.first[*c] == name)),
        };
        let guessed = !options.unlabeled && !options.label_optional;
        if options.label.is_none() && label.is_none() && guessed {
            let usual = LABEL_NAMES.iter().find_map(|n| called(n));
            let guess = usual.or_else(|| free.first().copied().filter(|c| free.len() == 1 && c + 1 == width));
            if let Some(at) = guess {
                let name = &survey.first[at];
                if format == Format::Jsonl && survey.all_missing(at) {
                    label = guess;
                } else if usual.is_some() || holds_class(rows, at, true, options)? {
                    let what = format!("the label was taken from column '{name}'");
                    notes.push(Message::new(what, Remedy::NameLabelColumn));
                    label = guess;
                } else {
                    let what =
                        format!("no label: column '{name}' holds no class of the model and was left out");
                    notes.push(Message::new(what, Remedy::NameLabelColumn));
                }
            }
        }
        Ok(Self::new(true, label, found, options.optional_columns, survey))
    }

    /// Plan for a table without column names: its columns have the order of training, with or without the label.
    fn by_position(
        file: &str,
        rows: &Rows<'_>,
        survey: &Survey,
        columns: &[Column],
        format: Format,
        options: &ReadOptions,
        notes: &mut Vec<Message>,
    ) -> Result<Self> {
        let (width, header) = (survey.first.len(), survey.header == Some(true));
        // Values of a category that appeared later have the cell of the category.
        let mut names: Vec<&str> = Vec::new();
        for column in columns {
            if !names.contains(&column.name()) {
                names.push(column.name());
            }
        }
        let trained = options.trained_label.as_ref().map(|l| l.index).filter(|i| (1..=width).contains(i));
        let label = match width.checked_sub(names.len()) {
            Some(0) => None,
            Some(1) if !options.label_optional && options.id.is_none() => {
                Some(match (&options.label, trained) {
                    (Some(asked), _) => {
                        label_column(file, &survey.names(header), header, format, Some(asked), notes)?
                    }
                    (None, Some(i)) => i - 1,
                    (None, None) if format == Format::Space => 0,
                    (None, None) => width - 1,
                })
            }
            _ => {
                if let Some(cells) = columns_by_number(columns, width) {
                    let label = trained.map(|i| i - 1);
                    return Ok(Self::new(header, label, cells, options.optional_columns, survey));
                }
                let what = format!(
                    "{width} columns without a header, but the model was trained on {}, from '{}' to '{}'",
                    names.len(),
                    columns.first().map_or("", Column::name),
                    columns.last().map_or("", Column::name)
                );
                return Err(Error::content(file, what));
            }
        };
        if let (Some(at), None) = (label, &options.label) {
            if !holds_class(rows, at, header, options)? {
                let what = format!("column {} should be the label but holds no class of the model", at + 1);
                return Err(Error::content(file, Message::new(what, Remedy::NameOrOmitLabel)));
            }
            let what = format!("the label was taken from column {}", at + 1);
            notes.push(match trained {
                Some(_) => format!("{what}, as in training").into(),
                None => Message::new(what, Remedy::NameLabelColumn),
            });
        }
        let cells: Vec<usize> = (0..width).filter(|c| Some(*c) != label).collect();
        let cell = |column: &Column| names.iter().position(|n| *n == column.name()).map(|at| cells[at]);
        let columns = columns.iter().map(|column| (cell(column), column.clone())).collect();
        Ok(Self::new(header, label, columns, options.optional_columns, survey))
    }

    fn new(
        header: bool,
        label: Option<usize>,
        columns: Vec<(Option<usize>, Column)>,
        optional: usize,
        survey: &Survey,
    ) -> Self {
        let name = |at: usize| header.then(|| survey.first[at].clone());
        let label_at = label.map(|at| LabelPosition { name: name(at), index: at + 1 });
        let rows = survey.rows - usize::from(header);
        let (sources, width) = (Vec::with_capacity(columns.len()), survey.first.len());
        let mut plan = Self { header, label, label_at, id: None, sources, features: 0, width, rows };
        let required = columns.len().saturating_sub(optional);
        columns
            .into_iter()
            .enumerate()
            .for_each(|(at, (cell, column))| plan.add(cell, column, at >= required));
        plan
    }

    /// Adds a column with features after all others. With `optional`, rows may lack it unless an earlier column of the same
    /// cell is required.
    pub(crate) fn add(&mut self, cell: Option<usize>, column: Column, optional: bool) {
        let weights = match &column {
            Column::Text { buckets, documents, frequency, .. } => {
                Some(Weights::new(*buckets, *documents, frequency))
            }
            Column::Number { .. } | Column::Category { .. } => None,
        };
        let first = self.features;
        self.features += column.features();
        let shares_cell = |s: &Source| cell.is_some() && s.cell == cell;
        let same_cell: Vec<usize> =
            (0..self.sources.len()).filter(|&s| shares_cell(&self.sources[s])).collect();
        same_cell.iter().for_each(|&s| self.sources[s].last_of_cell = false);
        let optional = optional && same_cell.iter().all(|&s| self.sources[s].optional);
        self.sources.push(Source { cell, optional, same_cell, last_of_cell: true, first, column, weights });
    }

    /// Encoding of the table, to be stored in a model.
    pub(crate) fn into_columns(self) -> Vec<Column> {
        self.sources.into_iter().map(|s| s.column).collect()
    }
}

impl ColumnUse {
    /// Records a cell below the header; returns whether it is a new value of a category.
    fn observe(&mut self, cell: &str) -> bool {
        match self {
            Self::Unused | Self::Number => false,
            Self::Text(frequencies) => {
                frequencies.add(cell);
                false
            }
            Self::Category(values) => !values.contains(cell) && values.insert(cell.to_string()),
        }
    }
}

/// Use of each column: as the options say, else by its contents.
fn column_uses(
    file: &str,
    names: &[String],
    survey: &Survey,
    header: bool,
    label: Option<usize>,
    options: &ReadOptions,
) -> Result<Vec<ColumnUse>> {
    let find = |asked: &LabelColumn, option: &str| {
        let at = asked_column(file, names, header, asked, option)?;
        if Some(at) == label {
            return Err(Error::content(
                file,
                format!("column '{}' is the label, not for {option}", names[at]),
            ));
        }
        Ok(at)
    };
    let texts: Vec<usize> = options.text.iter().map(|t| find(t, "text")).collect::<Result<_>>()?;
    let id = options.id.as_ref().map(|id| find(id, "ids")).transpose()?;
    let only = match &options.only {
        Some(asked) => Some(asked.iter().map(|c| find(c, "columns")).collect::<Result<Vec<usize>>>()?),
        None => None,
    };
    let buckets = options.buckets.unwrap_or(text::BUCKETS);
    text::check_buckets(buckets).map_err(|what| Error::content(file, what))?;
    let kind = |c: usize| {
        if Some(c) == label || Some(c) == id {
            ColumnUse::Unused
        } else if texts.contains(&c) {
            ColumnUse::Text(Frequencies::new(buckets))
        } else if only.as_ref().is_some_and(|only| !only.contains(&c)) {
            ColumnUse::Unused
        } else if survey.is_number(c, header) {
            ColumnUse::Number
        } else {
            ColumnUse::Category(BTreeSet::new())
        }
    };
    Ok((0..names.len()).map(kind).collect())
}

/// Columns and cells of a model whose columns are named by their numbers in a table without header, of which it uses only
/// some.
fn columns_by_number(columns: &[Column], width: usize) -> Option<Vec<(Option<usize>, Column)>> {
    let cell = |column: &Column| {
        let number = column.name().strip_prefix("column ")?.parse::<usize>().ok()?;
        (1..=width).contains(&number).then(|| (Some(number - 1), column.clone()))
    };
    columns.iter().map(cell).collect()
}

/// Whether a column contains a class of the model or only missing values; true if the classes are unknown.
fn holds_class(rows: &Rows<'_>, column: usize, header: bool, options: &ReadOptions) -> Result<bool> {
    let Some(classes) = &options.classes else { return Ok(true) };
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let known: HashSet<&str> = classes.iter().map(String::as_str).collect();
    let values: Vec<f64> = classes.iter().filter_map(|c| number(c)).collect();
    let (mut at_header, mut empty, mut found) = (header, true, false);
    rows.each(|_, cells| {
        let cell = cells[column];
        if !std::mem::take(&mut at_header) && !found && Cell::of(cell) != Cell::Missing {
            empty = false;
            found = known.contains(cell) || number(cell).is_some_and(|v| values.contains(&v));
        }
        Ok(())
    })?;
    Ok(empty || found)
}

/// Position of the label column: the requested one, one with a usual name, or the last one (the first in tables that are
/// separated by blanks).
fn label_column(
    file: &str,
    names: &[String],
    header: bool,
    format: Format,
    asked: Option<&LabelColumn>,
    notes: &mut Vec<Message>,
) -> Result<usize> {
    if let Some(asked) = asked {
        return asked_column(file, names, header, asked, "the label");
    }
    if header {
        for usual in LABEL_NAMES {
            if let Some(at) = names.iter().position(|n| n.eq_ignore_ascii_case(usual)) {
                notes.push(format!("the label was taken from column '{}'", names[at]).into());
                return Ok(at);
            }
        }
    }
    if format == Format::Space {
        notes.push("the label was taken from the first column".into());
        return Ok(0);
    }
    let last = names.len() - 1;
    let what = format!("the label was taken from the last column, '{}'", names[last]);
    notes.push(Message::new(what, Remedy::NameLabelColumn));
    Ok(last)
}

/// Position of a column that the user specified by name or by number, counted from 1.
fn asked_column(
    file: &str,
    names: &[String],
    header: bool,
    asked: &LabelColumn,
    purpose: &str,
) -> Result<usize> {
    match asked {
        LabelColumn::Index(i) if (1..=names.len()).contains(i) => Ok(i - 1),
        LabelColumn::Index(i) => {
            let what = format!("no column {i} for {purpose}; columns are 1 to {}", names.len());
            Err(Error::content(file, what))
        }
        LabelColumn::Name(name) => names.iter().position(|n| n == name).ok_or_else(|| {
            let what = if header {
                let listed = excerpt(names.join(", ").as_bytes());
                format!("no column named '{name}' for {purpose}; the header has: {listed}")
            } else {
                format!("no header, so no column named '{name}' for {purpose}; give its position instead")
            };
            Error::line(file, 1, what)
        }),
    }
}
