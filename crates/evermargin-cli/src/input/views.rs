//! Views of the same rows: columns by name, and files whose columns are joined side by side.

use crate::args::{DataArgs, HideArgs};
use crate::failure::Failure;
use crate::input::{self, Input};
use evermargin::data::{Labels, Matrix};
use evermargin::estimators::multiview::views::ViewList;
use evermargin::estimators::{ESTIMATORS, EstimatorSpec};
use evermargin::model::{Classifier, Column, InputSpec, ViewFile};
use evermargin::params::{ParamValue, near};
use evermargin::pipeline::train::TrainOptions;
use evermargin_io::{Dataset, LabelColumn, ReadOptions, read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files with more columns of the same rows.
#[derive(Debug, Clone, clap::Args, Default)]
#[command(next_help_heading = "Data")]
pub struct ViewArgs {
    /// Append the columns of this file, another view of the rows of DATA (repeatable)
    ///
    /// The file has the same rows in the same order. Labels are those of DATA; if the file has labels (in a column with the same
    /// name), they must agree. --text and --columns apply to DATA. For `predict`, none in place of a file is a missing view, also for
    /// DATA, and views that are not named are missing.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub view: Vec<PathBuf>,
}

impl ViewArgs {
    /// Refuses files for a learner without views.
    pub fn check(&self, learner: &EstimatorSpec) -> Result<(), Failure> {
        if self.view.is_empty() || learner.takes("views") {
            return Ok(());
        }
        let names: Vec<&str> = ESTIMATORS.iter().filter(|l| l.takes("views")).map(|l| l.name).collect();
        Err(Failure::Usage(format!(
            "--view: learner {} does not use views; learners that do: {}",
            learner.name,
            names.join(", ")
        )))
    }
}

/// Reads DATA and the files of the other views. `known` has one entry per file that a model was trained on.
pub fn load(
    path: &Path,
    views: &ViewArgs,
    args: &DataArgs,
    hide: Option<&HideArgs>,
    mut known: Vec<ReadOptions>,
) -> Result<Input, Failure> {
    let paths = all(path, views);
    once_from_stdin(&paths)?;
    known.resize(paths.len(), ReadOptions::default());
    let mut known = known.into_iter();
    let first = read(path, &input::options_of(args, known.next().unwrap_or_default()))?;
    let mut parts = vec![first];
    for (file, known) in views.view.iter().zip(known) {
        parts.push(read_view(args, (path, &parts[0]), file, known)?);
    }
    input::choose(joined(parts)?, path, args, hide)
}

fn all<'p>(path: &'p Path, views: &'p ViewArgs) -> Vec<&'p Path> {
    std::iter::once(path).chain(views.view.iter().map(PathBuf::as_path)).collect()
}

fn once_from_stdin(paths: &[&Path]) -> Result<(), Failure> {
    if paths.iter().filter(|p| **p == Path::new("-")).count() > 1 {
        return Err(Failure::Usage(
            "--view -: standard input can be read only once; use a file for the view".into(),
        ));
    }
    Ok(())
}

/// Reads the file of another view.
fn read_view(
    args: &DataArgs,
    first: (&Path, &Dataset),
    file: &Path,
    known: ReadOptions,
) -> Result<Dataset, Failure> {
    let mut data = read(file, &view_options(args, first.1, known))?;
    agree(first, (file, &data))?;
    data.notes = data.notes.into_iter().map(|note| note.about(&file.display().to_string())).collect();
    Ok(data)
}

/// Name that stands for a missing view.
const ABSENT: &str = "none";

/// Reads files for a model of several. Files with the name `none`, and files missing at the end, are missing views.
pub fn load_some(
    path: &Path,
    views: &ViewArgs,
    args: &DataArgs,
    hide: Option<&HideArgs>,
    known: Vec<ReadOptions>,
) -> Result<Input, Failure> {
    let mut paths = all(path, views);
    paths.resize(known.len(), Path::new(ABSENT));
    once_from_stdin(&paths)?;
    let is_absent = |p: &Path| p == Path::new(ABSENT);
    let Some(lead) = paths.iter().position(|p| !is_absent(p)) else {
        return Err(Failure::Usage(
            "DATA and every --view are none; name the file of at least one view".into(),
        ));
    };
    let first = read(paths[lead], &input::options_of(args, known[lead].clone()))?;
    let (mut parts, mut absent, mut at) = (Vec::new(), Vec::new(), 0);
    for (k, (file, known)) in paths.iter().zip(known).enumerate() {
        let features = known.cols.unwrap_or(0);
        if is_absent(file) {
            absent.push(at..at + features);
            parts.push(missing_view(first.x.rows(), features, known)?);
        } else if k != lead {
            parts.push(read_view(args, (paths[lead], &first), file, known)?);
        }
        at += features;
    }
    let (labels, label) = (first.labels.clone(), first.label.clone());
    parts.insert(lead, first);
    let data = Dataset { labels, label, ..joined(parts)? };
    Ok(Input { absent, ..input::choose(data, paths[lead], args, hide)? })
}

/// A missing view, with zeros in all its columns.
fn missing_view(rows: usize, features: usize, known: ReadOptions) -> Result<Dataset, Failure> {
    Ok(Dataset {
        x: Matrix::csr(vec![0; rows + 1], Vec::new(), Vec::new(), features)?,
        labels: Labels { classes: Vec::new(), of: vec![None; rows] },
        columns: known.columns.unwrap_or_default(),
        index_base: None,
        label: None,
        positive: None,
        serial_column: false,
        files: Vec::new(),
        notes: Vec::new(),
    })
}

/// Options for reading a view in addition to `first`. Its label column, if any, has the name of that of `first`.
fn view_options(args: &DataArgs, first: &Dataset, known: ReadOptions) -> ReadOptions {
    let name = first.label.as_ref().and_then(|l| l.name.clone());
    let given = input::options_of(args, known);
    ReadOptions {
        format: None,
        label: name.map(LabelColumn::Name),
        label_optional: true,
        text: Vec::new(),
        only: None,
        labels_file: None,
        ..given
    }
}

/// Refuses a view whose rows cannot be the same samples.
fn agree((path, first): (&Path, &Dataset), (file, other): (&Path, &Dataset)) -> Result<(), Failure> {
    let (path, file) = (path.display(), file.display());
    let (rows, found) = (first.x.rows(), other.x.rows());
    if rows != found {
        return Err(Failure::Failed(format!(
            "{file} has {found} rows and {path} has {rows}; a view has the same rows in the same order"
        )));
    }
    let Some((row, own, label)) = contradiction(&first.labels, &other.labels) else { return Ok(()) };
    Err(Failure::Failed(format!(
        "{file}: row {row} has label {label}, and {own} in {path}; put the rows in the same order, or leave the labels \
         out of {file} (? in LIBSVM text)"
    )))
}

/// The first row whose labels differ, counted from 1, with both labels.
fn contradiction<'l>(first: &'l Labels, other: &'l Labels) -> Option<(usize, &'l str, &'l str)> {
    let same: Vec<Option<usize>> = other.classes.iter().map(|c| input::position(first, c)).collect();
    let pairs = first.of.iter().zip(&other.of).enumerate();
    let mut both = pairs.filter_map(|(i, (a, b))| Some((i + 1, (*a)? as usize, (*b)? as usize)));
    let (row, a, b) = both.find(|(_, a, b)| same[*b] != Some(*a))?;
    Some((row, &first.classes[a], &other.classes[b]))
}

/// Joins files side by side into one data set, which has the labels of the first and a description of each file. A single file is
/// not changed.
fn joined(mut parts: Vec<Dataset>) -> Result<Dataset, Failure> {
    let several = parts.len() > 1;
    if several && parts.iter().any(|p| !p.columns.is_empty()) {
        parts.iter_mut().filter(|p| p.columns.is_empty()).for_each(name_columns);
    }
    let file = |p: &Dataset| ViewFile {
        features: p.x.cols(),
        columns: p.columns.len(),
        index_base: p.index_base,
        label: p.label.clone(),
    };
    let files = if several { parts.iter().map(file).collect() } else { Vec::new() };
    let x =
        several.then(|| Matrix::beside(&parts.iter().map(|p| p.x.view()).collect::<Vec<_>>())).transpose()?;
    let mut parts = parts.into_iter();
    let mut data = parts.next().ok_or_else(|| Failure::Failed("no files".into()))?;
    for part in parts {
        data.columns.extend(part.columns);
        data.notes.extend(part.notes);
    }
    if let Some(x) = x {
        data.x = x.into_natural_layout();
    }
    data.files = files;
    Ok(data)
}

/// Names the columns of a file without names, because a model needs a name for every column if any column has one.
fn name_columns(data: &mut Dataset) {
    data.columns = (1..=data.x.cols()).map(|c| Column::Number { name: format!("column {c}") }).collect();
}

/// Options for reading the files that a model was trained on, if they were several. Refuses more files than that.
pub fn known(c: &Classifier, views: &ViewArgs) -> Result<Option<Vec<ReadOptions>>, Failure> {
    let files = &c.input.files;
    if files.is_empty() {
        return match views.view.first() {
            None => Ok(None),
            Some(file) => Err(Failure::Usage(format!(
                "--view {}: the model was trained on one file; leave the option out",
                file.display()
            ))),
        };
    }
    let damaged =
        || Failure::Failed("corrupt model: the columns of its files do not match its features".into());
    if files.len() <= views.view.len() {
        return Err(Failure::Usage(format!(
            "the model was trained on {} files side by side, and {} are given; name them in the order of training, and write \
             none for a missing one",
            files.len(),
            views.view.len() + 1
        )));
    }
    let mut columns = c.input.columns.as_slice();
    let mut out = Vec::with_capacity(files.len());
    for file in files {
        let (own, others) = columns.split_at_checked(file.columns).ok_or_else(damaged)?;
        if !own.is_empty() && own.iter().map(Column::features).sum::<usize>() != file.features {
            return Err(damaged());
        }
        columns = others;
        let input = InputSpec::new(own.to_vec(), file.label.clone(), file.index_base)
            .with_positive(c.input.positive.clone());
        out.push(ReadOptions::like(&input, &c.classes, file.features));
    }
    Ok(Some(out))
}

/// The columns of views of a model, by their numbers from 1. Refuses to leave out all views.
pub fn without(c: &Classifier, numbers: &[usize]) -> Result<Vec<Range<usize>>, Failure> {
    if numbers.is_empty() {
        return Ok(Vec::new());
    }
    let written = c.params.get("views").and_then(ParamValue::as_str).unwrap_or("all");
    let views = ViewList(written.into()).columns(c.features())?;
    let count = views.len();
    let usage = |what: String| Err(Failure::Usage(format!("--without: {what}")));
    if count < 2 {
        return usage("the model has only one view".into());
    }
    if let Some(wrong) = numbers.iter().find(|k| !(1..=count).contains(*k)) {
        return usage(format!(
            "there is no view {wrong}; the model has {count} views, numbered from 1 ({written})"
        ));
    }
    if (1..=count).all(|k| numbers.contains(&k)) {
        return usage("at least one view must remain".into());
    }
    let ranges = numbers.iter().flat_map(|k| &views[k - 1].0);
    Ok(ranges.map(|(first, end)| *first..*end).collect())
}

/// Sets the parameter `views` in column numbers: by default the columns of each file, otherwise those of the named columns.
pub fn number_views(options: &mut TrainOptions, data: &Dataset, path: &Path) -> Result<(), Failure> {
    let params = &mut options.params;
    if !data.files.is_empty() {
        params.entry("views".into()).or_insert_with(|| ranges(&data.files).into());
    }
    if let Some(ParamValue::Text(views)) = params.get_mut("views").filter(|v| v.as_str() != Some("all")) {
        *views = Names::of(&data.columns)
            .number(views)
            .map_err(|what| Failure::Usage(format!("--set views={views}: {}: {what}", path.display())))?;
    }
    Ok(())
}

/// The columns of each file as the value of `views`.
fn ranges(files: &[ViewFile]) -> String {
    let mut before = 0;
    let range = |file: &ViewFile| {
        let first = before + 1;
        before += file.features;
        format!("{first}..{before}")
    };
    files.iter().map(range).collect::<Vec<_>>().join(";")
}

/// Columns by name, each with its first and last feature, counted from 1.
struct Names<'c>(Vec<(&'c str, [usize; 2])>);

impl<'c> Names<'c> {
    fn of(columns: &'c [Column]) -> Self {
        let mut before = 0;
        let span = |column: &'c Column| {
            let first = before + 1;
            before += column.features();
            (column.name(), [first, before])
        };
        Self(columns.iter().map(span).collect())
    }

    /// The views with names replaced by numbers. Syntax errors remain, and the learner refuses them.
    fn number(&self, views: &str) -> Result<String, String> {
        let view = |view: &str| {
            let parts = view.split(',').map(|part| self.range(part.trim()));
            parts.collect::<Result<Vec<_>, _>>().map(|parts| parts.join(","))
        };
        views.split(';').map(view).collect::<Result<Vec<_>, _>>().map(|views| views.join(";"))
    }

    fn range(&self, part: &str) -> Result<String, String> {
        let known = self.0.iter().any(|(name, _)| *name == part);
        let ends = part.split_once("..").filter(|_| !known).map(|(a, b)| (a.trim(), b.trim()));
        let (from, to) = ends.unwrap_or((part, part));
        if from.is_empty() || to.is_empty() {
            return Ok(part.into());
        }
        let ([first, _], [_, last]) = (self.span(from)?, self.span(to)?);
        if first > last {
            return Err(format!("{to} comes before {from}"));
        }
        Ok(if first == last { first.to_string() } else { format!("{first}..{last}") })
    }

    fn span(&self, word: &str) -> Result<[usize; 2], String> {
        if let Ok(number) = word.parse() {
            return Ok([number; 2]);
        }
        let mut found = self.0.iter().filter(|(name, _)| *name == word);
        match (found.next(), found.next()) {
            (Some((_, span)), None) if span[0] <= span[1] => Ok(*span),
            (Some(_), None) => Err(format!("column '{word}' has no values")),
            (Some(_), Some(_)) => Err(format!("two columns are named '{word}'; write its number")),
            (None, _) => Err(self.missing(word)),
        }
    }

    fn missing(&self, word: &str) -> String {
        const SHOWN: usize = 8;
        let names: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
        if names.is_empty() {
            return format!(
                "columns have no names, so there is no '{word}'; write column numbers, counted from 1"
            );
        }
        let near = near(word, &names);
        let (lead, shown) = if near.is_empty() { ("columns are", names) } else { ("similar names", near) };
        let more = if shown.len() > SHOWN { ", …" } else { "" };
        format!("no column is named '{word}'; {lead}: {}{more}", shown[..shown.len().min(SHOWN)].join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let number = |name: &str| Column::Number { name: name.into() };
        let color = Column::Category { name: "color".into(), values: vec!["b".into(), "r".into()] };
        vec![number("title"), color, number("7"), number("a..b"), number("size")]
    }

    #[test]
    fn names_are_replaced_by_the_features_of_their_columns() {
        let columns = columns();
        let names = Names::of(&columns);
        for (written, numbers) in [
            ("title", "1"),
            ("color", "2..3"),
            ("title,size;color", "1,6;2..3"),
            ("title..color; 4..size", "1..3;4..6"),
            ("color..color", "2..3"),
            ("a..b,1..2", "5,1..2"),
            ("7", "7"),
            ("1..3,9;4..6", "1..3,9;4..6"),
            ("1..;", "1..;"),
        ] {
            assert_eq!(names.number(written).as_deref(), Ok(numbers), "{written}");
        }
    }

    #[test]
    fn errors_about_unknown_names_list_similar_names() {
        let mut columns = columns();
        let wrong = |columns: &[Column], views: &str| Names::of(columns).number(views).unwrap_err();
        assert_eq!(wrong(&columns, "title;sise"), "no column is named 'sise'; similar names: size");
        assert_eq!(
            wrong(&columns, "words..size"),
            "no column is named 'words'; columns are: title, color, 7, a..b, size"
        );
        assert_eq!(wrong(&columns, "size..title"), "title comes before size");
        let nameless = "columns have no names, so there is no 'title'; write column numbers, counted from 1";
        assert_eq!(wrong(&[], "title"), nameless);
        columns.push(Column::Number { name: "size".into() });
        assert_eq!(wrong(&columns, "size"), "two columns are named 'size'; write its number");
    }

    #[test]
    fn labels_are_compared_as_numbers_and_only_if_both_are_known() {
        let labels = |tokens: &[&str]| Labels::from_tokens(tokens.iter().map(|t| Some(*t)));
        let first = labels(&["1", "-1", "?", "1"]);
        assert_eq!(contradiction(&first, &labels(&["+1", "-1.0", "5", "?"])), None);
        assert_eq!(contradiction(&first, &labels(&["?", "?", "?", "0"])), Some((4, "1", "0")));
    }
}
