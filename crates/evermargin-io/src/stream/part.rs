//! One file or pipe of a stream, while it is being read.

use super::lines::Lines;
use super::{Schema, Setting};
use crate::decompress::{display_name, open};
use crate::error::{Error, Result};
use crate::formats::csv::encode::{Wanted, clipped};
use crate::formats::csv::rows::{Form, Rows, text_of};
use crate::formats::csv::{self, Plan};
use crate::formats::detect::Format;
use crate::formats::libsvm::{self, content};
use crate::formats::read::{Dataset, ReadOptions, assemble, refuse_nul};
use crate::limits::Limits;
use evermargin::data::{Labels, Matrix, Row};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of the first file that say what its columns are.
const LOOK: usize = 4 << 20;

/// Bytes that say what format a file has.
const HEAD: usize = 1 << 16;

/// A file, pipe or array that is open.
pub(crate) struct Part {
    path: PathBuf,
    name: String,
    format: Format,
    body: Body,
    /// Rows read of it.
    pub(crate) rows: u64,
}

enum Body {
    Pairs(Lines),
    Table(Box<TableBody>),
    Array { data: Dataset, next: usize },
}

struct TableBody {
    lines: Lines,
    form: Form,
    plan: Plan,
    /// Whether the header is still ahead.
    header: bool,
}

/// Rows that follow each other in one part.
pub(crate) struct Piece {
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    pub(crate) shown: Vec<String>,
    pub(crate) unknown: BTreeMap<String, (usize, String)>,
}

impl Part {
    /// Opens a file; `-` is standard input. `None` when there is nothing in it. `rows` is what the first batch asks for.
    pub(crate) fn open(path: &Path, rows: usize, setting: &mut Setting<'_>) -> Result<Option<Self>> {
        let name = display_name(path);
        let limits = &setting.options.limits;
        let piped = path == Path::new("-");
        // Text is bounded by its lines, not by its length.
        let reader = open(path, &Limits { max_bytes: u64::MAX, ..limits.clone() })?;
        let mut lines = Lines::new(reader, &name);
        if piped {
            lines.fill_line(limits.max_line)?;
        } else {
            lines.fill_to(HEAD)?;
        }
        if lines.ahead().starts_with(b"\xef\xbb\xbf") {
            lines.consume(3);
        }
        if lines.ahead().is_empty() {
            return Ok(None);
        }
        let format = match setting.options.format {
            Some(format) => format,
            None => Format::detect(path, lines.ahead()).map_err(|what| Error::content(&name, what))?,
        };
        setting.agree(&name, format)?;
        let body = match format {
            Format::Libsvm => Body::Pairs(lines),
            _ if format.is_table() => {
                let fresh = setting.schema.is_none();
                match TableBody::open(&name, lines, format, rows, piped, setting)? {
                    Some(table) => {
                        if fresh {
                            setting.fix(table.schema(format));
                        }
                        Body::Table(Box::new(table))
                    }
                    None => return Ok(None),
                }
            }
            _ => {
                let bytes = lines.rest(limits.max_bytes)?;
                let options = ReadOptions { format: Some(format), ..setting.options.clone() };
                let mut data = assemble(path, &bytes, &options)?;
                setting.notes.append(&mut data.notes);
                if setting.schema.is_none() {
                    setting.fix(Schema { features: data.x.cols(), ..Schema::of(format) });
                }
                Body::Array { data, next: 0 }
            }
        };
        Ok(Some(Self { path: path.to_path_buf(), name, format, body, rows: 0 }))
    }

    /// Goes to where reading ended before.
    pub(crate) fn go_to(&mut self, taken: u64, rows: u64) -> Result<()> {
        self.rows = rows;
        match &mut self.body {
            Body::Pairs(lines) => lines.skip_to(taken),
            Body::Table(table) => {
                table.header &= taken == 0;
                table.lines.skip_to(taken)
            }
            Body::Array { data, next } => {
                *next = (rows.min(data.x.rows() as u64)) as usize;
                Ok(())
            }
        }
    }

    /// Bytes and lines that are done with.
    pub(crate) fn taken(&self) -> (u64, u64) {
        match &self.body {
            Body::Pairs(lines) => (lines.taken, lines.passed),
            Body::Table(table) => (table.lines.taken, table.lines.passed),
            Body::Array { .. } => (0, 0),
        }
    }

    /// The next rows, at most `wanted`; `None` at the end.
    pub(crate) fn next(&mut self, wanted: usize, setting: &mut Setting<'_>) -> Result<Option<Piece>> {
        let piece = match &mut self.body {
            Body::Pairs(lines) => pairs(&self.name, &self.path, lines, wanted, setting)?,
            Body::Table(table) => table.next(&self.name, wanted, &setting.options.limits)?,
            Body::Array { data, next } => {
                let rows = *next..data.x.rows().min(*next + wanted);
                *next = rows.end;
                (!rows.is_empty()).then(|| slice(data, &rows.collect::<Vec<_>>()))
            }
        };
        self.rows += piece.as_ref().map_or(0, |p| p.x.rows() as u64);
        if let (Some(piece), Some(schema)) = (&piece, setting.schema.as_ref())
            && piece.x.cols() != schema.features
        {
            let what = format!(
                "{} columns in this {} file, but the stream has {}",
                piece.x.cols(),
                self.format.name(),
                schema.features
            );
            return Err(Error::content(&self.name, what));
        }
        Ok(piece)
    }
}

impl TableBody {
    /// Makes the plan by which the table is coded: afresh from what the first file begins with (what a pipe gives for
    /// the first batch), else by the columns the stream has.
    fn open(
        name: &str,
        mut lines: Lines,
        format: Format,
        rows: usize,
        piped: bool,
        setting: &mut Setting<'_>,
    ) -> Result<Option<Self>> {
        let limits = &setting.options.limits;
        // Quotes are what a line end may hide behind; the sign between cells is that of the first line.
        let first = lines.ahead().split(|b| *b == b'\n').next().unwrap_or_default();
        let sign = Form::of(name, &String::from_utf8_lossy(first), no_keys(format), [].into_iter(), limits)?;
        let look = match (&setting.schema, piped) {
            (Some(_), _) => 2,
            (None, true) => rows.saturating_add(1),
            (None, false) => {
                lines.fill_to(LOOK)?;
                usize::MAX
            }
        };
        let (length, count) = lines.cut(look, Some(&sign), limits.max_line)?;
        if count == 0 {
            return Ok(None);
        }
        let block = &lines.ahead()[..length];
        refuse_nul(name, block)?;
        let text = text_of(name, block, limits)?;
        let form = csv::form(name, text, format, setting.options)?;
        let begin = Rows::new(name, text, &form, None)?;
        let plan = Plan::of(name, &begin, format, setting.options, setting.notes)?;
        let header = plan.header && format != Format::Jsonl;
        Ok(Some(Self { lines, form, plan, header }))
    }

    fn schema(&self, format: Format) -> Schema {
        Schema {
            columns: self.plan.sources.iter().map(|s| s.column.clone()).collect(),
            label: self.plan.label_at.clone(),
            features: self.plan.features,
            ..Schema::of(format)
        }
    }

    fn next(&mut self, name: &str, wanted: usize, limits: &Limits) -> Result<Option<Piece>> {
        loop {
            let header = std::mem::take(&mut self.header);
            let most = wanted.saturating_add(usize::from(header));
            let (length, _) = self.lines.cut(most, Some(&self.form), limits.max_line)?;
            if length == 0 {
                return Ok(None);
            }
            let block = &self.lines.ahead()[..length];
            let read = refuse_nul(name, block).and_then(|()| {
                let text = text_of(name, block, limits)?;
                let rows = Rows::new(name, text, &self.form, Some(self.plan.width))?;
                let wanted = Wanted { header, rows: wanted, show: true };
                let mark = length - text.len();
                self.plan.code(name, &rows, &wanted, limits).map(|coded| (mark + coded.used, coded))
            });
            let (used, coded) = read.map_err(|e| e.after(self.lines.passed))?;
            self.lines.consume(used);
            if coded.x.rows() > 0 {
                let (x, labels, unknown) = (coded.x, coded.labels, coded.unknown);
                return Ok(Some(Piece { x, labels, shown: coded.shown, unknown }));
            }
        }
    }
}

/// Line ends cut objects as they cut rows of blanks.
fn no_keys(format: Format) -> Format {
    if format == Format::Jsonl { Format::Space } else { format }
}

/// The next rows of LIBSVM text. The first of all fix the width, unless it is known.
fn pairs(
    name: &str,
    path: &Path,
    lines: &mut Lines,
    wanted: usize,
    setting: &mut Setting<'_>,
) -> Result<Option<Piece>> {
    let limits = &setting.options.limits;
    loop {
        let (length, _) = lines.cut(wanted, None, limits.max_line)?;
        if length == 0 {
            return Ok(None);
        }
        let block = &lines.ahead()[..length];
        let rows = block.split(|b| *b == b'\n').map(|l| content(l, true).trim_ascii());
        let shown: Vec<String> =
            rows.filter(|l| !l.is_empty()).map(|l| clipped(&String::from_utf8_lossy(l))).collect();
        if shown.is_empty() {
            lines.consume(length);
            continue;
        }
        let (base, cols) = match &setting.schema {
            Some(schema) => (schema.index_base, Some(schema.features)),
            None => setting.width_of(path),
        };
        let read = refuse_nul(name, block).and_then(|()| libsvm::read(name, block, base, cols, limits));
        let text = read.map_err(|e| e.after(lines.passed))?;
        let features = cols.unwrap_or(text.x.cols());
        if setting.schema.is_none() {
            let index_base = Some(u8::from(!text.zero_based));
            setting.fix(Schema { features, index_base, ..Schema::of(Format::Libsvm) });
        }
        if text.x.cols() > features {
            setting.notes.push(format!("columns past the {features} of the stream are left out"));
        }
        lines.consume(length);
        let (x, labels) = (text.x.with_cols(features), text.labels);
        return Ok(Some(Piece { x, labels, shown, unknown: BTreeMap::new() }));
    }
}

/// Some rows of an array.
fn slice(data: &Dataset, rows: &[usize]) -> Piece {
    let x = data.x.view().select(rows);
    let of = rows.iter().map(|&i| data.labels.of[i]).collect();
    let shown = (0..x.rows()).map(|i| values(x.view().row(i))).collect();
    let labels = Labels { classes: data.labels.classes.clone(), of };
    Piece { x, labels, shown, unknown: BTreeMap::new() }
}

/// The first values of a row, for people.
fn values(row: Row<'_>) -> String {
    match row {
        Row::Dense(values) => values.iter().take(64).map(f64::to_string).collect::<Vec<_>>().join(" "),
        Row::Sparse(columns, values) => {
            let pairs = columns.iter().zip(values).take(64).map(|(c, v)| format!("{}:{v}", c + 1));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}
