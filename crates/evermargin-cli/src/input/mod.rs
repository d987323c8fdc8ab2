//! Reads a data file with its options into rows and labels, and the small files that belong to it.

pub(crate) mod groups;
pub(crate) mod views;
use crate::args::{DataArgs, HideArgs};
use crate::failure::Failure;
use evermargin::Labels;
use evermargin::data::Matrix;
use evermargin_io::{Dataset, LabelColumn, Limits, ReadOptions, read};
use std::path::Path;

/// A data set and the selection that was applied to it.
#[derive(Debug)]
pub struct Input {
    /// Requested rows, with the labels that the learner may see.
    pub data: Dataset,
    /// All labels of the file, for scoring, if some were hidden.
    pub truth: Option<Labels>,
    /// Number of rows of the file.
    pub rows_in_file: usize,
    /// Numbers of the rows in the file, counted from 0, if only a part was requested.
    pub kept: Option<Vec<usize>>,
    /// Columns of missing views.
    pub absent: Vec<std::ops::Range<usize>>,
}

impl Input {
    /// Number of each row in the file, counted from 1.
    pub fn numbers(&self) -> Vec<usize> {
        match &self.kept {
            Some(kept) => kept.iter().map(|i| i + 1).collect(),
            None => (1..=self.data.x.rows()).collect(),
        }
    }

    /// Weights of the rows, from a file with one weight per row of the data file.
    pub fn weights(&self, path: Option<&Path>) -> Result<Option<Vec<f64>>, Failure> {
        let Some(path) = path else { return Ok(None) };
        let all = weights(path, self.rows_in_file)?;
        Ok(Some(match &self.kept {
            Some(kept) => kept.iter().map(|&i| all[i]).collect(),
            None => all,
        }))
    }
}

/// Reads a data file. `options` may hold the columns of a model.
pub fn load(
    path: &Path,
    args: &DataArgs,
    hide: Option<&HideArgs>,
    options: ReadOptions,
) -> Result<Input, Failure> {
    choose(read(path, &options_of(args, options))?, path, args, hide)
}

/// Selects the requested rows, labels and classes.
pub fn choose(
    mut data: Dataset,
    path: &Path,
    args: &DataArgs,
    hide: Option<&HideArgs>,
) -> Result<Input, Failure> {
    let mut truth = None;
    if let Some(hide) = hide.filter(|h| h.labeled_rows.is_some()) {
        truth = Some(data.labels.clone());
        hide_labels(&mut data.labels, hide, &limits(args))?;
    }
    let rows = data.x.rows();
    let kept = match args.rows {
        None => None,
        Some(span) => {
            let last = span.last.unwrap_or(rows);
            if span.first > rows || last > rows {
                return Err(Failure::Usage(format!(
                    "--rows {}..{last}: {} has {rows} rows",
                    span.first,
                    path.display()
                )));
            }
            let kept: Vec<usize> = (span.first - 1..last).collect();
            data.x = data.x.view().select(&kept);
            for labels in truth.iter_mut().chain([&mut data.labels]) {
                labels.of = kept.iter().map(|&i| labels.of[i]).collect();
            }
            Some(kept)
        }
    };
    if let Some(class) = &args.positive {
        let Some(at) = position(&data.labels, class) else {
            let known = data.labels.classes.join(", ");
            return Err(Failure::Usage(format!(
                "--positive {class}: the data has no such class, only {known}"
            )));
        };
        let name = data.labels.classes[at].clone();
        for labels in truth.iter_mut().chain([&mut data.labels]) {
            *labels = one_against_rest(labels, &name);
        }
        data.positive = Some(name);
    }
    Ok(Input { data, truth, rows_in_file: rows, kept, absent: Vec::new() })
}

/// Value of `--label` for a table without labels.
const NO_LABEL: &str = "none";

/// Options for reading a file: those of the command line, and otherwise those given.
pub fn options_of(args: &DataArgs, options: ReadOptions) -> ReadOptions {
    ReadOptions {
        format: args.format,
        label: args.label.as_deref().filter(|l| *l != NO_LABEL).map(column).or(options.label.clone()),
        unlabeled: args.label.as_deref() == Some(NO_LABEL),
        text: args.text.iter().map(|name| column(name)).collect(),
        only: args.columns.as_ref().map(|names| names.iter().map(|name| column(name)).collect()),
        header: args.header,
        index_base: args.index_base.or(options.index_base),
        labels_file: args.labels.clone(),
        limits: limits(args),
        ..options
    }
}

/// A column by its number, counted from 1, or by its name.
pub fn column(text: &str) -> LabelColumn {
    text.parse().map_or_else(|_| LabelColumn::Name(text.to_string()), LabelColumn::Index)
}

/// Removes the column of row numbers from a kernel matrix. LIBSVM begins each row of a kernel matrix with its number: `0:1`,
/// `0:2` and so on.
pub fn drop_serial(data: &mut Dataset) -> Result<(), Failure> {
    let (rows, cols) = (data.x.rows(), data.x.cols());
    let first = |i: usize| {
        let mut value = 0.0;
        data.x.view().row(i).for_each(|c, v| {
            if c == 0 {
                value = v;
            }
        });
        value
    };
    if data.index_base != Some(0) || cols != rows + 1 || !(0..rows).all(|i| first(i) == (i + 1) as f64) {
        return Ok(());
    }
    data.x = without_first(&data.x)?;
    data.serial_column = true;
    data.notes.push("column 0, which holds the row numbers, was left out of the kernel matrix".into());
    Ok(())
}

/// All columns except the first.
pub fn without_first(x: &Matrix) -> Result<Matrix, Failure> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..x.rows() {
        x.view().row(i).for_each(|c, v| {
            if c > 0 && v != 0.0 {
                indices.push(c as u32 - 1);
                values.push(v);
            }
        });
        indptr.push(values.len());
    }
    Ok(Matrix::csr(indptr, indices, values, x.cols().saturating_sub(1))?.into_natural_layout())
}

fn limits(args: &DataArgs) -> Limits {
    let default = Limits::default();
    Limits {
        max_bytes: args.max_bytes.unwrap_or(default.max_bytes),
        max_line: args.max_line.unwrap_or(default.max_line),
        max_columns: args.max_columns.unwrap_or(default.max_columns),
        max_rows: args.max_rows.unwrap_or(default.max_rows),
        max_cells: args.max_cells.unwrap_or(default.max_cells),
        max_memory: args.max_memory,
    }
}

/// Two classes, `not-CLASS` and `CLASS`; the second is the positive one.
pub fn one_against_rest(labels: &Labels, class: &str) -> Labels {
    let at = position(labels, class);
    Labels {
        classes: vec![format!("not-{class}"), class.to_string()],
        of: labels.of.iter().map(|c| c.map(|c| u32::from(Some(c as usize) == at))).collect(),
    }
}

/// Index of the class with this name; equal numbers are one class.
pub fn position(labels: &Labels, class: &str) -> Option<usize> {
    let same = |name: &str| name == class || number(name).is_some_and(|v| number(class) == Some(v));
    labels.classes.iter().position(|name| same(name))
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|v: &f64| v.is_finite())
}

/// Hides all labels except those of the rows of the split.
fn hide_labels(labels: &mut Labels, args: &HideArgs, limits: &Limits) -> Result<(), Failure> {
    let Some(path) = &args.labeled_rows else { return Ok(()) };
    let name = path.display();
    let text = text(path, limits)?;
    let wanted = args.split.unwrap_or(1) as usize;
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#')).collect();
    let Some(&(line, split)) = lines.get(wanted - 1) else {
        return Err(Failure::Usage(format!(
            "--split {wanted}: {name} has {}",
            crate::output::console::count(lines.len(), "split")
        )));
    };
    let mut shown = vec![false; labels.of.len()];
    for token in split.split(|c: char| c.is_whitespace() || c == ',').filter(|t| !t.is_empty()) {
        let row = token.parse::<usize>().ok().filter(|r| (1..=shown.len()).contains(r)).ok_or_else(|| {
            Failure::Failed(format!(
                "{name}:{}: '{token}' is not a row number from 1 to {}",
                line + 1,
                shown.len()
            ))
        })?;
        if labels.of[row - 1].is_none() {
            return Err(Failure::Failed(format!("{name}:{}: row {row} has no label in the data", line + 1)));
        }
        shown[row - 1] = true;
    }
    for (label, shown) in labels.of.iter_mut().zip(&shown) {
        if !shown {
            *label = None;
        }
    }
    Ok(())
}

/// Reads one weight per line, for `rows` rows.
fn weights(path: &Path, rows: usize) -> Result<Vec<f64>, Failure> {
    let text = text(path, &Limits::default())?;
    let mut out = Vec::with_capacity(rows);
    for (i, line) in text.lines().enumerate() {
        match line.trim().parse::<f64>() {
            Ok(w) if w.is_finite() && w >= 0.0 => out.push(w),
            _ => {
                return Err(Failure::Failed(format!(
                    "{}:{}: '{}' is not a weight; write one number of 0 or more per line",
                    path.display(),
                    i + 1,
                    line.trim()
                )));
            }
        }
    }
    if out.len() != rows {
        return Err(Failure::Failed(format!(
            "{}: {} weights for {rows} rows; there must be one per row",
            path.display(),
            out.len()
        )));
    }
    Ok(out)
}

fn text(path: &Path, limits: &Limits) -> Result<String, Failure> {
    let bytes = evermargin_io::read_whole(path, limits)?;
    String::from_utf8(bytes).map_err(|_| Failure::Failed(format!("{}: not a text file", path.display())))
}
