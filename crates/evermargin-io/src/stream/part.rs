//! One open file or pipe of a stream.

use super::growth::{columns_of_cells, columns_of_values};
use super::lines::Lines;
use super::rejected::{BadRow, RejectedRow};
use super::stdin::InterruptibleReader;
use super::{Schema, Setting};
use crate::decompress::{display_name, open, open_reader};
use crate::error::{Error, Result};
use crate::formats::csv::encode::{Coded, UnknownValues, Wanted, clipped};
use crate::formats::csv::rows::{BadRows, Form, Rows, text_of};
use crate::formats::csv::{self, Plan};
use crate::formats::detect::Format;
use crate::formats::jsonl::{self, Keys};
use crate::formats::libsvm::{self, content};
use crate::formats::read::{Dataset, LabelColumn, ReadOptions, assemble, refuse_nul};
use crate::limits::Limits;
use evermargin::data::{Labels, Matrix, Row};
use evermargin::model::Column;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of bytes of the first file by which its columns are determined.
const SURVEY_BYTES: usize = 4 << 20;

/// Number of bytes by which the format of a file is detected.
const DETECTION_BYTES: usize = 1 << 16;

/// Open file, pipe or array.
pub(crate) struct Part {
    path: PathBuf,
    name: String,
    format: Format,
    body: PartContent,
    /// Number of rows read.
    pub(crate) rows: u64,
}

enum PartContent {
    Pairs(Lines),
    Table(Box<TableBody>),
    Array { data: Dataset, next: usize },
}

struct TableBody {
    lines: Lines,
    form: Form,
    plan: Plan,
    /// Whether the header has not been read.
    header: bool,
}

/// Block of rows that was read.
struct ReadBlock {
    /// Number of bytes of the block that were used.
    used: usize,
    coded: Coded,
    bad: Vec<BadRow>,
    /// Whether objects have keys that are unknown to the table.
    other_keys: bool,
}

/// Consecutive rows of one part.
pub(crate) struct Piece {
    /// Name of the file.
    pub(crate) name: String,
    pub(crate) x: Matrix,
    pub(crate) labels: Labels,
    pub(crate) shown: Vec<String>,
    /// The line of each row, counted from 1.
    pub(crate) lines: Vec<u64>,
    /// Identifier of each row, if there is a column of identifiers.
    pub(crate) ids: Vec<String>,
    pub(crate) unknown: BTreeMap<String, UnknownValues>,
    /// Rows in the same range that cannot be used.
    pub(crate) rejected: Vec<RejectedRow>,
}

impl Piece {
    /// Piece with one rejected row and no other row.
    pub(super) fn without_rows(rejected: RejectedRow, setting: &Setting<'_>) -> Self {
        let features = setting.schema.as_ref().map_or(0, |s| s.features);
        Self {
            name: rejected.file.clone(),
            x: Matrix::empty(features, true),
            labels: crate::formats::labels::none(0),
            shown: Vec::new(),
            lines: Vec::new(),
            ids: Vec::new(),
            unknown: BTreeMap::new(),
            rejected: vec![rejected],
        }
    }

    /// Numbers rejected rows by their order among all rows; `before` is the number of earlier rows of the stream.
    pub(crate) fn number_rejected_rows(&mut self, before: u64) {
        self.rejected.sort_by_key(|row| row.line);
        for (k, row) in self.rejected.iter_mut().enumerate() {
            let usable = self.lines.partition_point(|line| *line < row.line);
            row.row = before + 1 + (k + usable) as u64;
        }
    }

    /// Number of usable and rejected rows.
    pub(crate) fn count(&self) -> usize {
        self.x.rows() + self.rejected.len()
    }
}

impl Part {
    /// Opens a file; `-` is standard input. Returns `None` if it is empty. `rows` is the number of rows that the first batch
    /// requests.
    pub(crate) fn open(path: &Path, rows: usize, setting: &mut Setting<'_>) -> Result<Option<Self>> {
        let name = display_name(path);
        let limits = &setting.options.limits;
        let piped = path == Path::new("-");
        // For text, the length of lines is bounded instead of the length of the file.
        let limits_of_text = Limits { max_bytes: u64::MAX, ..limits.clone() };
        let reader = match setting.stop.filter(|_| piped) {
            Some(stop) => {
                let stdin = InterruptibleReader::stdin(Arc::clone(stop));
                open_reader(Box::new(stdin), &name, &limits_of_text)?
            }
            None => open(path, &limits_of_text)?,
        };
        let mut lines = Lines::new(reader, &name);
        if piped {
            lines.fill_line(limits.max_line)?;
        } else {
            lines.fill_to(DETECTION_BYTES)?;
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
            Format::Libsvm => PartContent::Pairs(lines),
            _ if format.is_table() => {
                let fresh = setting.schema.is_none();
                match TableBody::open(&name, lines, format, rows, piped, setting)? {
                    Some(table) => {
                        if fresh {
                            setting.set_schema(table.schema(format));
                        }
                        PartContent::Table(Box::new(table))
                    }
                    None => return Ok(None),
                }
            }
            _ => {
                let bytes = lines.rest(limits.max_bytes)?;
                let mut options = ReadOptions { format: Some(format), ..setting.options.clone() };
                if setting.room().is_some() {
                    options.cols = None;
                }
                let mut data = assemble(path, &bytes, &options)?;
                setting.notes.append(&mut data.notes);
                if data.x.cols() > setting.schema.as_ref().map_or(usize::MAX, |schema| schema.features) {
                    let features = setting.grow_to(data.x.cols());
                    data.x = data.x.with_cols(features);
                }
                if setting.schema.is_none() {
                    setting.set_schema(Schema { features: data.x.cols(), ..Schema::of(format) });
                }
                PartContent::Array { data, next: 0 }
            }
        };
        Ok(Some(Self { path: path.to_path_buf(), name, format, body, rows: 0 }))
    }

    /// Skips to the position at which reading ended before.
    pub(crate) fn go_to(&mut self, taken: u64, rows: u64) -> Result<()> {
        self.rows = rows;
        match &mut self.body {
            PartContent::Pairs(lines) => lines.skip_to(taken),
            PartContent::Table(table) => {
                table.header &= taken == 0;
                table.lines.skip_to(taken)
            }
            PartContent::Array { data, next } => {
                *next = (rows.min(data.x.rows() as u64)) as usize;
                Ok(())
            }
        }
    }

    /// Numbers of bytes and lines read.
    pub(crate) fn taken(&self) -> (u64, u64) {
        match &self.body {
            PartContent::Pairs(lines) => (lines.taken, lines.passed),
            PartContent::Table(table) => (table.lines.taken, table.lines.passed),
            PartContent::Array { .. } => (0, 0),
        }
    }

    /// Whether reading was interrupted, so that more rows may follow.
    pub(crate) fn is_interrupted(&self) -> bool {
        match &self.body {
            PartContent::Pairs(lines) => lines.interrupted,
            PartContent::Table(table) => table.lines.interrupted,
            PartContent::Array { .. } => false,
        }
    }

    /// Returns the next rows, at most `wanted` of them; `None` at the end.
    pub(crate) fn next(&mut self, wanted: usize, setting: &mut Setting<'_>) -> Result<Option<Piece>> {
        let piece = match &mut self.body {
            PartContent::Pairs(lines) => pairs(&self.name, &self.path, lines, wanted, setting)?,
            PartContent::Table(table) => table.next(&self.name, wanted, setting)?,
            PartContent::Array { data, next } => {
                let rows = *next..data.x.rows().min(*next + wanted);
                *next = rows.end;
                (!rows.is_empty()).then(|| slice(&self.name, data, &rows.collect::<Vec<_>>()))
            }
        };
        self.rows += piece.as_ref().map_or(0, |p| p.x.rows() as u64);
        if let (Some(piece), Some(schema)) = (&piece, setting.schema.as_ref())
            && piece.x.cols() != schema.features
            && piece.x.rows() > 0
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
    /// Makes the plan for encoding the table: by the columns of the stream or, for the first file, by its beginning (for a
    /// pipe, by the rows of the first batch).
    fn open(
        name: &str,
        mut lines: Lines,
        format: Format,
        rows: usize,
        piped: bool,
        setting: &mut Setting<'_>,
    ) -> Result<Option<Self>> {
        let limits = &setting.options.limits;
        // Line ends within quotes do not end a row, so the separator is needed; it follows from the first line.
        let first = lines.ahead().split(|b| *b == b'\n').next().unwrap_or_default();
        let sign = Form::of(
            name,
            &String::from_utf8_lossy(first),
            format_without_keys(format),
            [].into_iter(),
            limits,
            false,
        )?;
        let row_count = match (&setting.schema, piped) {
            (Some(_), _) => 2,
            (None, true) => rows.saturating_add(1),
            (None, false) => {
                lines.fill_to(SURVEY_BYTES)?;
                usize::MAX
            }
        };
        let (length, count) = lines.cut(row_count, Some(&sign), limits.max_line)?;
        if count == 0 {
            return Ok(None);
        }
        let block = &lines.ahead()[..length];
        let usable = if setting.reject { usable_lines(block, limits.max_line) } else { None };
        let block = usable.as_deref().unwrap_or(block);
        refuse_nul(name, block)?;
        let text = text_of(name, block, limits)?;
        // If the stream may grow, unknown keys are found when the rows with them are read.
        let label_by_position = matches!(setting.options.label, Some(LabelColumn::Index(_)));
        let grows = format == Format::Jsonl && setting.room().is_some() && !label_by_position;
        let keys = if grows { "" } else { text };
        let form = csv::form(name, keys, format, setting.options, setting.reject)?;
        let text = if setting.reject { closed_rows(name, text, &form) } else { text };
        let mut begin = Rows::new(name, text, &form, None)?;
        if setting.reject {
            begin = begin.without(BadRows::Skip);
        }
        let plan = Plan::of(name, &begin, format, setting.options, setting.notes)?;
        let header = plan.header && format != Format::Jsonl;
        let mut table = Self { lines, form, plan, header };
        if header && setting.room().is_some() {
            table.add_new_columns(name, piped, rows, setting)?;
        }
        Ok(Some(table))
    }

    /// Appends unknown columns of a header. Their kinds are determined by as many rows as for a first file.
    fn add_new_columns(
        &mut self,
        name: &str,
        piped: bool,
        rows: usize,
        setting: &mut Setting<'_>,
    ) -> Result<()> {
        let limits = setting.options.limits.clone();
        let names: Vec<String> = self.plan.sources.iter().map(|s| s.column.name().to_string()).collect();
        let known: HashSet<&str> = names.iter().map(String::as_str).collect();
        let (label, id) = (self.plan.label, self.plan.id);
        let is_new = |c: usize, name: &str| Some(c) != label && Some(c) != id && !known.contains(name);
        let find = |lines: &mut Lines, row_count: usize| -> Result<Vec<(usize, Column)>> {
            let (length, _) = lines.cut(row_count, Some(&self.form), limits.max_line)?;
            let block = &lines.ahead()[..length];
            let usable = if setting.reject { usable_lines(block, limits.max_line) } else { None };
            let text = text_of(name, usable.as_deref().unwrap_or(block), &limits)?;
            let text = if setting.reject { closed_rows(name, text, &self.form) } else { text };
            let begin = Rows::new(name, text, &self.form, None)?.without(BadRows::Skip);
            columns_of_cells(name, &begin, is_new, &limits)
        };
        if find(&mut self.lines, 2)?.is_empty() {
            return Ok(());
        }
        let row_count = if piped {
            rows.saturating_add(1)
        } else {
            self.lines.fill_to(SURVEY_BYTES)?;
            usize::MAX
        };
        let columns = find(&mut self.lines, row_count)?;
        setting.append(&mut self.plan, columns);
        Ok(())
    }

    fn schema(&self, format: Format) -> Schema {
        Schema {
            columns: self.plan.sources.iter().map(|s| s.column.clone()).collect(),
            label: self.plan.label_at.clone(),
            features: self.plan.features,
            ..Schema::of(format)
        }
    }

    fn next(&mut self, name: &str, wanted: usize, setting: &mut Setting<'_>) -> Result<Option<Piece>> {
        let limits = &setting.options.limits.clone();
        loop {
            let max_rows = wanted.saturating_add(usize::from(self.header));
            let cut = self.lines.cut(max_rows, Some(&self.form), limits.max_line);
            let mut length = match cut {
                Err(error) if setting.reject && !self.header => {
                    let row = BadRow::of_error(error)?.within(name, 0);
                    self.lines.skip_line()?;
                    return Ok(Some(Piece::without_rows(row, setting)));
                }
                cut => cut?.0,
            };
            if length == 0 {
                return Ok(None);
            }
            while setting.reject
                && let Some((start, end, row)) = self.unreadable_row(name, length, limits)?
            {
                if start > 0 {
                    length = start; // reads the rows before it first
                    continue;
                }
                if self.header {
                    break; // without its header a table cannot be read
                }
                let row = row.within(name, self.lines.passed);
                self.lines.consume(end);
                return Ok(Some(Piece::without_rows(row, setting)));
            }
            let header = std::mem::take(&mut self.header);
            let grows = setting.room().is_some_and(|room| room > 0);
            let mut read = self.read_block(name, length, wanted, header, setting, grows);
            if grows
                && let Ok(block) = &read
                && (block.other_keys || !block.coded.unknown.is_empty())
            {
                self.grow(name, length, &block.coded.unknown, setting)?;
                read = self.read_block(name, length, wanted, header, setting, false);
            }
            let passed = self.lines.passed;
            let ReadBlock { used, coded, bad, .. } = read.map_err(|e| e.after(passed))?;
            self.lines.consume(used);
            if coded.x.rows() > 0 || !bad.is_empty() {
                let (x, labels, shown, unknown) = (coded.x, coded.labels, coded.shown, coded.unknown);
                let ids = coded.ids;
                let lines = coded.lines.iter().map(|line| line + passed).collect();
                let rejected = bad.into_iter().map(|row| row.within(name, passed)).collect();
                let name = name.to_string();
                return Ok(Some(Piece { name, x, labels, shown, lines, ids, unknown, rejected }));
            }
        }
    }

    /// Reads the next block, which has `length` bytes.
    fn read_block(
        &mut self,
        name: &str,
        length: usize,
        wanted: usize,
        header: bool,
        setting: &Setting<'_>,
        list_unknown: bool,
    ) -> Result<ReadBlock> {
        let limits = &setting.options.limits;
        let block = &self.lines.ahead()[..length];
        refuse_nul(name, block)?;
        let text = text_of(name, block, limits)?;
        let mut rows = Rows::new(name, text, &self.form, Some(self.plan.width))?;
        if setting.reject {
            rows = rows.without(BadRows::List(RefCell::default()));
        }
        let wanted = Wanted { header, rows: wanted, show: true, list_unknown };
        let mark = length - text.len();
        let coded = self.plan.code(name, &rows, &wanted, limits)?;
        let other_keys = rows.has_other_keys();
        Ok(ReadBlock { used: mark + coded.used, coded, bad: rows.into_bad(), other_keys })
    }

    /// Appends new keys and values of categories in the next block, up to the limit of the stream.
    fn grow(
        &mut self,
        name: &str,
        length: usize,
        unknown: &BTreeMap<String, UnknownValues>,
        setting: &mut Setting<'_>,
    ) -> Result<()> {
        let limits = &setting.options.limits.clone();
        let columns = columns_of_values(&self.plan, unknown);
        setting.append(&mut self.plan, columns);
        let text = text_of(name, &self.lines.ahead()[..length], limits)?;
        let Form::Objects(keys) = &self.form else { return Ok(()) };
        let Some(all) = with_new_keys(text, keys, limits) else { return Ok(()) };
        let known = keys.names.len();
        self.plan.width = all.names.len();
        let form = Form::Objects(all);
        let rows = Rows::new(name, text, &form, None)?.without(BadRows::Skip);
        let columns = columns_of_cells(name, &rows, |c, _| c >= known, limits)?;
        self.form = form;
        setting.append(&mut self.plan, columns);
        Ok(())
    }

    /// First row of the next block that is not text or has a quote that is never closed, with its bytes and the reason. A row
    /// without an end is assumed to end with its first line.
    fn unreadable_row(
        &self,
        name: &str,
        length: usize,
        limits: &Limits,
    ) -> Result<Option<(usize, usize, BadRow)>> {
        let block = &self.lines.ahead()[..length];
        let checked = refuse_nul(name, block)
            .and_then(|()| text_of(name, block, limits))
            .and_then(|text| Rows::new(name, text, &self.form, None).map(|_| ()));
        let Err(error) = checked else { return Ok(None) };
        let row = BadRow::of_error(error)?;
        let line_end = |from: usize| memchr::memchr(b'\n', &block[from..]).map_or(length, |n| from + n + 1);
        let line_start = (1..row.line).fold(0, |at, _| line_end(at));
        let mut start = 0;
        loop {
            let end = self.form.row_end(block, start).filter(|end| *end <= length);
            match end {
                Some(end) if end <= line_start => start = end,
                _ => return Ok(Some((start, end.unwrap_or_else(|| line_end(start)), row))),
            }
        }
    }
}

/// Known keys together with new keys of objects in the text; `None` if there are no new ones.
fn with_new_keys(text: &str, keys: &Keys, limits: &Limits) -> Option<Keys> {
    let mut all = keys.clone();
    for line in text.lines().filter(|line| !line.trim_ascii().is_empty() && jsonl::is_object(line)) {
        // Keys beyond the limit are ignored.
        let _ = jsonl::add_keys(line, &mut all, limits.columns());
    }
    (all.names.len() > keys.names.len()).then_some(all)
}

/// Rows before one with a quote that is never closed.
fn closed_rows<'t>(name: &str, text: &'t str, form: &Form) -> &'t str {
    if Rows::new(name, text, form, None).is_ok() {
        return text;
    }
    let mut end = 0;
    while let Some(next) = form.row_end(text.as_bytes(), end) {
        end = next;
    }
    &text[..end]
}

/// Lines that are usable text; `None` if all of them are.
fn usable_lines(block: &[u8], longest: usize) -> Option<Vec<u8>> {
    let usable = |line: &[u8]| {
        line.len() <= longest.saturating_add(1)
            && memchr::memchr(0, line).is_none()
            && std::str::from_utf8(line).is_ok()
    };
    if memchr::memchr(0, block).is_none() && std::str::from_utf8(block).is_ok() {
        return None;
    }
    Some(block.split_inclusive(|b| *b == b'\n').filter(|line| usable(line)).flatten().copied().collect())
}

/// Format by which rows are separated: rows of objects end with their lines, like rows separated by blanks.
fn format_without_keys(format: Format) -> Format {
    if format == Format::Jsonl { Format::Space } else { format }
}

/// Returns the next rows of LIBSVM text. The first rows of the stream determine its width, unless it is known.
fn pairs(
    name: &str,
    path: &Path,
    lines: &mut Lines,
    wanted: usize,
    setting: &mut Setting<'_>,
) -> Result<Option<Piece>> {
    let limits = &setting.options.limits;
    loop {
        let length = match lines.cut(wanted, None, limits.max_line) {
            Err(error) if setting.reject => {
                let row = BadRow::of_error(error)?.within(name, 0);
                lines.skip_line()?;
                return Ok(Some(Piece::without_rows(row, setting)));
            }
            cut => cut?.0,
        };
        if length == 0 {
            return Ok(None);
        }
        let block = &lines.ahead()[..length];
        let rows = block.split(|b| *b == b'\n').map(|l| content(l, true).trim_ascii());
        let mut rows: Vec<(u64, &[u8])> = (1..).zip(rows).filter(|(_, row)| !row.is_empty()).collect();
        if rows.is_empty() {
            lines.consume(length);
            continue;
        }
        let (base, cols) = match &setting.schema {
            Some(schema) => (schema.index_base, Some(schema.features)),
            None => setting.width_of(path),
        };
        let read = if setting.reject {
            libsvm::read_usable(name, block, base, cols, limits)
        } else {
            refuse_nul(name, block).and_then(|()| libsvm::read(name, block, base, cols, limits))
        };
        let text = read.map_err(|e| e.after(lines.passed))?;
        rows.retain(|(line, _)| text.bad.binary_search_by_key(line, |fault| fault.place.line).is_err());
        let shown = rows.iter().map(|(_, row)| clipped(&String::from_utf8_lossy(row))).collect();
        let places = rows.iter().map(|(line, _)| line + lines.passed).collect();
        let of_fault = |fault| BadRow::of_fault(fault).within(name, lines.passed);
        let rejected: Vec<RejectedRow> = text.bad.into_iter().map(of_fault).collect();
        let features = match &setting.schema {
            Some(_) => setting.grow_to(text.x.cols()),
            None => cols.unwrap_or(text.x.cols()),
        };
        if setting.schema.is_none() && text.x.rows() > 0 {
            let index_base = Some(u8::from(!text.zero_based));
            setting.set_schema(Schema { features, index_base, ..Schema::of(Format::Libsvm) });
        }
        lines.consume(length);
        let (x, labels) = (text.x.with_cols(features), text.labels);
        let unknown = BTreeMap::new();
        let name = name.to_string();
        return Ok(Some(Piece { name, x, labels, shown, lines: places, ids: Vec::new(), unknown, rejected }));
    }
}

/// Piece with some rows of an array.
fn slice(name: &str, data: &Dataset, rows: &[usize]) -> Piece {
    let x = data.x.view().select(rows);
    let of = rows.iter().map(|&i| data.labels.of[i]).collect();
    let shown = (0..x.rows()).map(|i| values(x.view().row(i))).collect();
    let labels = Labels { classes: data.labels.classes.clone(), of };
    let lines = rows.iter().map(|&row| row as u64 + 1).collect();
    let (name, unknown) = (name.to_string(), BTreeMap::new());
    Piece { name, x, labels, shown, lines, ids: Vec::new(), unknown, rejected: Vec::new() }
}

/// Text of the first values of a row for annotators.
fn values(row: Row<'_>) -> String {
    match row {
        Row::Dense(values) => values.iter().take(64).map(f64::to_string).collect::<Vec<_>>().join(" "),
        Row::Sparse(columns, values) => {
            let pairs = columns.iter().zip(values).take(64).map(|(c, v)| format!("{}:{v}", c + 1));
            pairs.collect::<Vec<_>>().join(" ")
        }
    }
}
